//! Every puzzle with a given number of clues inside given grids, or the proof by exhaustion that there is none.
//!
//! The search is in [`shared::unavoidable::hit`]. A unit is a grid, or where there are few of them a part of the search
//! of one, so that several workers share it; its progress is kept, so that a killed worker loses seconds.

mod pace;
mod partial;
mod plots;
mod report;
mod work;

use std::{
    ops::{Range, RangeInclusive},
    sync::Arc,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use shared::{
    grid::{Shape, notation::text},
    recent::Recent,
    unavoidable::{
        CompleteGrid,
        hit::{HittingProgress, HittingSearch, Unfinished, Watch},
    },
};

use crate::{
    grids::{self, Chosen, GridRange, Grids},
    input::Surroundings,
    kind::{BadPartial, BadSettings, JobKind, Progress, Report, UnitContext, UnitError},
    parts::PartsDigest,
};
use partial::Partial;

/// Time between two saves of a unit's progress.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// Sets in a progress that is saved: more would exceed what a worker keeps of a unit. A unit that finds as many puzzles
/// is done in seconds, one way or the other.
const MOST_SAVED: usize = 60_000;

/// With at most so many grids each may be cut into several units.
const FEW_GRIDS: usize = 32;

/// Units for each of some grids: enough for two workers to share one that takes long, and no more, for what a unit
/// learns of a grid the others learn again. On one core the SF grid takes 6 seconds for 17 clues as one unit, 10 as 8
/// and 12 as 16.
fn parts(grids: u64, nine: bool, clues: u32) -> u64 {
    match clues {
        _ if grids > FEW_GRIDS as u64 => 1,
        // A fraction of a second.
        ..=16 if nine => 1,
        17 if nine => (8 / grids).max(1),
        _ => 16,
    }
}

/// Searches that are prepared and kept: a worker's threads are seldom at more grids.
const KEPT: usize = 3;

/// Arguments of the kind.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HittingArgs {
    /// Grids: a file with one a line (also packed with gzip or zstd), - for standard input, or a grid of 81, 64,
    /// 36 or 16 digits itself
    #[arg(required = true, value_name = "GRIDS", value_parser = Grids::typed)]
    grids: Vec<Grids>,
    /// Of the list only these grids, by number from 1: N, FROM..TO (both belong to it), FROM.. or ..TO
    #[arg(long, value_name = "FROM..TO", value_parser = GridRange::typed)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<GridRange>,
    /// Number of clues: K, or K..L for all from K to L
    #[arg(long, value_name = "K", value_parser = parse_clues, default_value = "16")]
    clues: Clues,
}

/// Numbers of clues, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clues {
    from: u32,
    to: u32,
}

fn parse_clues(text: &str) -> Result<Clues, String> {
    let number = |text: &str| text.trim().parse::<u32>().map_err(|error| format!("{text:?}: {error}"));
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let clues = Clues { from: number(from)?, to: number(to.trim_start_matches('='))? };
    if clues.is_possible() {
        return Ok(clues);
    }
    Err(format!("{text}: expected K, or K..L with K at most L and both at most 81"))
}

impl Clues {
    fn is_possible(self) -> bool {
        self.from <= self.to && self.to <= 81
    }
}

/// See the module.
pub struct Hitting {
    list: Chosen,
    clues: Clues,
    /// Units for each grid.
    parts: u64,
    /// Searches that were used lately, by grid.
    kept: Recent<Result<Arc<HittingSearch>, String>>,
}

impl JobKind for Hitting {
    const NAME: &'static str = "hitting";
    const ABOUT: &'static str = "Finds every puzzle with a given number of clues inside grids";
    const EXAMPLES: &'static str = "Examples:\n  nonet run hitting grids.txt --clues 16\n  \
        nonet run hitting grids.txt --clues 17 -o puzzles.txt\n  nonet run hitting grids.txt --range 1..1000\n  \
        nonet run hitting 1234341221434321 --clues 4..6";
    const REVISION: u32 = 5;
    const OUTPUT: Option<&'static str> = Some("the puzzles, one a line, in the order of the grids");

    type Args = HittingArgs;
    type Partial = Partial;

    fn prepare(args: HittingArgs, around: &Surroundings<'_>) -> Result<HittingArgs, BadSettings> {
        Ok(HittingArgs { grids: Grids::look_up(args.grids, around)?, ..args })
    }

    fn new(args: HittingArgs) -> Result<Self, BadSettings> {
        let HittingArgs { grids, range, clues } = args;
        let list = grids::read(&grids, range).map_err(BadSettings)?;
        if !clues.is_possible() {
            return Err(BadSettings("--clues K..L: K is at most L, and both are at most 81".into()));
        }
        let possible = |grid: &CompleteGrid| grid.shape() == Shape::NINE || grid.cells() <= 64;
        if let Some(number) = list.grids.iter().position(|grid| !possible(grid)) {
            let (number, shape) = (number + 1, list.grids[number].shape());
            let what = "is not searched for puzzles: 9x9 is, and grids of at most 64 cells";
            return Err(BadSettings(format!("grid {number} of those chosen, of shape {shape}, {what}")));
        }
        let nine = list.grids.iter().all(|grid| grid.shape() == Shape::NINE);
        let parts = parts(list.grids.len() as u64, nine, clues.to);
        Ok(Self { list, clues, parts, kept: Recent::new(KEPT) })
    }

    fn units(&self) -> u64 {
        self.list.grids.len() as u64 * self.parts
    }

    fn unit_name(&self, unit: u64) -> String {
        let grid = &self.list.grids[self.grid_of(unit)];
        let grid = text(grid.shape(), grid.digits());
        if self.parts == 1 {
            grid
        } else {
            format!("{grid}, part {} of {}", unit % self.parts + 1, self.parts)
        }
    }

    fn empty(&self) -> Partial {
        Partial::default()
    }

    fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Partial, UnitError> {
        let grid = self.grid_of(unit);
        let search = self.search(grid)?;
        let saved = context.resume().and_then(|bytes| postcard::from_bytes(&bytes).ok());
        let start: HittingProgress = saved.unwrap_or_default();
        let mut last_saved = Instant::now();
        let mut reached = |progress: &HittingProgress| {
            if (context.stopped() || last_saved.elapsed() >= SAVE_EVERY) && progress.sets() <= MOST_SAVED {
                context.save(|| postcard::to_stdvec(progress).expect("numbers and sets can be written"));
                last_saved = Instant::now();
            }
        };
        let watch = Watch { stopped: &|| context.stopped(), reached: &mut reached };
        let found = search.run_unit(unit % self.parts, start, watch);
        let mut found = found.map_err(|unfinished| match unfinished {
            Unfinished::Paused => UnitError::Stopped,
            Unfinished::TooMany => UnitError::Failed(unfinished.to_string()),
        })?;
        found.puzzles.sort_unstable();
        let of = &self.list.grids[grid];
        let lines = found.puzzles.iter().map(|&clues| text(of.shape(), &of.puzzle(clues)) + "\n");
        let part = lines.collect::<String>().into_bytes();
        let digest = PartsDigest::of(unit, &part);
        context.put_part(unit, part)?;
        Ok(Partial::of_unit(self, unit, &found, digest))
    }

    fn check(&self, range: Range<u64>, partial: &Partial) -> Result<(), BadPartial> {
        partial.check(self, &range)
    }

    fn merge(&self, into: &mut Partial, from: Partial) -> Result<(), BadPartial> {
        *into = into.plus(&from)?;
        Ok(())
    }

    fn report(&self, partial: &Partial, progress: &Progress) -> Result<Report, BadPartial> {
        Ok(report::report(self, partial, progress))
    }
}

impl Hitting {
    fn grid_of(&self, unit: u64) -> usize {
        usize::try_from(unit / self.parts).expect("grids are in memory")
    }

    fn clues(&self) -> RangeInclusive<u32> {
        self.clues.from..=self.clues.to
    }

    /// The search of a grid: one that is kept, or a new one.
    fn search(&self, grid: usize) -> Result<Arc<HittingSearch>, UnitError> {
        let slot = self.kept.slot(grid);
        let made = slot.get_or_init(|| {
            let search = HittingSearch::new(&self.list.grids[grid], self.clues(), self.parts);
            search.map(Arc::new).map_err(|error| error.to_string())
        });
        made.clone().map_err(UnitError::Failed)
    }
}

#[cfg(test)]
mod tests;
