//! Canonical forms of 9x9 grids and puzzles: the least of all their images.
//!
//! Two grids, or two puzzles, are essentially the same when a symmetry takes one to the other: one of the 3,359,232
//! cell symmetries (rows in a band, bands, columns in a stack, stacks, transposition) together with a renaming of
//! digits. The *minlex form* is the least image under all of these, read row by row with an empty cell below every
//! digit; two inputs are essentially the same exactly when their forms are equal.
//!
//! - [`grid()`] canonicalises complete grids with a table of the 416 band classes (`bands`, `grids`).
//! - [`puzzle()`] canonicalises anything else, row by row (`puzzles`): puzzles with one, many or no solutions, cells
//!   that contradict each other, the empty puzzle. It promises the least image for every input.
//! - [`brute`] walks through the whole group of any shape. It is what both are tested against.

mod bands;
pub mod brute;
mod general;
mod grids;
mod layout;
mod places;
mod plain;
mod puzzles;
mod state;
mod transformation;

pub use grids::{NotAGrid, automorphisms, grid};
pub use puzzles::puzzle;
pub use transformation::Transformation;

/// 81 cells, row by row: 0 is empty, 1..=9 are digits.
pub type Cells = [u8; 81];

/// A canonical form and how it is come by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// The least image.
    pub form: Cells,
    /// One of the symmetries that take the input to the form.
    pub transformation: Transformation,
    /// How many of the 3,359,232 cell symmetries take the input to itself up to renaming, and so how many take it to
    /// the form.
    pub automorphisms: u32,
}
