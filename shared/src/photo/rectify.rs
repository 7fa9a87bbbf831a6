//! The crossings of a lattice where they really are: pages are bent.
//!
//! On top of the map of a flat page there is a displacement, a polynomial of the third degree in the place on the page,
//! fitted to the edges as they were found; and on top of that, for each crossing, some of what its own edges say.

use super::{
    Gray,
    homography::{Place, System},
    lattice::{Edge, Lattice, edges, piece_of_line},
};
use crate::unavoidable::CellSet;

/// The crossings of a grid.
#[derive(Clone, Debug)]
pub(super) struct Mesh {
    pub side: usize,
    /// Row by row, `side + 1` times `side + 1`.
    pub crossings: Vec<Place>,
}

/// How often crossings are moved by what their own edges say: a page that bends sharply at its border takes several.
const ROUNDS: usize = 4;

/// How far a line may be off its next piece, as a part of a cell.
const MOST_STEP: f64 = 0.15;

/// Terms of the polynomial.
const TERMS: usize = 10;

/// A displacement across the page, in pixels to the right and down.
#[derive(Clone, Copy, Default)]
struct Bend([[f64; TERMS]; 2]);

fn terms((u, v): Place, side: f64) -> [f64; TERMS] {
    let (s, t) = (2.0 * u / side - 1.0, 2.0 * v / side - 1.0);
    [1.0, s, t, s * s, s * t, t * t, s * s * s, s * s * t, s * t * t, t * t * t]
}

impl Bend {
    fn at(&self, place: Place, side: f64) -> Place {
        let terms = terms(place, side);
        let sum = |of: &[f64; TERMS]| of.iter().zip(&terms).map(|(a, b)| a * b).sum::<f64>();
        (sum(&self.0[0]), sum(&self.0[1]))
    }
}

/// Finds the crossings of a lattice.
pub(super) fn rectify(lattice: &Lattice, picture: &Gray) -> Mesh {
    let (size, cell) = (lattice.side as f64, lattice.cell());
    let mut bend = Bend::default();
    let place = |bend: &Bend, at: Place| {
        let (flat, away) = (lattice.map.at(at), bend.at(at, size));
        (flat.0 + away.0, flat.1 + away.1)
    };
    for reach in [0.22, 0.16, 0.12] {
        let found = edges(picture, lattice.side, &|at| place(&bend, at), reach);
        match fitted(&found, size, cell) {
            Some(more) => add(&mut bend, &more),
            None => break,
        }
    }
    let side = lattice.side + 1;
    let crossings =
        (0..side * side).map(|number| place(&bend, ((number % side) as f64, (number / side) as f64)));
    let mut mesh = Mesh { side: lattice.side, crossings: crossings.collect() };
    for _ in 0..ROUNDS {
        let found = found_near(picture, &mesh, cell);
        let own = own_offsets(&found, lattice.side, cell);
        mesh.crossings.iter_mut().zip(own).for_each(|(at, (dx, dy))| *at = (at.0 + dx, at.1 + dy));
    }
    mesh
}

/// The part of its side by which a cell may reach beyond the picture.
const MOST_BEYOND: f64 = 0.2;

impl Mesh {
    /// The cells that reach beyond the picture: what is in them cannot be seen.
    pub(super) fn cut_off(&self, picture: &Gray) -> CellSet {
        let (right, bottom) = (picture.width() as f64 - 1.0, picture.height() as f64 - 1.0);
        let beyond = |&(x, y): &Place| (-x).max(x - right).max(-y).max(y - bottom);
        let reaches = |&cell: &usize| {
            let (row, column) = (cell / self.side, cell % self.side);
            let corner =
                |down: usize, along: usize| self.crossings[(row + down) * (self.side + 1) + column + along];
            let corners = [corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0)];
            let (dx, dy) = (corners[2].0 - corners[0].0, corners[2].1 - corners[0].1);
            let side = dx.abs().midpoint(dy.abs());
            corners.iter().any(|at| beyond(at) > MOST_BEYOND * side)
        };
        (0..self.side * self.side).filter(reaches).collect()
    }

    /// A place on the page, between the crossings around it.
    fn at(&self, (u, v): Place) -> Place {
        let last = self.side - 1;
        let (column, row) = ((u.max(0.0) as usize).min(last), (v.max(0.0) as usize).min(last));
        let (s, t) = (u - column as f64, v - row as f64);
        let crossing =
            |right: usize, down: usize| self.crossings[(row + down) * (self.side + 1) + column + right];
        let mix = |a: Place, b: Place, part: f64| (a.0 + part * (b.0 - a.0), a.1 + part * (b.1 - a.1));
        mix(mix(crossing(0, 0), crossing(1, 0), s), mix(crossing(0, 1), crossing(1, 1), s), t)
    }
}

/// The edges of a mesh. One that is not near is looked for farther away, and believed if the line goes on from it to the
/// next piece: in lines that are faint, or not there, digits would be taken for them.
fn found_near(picture: &Gray, mesh: &Mesh, cell: f64) -> Vec<Edge> {
    let map = |at| mesh.at(at);
    let mut found = edges(picture, mesh.side, &map, 0.12);
    let there = 0.4 * typical_depth(&found);
    for number in 0..found.len() {
        let Edge { depth, down, line, piece, .. } = found[number];
        if depth >= there {
            continue;
        }
        let far = piece_of_line(picture, (down, line, piece), &map, 0.3);
        // Edges of a line follow each other.
        let goes_on =
            |next: &Edge| next.depth >= there && (next.offset - far.offset).abs() < MOST_STEP * cell;
        let before = (piece > 0).then(|| number - 1);
        let after = (piece + 1 < mesh.side).then_some(number + 1);
        if far.depth >= there && before.into_iter().chain(after).any(|next| goes_on(&found[next])) {
            found[number] = far;
        }
    }
    found
}

fn add(bend: &mut Bend, more: &Bend) {
    for (to, from) in bend.0.iter_mut().flatten().zip(more.0.iter().flatten()) {
        *to += from;
    }
}

/// The bend that explains the offsets of edges.
fn fitted(found: &[Edge], size: f64, cell: f64) -> Option<Bend> {
    let typical = typical_depth(found);
    let mut system = System::<{ 2 * TERMS }>::default();
    for edge in found {
        let terms = terms(edge.middle, size);
        let mut coefficients = [0.0; 2 * TERMS];
        for (term, value) in terms.into_iter().enumerate() {
            coefficients[term] = value * edge.across.0;
            coefficients[TERMS + term] = value * edge.across.1;
        }
        let far = edge.offset.abs() / (0.05 * cell).max(0.8);
        system.add(coefficients, edge.offset, (edge.depth / typical).min(1.5) / (1.0 + far));
    }
    for term in 0..2 * TERMS {
        system.damp(term, if term % TERMS < 6 { 0.5 } else { 2.0 });
    }
    let solution = system.solve()?;
    let mut bend = Bend::default();
    bend.0[0].copy_from_slice(&solution[..TERMS]);
    bend.0[1].copy_from_slice(&solution[TERMS..]);
    Some(bend)
}

fn typical_depth(found: &[Edge]) -> f64 {
    let mut depths: Vec<f64> = found.iter().map(|edge| edge.depth).collect();
    depths.sort_unstable_by(f64::total_cmp);
    depths[depths.len() * 3 / 5].max(0.01)
}

/// What the edges of each crossing say about it: most of their mean offset, and no more than a small part of a cell.
fn own_offsets(found: &[Edge], cells: usize, cell: f64) -> Vec<Place> {
    let side = cells + 1;
    let typical = typical_depth(found);
    // The sums of the offsets of lines across and down, and their weights.
    let mut sums = vec![[(0.0, 0.0, 0.0); 2]; side * side];
    for edge in found {
        let weight = (edge.depth / typical).min(1.0);
        for along in [edge.piece, edge.piece + 1] {
            let number = if edge.down { along * side + edge.line } else { edge.line * side + along };
            let sum = &mut sums[number][usize::from(edge.down)];
            sum.0 += weight * edge.offset * edge.across.0;
            sum.1 += weight * edge.offset * edge.across.1;
            sum.2 += weight;
        }
    }
    let most = 0.25 * cell;
    let mean = |(x, y, weight): (f64, f64, f64)| {
        let part = 0.75 / weight.max(1.0);
        ((x * part).clamp(-most, most), (y * part).clamp(-most, most))
    };
    let both = |[across, down]: [(f64, f64, f64); 2]| {
        let (a, b) = (mean(across), mean(down));
        (a.0 + b.0, a.1 + b.1)
    };
    sums.into_iter().map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_beyond_the_picture_are_cut_off() {
        let crossings = (0..100).map(|at| (f64::from(at % 10) * 20.0 - 10.0, f64::from(at / 10) * 20.0));
        let mesh = Mesh { side: 9, crossings: crossings.collect() };
        let cells = |of: fn(usize) -> bool| (0..81).filter(|&cell| of(cell)).collect::<CellSet>();
        assert_eq!(mesh.cut_off(&Gray::filled(171, 181, 0)), cells(|cell| cell % 9 == 0));
        assert_eq!(mesh.cut_off(&Gray::filled(171, 170, 0)), cells(|cell| cell % 9 == 0 || cell >= 72));
        assert_eq!(mesh.at((0.5, 2.25)), (0.0, 45.0));
    }
}
