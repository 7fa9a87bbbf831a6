//! All minimal unavoidable sets of a grid of a small shape, whatever their size.
//!
//! A set is unavoidable when some other grid differs from the given one in its cells only. So the minimal ones are the
//! least among the cells in which the other grids differ from it: all 287, or all 28,200,959 of 6x6. They are compared
//! one by one, as each grid of the list with its digits renamed in every way, and nearly all of them contain a small
//! set that is known.
//!
//! Cost: a second for 6x6. [`super::unavoidable_sets`] finds the same set by set, which pays up to some 16 cells.

use super::{CellSet, CompleteGrid, antichain::minimal, unavoidable_sets};
use crate::catalogue::small::SmallGrids;

/// Sets of up to so many cells are found at once and come first: nearly every difference contains one of them.
const FIRST: usize = 10;
/// Differences that are gathered before those that are not minimal are struck out.
const GATHERED: usize = 4096;

/// All minimal unavoidable sets of a grid, by size, then by cells.
///
/// `every` lists the grids of its shape.
pub fn all_unavoidable_sets(grid: &CompleteGrid, every: &SmallGrids) -> Vec<CellSet> {
    let side = grid.shape().side();
    let mut search = Differences {
        side,
        all: word(CellSet::below(grid.cells())),
        homes: homes(side, grid.digits()),
        kept: unavoidable_sets(grid, FIRST).into_iter().map(word).collect(),
        settled: 0,
    };
    for other in every.all() {
        let others = homes(side, other);
        search.rename(&others, 0, 0, 0);
    }
    search.settle();
    search.kept.into_iter().map(|set| CellSet(set.into())).collect()
}

struct Differences {
    side: usize,
    all: u64,
    /// For each digit its cells in the grid.
    homes: Vec<u64>,
    /// Unavoidable sets without others in them, but for the last ones.
    kept: Vec<u64>,
    /// How many are settled.
    settled: usize,
}

impl Differences {
    /// Gives the digits of another grid from `digit` on every name that is left.
    fn rename(&mut self, others: &[u64], digit: usize, taken: u32, same: u64) {
        if digit == self.side {
            self.take(self.all & !same);
            return;
        }
        for name in 0..self.side {
            if taken >> name & 1 == 0 {
                let agree = others[digit] & self.homes[name];
                self.rename(others, digit + 1, taken | 1 << name, same | agree);
            }
        }
    }

    fn take(&mut self, set: u64) {
        if set == 0 || self.kept.iter().any(|kept| kept & !set == 0) {
            return;
        }
        self.kept.push(set);
        if self.kept.len() > self.settled + GATHERED {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let sets = self.kept.drain(..).map(|set| CellSet(set.into())).collect();
        self.kept.extend(minimal(sets).into_iter().map(word));
        self.settled = self.kept.len();
    }
}

/// For each digit from 1 the cells that hold it.
fn homes(side: usize, digits: &[u8]) -> Vec<u64> {
    let mut homes = vec![0; side];
    for (cell, &digit) in digits.iter().enumerate() {
        homes[usize::from(digit) - 1] |= 1 << cell;
    }
    homes
}

#[allow(clippy::cast_possible_truncation, reason = "small shapes have at most 36 cells")]
fn word(set: CellSet) -> u64 {
    set.0 as u64
}
