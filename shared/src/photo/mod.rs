//! What is on a photograph of a sudoku.
//!
//! Steps, each a module of its own:
//!
//! - [`load`]: the bytes of a file to a grey picture of bounded size;
//! - `locate`: lattices of lines that may be a grid, several of them;
//! - `rectify`: a lattice to a mesh of sub-pixel crossings, pages that are bent included;
//! - `cut`: the cells of a mesh, each to a patch of [`classify::SIDE`] by [`classify::SIDE`] pixels;
//! - [`classify`]: what a patch shows;
//! - [`net`]: the net that tells it;
//! - `decode`: the most likely board, under the rules of sudoku where the evidence leaves a choice;
//! - `judge`: doubtful cells, and photographs that are no readable sudoku.
//!
//! **Invariant:** the same bytes give the same reading on every machine. Floating point numbers are added, multiplied,
//! divided and rooted in one order, never fused; what else is needed (exponentials, angles) is made of these.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::many_single_char_names,
    reason = "places on pictures of bounded size, and levels of pixels, are small numbers; costs that are equal are the same; \
              u, v, x, y and w are what the literature calls them"
)]

mod cells;
pub mod classify;
mod cut;
pub mod debug;
mod decode;
mod homography;
pub mod image;
mod judge;
mod lattice;
pub mod load;
mod locate;
pub mod net;
mod read;
pub mod reading;
mod rectify;
mod regions;
mod tone;
mod turn;

pub use image::{Colour, Gray};
pub use read::{Lines, lines};
