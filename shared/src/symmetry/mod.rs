//! Symmetries of grids and puzzles.

pub mod minlex;
