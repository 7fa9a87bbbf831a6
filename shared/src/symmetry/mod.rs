//! Symmetries of grids and puzzles: the group, its conjugacy classes, canonical forms.

pub mod automorphic;
pub mod conjugacy;
pub mod group;
pub mod minlex;
mod names;
mod wreath;

pub use conjugacy::{ConjugacyClass, conjugacy_classes};
pub use group::{Symmetry, SymmetryGroup};
