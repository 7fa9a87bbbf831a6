//! Lists of grids.

pub mod small;
