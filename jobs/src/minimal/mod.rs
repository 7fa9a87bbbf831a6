//! Every minimal puzzle of a small shape: no clue can go without a second solution.
//!
//! The minimal puzzles of a grid are the minimal hitting sets of its minimal unavoidable sets
//! ([`shared::unavoidable`]). A puzzle has one grid, so that those of all grids are counted grid by grid, and grids that
//! are alike have as many: a unit is one of the essentially different grids. Two of its puzzles are alike when an
//! automorphism of the grid takes one to the other; the part of the unit lists the first of each kind.

mod output;
mod partial;
mod report;

use std::{io, ops::Range, sync::OnceLock};

use serde::{Deserialize, Serialize};
use shared::{
    catalogue::small::SmallGrids,
    grid::{Shape, notation::text},
    unavoidable::{CellSet, all_unavoidable_sets, hitting_sets_by_size, minimal_hitting_sets},
};

use crate::{
    kind::{BadPartial, BadSettings, JobKind, Progress, Report, UnitContext, UnitError},
    parts::{Finished, Form, OutputError, PartsDigest},
};
use partial::{OfGrid, Partial};

/// Arguments of the kind.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinimalArgs {
    /// Boxes of R rows by C columns: 2x2, 2x3 or 3x2
    #[arg(long, default_value = "2x2", value_name = "RxC")]
    shape: Shape,
    /// Count the puzzles that have one solution too, minimal or not (2x3: half a minute more for each of 49 grids; 2x2:
    /// always)
    #[arg(long)]
    #[serde(default)]
    valid: bool,
    /// Which puzzles the output lists
    #[arg(long, value_enum, default_value_t = List::Different)]
    #[serde(default)]
    list: List,
}

/// Which puzzles of many that are alike are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum List {
    /// One of those that are alike under the symmetries of the shape and renaming digits
    #[default]
    Different,
    /// One of those that are alike under renaming digits: of 2x2 only
    Relabelling,
    /// All: of 2x2 only
    All,
}

/// See the module.
pub struct Minimal {
    shape: Shape,
    valid: bool,
    list: List,
    grids: OnceLock<SmallGrids>,
}

impl JobKind for Minimal {
    const NAME: &'static str = "minimal";
    const ABOUT: &'static str = "Counts and lists every minimal puzzle of 4x4 or 6x6";
    const EXAMPLES: &'static str = "Examples:\n  nonet run minimal --shape 2x2 -o different.csv\n  \
        nonet run minimal --shape 2x2 -o drawn.txt         # the same as drawn grids\n  \
        nonet run minimal --shape 2x2 --list all -o all.csv\n  \
        nonet run minimal --shape 2x3 --format html > minimal.html";
    const REVISION: u32 = 1;
    const OUTPUT: Option<&'static str> =
        Some("the puzzles (see --list): CSV, or drawn grids where the name ends in .txt");
    const FORMS: &'static [Form] = &[Form::Csv, Form::Drawn];

    type Args = MinimalArgs;
    type Partial = Partial;

    fn new(args: MinimalArgs) -> Result<Self, BadSettings> {
        let MinimalArgs { shape, valid, list } = args;
        if shape == Shape::NINE {
            let many =
                "9x9 has some 3.1e37 minimal puzzles: they cannot be listed; shapes are 2x2, 2x3 and 3x2";
            return Err(BadSettings(format!("--shape 3x3: {many}")));
        }
        if ![Shape::FOUR, Shape::SIX, Shape::SIX.transposed()].contains(&shape) {
            return Err(BadSettings(format!("--shape {shape}: shapes are 2x2, 2x3 and 3x2")));
        }
        let small = shape == Shape::FOUR;
        if list != List::Different && !small {
            let hint = "leave out --list: each that is listed tells for how many it stands";
            return Err(BadSettings(format!("{shape} has too many puzzles for this list; {hint}")));
        }
        Ok(Self { shape, valid: valid || small, list, grids: OnceLock::new() })
    }

    /// The essentially different grids.
    fn units(&self) -> u64 {
        if self.shape == Shape::FOUR { 2 } else { 49 }
    }

    fn unit_name(&self, unit: u64) -> String {
        let first = self.grids().classes()[place(unit)].first;
        format!("grid {}", text(self.shape, &self.grids().all()[first]))
    }

    fn empty(&self) -> Partial {
        Partial::default()
    }

    fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Partial, UnitError> {
        let class = &self.grids().classes()[place(unit)];
        let cells = self.cells();
        let sets = all_unavoidable_sets(&self.grids().grid(class.first), self.grids());
        let mut of_grid = OfGrid::new(cells);
        let mut different = Vec::new();
        minimal_hitting_sets(&sets, CellSet::below(cells), &mut |clues| {
            of_grid.minimal[clues.len()] += 1;
            if class.first_of_its_kind(clues).is_some() {
                of_grid.different[clues.len()] += 1;
                different.push(clues);
            }
        });
        if self.valid {
            let counted = hitting_sets_by_size(&sets, cells, &|| context.stopped());
            of_grid.valid = counted.ok_or(UnitError::Stopped)?;
        }
        different.sort_unstable_by_key(|clues| (clues.len(), *clues));
        let part = output::encode(&different);
        let parts = PartsDigest::of(unit, &part);
        context.put_part(unit, part)?;
        Ok(Partial { grids: [(unit, of_grid)].into(), parts })
    }

    fn check(&self, range: Range<u64>, partial: &Partial) -> Result<(), BadPartial> {
        partial.check(self, &range)
    }

    fn merge(&self, into: &mut Partial, from: Partial) -> Result<(), BadPartial> {
        into.take(from)
    }

    fn assemble(&self, finished: &Finished<'_>, out: &mut (dyn io::Write + Send)) -> Result<(), OutputError> {
        output::assemble(self, finished, out)
    }

    fn report(&self, partial: &Partial, progress: &Progress) -> Result<Report, BadPartial> {
        Ok(report::report(self, partial, progress))
    }
}

/// A unit as a place in a list.
fn place(unit: u64) -> usize {
    usize::try_from(unit).expect("at most 49 units")
}

impl Minimal {
    /// Number of cells.
    fn cells(&self) -> usize {
        self.shape.side() * self.shape.side()
    }

    /// All grids: made when they are needed.
    fn grids(&self) -> &SmallGrids {
        self.grids.get_or_init(|| SmallGrids::new(self.shape).expect("the shape is small"))
    }
}

#[cfg(test)]
mod tests;
