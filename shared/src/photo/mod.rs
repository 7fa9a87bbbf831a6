//! What is on a photograph of a sudoku.
//!
//! Steps, each a module of its own:
//!
//! - [`load`]: the bytes of a file to a grey picture of bounded size;
//! - `locate`: lattices of lines that may be a grid, several of them;
//! - `rectify`: a lattice to a mesh of sub-pixel crossings, pages that are bent included;
//! - `cut`: the cells of a mesh, each to a patch of [`classify::SIDE`] by [`classify::SIDE`] pixels;
//! - [`classify`]: what a patch shows;
//! - `decode`: the most likely board, under the rules of sudoku where the evidence leaves a choice;
//! - `judge`: doubtful cells, and photographs that are no readable sudoku.
//!
//! **Invariant:** the same bytes give the same reading on every machine. Floating point numbers are added, multiplied,
//! divided and rooted in one order, never fused; what else is needed (exponentials, angles) is made of these.

mod cells;
pub mod classify;
mod cut;
mod decode;
mod homography;
pub mod image;
mod judge;
mod lattice;
pub mod load;
mod locate;
mod read;
pub mod reading;
mod rectify;
mod regions;
mod tone;
mod turn;

pub use image::Gray;
pub use read::Reader;

/// For trying things: the meshes and patches of the lattices on a picture. Not part of the interface.
#[doc(hidden)]
pub fn lab(picture: &Gray) -> Vec<(f64, f64, Vec<(f64, f64)>, Vec<classify::Patch>)> {
    let small = if picture.width().max(picture.height()) > 1000 { Some(tone::halved(picture)) } else { None };
    let found = locate::locate(small.as_ref().unwrap_or(picture));
    let scale = if small.is_some() { 2.0 } else { 1.0 };
    let one = |candidate: &locate::Candidate| {
        let lattice = candidate.lattice.scaled(scale);
        let mesh = rectify::rectify(&lattice, picture);
        let patches = cut::cut(picture, &mesh);
        (candidate.fit.present, candidate.fit.boxes, mesh.crossings, patches)
    };
    found.iter().map(one).collect()
}
