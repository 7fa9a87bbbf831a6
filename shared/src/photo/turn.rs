//! Which way up a grid is.

use super::{
    classify::{LogProbabilities, Patch, SIDE},
    rectify::Mesh,
};

/// A patch turned by a quarter clockwise.
pub(super) fn turned(patch: &Patch) -> Patch {
    let mut turned = [0; SIDE * SIDE];
    for (place, pixel) in turned.iter_mut().enumerate() {
        let (y, x) = (place / SIDE, place % SIDE);
        *pixel = patch[(SIDE - 1 - x) * SIDE + y];
    }
    turned
}

/// The number of the cell that comes to each place when a square of cells is turned by a quarter clockwise.
fn order(side: usize) -> impl Iterator<Item = usize> {
    (0..side * side).map(move |place| (side - 1 - place % side) * side + place / side)
}

/// All cells turned by a quarter clockwise.
pub(super) fn all_turned(patches: &[Patch], side: usize) -> Vec<Patch> {
    order(side).map(|cell| turned(&patches[cell])).collect()
}

/// A mesh as it is seen after a quarter clockwise.
pub(super) fn mesh_turned(mesh: &Mesh) -> Mesh {
    let crossings = order(mesh.side + 1).map(|crossing| mesh.crossings[crossing]).collect();
    Mesh { side: mesh.side, crossings }
}

/// Cells that are looked at to tell which way is up.
pub(super) const SOME: usize = 24;

/// The cells that have most ink in their middle, and not so much that they are black.
pub(super) fn with_ink(patches: &[Patch]) -> Vec<usize> {
    let inked = |patch: &Patch| {
        let middle = (7..SIDE - 7).flat_map(|y| &patch[y * SIDE + 7..(y + 1) * SIDE - 7]);
        middle.map(|&pixel| u32::from(pixel)).sum::<u32>()
    };
    let mut some: Vec<(u32, usize)> = patches.iter().map(inked).zip(0..).collect();
    some.sort_by_key(|&(ink, _)| std::cmp::Reverse(ink));
    some.into_iter().take(SOME).map(|(_, cell)| cell).collect()
}

/// How much like upright digits some cells look: the sum of the log-probabilities of the best digit each. What is no
/// digit either way, like candidates, does not count much.
pub(super) fn upright(seen: &[LogProbabilities]) -> f32 {
    let best = |of: &LogProbabilities| of[1..10].iter().fold(f32::MIN, |a, &b| a.max(b)).max(-3.0);
    seen.iter().map(best).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_quarters_are_none() {
        let patch: Patch = std::array::from_fn(|place| (place * 7 % 251) as u8);
        assert_ne!(turned(&patch), patch);
        assert_eq!((0..4).fold(patch, |patch, _| turned(&patch)), patch);
        let mut corner = [0; SIDE * SIDE];
        corner[0] = 255;
        assert_eq!(turned(&corner)[SIDE - 1], 255);
        let order: Vec<usize> = order(3).collect();
        assert_eq!(order, [6, 3, 0, 7, 4, 1, 8, 5, 2]);
    }
}
