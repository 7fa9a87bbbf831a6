//! A grid that is being filled, and the digits that are free in a cell: three words and a complement.

use crate::{
    grid::Shape,
    solve::layout::{Layout, members},
};

/// Digits in cells, and which there are in each unit.
pub(super) struct Board {
    pub cells: Vec<u8>,
    units: Vec<[usize; 3]>,
    used: Vec<u32>,
    all: u32,
}

impl Board {
    pub fn new(shape: Shape, clues: &[u8]) -> Self {
        let layout = Layout::new(shape);
        let mut board = Self {
            cells: clues.to_vec(),
            units: (0..clues.len()).map(|cell| layout.seats(cell).map(|(unit, _)| unit)).collect(),
            used: vec![0; layout.units()],
            all: layout.all(),
        };
        for (cell, &clue) in clues.iter().enumerate().filter(|(_, clue)| **clue != 0) {
            board.toggle(cell, usize::from(clue) - 1);
        }
        board
    }

    /// The digits that break no rule in a cell, a bit each.
    pub fn free(&self, cell: usize) -> u32 {
        let [row, column, of_box] = self.units[cell];
        self.all & !(self.used[row] | self.used[column] | self.used[of_box])
    }

    /// Writes a digit (a bit's number) in an empty cell.
    pub fn write(&mut self, cell: usize, bit: usize) {
        self.toggle(cell, bit);
        self.cells[cell] = crate::solve::layout::digit(bit);
    }

    /// Takes a digit away.
    pub fn erase(&mut self, cell: usize, bit: usize) {
        self.toggle(cell, bit);
        self.cells[cell] = 0;
    }

    fn toggle(&mut self, cell: usize, bit: usize) {
        for unit in self.units[cell] {
            self.used[unit] ^= 1 << bit;
        }
    }

    /// The empty cells in reading order.
    pub fn empty(&self) -> Vec<usize> {
        (0..self.cells.len()).filter(|&cell| self.cells[cell] == 0).collect()
    }
}

/// The digits of a set as bits' numbers, and whether there is more than one.
pub(super) fn choices(free: u32) -> (impl Iterator<Item = usize>, bool) {
    (members(free), free & free.wrapping_sub(1) != 0)
}
