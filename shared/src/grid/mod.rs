//! Grids: their shapes, and how they are written.

pub mod line;
pub mod shape;

pub use shape::{Shape, ShapeError};
