//! The mathematics of Nonet.
//!
//! Pure functions: no async, no IO, no command line. Whatever is counted is counted in integers, and every
//! published number that the code is held against stands once, with its source, in [`literature`].

pub mod catalogue;
pub mod count;
pub mod grid;
pub mod literature;
pub mod photo;
pub mod random;
pub mod recent;
pub mod solve;
pub mod symmetry;
pub mod unavoidable;
