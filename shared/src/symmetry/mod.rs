//! The symmetries of grids.

pub mod conjugacy;
pub mod group;
mod wreath;

pub use conjugacy::{ConjugacyClass, conjugacy_classes};
pub use group::{Symmetry, SymmetryGroup};
