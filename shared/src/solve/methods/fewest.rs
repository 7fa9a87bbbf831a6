//! Backtracking on the cell with the fewest digits that break no rule (the first one of several), digits from 1 up.
//!
//! A cell with one digit is no choice at all, and a cell with none ends a branch before it begins: what typewriter
//! order finds out much later. The rule is S. W. Golomb & L. D. Baumert's ("Backtrack programming", Journal of the ACM
//! 12 (1965), 516-524): branch where there is least to branch.
//!
//! Cost: a look at all empty cells a node, some 50 nanoseconds for 9x9; dozens to a few ten thousand nodes for puzzles
//! with one solution.

use super::{
    board::search,
    watch::{Flow, Watch},
};
use crate::grid::Shape;

pub(super) fn run(shape: Shape, cells: &[u8], watch: &mut Watch<'_>) -> Flow {
    search(shape, cells, watch, |board, empty| {
        let open = empty.iter().copied().filter(|&cell| board.cells[cell] == 0);
        open.min_by_key(|&cell| board.free(cell).count_ones()).map(|cell| (cell, empty))
    })
}
