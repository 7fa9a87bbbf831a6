//! Grids: their shapes, and how they are written.

pub mod notation;
pub mod shape;

pub use shape::{Shape, ShapeError};
