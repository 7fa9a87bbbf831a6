//! Backtracking in typewriter order: the first empty cell takes every digit that breaks no rule, from 1 up, and behind
//! each the next empty cell does the same.
//!
//! What everyone writes first, and the measure for everything else. Whether a puzzle is hard for it depends on how
//! late the first rows turn out to be wrong, which has little to do with how hard it is for people.
//!
//! Cost: a few nanoseconds a node; nodes from dozens to hundreds of millions for 9x9, and hopeless for large empty
//! grids without a solution.

use super::{
    board::search,
    watch::{Flow, Watch},
};
use crate::grid::Shape;

pub(super) fn run(shape: Shape, cells: &[u8], watch: &mut Watch<'_>) -> Flow {
    search(shape, cells, watch, |_, empty| empty.split_first().map(|(&cell, rest)| (cell, rest)))
}
