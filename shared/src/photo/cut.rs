//! The cells of a mesh as patches.

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
    let cells = (0..mesh.side * mesh.side).map(|cell| darkness(picture, mesh, cell));
    let dark: Vec<Darkness> = cells.collect();
    let ink = ink_of(&dark);
    dark.iter().map(|patch| patch.map(|dark| level(dark / ink))).collect()
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
    let paper = paper_of(&levels).max(1.0);
    levels.map(|level| ((paper - level) / paper).max(0.0))
}

/// A place between four corners, by its parts to the right and down.
fn inside(corners: &[Place; 4], (u, v): Place) -> Place {
    let mix = |of: fn(&Place) -> f64| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| of(&corners[i]));
        (a * (1.0 - u) + b * u) * (1.0 - v) + (c * (1.0 - u) + d * u) * v
    };
    (mix(|corner| corner.0), mix(|corner| corner.1))
}

/// The level of the paper of a cell: brighter than three quarters of its inside. Digits take less than half.
fn paper_of(levels: &[f32; SIDE * SIDE]) -> f32 {
    let edge = SIDE / 6;
    let inner = (edge..SIDE - edge).flat_map(|y| levels[y * SIDE + edge..(y + 1) * SIDE - edge].iter());
    let mut some: Vec<f32> = inner.copied().collect();
    let place = some.len() * 3 / 4;
    *some.select_nth_unstable_by(place, f32::total_cmp).1
}

/// The darkness of the ink of a grid: that of its lines and digits, the darkest twentieth.
fn ink_of(dark: &[Darkness]) -> f32 {
    let mut all: Vec<f32> = dark.iter().flat_map(|patch| patch.iter().step_by(3)).copied().collect();
    let place = all.len() * 19 / 20;
    all.select_nth_unstable_by(place, f32::total_cmp).1.max(0.04)
}
