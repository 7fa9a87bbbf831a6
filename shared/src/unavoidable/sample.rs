//! How many minimal puzzles a grid has, estimated without bias.
//!
//! Clues are taken away one by one, each time a random one of those that can go (the puzzle keeps one solution), until
//! none can: the puzzle is minimal. Taking a clue away never lets another one go that could not go before, so every
//! order in which the other n - k cells are emptied is a way to a minimal puzzle of k clues: there are (n - k)! ways. A
//! way on which r1, r2, ... clues could go is taken with probability 1 / (r1 r2 ...). So the weight
//! r1 r2 ... / (n - k)! has the number of minimal puzzles with k clues as its expectation: over all ways to a puzzle,
//! weight times probability adds up to one. Nothing is assumed about the grid.
//!
//! Over grids that are drawn uniformly, the mean of the weights times the number of grids estimates how many minimal
//! puzzles there are at all.
//!
//! Weights spread over orders of magnitude (a trap: the mean is made by few of them). So the error should be judged by
//! the spread of independent runs, and [`Estimate::largest_share`] tells when there were too few ways.
//!
//! Cost: some 5 milliseconds a way on 9x9.

use serde::{Deserialize, Serialize};

use super::{CellSet, CompleteGrid, hit::Uniqueness};
use crate::random::{Random, mixed};

/// Fractions of a puzzle that sums are kept in, so that adding up is exact and its order does not matter.
const SCALE: f64 = 65_536.0;
/// Numbers of clues there are, 0 to 81.
const NUMBERS: usize = 82;

/// What some ways add up to. Two of them with different seeds are one of both together, see [`Estimate::merge`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    ways: u64,
    /// For each number of clues the weights, in `1 / SCALE`.
    sums: Vec<u128>,
    /// For each number of clues the squares of the weights.
    squares: Vec<u128>,
    /// The largest weight, in `1 / SCALE`.
    largest: u128,
}

impl Default for Estimate {
    fn default() -> Self {
        Self { ways: 0, sums: vec![0; NUMBERS], squares: vec![0; NUMBERS], largest: 0 }
    }
}

impl Estimate {
    /// Goes `ways` random ways from a grid. The same seed takes the same ways on every machine.
    pub fn of_grid(grid: &CompleteGrid, seed: u64, ways: u64) -> Self {
        let mut estimate = Self::default();
        let mut uniqueness = Uniqueness::new(grid);
        for way in 0..ways {
            let mut random = Random::new(mixed(seed) ^ mixed(!way));
            let (clues, weight) = one_way(grid, &mut uniqueness, &mut random);
            estimate.add(clues.len(), weight);
        }
        estimate
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "weights are not negative")]
    fn add(&mut self, clues: usize, weight: f64) {
        let scaled = (weight * SCALE).round() as u128;
        self.ways += 1;
        self.sums[clues] = self.sums[clues].saturating_add(scaled);
        self.squares[clues] = self.squares[clues].saturating_add((weight * weight).round() as u128);
        self.largest = self.largest.max(scaled);
    }

    /// Both together, in any order.
    #[must_use]
    pub fn merge(mut self, other: &Self) -> Self {
        self.ways += other.ways;
        self.largest = self.largest.max(other.largest);
        let add = |to: &mut [u128], from: &[u128]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = to.saturating_add(*from));
        };
        add(&mut self.sums, &other.sums);
        add(&mut self.squares, &other.squares);
        self
    }

    /// Ways taken.
    pub fn ways(&self) -> u64 {
        self.ways
    }

    /// The estimated number of minimal puzzles with so many clues in one grid (the mean over grids, if several were
    /// sampled alike), and its standard error.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn with_clues(&self, clues: usize) -> (f64, f64) {
        let ways = self.ways.max(1) as f64;
        let mean = self.sums.get(clues).map_or(0.0, |&sum| sum as f64 / SCALE / ways);
        let square = self.squares.get(clues).map_or(0.0, |&sum| sum as f64 / ways);
        (mean, ((square - mean * mean).max(0.0) / ways).sqrt())
    }

    /// The estimated number of minimal puzzles of any number of clues, and its standard error.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn total(&self) -> (f64, f64) {
        let ways = self.ways.max(1) as f64;
        let mean = self.sums.iter().map(|&sum| sum as f64).sum::<f64>() / SCALE / ways;
        let square = self.squares.iter().map(|&sum| sum as f64).sum::<f64>() / ways;
        (mean, ((square - mean * mean).max(0.0) / ways).sqrt())
    }

    /// The largest weight as a share of all: near 1, the estimate is worth nothing.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn largest_share(&self) -> f64 {
        let sum = self.sums.iter().map(|&sum| sum as f64).sum::<f64>();
        if sum > 0.0 { self.largest as f64 / sum } else { 0.0 }
    }
}

/// A minimal puzzle and its weight.
#[allow(clippy::cast_precision_loss, reason = "at most 81")]
fn one_way(grid: &CompleteGrid, uniqueness: &mut Uniqueness, random: &mut Random) -> (CellSet, f64) {
    let mut clues = CellSet::below(grid.cells());
    let mut may_go = clues;
    let mut weight = 1.0;
    for step in 1.. {
        // What could not go before cannot go now.
        let can = |cell: &usize| uniqueness.holds(clues.without(CellSet::single(*cell)));
        may_go = may_go.iter().filter(can).collect();
        let Some(cell) = may_go.iter().nth(random.below(may_go.len())) else { break };
        weight *= may_go.len() as f64 / f64::from(step);
        clues = clues.without(CellSet::single(cell));
        may_go = may_go.without(CellSet::single(cell));
    }
    (clues, weight)
}
