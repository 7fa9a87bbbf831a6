//! What units yield, and how yields add up.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};

use shared::unavoidable::sample::Estimate;

use super::every::Every;
use crate::{kind::BadPartial, parts::PartsDigest};

/// What some units have found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Partial {
    /// Grids, of which everything is known.
    Counted(Counted),
    /// Populations.
    Estimated(Estimate),
}

/// What some grids have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// By unit, which is one of the essentially different grids.
    pub grids: BTreeMap<u64, OfGrid>,
    pub parts: PartsDigest,
}

/// The puzzles of a grid by number of clues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfGrid {
    /// Minimal puzzles.
    pub minimal: Vec<u64>,
    /// One of those that an automorphism of the grid takes to each other.
    pub different: Vec<u64>,
    /// Puzzles with one solution; empty if they were not counted.
    pub valid: Vec<u64>,
}

fn bad<T>(what: &str) -> Result<T, BadPartial> {
    Err(BadPartial(what.into()))
}

impl OfGrid {
    /// None yet.
    pub fn new(cells: usize) -> Self {
        Self { minimal: vec![0; cells + 1], different: vec![0; cells + 1], valid: Vec::new() }
    }

    /// Whether a grid of the job can have so many puzzles.
    fn is_possible(&self, job: &Every) -> bool {
        let cells = job.cells();
        let numbers = cells + 1;
        let lengths = (self.minimal.len(), self.different.len(), self.valid.len());
        if lengths != (numbers, numbers, if job.valid { numbers } else { 0 }) {
            return false;
        }
        let most = |clues: usize| (0..clues as u64).fold(1, |all, k| all * (cells as u64 - k) / (k + 1));
        let in_order = |clues: usize| {
            self.different[clues] <= self.minimal[clues]
                && self.minimal[clues] <= self.valid.get(clues).copied().unwrap_or(u64::MAX)
                && self.minimal[clues].max(self.valid.get(clues).copied().unwrap_or(0)) <= most(clues)
        };
        (0..numbers).all(in_order)
    }
}

impl Counted {
    /// Whether this can be the yield of `range`.
    pub fn check(&self, job: &Every, range: &Range<u64>) -> Result<(), BadPartial> {
        if range.is_empty() || range.end > job.units() || !self.grids.keys().copied().eq(range.clone()) {
            return bad("the grids are not those of these units");
        }
        if self.grids.values().all(|of_grid| of_grid.is_possible(job)) {
            return Ok(());
        }
        bad("a grid cannot have so many puzzles")
    }

    /// Adds other grids.
    pub fn take(&mut self, other: Self) -> Result<(), BadPartial> {
        if other.grids.keys().any(|grid| self.grids.contains_key(grid)) {
            return bad("a grid is counted already");
        }
        self.grids.extend(other.grids);
        self.parts = self.parts.plus(other.parts);
        Ok(())
    }
}
