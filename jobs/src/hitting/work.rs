//! How much work the grids took, in nodes: time is no part of a result, as another machine takes another time.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};

use super::Hitting;
use crate::kind::BadPartial;

/// The work of some units by grid. Only one of the two has something in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Where a grid is one unit, of which there can be millions: grids by the binary digits of their nodes, so that
    /// each class goes to twice as many as the one before.
    pub by_bits: BTreeMap<u32, u64>,
    /// Where a grid is several units, and grids are few: what is done of each.
    pub by_grid: BTreeMap<u32, OfGrid>,
}

/// What is done of a grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfGrid {
    pub units: u64,
    pub nodes: u64,
}

/// Binary digits.
fn bits(nodes: u64) -> u32 {
    u64::BITS - nodes.leading_zeros()
}

/// The least and the greatest number of so many binary digits.
fn with_bits(bits: u32) -> (u128, u128) {
    ((1 << bits) >> 1, (1 << bits) - 1)
}

fn bad<T>(what: &str) -> Result<T, BadPartial> {
    Err(BadPartial(what.into()))
}

impl Work {
    /// The work of one unit of a grid, of which there are `parts`.
    pub fn of_unit(grid: usize, parts: u64, nodes: u64) -> Self {
        if parts == 1 {
            return Self { by_bits: [(bits(nodes), 1)].into(), ..Self::default() };
        }
        let grid = u32::try_from(grid).expect("few grids");
        Self { by_grid: [(grid, OfGrid { units: 1, nodes })].into(), ..Self::default() }
    }

    /// Grids of which all units are done.
    pub fn grids_done(&self, parts: u64) -> u64 {
        self.done_by_bits(parts).values().fold(0, |sum, &grids| sum.saturating_add(grids))
    }

    /// These by the binary digits of their nodes.
    pub fn done_by_bits(&self, parts: u64) -> BTreeMap<u32, u64> {
        let mut by_bits = self.by_bits.clone();
        for of in self.by_grid.values().filter(|of| of.units == parts) {
            *by_bits.entry(bits(of.nodes)).or_default() += 1;
        }
        by_bits
    }

    /// Whether this can be the work of `range`, which lies inside the job, with so many nodes in all.
    pub fn check(&self, job: &Hitting, range: &Range<u64>, nodes: u64) -> Result<(), BadPartial> {
        if job.parts > 1 {
            return self.check_grids(job, range, nodes);
        }
        if !self.by_grid.is_empty() || self.by_bits.keys().any(|&bits| bits > u64::BITS) {
            return bad("the work is not that of such units");
        }
        let sum = |of: &dyn Fn(u32) -> u128| {
            let terms = self.by_bits.iter().map(|(&bits, &grids)| of(bits).saturating_mul(grids.into()));
            terms.fold(0u128, u128::saturating_add)
        };
        let possible = sum(&|bits| with_bits(bits).0)..=sum(&|bits| with_bits(bits).1);
        if sum(&|_| 1) != u128::from(range.end - range.start) || !possible.contains(&nodes.into()) {
            return bad("the grids do not have as many nodes in all");
        }
        Ok(())
    }

    fn check_grids(&self, job: &Hitting, range: &Range<u64>, nodes: u64) -> Result<(), BadPartial> {
        let units = |grid: u64| {
            (range.end.min((grid + 1) * job.parts)).saturating_sub(range.start.max(grid * job.parts))
        };
        let expected =
            (range.start / job.parts..=(range.end - 1) / job.parts).map(|grid| (grid, units(grid)));
        let found = self.by_grid.iter().map(|(&grid, of)| (u64::from(grid), of.units));
        let sum: u128 = self.by_grid.values().map(|of| u128::from(of.nodes)).sum();
        if !self.by_bits.is_empty() || !found.eq(expected) || sum != nodes.into() {
            return bad("the work is not that of these units");
        }
        Ok(())
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Result<Self, BadPartial> {
        let sum = |a: u64, b: u64| a.checked_add(b).ok_or_else(|| BadPartial("a count exceeds 2^64".into()));
        let mut both = self.clone();
        for (&bits, &more) in &other.by_bits {
            let entry = both.by_bits.entry(bits).or_default();
            *entry = sum(*entry, more)?;
        }
        for (&grid, more) in &other.by_grid {
            let of = both.by_grid.entry(grid).or_default();
            *of = OfGrid { units: sum(of.units, more.units)?, nodes: sum(of.nodes, more.nodes)? };
        }
        Ok(both)
    }
}
