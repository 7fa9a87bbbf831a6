//! Solvers.
//!
//! - [`reference`](mod@reference): a plain one for all shapes, which the others are held against;
//! - [`bitslice`]: 9x9 puzzles in bulk.

pub mod bitslice;
pub mod reference;
