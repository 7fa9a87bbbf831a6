//! What units yield, and how yields add up.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};
use shared::unavoidable::{
    CellSet,
    hit::{Found, Uniqueness},
};

use super::{FEW_GRIDS, Hitting, work::Work};
use crate::{
    kind::{BadPartial, JobKind},
    parts::PartsDigest,
};

/// Puzzles that are kept for the report, the first ones; the output has all.
const MOST_PUZZLES: usize = 1000;

/// Whether no number is larger than its counterpart.
fn within(some: &BTreeMap<u32, u64>, all: &BTreeMap<u32, u64>) -> bool {
    some.iter().all(|(clues, number)| all.get(clues).is_some_and(|all| number <= all))
}

/// What some units have found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partial {
    pub units: u64,
    /// Puzzles by number of clues.
    pub by_clues: BTreeMap<u32, u64>,
    /// Units that found some; and where grids have several units, which grids these are of.
    pub with_puzzles: u64,
    pub grids_with_puzzles: BTreeMap<u32, u64>,
    pub nodes: u64,
    pub tested: u64,
    pub work: Work,
    /// The first puzzles: unit and clues.
    pub puzzles: Vec<(u64, CellSet)>,
    pub parts: PartsDigest,
}

fn bad<T>(what: &str) -> Result<T, BadPartial> {
    Err(BadPartial(what.into()))
}

impl Partial {
    /// What one unit has found, its puzzles ascending.
    pub fn of_unit(job: &Hitting, unit: u64, found: &Found, parts: PartsDigest) -> Self {
        let grid = job.grid_of(unit);
        let work = Work::of_unit(grid, job.parts, found.nodes);
        let puzzles = &found.puzzles;
        let mut by_clues = BTreeMap::new();
        for clues in puzzles {
            *by_clues.entry(clues.0.count_ones()).or_default() += 1;
        }
        let grid = u32::try_from(grid).ok().filter(|_| !puzzles.is_empty());
        Self {
            units: 1,
            by_clues,
            with_puzzles: u64::from(!puzzles.is_empty()),
            grids_with_puzzles: grid.into_iter().map(|grid| (grid, puzzles.len() as u64)).collect(),
            nodes: found.nodes,
            tested: found.tested,
            work,
            puzzles: puzzles.iter().take(MOST_PUZZLES).map(|&clues| (unit, clues)).collect(),
            parts,
        }
    }

    /// All puzzles.
    pub fn count(&self) -> u64 {
        self.by_clues.values().fold(0, |sum, &more| sum.saturating_add(more))
    }

    /// Whether this can be the yield of `range`.
    pub fn check(&self, job: &Hitting, range: &Range<u64>) -> Result<(), BadPartial> {
        if range.is_empty() || range.end > job.units() || self.units != range.end - range.start {
            return bad("these units are not of this job");
        }
        if self.with_puzzles > self.units || !self.by_clues.keys().all(|clues| job.clues().contains(clues)) {
            return bad("there are puzzles that were not looked for");
        }
        self.work.check(job, range, self.nodes)?;
        if self.grids_are_possible(job, range) && self.puzzles_are_possible(job, range) {
            return Ok(());
        }
        bad("the puzzles are not of these units")
    }

    /// Whether the grids with puzzles can be those of `range`.
    fn grids_are_possible(&self, job: &Hitting, range: &Range<u64>) -> bool {
        let grids = &self.grids_with_puzzles;
        let possible = job.grid_of(range.start)..=job.grid_of(range.end - 1);
        let sum = grids.values().fold(0, |sum: u64, &puzzles| sum.saturating_add(puzzles));
        // Of many grids the first ones are kept.
        let all = grids.len() < FEW_GRIDS || job.parts > 1;
        let number = if job.parts == 1 {
            grids.len() as u64 == self.with_puzzles.min(FEW_GRIDS as u64)
        } else {
            (grids.len() as u64..=grids.len() as u64 * job.parts).contains(&self.with_puzzles)
        };
        number
            && grids.len() <= FEW_GRIDS
            && grids.iter().all(|(&grid, &puzzles)| puzzles > 0 && possible.contains(&(grid as usize)))
            && if all { sum == self.count() } else { sum <= self.count() }
    }

    /// Whether the puzzles are some that units of `range` can have found: each is solved.
    fn puzzles_are_possible(&self, job: &Hitting, range: &Range<u64>) -> bool {
        let mut by_clues = BTreeMap::new();
        let mut solver: Option<(usize, Uniqueness)> = None;
        let mut possible = |(unit, clues): &(u64, CellSet)| {
            if !range.contains(unit) {
                return false;
            }
            let grid = job.grid_of(*unit);
            let of = &job.list.grids[grid];
            *by_clues.entry(clues.0.count_ones()).or_default() += 1;
            if solver.as_ref().is_none_or(|(number, _)| *number != grid) {
                solver = Some((grid, Uniqueness::new(of)));
            }
            clues.is_within(CellSet::below(of.cells()))
                && solver.as_mut().is_some_and(|(_, solver)| solver.holds(*clues))
        };
        let all = self.puzzles.len() as u64 == self.count();
        (all || self.puzzles.len() == MOST_PUZZLES)
            && self.puzzles.is_sorted_by(|a, b| a < b)
            && self.puzzles.iter().all(&mut possible)
            && if all { by_clues == self.by_clues } else { within(&by_clues, &self.by_clues) }
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Result<Self, BadPartial> {
        let sum = |a: u64, b: u64| a.checked_add(b).ok_or_else(|| BadPartial("a count exceeds 2^64".into()));
        let mut by_clues = self.by_clues.clone();
        for (&clues, &more) in &other.by_clues {
            let entry = by_clues.entry(clues).or_default();
            *entry = sum(*entry, more)?;
        }
        let mut grids = self.grids_with_puzzles.clone();
        for (&grid, &more) in &other.grids_with_puzzles {
            let entry = grids.entry(grid).or_default();
            *entry = sum(*entry, more)?;
        }
        // Only jobs with few grids need to know which they are.
        while grids.len() > FEW_GRIDS {
            grids.pop_last();
        }
        let mut puzzles = [self.puzzles.as_slice(), &other.puzzles].concat();
        puzzles.sort_unstable();
        puzzles.truncate(MOST_PUZZLES);
        Ok(Self {
            units: sum(self.units, other.units)?,
            by_clues,
            with_puzzles: sum(self.with_puzzles, other.with_puzzles)?,
            grids_with_puzzles: grids,
            nodes: sum(self.nodes, other.nodes)?,
            tested: sum(self.tested, other.tested)?,
            work: self.work.plus(&other.work)?,
            puzzles,
            parts: self.parts.plus(other.parts),
        })
    }
}
