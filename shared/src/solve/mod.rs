//! Solvers.
//!
//! - [`reference`](mod@reference): a plain one for all shapes, which the others are held against;
//! - [`methods`]: the ones that people learn from, each for all shapes, with a measure of its effort;
//! - [`level`](mod@level): which techniques a puzzle needs;
//! - [`bitslice`]: 9x9 puzzles in bulk;
//! - [`general`]: the best for one puzzle of any shape up to 25x25.

pub mod bitslice;
pub mod general;
mod layout;
pub mod level;
mod marks;
pub mod methods;
mod preemptive;
pub mod reference;
