//! Where grids may be.
//!
//! Two ways, at several levels of ink, as faint lines need a low one and dirty paper a high one:
//!
//! - *Cells.* The cells of a grid are white regions of like size, side by side in rows that cross. From one cell to the
//!   next they are numbered, and their middles give the map of the page (`cells`).
//! - *Outlines.* The lines of a grid are one dark region, the four corners of which give a map (`outlines`).
//!
//! Each is moved to where its lines are, and judged by how many of the edges between cells are there. Several that lie
//! apart, or that differ by a row or column, are kept: what is in the cells decides.

use super::{
    Gray,
    cells::cells,
    homography::Place,
    lattice::{Edge, Fit, Lattice, refined},
    regions::{Region, regions},
    tone::{Sums, halved, ink},
};

/// Per cent by which ink is darker than its neighbourhood.
const LEVELS: [u32; 3] = [12, 6, 3];
/// Lattices that are kept: all in all, for a page may be full of puzzles, and of those that lie over others.
const MOST: usize = 24;
const MOST_OVER_OTHERS: usize = 8;
/// The share of the edges that has to be there.
const LEAST_PRESENT: f64 = 0.62;

/// A lattice with how well it fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub lattice: Lattice,
    pub fit: Fit,
}

impl Candidate {
    fn score(&self) -> f64 {
        self.fit.score()
    }
}

/// A fit that other ways of looking seldom better.
const GOOD: f64 = 0.8;

/// The lattices that fit best, those that fit better first. When none is good the picture is looked at as a smaller one
/// too, where lines out of focus are sharper.
pub(super) fn locate(picture: &Gray) -> Vec<Candidate> {
    let mut found = look(picture);
    if found.iter().all(|candidate| candidate.fit.present < GOOD)
        && picture.width().min(picture.height()) > 200
    {
        let smaller = look(&halved(picture));
        let larger =
            |candidate: &Candidate| judged(candidate.lattice.scaled(2.0), picture, LEAST_PRESENT - 0.1);
        found.extend(smaller.iter().filter_map(larger));
    }
    found.sort_by(|a, b| b.score().total_cmp(&a.score()));
    let (mut kept, mut over): (Vec<Candidate>, usize) = (Vec::new(), 0);
    for candidate in found {
        if kept.len() == MOST || kept.iter().any(|other| are_same(&other.lattice, &candidate.lattice)) {
            continue;
        }
        let apart = !kept.iter().any(|other| other.lattice.overlaps(&candidate.lattice));
        if apart || over < MOST_OVER_OTHERS {
            over += usize::from(!apart);
            kept.push(candidate);
        }
    }
    kept
}

/// Looks for lattices at one level of ink after the other.
fn look(picture: &Gray) -> Vec<Candidate> {
    let sums = Sums::of(picture);
    let mut found: Vec<Candidate> = Vec::new();
    for percent in LEVELS {
        let mask = ink(picture, &sums, percent);
        let (width, height) = (picture.width(), picture.height());
        let judged = |lattice| judged(lattice, picture, LEAST_PRESENT);
        let maps = cells(&regions(&mask, width, false, false, 40), width, height);
        found.extend(maps.into_iter().filter_map(judged));
        for corners in outlines(&regions(&mask, width, true, true, 200), width, height) {
            let mut sides = [9, 6, 4].into_iter().filter_map(|side| Lattice::between(corners, side));
            found.extend(sides.find_map(judged));
        }
        if found.iter().any(|candidate| candidate.fit.present > 0.93) {
            break;
        }
    }
    found
}

/// Moves a lattice to its lines and judges it.
fn judged(lattice: Lattice, picture: &Gray, least: f64) -> Option<Candidate> {
    if !lattice.is_possible(picture) {
        return None;
    }
    let lattice = refined(lattice, picture, &[0.3, 0.22, 0.15])?;
    let fit = Fit::of(&lattice.edges(picture, 0.15), lattice.side, lattice.cell());
    let whole = fit.present >= least && (lattice.side == 9 || !goes_on(&lattice, picture, fit.depth));
    whole.then_some(Candidate { lattice, fit })
}

/// Whether the lines of a small lattice go on beyond it on some side, up to one more line at the distance of a cell: then
/// it is a part of a larger one. The lines of another grid beside it may lie in one row with its own, but there is a gap
/// between.
fn goes_on(lattice: &Lattice, picture: &Gray, depth: f64) -> bool {
    let side = lattice.side;
    let wider = Lattice { side: side + 2, map: lattice.map.moved((-1.0, -1.0), (1.0, 1.0)) };
    let edges = wider.edges(picture, 0.15);
    let along = |edge: &&Edge| if edge.down { edge.middle.1 } else { edge.middle.0 };
    let most_are_dark = |some: &[&Edge]| {
        let dark = some.iter().filter(|edge| edge.depth > 0.5 * depth).count();
        3 * dark > 2 * some.len()
    };
    // Pieces of lines in the rows and columns around, and the line beyond those, the corners left out.
    let there = |down: bool, first: bool| {
        let (ring, beyond) = if first { (0.5, 0) } else { (side as f64 + 1.5, side + 2) };
        let out = |edge: &&Edge| edge.down == down && (1..=side + 1).contains(&edge.line);
        let out: Vec<&Edge> =
            edges.iter().filter(out).filter(|edge| (along(edge) - ring).abs() < 0.1).collect();
        let next = |edge: &&Edge| edge.down != down && edge.line == beyond;
        let inside = 1.0..side as f64 + 1.0;
        let next: Vec<&Edge> =
            edges.iter().filter(next).filter(|edge| inside.contains(&along(edge))).collect();
        most_are_dark(&out) && most_are_dark(&next)
    };
    [(false, false), (false, true), (true, false), (true, true)].into_iter().any(|(a, b)| there(a, b))
}

/// Whether two lattices are the same but for small differences, up to a quarter of a cell in the corners.
fn are_same(a: &Lattice, b: &Lattice) -> bool {
    let near = 0.3 * a.cell().min(b.cell());
    let apart = |(a, b): (&Place, &Place)| (a.0 - b.0).abs().max((a.1 - b.1).abs());
    a.side == b.side && {
        let (a, b) = (a.corners(), b.corners());
        (0..4).any(|turn| a.iter().zip(b.iter().cycle().skip(turn)).map(apart).all(|apart| apart < near))
    }
}

/// The quadrilaterals of large dark regions: once with the corners in the diagonal directions, as an upright grid has
/// them, once with those to the sides.
fn outlines(inked: &[Region], width: usize, height: usize) -> Vec<[Place; 4]> {
    let least = width.min(height) / 6;
    let large = inked.iter().filter(|region| {
        region.columns.1 - region.columns.0 > least && region.rows.1 - region.rows.0 > least
    });
    let mut largest: Vec<&Region> = large.collect();
    largest.sort_by(|a, b| b.area.total_cmp(&a.area));
    largest.truncate(MOST);
    let quads = largest.into_iter().flat_map(|region| [[5, 7, 1, 3], [4, 6, 0, 2]].map(|of| (region, of)));
    quads
        .map(|(region, of)| of.map(|place| region.extremes[place]).map(|(x, y)| (x as f64, y as f64)))
        .collect()
}
