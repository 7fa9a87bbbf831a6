//! Backtracking on the cell with the fewest digits that break no rule (the first one of several), digits from 1 up.
//!
//! A cell with one digit is no choice at all, and a cell with none ends a branch before it begins: what typewriter
//! order finds out much later. The rule is S. W. Golomb & L. D. Baumert's ("Backtrack programming", Journal of the ACM
//! 12 (1965), 516-524): branch where there is least to branch.
//!
//! Cost: a look at all empty cells a node, some 50 nanoseconds for 9x9; dozens to a few ten thousand nodes for puzzles
//! with one solution.

use super::{
    board::{Board, choices},
    watch::{Flow, Watch},
};
use crate::grid::Shape;

pub(super) fn run(shape: Shape, cells: &[u8], watch: &mut Watch<'_>) -> Flow {
    let mut board = Board::new(shape, cells);
    let empty = board.empty();
    fill(&mut board, &empty, watch)
}

/// Fills the cells of `empty` that are still so in every way.
fn fill(board: &mut Board, empty: &[usize], watch: &mut Watch<'_>) -> Flow {
    let open = empty.iter().copied().filter(|&cell| board.cells[cell] == 0);
    let Some((digits, cell)) = open.map(|cell| (board.free(cell), cell)).min_by_key(by_number) else {
        return watch.solution(|| board.cells.clone());
    };
    let (digits, choice) = choices(digits);
    for bit in digits {
        watch.node(choice)?;
        board.write(cell, bit);
        fill(board, empty, watch)?;
        board.erase(cell, bit);
    }
    Flow::Continue(())
}

fn by_number((digits, _): &(u32, usize)) -> u32 {
    digits.count_ones()
}
