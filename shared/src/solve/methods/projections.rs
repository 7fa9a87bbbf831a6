//! Alternating projections on the convex relaxation of the rules.
//!
//! Drop from the rules that every entry is 0 or 1. What is left is two convex sets: the points that satisfy the linear
//! equations, and the cube of entries from 0 to 1 in which the clues are what they are. From any point, go to the
//! nearest point of one, then of the other, and so on (J. von Neumann for subspaces; L. M. Bregman 1965 for convex
//! sets): that converges to a point they share. It ends when the largest entry of each cell makes a grid.
//!
//! On easy puzzles the sets share the solution alone. On hard ones they share other points too, in which a cell is half
//! a 3 and half a 7, or they meet at so flat an angle that next to nothing moves: no puzzle with 17 clues is solved within
//! 20,000 iterations, and the few that ever are take hundreds of thousands.
//!
//! Cost: some ten additions an entry and iteration, 10 microseconds for 9x9.

use super::{
    rules::Rules,
    watch::{Flow, Watch},
};
use crate::{grid::Shape, random::Random};

pub(super) fn run(shape: Shape, cells: &[u8], watch: &mut Watch<'_>) -> Flow {
    let mut point = Point::new(shape, watch.settings.seed);
    loop {
        watch.iteration(1)?;
        point.step(cells);
        if let Some(grid) = point.grid() {
            return watch.solution(|| grid);
        }
    }
}

/// Where the iteration is.
pub(super) struct Point {
    rules: Rules,
    /// By cell, then digit.
    pub entries: Vec<f64>,
    random: Random,
}

impl Point {
    /// A point of the cube.
    pub fn new(shape: Shape, seed: u64) -> Self {
        let rules = Rules::new(shape);
        let entries = vec![0.0; rules.entries()];
        let mut point = Self { rules, entries, random: Random::new(seed) };
        point.restart();
        point
    }

    /// Goes to another point of the cube.
    pub fn restart(&mut self) {
        let random = &mut self.random;
        self.entries.iter_mut().for_each(|entry| *entry = random.fraction());
    }

    /// Goes to the nearest point that satisfies the equations, then to the nearest one of the cube with the digits
    /// that are written (0 is none).
    pub fn step(&mut self, written: &[u8]) {
        self.rules.project(&mut self.entries);
        let side = self.rules.layout().side();
        for (cell, &digit) in self.entries.chunks_exact_mut(side).zip(written) {
            if digit == 0 {
                cell.iter_mut().for_each(|entry| *entry = entry.clamp(0.0, 1.0));
            } else {
                cell.fill(0.0);
                cell[usize::from(digit) - 1] = 1.0;
            }
        }
    }

    /// The largest entry of each cell, if that makes a grid; the written digits are in it.
    pub fn grid(&self) -> Option<Vec<u8>> {
        self.rules.round(&self.entries)
    }
}
