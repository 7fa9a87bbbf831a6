//! Grids: their shapes.

pub mod shape;

pub use shape::{Shape, ShapeError};
