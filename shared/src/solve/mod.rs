//! Solvers.
//!
//! - [`reference`](mod@reference): a plain one for all shapes, which the others are held against;
//! - [`bitslice`]: 9x9 puzzles in bulk.
//! - [`general`]: the best for one puzzle of any shape up to 25x25.

pub mod bitslice;
pub mod general;
pub mod reference;
