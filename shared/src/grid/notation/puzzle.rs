//! What is read.

use crate::grid::Shape;

/// A puzzle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Puzzle {
    /// Told by the number of cells, or asked for.
    pub shape: Shape,
    /// Clues row by row; 0 is empty.
    pub cells: Vec<u8>,
    /// The digits that each cell may have, bit 0 for digit 1, when the notation says more than clues.
    pub candidates: Option<Vec<u32>>,
}

impl Puzzle {
    /// A puzzle of clues only.
    pub(super) fn of_cells(shape: Shape, cells: Vec<u8>) -> Self {
        Self { shape, cells, candidates: None }
    }

    /// A puzzle told by candidates: a single one is a clue, all of them are none.
    pub(super) fn of_candidates(shape: Shape, sets: Vec<u32>) -> Self {
        let all = (1 << shape.side()) - 1;
        let clue = |&set: &u32| match set.count_ones() {
            1 => u8::try_from(set.trailing_zeros() + 1).expect("no more digits than bits"),
            _ => 0,
        };
        let cells = sets.iter().map(clue).collect();
        let has_more = sets.iter().any(|&set| set != all && set.count_ones() != 1);
        Self { shape, cells, candidates: has_more.then_some(sets) }
    }
}
