//! What units yield, and how yields add up.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};
use shared::unavoidable::CellSet;

use super::Unavoidable;
use crate::{
    kind::{BadPartial, JobKind},
    parts::PartsDigest,
};

/// Grids that are kept for the report, the first ones; the output has all.
const MOST_GRIDS: usize = 500;

/// Sets that are kept for the report, if they are asked for: those of the first grids, as far as all of a grid still
/// belong to the first so many. With 12 bytes a set and 40 a grid a partial stays below 60 KB.
const MOST_SETS: u64 = 3000;

/// Largest MCN: disjoint sets of four cells or more.
const MOST_MCN: u32 = 81 / 4;

/// What some units have found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partial {
    pub grids: u64,
    /// Sets of all grids by size, from 4 cells on.
    pub by_size: Vec<u64>,
    /// Grids by MCN.
    pub by_mcn: BTreeMap<u32, u64>,
    pub first: Vec<OfGrid>,
    pub parts: PartsDigest,
}

/// What is known of a grid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OfGrid {
    /// Counted from 0.
    pub grid: u32,
    /// The most pairwise disjoint sets.
    pub mcn: u32,
    /// Sets by size, from 4 cells on.
    pub by_size: Vec<u32>,
    /// They themselves by size, then by cells; none unless they are asked for and kept (see [`Partial::kept`]).
    pub sets: Vec<CellSet>,
}

impl OfGrid {
    /// How many sets there are.
    fn count(&self) -> u64 {
        self.by_size.iter().map(|&count| u64::from(count)).sum()
    }

    /// Whether the sets are as many of each size as were counted, in order, and of a grid of so many cells.
    fn sets_fit(&self, cells: usize) -> bool {
        let sizes = (4..).zip(&self.by_size).flat_map(|(size, &count)| (0..count).map(move |_| size));
        let size_and_cells = |set: &CellSet| (set.len(), *set);
        self.sets.iter().map(|set| set.len()).eq(sizes)
            && self.sets.is_sorted_by(|a, b| size_and_cells(a) < size_and_cells(b))
            && self.sets.iter().all(|set| set.is_within(CellSet::below(cells)))
    }
}

fn bad<T>(what: &str) -> Result<T, BadPartial> {
    Err(BadPartial(what.into()))
}

impl Partial {
    /// Adds a grid that comes after all that are there.
    pub fn take(&mut self, grid: OfGrid) {
        self.grids += 1;
        self.by_size.resize(self.by_size.len().max(grid.by_size.len()), 0);
        for (sum, &more) in self.by_size.iter_mut().zip(&grid.by_size) {
            *sum += u64::from(more);
        }
        *self.by_mcn.entry(grid.mcn).or_default() += 1;
        self.first.push(grid);
        self.keep_what_has_room();
    }

    /// For how many of the first grids there is room to keep the sets.
    pub fn kept(&self) -> usize {
        let mut sum = 0u64;
        let fits = |grid: &&OfGrid| {
            sum = sum.saturating_add(grid.count());
            sum <= MOST_SETS
        };
        self.first.iter().take_while(fits).count()
    }

    /// Drops the grids and sets that are too many.
    ///
    /// What stays depends on the units alone, not on the way they were merged. The grids do: they are the first
    /// [`MOST_GRIDS`] of all. The sets of a grid stay when those of all grids up to it are at most [`MOST_SETS`], which
    /// depends on the counts in `first`. And whoever has to stay is there: the grids that come before a grid in a
    /// partial are some of those that come before it in a sum of partials, so that the sets of a grid that stay in the
    /// sum were not dropped from any of the partials.
    fn keep_what_has_room(&mut self) {
        self.first.truncate(MOST_GRIDS);
        let kept = self.kept();
        self.first[kept..].iter_mut().for_each(|grid| grid.sets.clear());
    }

    /// Whether this can be the yield of `range`.
    pub fn check(&self, job: &Unavoidable, range: &Range<u64>) -> Result<(), BadPartial> {
        if range.is_empty() || range.end > job.units() {
            return bad("these units are not of this job");
        }
        let grids = job.grids_of(range.start).start..job.grids_of(range.end - 1).end;
        let by_mcn = self.by_mcn.values().fold(0u64, |sum, &more| sum.saturating_add(more));
        if self.grids != grids.len() as u64 || by_mcn != self.grids || self.by_size.len() != job.sizes() {
            return bad("there are not as many grids as in these units");
        }
        if self.by_mcn.last_key_value().is_some_and(|(&mcn, _)| mcn > MOST_MCN) {
            return bad("there are not so many disjoint sets");
        }
        let numbers = grids.take(MOST_GRIDS);
        let right = self.first.iter().all(|grid| grid.by_size.len() == job.sizes());
        if !right || !self.first.iter().map(|grid| grid.grid as usize).eq(numbers) {
            return bad("the grids are not those of these units");
        }
        let kept = if job.sets { self.kept() } else { 0 };
        let (with, without) = self.first.split_at(kept);
        let fits = |of: &OfGrid| of.sets_fit(job.list.grids[of.grid as usize].cells());
        if !with.iter().all(fits) || !without.iter().all(|of| of.sets.is_empty()) {
            return bad("the sets are not those that were counted");
        }
        Ok(())
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Result<Self, BadPartial> {
        let sum = |a: u64, b: u64| a.checked_add(b).ok_or_else(|| BadPartial("a count exceeds 2^64".into()));
        let mut by_size = self.by_size.clone();
        by_size.resize(by_size.len().max(other.by_size.len()), 0);
        for (into, &more) in by_size.iter_mut().zip(&other.by_size) {
            *into = sum(*into, more)?;
        }
        let mut by_mcn = self.by_mcn.clone();
        for (&mcn, &more) in &other.by_mcn {
            let entry = by_mcn.entry(mcn).or_default();
            *entry = sum(*entry, more)?;
        }
        let mut first = [self.first.as_slice(), &other.first].concat();
        first.sort_unstable();
        let grids = sum(self.grids, other.grids)?;
        let mut both = Self { grids, by_size, by_mcn, first, parts: self.parts.plus(other.parts) };
        both.keep_what_has_room();
        Ok(both)
    }
}
