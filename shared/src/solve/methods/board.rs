//! A grid that is being filled, and the digits that are free in a cell: three words and a complement.

use super::watch::{Flow, Watch};
use crate::{
    grid::Shape,
    solve::layout::{Layout, digit, members},
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
        self.cells[cell] = digit(bit);
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
}

/// Chooses one of the cells that may be empty, and those of them that may be so once it is filled; `None` if all are
/// filled.
pub(super) type Next = for<'e> fn(&Board, &'e [usize]) -> Option<(usize, &'e [usize])>;

/// Fills the empty cells in every way: the digits that break no rule, from 1 up, in the cell that `next` chooses, and
/// behind each the same with the others.
pub(super) fn search(shape: Shape, cells: &[u8], watch: &mut Watch<'_>, next: Next) -> Flow {
    let empty: Vec<usize> = (0..cells.len()).filter(|&cell| cells[cell] == 0).collect();
    fill(&mut Board::new(shape, cells), &empty, watch, next)
}

fn fill(board: &mut Board, empty: &[usize], watch: &mut Watch<'_>, next: Next) -> Flow {
    let Some((cell, rest)) = next(board, empty) else {
        return watch.solution(|| board.cells.clone());
    };
    let free = board.free(cell);
    for bit in members(free) {
        watch.node(free.count_ones() > 1)?;
        board.write(cell, bit);
        fill(board, rest, watch, next)?;
        board.erase(cell, bit);
    }
    Flow::Continue(())
}
