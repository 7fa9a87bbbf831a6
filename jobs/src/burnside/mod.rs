//! Essentially different grids of a shape, by Burnside's lemma.
//!
//! Two grids are essentially the same when a symmetry of the cells and a relabelling take one to the other. Their
//! classes are as many as the grids, up to relabelling, that a symmetry fixes on average:
//!
//! ```text
//! essentially different = (sum over conjugacy classes of  size * fixed grids of a representative) / group order
//! ```
//!
//! What a representative fixes is counted by [`shared::count::fixed`]; the identity fixes every grid, and how many
//! there are is the result of a `recount` job. Russell & Jarvis 2006.

mod partial;
mod report;

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use shared::{
    count::{FixedGrids, SliceProgress},
    grid::Shape,
};

use crate::kind::{BadPartial, BadSettings, JobKind, Needed, Progress, Report, UnitContext, UnitError};
use partial::ClassPartial;

/// Time between two saves of a unit's progress.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// Arguments of the kind.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BurnsideArgs {
    /// Boxes of R rows by C columns: 2x2, 2x3, 2x4 and 3x3 take seconds, 2x5 minutes; 3x4 is for clusters
    #[arg(long, default_value = "3x3", value_name = "RxC")]
    shape: Shape,
    /// Do not count a grid and its transposed one as the same (where boxes are square)
    #[arg(long)]
    #[serde(default)]
    no_transpose: bool,
}

/// See the module.
pub struct Burnside {
    shape: Shape,
    grids: FixedGrids,
}

impl JobKind for Burnside {
    const NAME: &'static str = "burnside";
    const ABOUT: &'static str = "Counts essentially different grids, conjugacy class by conjugacy class";
    const EXAMPLES: &'static str = "Examples:\n  nonet run burnside\n  nonet run burnside --no-transpose\n  \
        nonet run burnside --shape 2x4 --format json\n  nonet run burnside --shape 2x5\n  nonet submit burnside --shape 3x4";
    const REVISION: u32 = 2;

    type Args = BurnsideArgs;
    type Partial = Vec<ClassPartial>;

    fn new(args: BurnsideArgs) -> Result<Self, BadSettings> {
        let grids = FixedGrids::new(args.shape, !args.no_transpose)
            .map_err(|error| BadSettings(format!("--shape {}: {error}", args.shape)))?;
        Ok(Self { shape: args.shape, grids })
    }

    fn needs(&self) -> Vec<Needed> {
        // Of a shape whose grids cannot be recounted here the published number is taken, and the report says so.
        let counted = self.shape.counted().ok();
        let settings = |shape| format!(r#"{{"shape":"{shape}","method":"gangster","fillings":false}}"#);
        counted.map(|shape| Needed { kind: "recount", settings: settings(shape) }).into_iter().collect()
    }

    fn units(&self) -> u64 {
        self.grids.units()
    }

    fn unit_name(&self, unit: u64) -> String {
        let class = self.grids.class_of(unit);
        let of_class = self.grids.units_of(class);
        format!(
            "class {}, choice {} of {}",
            class + 1,
            unit - of_class.start + 1,
            of_class.end - of_class.start
        )
    }

    fn empty(&self) -> Vec<ClassPartial> {
        Vec::new()
    }

    fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Vec<ClassPartial>, UnitError> {
        let saved = context.resume().and_then(|bytes| postcard::from_bytes(&bytes).ok());
        let start: SliceProgress = saved.unwrap_or_default();
        let mut last_saved = Instant::now();
        let mut pause = |progress: SliceProgress| {
            let stopped = context.stopped();
            if stopped || last_saved.elapsed() >= SAVE_EVERY {
                context.save(|| postcard::to_stdvec(&progress).expect("two numbers can be written"));
                last_saved = Instant::now();
            }
            stopped
        };
        let fixed = self.grids.run_unit(unit, start, &mut pause).ok_or(UnitError::Stopped)?;
        let class = u32::try_from(self.grids.class_of(unit)).expect("few classes");
        Ok(vec![ClassPartial { class, units: 1, fixed }])
    }

    fn check(&self, range: Range<u64>, partial: &Vec<ClassPartial>) -> Result<(), BadPartial> {
        partial::check(partial, &self.grids, &range)
    }

    fn merge(&self, into: &mut Vec<ClassPartial>, from: Vec<ClassPartial>) -> Result<(), BadPartial> {
        *into = partial::merge(into, &from, &self.grids)?;
        Ok(())
    }

    fn report(&self, partial: &Vec<ClassPartial>, progress: &Progress) -> Result<Report, BadPartial> {
        report::report(self, partial, progress)
    }
}

#[cfg(test)]
mod tests;
