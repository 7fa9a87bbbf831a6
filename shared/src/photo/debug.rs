//! What the steps of a reading make of a photograph, for somebody who wants to look.

use super::{
    Colour, Gray,
    classify::{Patch, SIDE},
    decode::Decoded,
    homography::Place,
    rectify::Mesh,
};

/// Takes a picture of each step.
pub trait Sink {
    /// Takes the picture of a step. Steps have short names of small letters, digits and hyphens, which may come several
    /// times: one for each lattice that is tried, say.
    fn picture(&mut self, step: &str, picture: &Colour);

    /// Whether anybody looks: pictures cost time.
    fn looks(&self) -> bool {
        true
    }
}

/// Does not look.
pub(super) struct Nobody;

impl Sink for Nobody {
    fn picture(&mut self, _: &str, _: &Colour) {}

    fn looks(&self) -> bool {
        false
    }
}

const LINE: [u8; 3] = [220, 40, 40];
const SURE: [u8; 3] = [60, 160, 60];
const DOUBTFUL: [u8; 3] = [255, 170, 0];

fn coloured(picture: &Gray) -> Colour {
    let pixels = picture.pixels().iter().flat_map(|&level| [level; 3]).collect();
    Colour::new(picture.width(), picture.height(), pixels).expect("three bytes a pixel")
}

fn dot(picture: &mut Colour, (x, y): (f64, f64), colour: [u8; 3]) {
    let (width, height) = (picture.width(), picture.height());
    if x >= 0.0 && y >= 0.0 && (x as usize) < width && (y as usize) < height {
        let at = (y as usize * width + x as usize) * 3;
        picture.pixels_mut()[at..at + 3].copy_from_slice(&colour);
    }
}

fn line(picture: &mut Colour, from: Place, to: Place, colour: [u8; 3]) {
    let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().clamp(1.0, 10_000.0);
    for step in 0..=steps as usize {
        let part = step as f64 / steps;
        let at = (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1));
        dot(picture, (at.0 + 0.5, at.1 + 0.5), colour);
    }
}

/// The outlines of lattices.
pub(super) fn lattices(picture: &Gray, all: impl Iterator<Item = [Place; 4]>) -> Colour {
    let mut drawn = coloured(picture);
    for corners in all {
        (0..4).for_each(|i| line(&mut drawn, corners[i], corners[(i + 1) % 4], LINE));
    }
    drawn
}

/// The lines of a mesh.
pub(super) fn mesh(picture: &Gray, mesh: &Mesh) -> Colour {
    let mut drawn = coloured(picture);
    let side = mesh.side + 1;
    for (place, &crossing) in mesh.crossings.iter().enumerate() {
        if place % side + 1 < side {
            line(&mut drawn, crossing, mesh.crossings[place + 1], LINE);
        }
        if let Some(&below) = mesh.crossings.get(place + side) {
            line(&mut drawn, crossing, below, LINE);
        }
    }
    drawn
}

/// The patches of a grid, each framed by how sure it is.
pub(super) fn cells(patches: &[Patch], decoded: &Decoded, side: usize) -> Colour {
    const FRAME: usize = SIDE + 4;
    let mut drawn = coloured(&Gray::filled(side * FRAME, side * FRAME, 255));
    for (cell, patch) in patches.iter().enumerate() {
        let (left, top) = (cell % side * FRAME, cell / side * FRAME);
        let sure = decoded.confidence[cell] > 0.97;
        let colour = if sure { SURE } else { DOUBTFUL };
        for at in 0..FRAME * FRAME {
            let (x, y) = (at % FRAME, at / FRAME);
            let inside = (2..SIDE + 2).contains(&x) && (2..SIDE + 2).contains(&y);
            let pixel = if inside { [255 - patch[(y - 2) * SIDE + x - 2]; 3] } else { colour };
            dot(&mut drawn, ((left + x) as f64, (top + y) as f64), pixel);
        }
    }
    drawn
}
