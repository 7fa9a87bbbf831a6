//! The minimal unavoidable sets of grids up to a size, and the most of them that are pairwise disjoint.
//!
//! See [`shared::unavoidable`]. A unit is a handful of grids; its part has a row of CSV for each.

mod partial;
mod report;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use shared::{
    grid::notation::text,
    unavoidable::{CellSet, most_disjoint, unavoidable_sets},
};

use crate::{
    grids::{self, Chosen, GridRange, Grids},
    input::Surroundings,
    kind::{BadPartial, BadSettings, JobKind, Progress, Report, UnitContext, UnitError},
    parts::{Finished, OutputError, PartsDigest, each_part},
};
use partial::{OfGrid, Partial};

/// Grids of a unit: some 100 ms.
const GRIDS_OF_UNIT: usize = 8;

/// Largest size of sets: beyond it 9x9 grids have too many.
const MOST_SIZE: u32 = 14;

/// Arguments of the kind.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnavoidableArgs {
    /// Grids: a file with one a line (also packed with gzip or zstd), - for standard input, or a grid of 81, 36 or 16
    /// digits itself
    #[arg(required = true, value_name = "GRIDS", value_parser = Grids::typed)]
    grids: Vec<Grids>,
    /// Of the list only these grids, by number from 1: N, FROM..TO (both belong to it), FROM.. or ..TO
    #[arg(long, value_name = "FROM..TO", value_parser = GridRange::typed)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<GridRange>,
    /// Find sets of at most N cells
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(4..=i64::from(MOST_SIZE)))]
    max_size: u32,
    /// List the sets too: all in the output, those of the first grids in the report (cells from 0, row by row)
    #[arg(long)]
    #[serde(default)]
    sets: bool,
}

/// See the module.
pub struct Unavoidable {
    list: Chosen,
    max_size: u32,
    sets: bool,
}

impl JobKind for Unavoidable {
    const NAME: &'static str = "unavoidable";
    const ABOUT: &'static str = "Finds the minimal unavoidable sets of grids, and the most disjoint ones";
    const EXAMPLES: &'static str = "Examples:\n  nonet run unavoidable grids.txt -o sets.csv\n  \
        nonet run unavoidable grids.txt --range 101..200 --format json\n  \
        nonet run unavoidable 1234341221434321 --max-size 8 --sets -o sets.csv";
    const REVISION: u32 = 4;
    const OUTPUT: Option<&'static str> =
        Some("CSV, a row for each grid: MCN, number of sets by size, sets if asked for");

    type Args = UnavoidableArgs;
    type Partial = Partial;

    fn prepare(args: UnavoidableArgs, around: &Surroundings<'_>) -> Result<UnavoidableArgs, BadSettings> {
        Ok(UnavoidableArgs { grids: Grids::look_up(args.grids, around)?, ..args })
    }

    fn new(args: UnavoidableArgs) -> Result<Self, BadSettings> {
        let UnavoidableArgs { grids, range, max_size, sets } = args;
        let list = grids::read(&grids, range).map_err(BadSettings)?;
        if !(4..=MOST_SIZE).contains(&max_size) {
            return Err(BadSettings(format!("--max-size {max_size}: from 4 to {MOST_SIZE}")));
        }
        Ok(Self { list, max_size, sets })
    }

    fn units(&self) -> u64 {
        self.list.grids.len().div_ceil(GRIDS_OF_UNIT) as u64
    }

    fn unit_name(&self, unit: u64) -> String {
        let Range { start, end } = self.grids_of(unit);
        let before = self.list.first - 1;
        format!("grids {} to {}", before + start as u64 + 1, before + end as u64)
    }

    fn empty(&self) -> Partial {
        Partial::default()
    }

    fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Partial, UnitError> {
        let (mut part, mut partial) = (String::new(), Partial::default());
        for number in self.grids_of(unit) {
            if context.stopped() {
                return Err(UnitError::Stopped);
            }
            let grid = &self.list.grids[number];
            let sets = unavoidable_sets(grid, self.max_size as usize);
            let found = self.of_grid(number, sets);
            part += &self.row(&found);
            partial.take(found);
        }
        partial.parts = PartsDigest::of(unit, part.as_bytes());
        context.put_part(unit, part.into_bytes())?;
        Ok(partial)
    }

    fn check(&self, range: Range<u64>, partial: &Partial) -> Result<(), BadPartial> {
        partial.check(self, &range)
    }

    fn merge(&self, into: &mut Partial, from: Partial) -> Result<(), BadPartial> {
        *into = into.plus(&from)?;
        Ok(())
    }

    fn assemble(
        &self,
        finished: &Finished<'_>,
        out: &mut (dyn std::io::Write + Send),
    ) -> Result<(), OutputError> {
        write!(out, "grid,mcn")?;
        (4..=self.max_size).try_for_each(|size| write!(out, ",size_{size}"))?;
        writeln!(out, "{}", if self.sets { ",sets" } else { "" })?;
        each_part(self.units(), finished, |part| Ok(out.write_all(&part)?))
    }

    fn report(&self, partial: &Partial, progress: &Progress) -> Result<Report, BadPartial> {
        Ok(report::report(self, partial, progress))
    }
}

impl Unavoidable {
    fn grids_of(&self, unit: u64) -> Range<usize> {
        let start = usize::try_from(unit).expect("grids are in memory") * GRIDS_OF_UNIT;
        start..(start + GRIDS_OF_UNIT).min(self.list.grids.len())
    }

    /// Sizes that are counted.
    fn sizes(&self) -> usize {
        self.max_size as usize - 3
    }

    fn of_grid(&self, number: usize, sets: Vec<CellSet>) -> OfGrid {
        let mut by_size = vec![0; self.sizes()];
        for set in &sets {
            by_size[set.len() - 4] += 1;
        }
        let small = |number: usize| u32::try_from(number).expect("grids are in memory");
        let mcn = small(most_disjoint(&sets).len());
        OfGrid { grid: small(number), mcn, by_size, sets: if self.sets { sets } else { Vec::new() } }
    }

    fn row(&self, found: &OfGrid) -> String {
        let grid = &self.list.grids[found.grid as usize];
        let mut row = format!("{},{}", text(grid.shape(), grid.digits()), found.mcn);
        for count in &found.by_size {
            row += &format!(",{count}");
        }
        if self.sets {
            let cells = |set: &CellSet| set.iter().map(|cell| cell.to_string()).collect::<Vec<_>>().join("-");
            row.push(',');
            row += &found.sets.iter().map(cells).collect::<Vec<_>>().join(" ");
        }
        row + "\n"
    }
}

#[cfg(test)]
mod tests;
