//! Any cells at all, row by row: of all ways to settle the rows so far, those with the least image go on.
//!
//! A [`State`](super::state::State) is an order of rows and a naming of their digits. Every state that is kept has the same image so far,
//! the least there is; each is tried with every row that can come next, and what has the least next row is kept. At
//! the end all states have the least image, and with the orders that were not told apart they count the
//! automorphisms.
//!
//! Rows of a band with the same cells are interchangeable, and so are bands with the same rows: only the first of them
//! is tried. With tied columns this keeps the empty puzzle, whose symmetries all give the same image, at two states.

use super::{
    Canonical, Cells, general,
    grids::{check, checked_grid},
    plain,
};

/// The canonical form of any cells: puzzles with one, many or no solutions, also with digits that repeat in a row, a
/// column or a box.
///
/// ```
/// use shared::symmetry::minlex::puzzle;
///
/// let mut cells = [0; 81];
/// assert_eq!(puzzle(&cells).automorphisms, 3_359_232);
/// cells[40] = 5;
/// let canonical = puzzle(&cells);
/// assert_eq!(canonical.form[80], 1);
/// assert_eq!(canonical.automorphisms, 3_359_232 / 81);
/// ```
///
/// # Panics
///
/// When a cell exceeds 9.
pub fn puzzle(cells: &Cells) -> Canonical {
    if cells.iter().all(|&digit| digit != 0) && check(cells).is_ok() {
        return checked_grid(cells);
    }
    plain::canonical(cells).unwrap_or_else(|| general::canonical(cells))
}
