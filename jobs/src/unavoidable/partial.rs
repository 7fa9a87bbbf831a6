//! What units yield, and how yields add up.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};

use super::Unavoidable;
use crate::{
    kind::{BadPartial, JobKind},
    parts::PartsDigest,
};

/// Grids that are kept for the report, the first ones; the output has all.
const MOST_GRIDS: usize = 500;

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
        let numbers = grids.take(MOST_GRIDS);
        let right = self.first.iter().all(|grid| grid.by_size.len() == job.sizes());
        if !right || !self.first.iter().map(|grid| grid.grid as usize).eq(numbers) {
            return bad("the grids are not those of these units");
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
        first.truncate(MOST_GRIDS);
        let grids = sum(self.grids, other.grids)?;
        Ok(Self { grids, by_size, by_mcn, first, parts: self.parts.plus(other.parts) })
    }
}
