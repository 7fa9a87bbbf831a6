//! The essentially different 9x9 grids that have a symmetry of their own.
//!
//! How they are found, and counted without comparing what units find, is in [`shared::symmetry::automorphic`]. The
//! report has their number by number of automorphisms; the output lists them. Everything is held against the burnside
//! job: the grids that each class fixes, and the sum over all essentially different grids of their sizes, which is
//! the number of grids.

mod part;
mod partial;
mod report;

use std::{io, ops::Range};

use serde::{Deserialize, Serialize};
use shared::symmetry::automorphic::AutomorphicGrids;

use crate::{
    kind::{BadPartial, BadSettings, JobKind, Needed, Progress, Report, UnitContext, UnitError},
    parts::{Finished, OutputError, PartsDigest},
};
use partial::{ClassPartial, Partial};

/// Arguments of the kind: there are none.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutomorphicArgs {}

/// See the module.
pub struct Automorphic {
    grids: AutomorphicGrids,
}

impl JobKind for Automorphic {
    const NAME: &'static str = "automorphic";
    const ABOUT: &'static str = "Lists the essentially different 9x9 grids that have symmetries of their own";
    const EXAMPLES: &'static str = "Examples:\n  nonet run automorphic\n  \
        nonet run automorphic -o automorphic.txt   # minlex forms, each with its number of automorphisms\n  \
        nonet run automorphic --format csv";
    const REVISION: u32 = 2;
    const OUTPUT: Option<&'static str> =
        Some("the minlex form of each grid, one a line, and behind it its number of automorphisms");

    type Args = AutomorphicArgs;
    type Partial = Partial;

    fn new(_: AutomorphicArgs) -> Result<Self, BadSettings> {
        Ok(Self { grids: AutomorphicGrids::new() })
    }

    fn needs(&self) -> Vec<Needed> {
        vec![Needed { kind: "burnside", settings: r#"{"shape":"3x3","no_transpose":false}"#.into() }]
    }

    fn units(&self) -> u64 {
        self.grids.units()
    }

    fn unit_name(&self, unit: u64) -> String {
        let (slice, slices) = self.grids.slice_of(unit);
        format!("{}, slice {} of {slices}", self.grids.class_of(unit).1.name(), slice + 1)
    }

    fn empty(&self) -> Partial {
        Partial::default()
    }

    fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Partial, UnitError> {
        let found = self.grids.run_unit(unit, &|| context.stopped()).ok_or(UnitError::Stopped)?;
        let part = part::encode(&found.grids);
        let digest = PartsDigest::of(unit, &part);
        context.put_part(unit, part)?;
        let class = u32::try_from(self.grids.class_of(unit).0).expect("few classes");
        let classes = vec![ClassPartial { class, units: 1, fixed: found.fixed }];
        Ok(Partial { classes, parts: digest })
    }

    fn check(&self, range: Range<u64>, partial: &Partial) -> Result<(), BadPartial> {
        partial::check(partial, &self.grids, range)
    }

    fn merge(&self, into: &mut Partial, from: Partial) -> Result<(), BadPartial> {
        *into = partial::merge(into, &from, &self.grids)?;
        Ok(())
    }

    fn assemble(&self, finished: &Finished<'_>, out: &mut (dyn io::Write + Send)) -> Result<(), OutputError> {
        part::assemble(self.units(), finished, out)
    }

    fn report(&self, partial: &Partial, progress: &Progress) -> Result<Report, BadPartial> {
        Ok(report::report(self, partial, progress))
    }
}

#[cfg(test)]
mod tests;
