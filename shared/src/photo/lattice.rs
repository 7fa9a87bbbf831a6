//! A lattice of lines on a picture, and how well it fits.

use super::{
    Gray,
    homography::{Homography, Place, System},
};
use crate::grid::Shape;

/// Cells along a side, and where the lines between them are: at whole numbers from 0 on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lattice {
    pub side: usize,
    pub map: Homography,
}

/// A piece of a line, from one crossing to the next, as it was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Its middle on the page.
    pub middle: Place,
    /// The direction across it on the picture, of length 1.
    pub across: Place,
    /// How far in that direction it is from where it was looked for, in pixels.
    pub offset: f64,
    /// How much darker it is than what is beside it, from 0 to 1.
    pub depth: f64,
    /// Which line it is on, which of its pieces it is, and whether the line is one of those down the page.
    pub line: usize,
    pub piece: usize,
    pub down: bool,
}

/// A picture between its pixels, by the four that are nearest. Outside it is like its border.
#[inline]
pub(super) fn between(picture: &Gray, (x, y): Place) -> f64 {
    let right = (picture.width() - 1) as f64;
    let bottom = (picture.height() - 1) as f64;
    let (x, y) = (x.clamp(0.0, right), y.clamp(0.0, bottom));
    let (left, top) = (x as usize, y as usize);
    let (next, below) = ((left + 1).min(picture.width() - 1), (top + 1).min(picture.height() - 1));
    let (fx, fy) = (x - left as f64, y - top as f64);
    let at = |x, y| f64::from(picture.at(x, y));
    let above = at(left, top) * (1.0 - fx) + at(next, top) * fx;
    let under = at(left, below) * (1.0 - fx) + at(next, below) * fx;
    above * (1.0 - fy) + under * fy
}

/// Places along an edge that are looked at.
const ALONG: usize = 9;

impl Lattice {
    /// The same on a picture that is larger by a factor.
    pub(super) fn scaled(mut self, factor: f64) -> Self {
        self.map.0[..6].iter_mut().for_each(|value| *value *= factor);
        self
    }

    /// A flat grid between corners: top left, top right, bottom right, bottom left.
    pub(super) fn between(corners: [Place; 4], side: usize) -> Option<Self> {
        let size = side as f64;
        let page = [(0.0, 0.0), (size, 0.0), (size, size), (0.0, size)];
        let pairs: Vec<(Place, Place)> = page.into_iter().zip(corners).collect();
        Some(Self { side, map: Homography::fit(&pairs)? })
    }

    /// The length of a cell's side on the picture, roughly.
    pub(super) fn cell(&self) -> f64 {
        self.area().max(0.0).sqrt() / self.side as f64
    }

    /// The area on the picture; negative when it is seen from behind.
    pub(super) fn area(&self) -> f64 {
        let corners = self.corners();
        let next = corners.iter().cycle().skip(1);
        corners.iter().zip(next).map(|(a, b)| a.0 * b.1 - a.1 * b.0).sum::<f64>() / 2.0
    }

    /// Top left, top right, bottom right, bottom left.
    pub(super) fn corners(&self) -> [Place; 4] {
        let side = self.side as f64;
        [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side)].map(|corner| self.map.at(corner))
    }

    /// Whether it can be a grid as somebody would take a picture of it: convex, not too flat, inside the picture but for
    /// a little, and no cell too small to be read.
    pub(super) fn is_possible(&self, picture: &Gray) -> bool {
        let corners = self.corners();
        let (width, height) = (picture.width() as f64, picture.height() as f64);
        let margin = 0.03 * width.max(height);
        let inside =
            |&(x, y): &Place| x >= -margin && y >= -margin && x <= width + margin && y <= height + margin;
        let side = |i: usize| {
            let (a, b) = (corners[i], corners[(i + 1) % 4]);
            (b.0 - a.0, b.1 - a.1)
        };
        let length = |(x, y): Place| (x * x + y * y).sqrt();
        let lengths = [0, 1, 2, 3].map(|i| length(side(i)));
        let convex = (0..4).all(|i| {
            let (a, b) = (side(i), side((i + 1) % 4));
            a.0 * b.1 - a.1 * b.0 > 0.35 * length(a) * length(b)
        });
        let (short, long) = lengths.iter().fold((f64::MAX, 0.0_f64), |all, &l| (all.0.min(l), all.1.max(l)));
        corners.iter().all(inside) && convex && long < 2.2 * short && self.cell() >= 9.0
    }

    /// Whether the middle of one lattice lies inside another, or the other way round.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.contains(other.middle()) || other.contains(self.middle())
    }

    fn middle(&self) -> Place {
        let half = self.side as f64 / 2.0;
        self.map.at((half, half))
    }

    fn contains(&self, at: Place) -> bool {
        let corners = self.corners();
        (0..4).all(|i| {
            let (a, b) = (corners[i], corners[(i + 1) % 4]);
            (b.0 - a.0) * (at.1 - a.1) - (b.1 - a.1) * (at.0 - a.0) >= 0.0
        })
    }

    /// Looks for each edge, up to `reach` of a cell away.
    pub(super) fn edges(&self, picture: &Gray, reach: f64) -> Vec<Edge> {
        edges(picture, self.side, &|place| self.map.at(place), reach)
    }
}

/// Looks for each edge of a page that lies on the picture as `map` says, up to `reach` of a cell away.
pub(super) fn edges(picture: &Gray, side: usize, map: &dyn Fn(Place) -> Place, reach: f64) -> Vec<Edge> {
    let mut edges = Vec::with_capacity(2 * side * (side + 1));
    for down in [false, true] {
        for line in 0..=side {
            for piece in 0..side {
                edges.push(piece_of_line(picture, (down, line, piece), map, reach));
            }
        }
    }
    edges
}

/// The same for one edge: a piece of a line, down the page or across.
pub(super) fn piece_of_line(
    picture: &Gray,
    (down, line, piece): (bool, usize, usize),
    map: &dyn Fn(Place) -> Place,
    reach: f64,
) -> Edge {
    let at = |along: f64| {
        let (line, along) = (line as f64, piece as f64 + along);
        if down { (line, along) } else { (along, line) }
    };
    let (from, to) = (map(at(0.1)), map(at(0.9)));
    let (offset, depth, across) = edge(picture, reach, from, to);
    Edge { middle: at(0.5), across, offset, depth, line, piece, down }
}

/// The offset and the depth of an edge near where it should be, and the direction across.
fn edge(picture: &Gray, reach: f64, from: Place, to: Place) -> (f64, f64, Place) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = (dx * dx + dy * dy).sqrt().max(1e-9);
    let across = (-dy / length, dx / length);
    let steps = ((reach * length / 0.8).round() as usize).clamp(3, 40);
    let mut levels = [0.0; 81];
    let levels = &mut levels[..=2 * steps];
    for (place, level) in levels.iter_mut().enumerate() {
        let offset = place as f64 - steps as f64;
        let sample = |i: usize| {
            let part = i as f64 / (ALONG - 1) as f64;
            let x = from.0 + part * dx + offset * across.0;
            let y = from.1 + part * dy + offset * across.1;
            between(picture, (x, y))
        };
        *level = (0..ALONG).map(sample).sum::<f64>() / ALONG as f64;
    }
    let (offset, depth) = valley(levels);
    (offset, depth, across)
}

/// Where a row of levels has its darkest place, counted from the middle, and how much darker that is than what is on
/// both sides of it.
fn valley(levels: &[f64]) -> (f64, f64) {
    let middle = (levels.len() / 2) as f64;
    // What is near is preferred, by a little.
    let cost = |place: usize| levels[place] * (1.0 + 0.04 * ((place as f64 - middle) / middle).abs());
    let lowest = (0..levels.len()).reduce(|a, b| if cost(b) < cost(a) { b } else { a }).unwrap_or(0);
    let brightest = |levels: &[f64]| levels.iter().fold(0.0_f64, |a, &b| a.max(b));
    let (left, right) = (brightest(&levels[..=lowest]), brightest(&levels[lowest..]));
    let around = left.min(right).max(1.0);
    let depth = (around - levels[lowest]).max(0.0) / around;
    let mut offset = lowest as f64 - middle;
    if lowest > 0 && lowest + 1 < levels.len() {
        let (a, b, c) = (levels[lowest - 1], levels[lowest], levels[lowest + 1]);
        let curve = a - 2.0 * b + c;
        if curve > 1e-9 {
            offset += (0.5 * (a - c) / curve).clamp(-0.5, 0.5);
        }
    }
    (offset, depth)
}

/// How well a lattice fits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fit {
    /// The share of the edges that are there.
    pub present: f64,
    /// How much darker a typical edge is than what is beside it.
    pub depth: f64,
    /// How much darker edges between boxes are than others, as a part of the typical.
    pub boxes: f64,
}

impl Fit {
    /// Of edges that were found, with boxes of so many cells.
    pub(super) fn of(edges: &[Edge], side: usize, cell: f64) -> Self {
        let mut depths: Vec<f64> = edges.iter().map(|edge| edge.depth).collect();
        depths.sort_unstable_by(f64::total_cmp);
        let typical = depths[depths.len() / 2];
        let there = |edge: &&Edge| {
            edge.depth > 0.4 * typical && edge.depth > 0.015 && edge.offset.abs() < (0.15 * cell).max(1.5)
        };
        let present = edges.iter().filter(there).count() as f64 / edges.len() as f64;
        let mean = |between: bool| {
            let shape = shape_of(side);
            let of = |edge: &&Edge| {
                edge.line.is_multiple_of(if edge.down { shape.columns() } else { shape.rows() }) == between
            };
            let some: Vec<f64> = edges.iter().filter(of).map(|edge| edge.depth.min(2.5 * typical)).collect();
            some.iter().sum::<f64>() / some.len().max(1) as f64
        };
        Self { present, depth: typical, boxes: (mean(true) - mean(false)) / typical.max(1e-9) }
    }

    /// One number for it, to compare lattices.
    pub(super) fn score(&self) -> f64 {
        self.present + 0.15 * self.boxes.clamp(-0.5, 1.0)
    }
}

/// The shape of a grid of so many cells a side.
pub(super) fn shape_of(side: usize) -> Shape {
    match side {
        4 => Shape::FOUR,
        6 => Shape::SIX,
        _ => Shape::NINE,
    }
}

/// Moves a lattice to where its lines are: smallest squares of the distances across the edges, those far off counting
/// less. `None` when that leads nowhere.
pub(super) fn refined(lattice: Lattice, picture: &Gray, reaches: &[f64]) -> Option<Lattice> {
    let mut lattice = lattice;
    for &reach in reaches {
        let edges = lattice.edges(picture, reach);
        let cell = lattice.cell();
        let mut depths: Vec<f64> = edges.iter().map(|edge| edge.depth).collect();
        depths.sort_unstable_by(f64::total_cmp);
        let typical = depths[depths.len() * 3 / 5].max(0.01);
        let size = lattice.side as f64;
        let mut system = System::<8>::default();
        for edge in &edges {
            let derivatives = lattice.map.derivatives(edge.middle);
            let scale = [1.0, 1.0, size, 1.0, 1.0, size, 1.0 / (size * cell), 1.0 / (size * cell)];
            let mut coefficients = [0.0; 8];
            for ((coefficient, derivative), scale) in coefficients.iter_mut().zip(derivatives).zip(scale) {
                *coefficient = (derivative.0 * edge.across.0 + derivative.1 * edge.across.1) * scale;
            }
            let far = edge.offset.abs() / (0.06 * cell).max(1.0);
            let weight = (edge.depth / typical).min(1.5) / (1.0 + far);
            system.add(coefficients, edge.offset, weight);
        }
        let step = system.solve()?;
        let scale = [1.0, 1.0, size, 1.0, 1.0, size, 1.0 / (size * cell), 1.0 / (size * cell)];
        for ((value, step), scale) in lattice.map.0.iter_mut().zip(step).zip(scale) {
            *value += step * scale;
        }
        if !lattice.is_possible(picture) {
            return None;
        }
    }
    Some(lattice)
}
