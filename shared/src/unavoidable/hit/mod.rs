//! Every puzzle of a grid with a given number of clues.

mod another;
mod frame;
mod limits;
mod lists;
mod nine;
mod pair;
mod region;
mod small;
mod third;

pub use nine::{Counters, quick};
