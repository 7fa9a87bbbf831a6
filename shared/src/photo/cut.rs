//! The cells of a mesh as patches.

mod paper;

use super::{
    Gray,
    classify::{Patch, SIDE},
    homography::Place,
    lattice::between,
    rectify::Mesh,
};

/// What a patch shows beyond its cell, on each side, as a part of the cell's.
const MARGIN: f64 = 0.1;

/// A patch before its levels are made comparable: how much darker than its paper each place is, from 0 to 1.
type Darkness = [f32; SIDE * SIDE];

/// Cuts the cells of a mesh, row by row.
pub(super) fn cut(picture: &Gray, mesh: &Mesh) -> Vec<Patch> {
    let side = mesh.side;
    let dark: Vec<Darkness> = (0..side * side).map(|cell| darkness(picture, mesh, cell)).collect();
    let whole = ink_of(dark.iter()).max(FAINTEST);
    let one = |cell: usize| {
        let ink = ink_around(&dark, side, cell).clamp(0.5 * whole, 1.5 * whole);
        dark[cell].map(|dark| level(dark / ink))
    };
    (0..side * side).map(one).collect()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
fn level(part: f32) -> u8 {
    (part * 255.0).clamp(0.0, 255.0) as u8
}

/// Samples a cell, the mean of four places for each pixel, and compares them with its paper.
fn darkness(picture: &Gray, mesh: &Mesh, cell: usize) -> Darkness {
    let (row, column) = (cell / mesh.side, cell % mesh.side);
    let at = |row: usize, column: usize| mesh.crossings[row * (mesh.side + 1) + column];
    let corners = [at(row, column), at(row, column + 1), at(row + 1, column), at(row + 1, column + 1)];
    let mut levels = [0.0_f32; SIDE * SIDE];
    let part = |pixel: usize, half: usize| {
        let place = (pixel as f64 + 0.25 + 0.5 * half as f64) / SIDE as f64;
        place * (1.0 + 2.0 * MARGIN) - MARGIN
    };
    for (number, level) in levels.iter_mut().enumerate() {
        let (y, x) = (number / SIDE, number % SIDE);
        let mut sum = 0.0;
        for half in 0..4 {
            sum += between(picture, inside(&corners, (part(x, half % 2), part(y, half / 2))));
        }
        *level = (sum / 4.0) as f32;
    }
    let paper = paper::under(&levels);
    std::array::from_fn(|at| ((paper[at] - levels[at]) / paper[at].max(1.0)).max(0.0))
}

/// A place between four corners, by its parts to the right and down.
fn inside(corners: &[Place; 4], (u, v): Place) -> Place {
    let mix = |of: fn(&Place) -> f64| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| of(&corners[i]));
        (a * (1.0 - u) + b * u) * (1.0 - v) + (c * (1.0 - u) + d * u) * v
    };
    (mix(|corner| corner.0), mix(|corner| corner.1))
}

/// What is thought of as ink is at least so dark.
const FAINTEST: f32 = 0.04;

/// The darkness of the ink of cells: that of their lines and digits, the darkest twentieth.
fn ink_of<'a>(cells: impl Iterator<Item = &'a Darkness>) -> f32 {
    let mut all: Vec<f32> = cells.flat_map(|patch| patch.iter().step_by(3)).copied().collect();
    let place = all.len() * 19 / 20;
    *all.select_nth_unstable_by(place, f32::total_cmp).1
}

/// The same of a cell and those around it, up to two away: out of focus and in the shade ink is paler, and what shows
/// through from the other side of the page is told from it by its paleness.
fn ink_around(dark: &[Darkness], side: usize, cell: usize) -> f32 {
    let near = |at: usize| at.saturating_sub(2)..(at + 3).min(side);
    let rows = near(cell / side);
    ink_of(rows.flat_map(|row| near(cell % side).map(move |column| &dark[row * side + column])))
}
