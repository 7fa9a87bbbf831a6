//! Unavoidable sets, and the puzzles that hit them.
//!
//! A set of cells of a complete grid is *unavoidable* when its digits can be rearranged so that another grid comes out:
//! every puzzle of the grid with one solution has a clue in it. Those that contain no smaller one are *minimal*.
//! Conversely, clues that hit every (minimal) unavoidable set leave one solution only.
//!
//! - `complete`, `cells`: grids that are known to be complete, and sets of their cells;
//! - `find`: all minimal unavoidable sets up to a size; [`brute`] is its slow ancestor; `differences`: all of them, for
//!   small shapes;
//! - `antichain`, `packing`: the minimal ones among sets; the most disjoint ones (MCN);
//! - [`hit`]: every puzzle of a grid with a given number of clues;
//! - `minimal`: every minimal puzzle of a small grid; `valid`: how many puzzles with one solution it has; [`sample`]: how many
//!   a 9x9 grid has, estimated; [`draw`]: random grids.

mod antichain;
pub mod brute;
mod cells;
mod complete;
mod differences;
pub mod draw;
mod find;
pub mod hit;
mod minimal;
mod packing;
pub mod sample;
mod valid;

pub use antichain::minimal;
pub use cells::CellSet;
pub use complete::{CompleteGrid, NotComplete};
pub use differences::all_unavoidable_sets;
pub use find::{DEFAULT_SIZE, unavoidable_sets};
pub use minimal::minimal_hitting_sets;
pub use packing::most_disjoint;
pub use valid::hitting_sets_by_size;
