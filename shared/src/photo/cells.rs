//! Lattices from the white cells between lines.

use super::{
    homography::{Homography, Place},
    lattice::Lattice,
    regions::Region,
};

/// A white region that may be a cell.
#[derive(Clone, Copy, Debug)]
struct Cell {
    center: Place,
    /// The side of a square that is spread as it is.
    side: f64,
}

/// Whether a region is like a square that is seen from somewhere: not much longer than wide, and not full of holes, for
/// its area.
fn cell_of(region: &Region, longer_edge: f64) -> Option<Cell> {
    let (xx, yy, xy) = region.spread;
    let det = xx * yy - xy * xy;
    if det <= 0.0 {
        return None;
    }
    let square = 12.0 * det.sqrt();
    let side = square.sqrt();
    // The axes of the ellipse that is spread as it is.
    let (mean, difference) = (xx.midpoint(yy), ((xx - yy) * (xx - yy) / 4.0 + xy * xy).sqrt());
    let long = (mean + difference) / (mean - difference).max(1e-9);
    let likely = side > 7.0
        && side < longer_edge / 4.0
        && long < 3.2
        && region.area > 0.5 * square
        && region.area < 1.15 * square;
    likely.then_some(Cell { center: region.center, side })
}

/// Cells at a lattice: their numbers, and where they are.
type Numbered = Vec<((i32, i32), Place)>;

/// The lattices that white regions lie on.
pub(super) fn cells(white: &[Region], width: usize, height: usize) -> Vec<Lattice> {
    let longer = width.max(height) as f64;
    let cells: Vec<Cell> = white.iter().filter_map(|region| cell_of(region, longer)).collect();
    let near = Buckets::of(&cells, width, height);
    let mut taken = vec![false; cells.len()];
    let mut lattices = Vec::new();
    for seed in 0..cells.len() {
        if taken[seed] {
            continue;
        }
        let numbered = numbered(&cells, &near, seed, &mut taken);
        if numbered.len() >= 8 {
            windows(&numbered, &mut lattices);
        }
    }
    lattices
}

/// Cells by where they are.
struct Buckets {
    size: f64,
    columns: usize,
    rows: usize,
    cells: Vec<Vec<usize>>,
}

impl Buckets {
    fn of(cells: &[Cell], width: usize, height: usize) -> Self {
        let size = 32.0;
        let (columns, rows) = (width / 32 + 1, height / 32 + 1);
        let mut buckets = Self { size, columns, rows, cells: vec![Vec::new(); columns * rows] };
        for (number, cell) in cells.iter().enumerate() {
            let (column, row) = buckets.place(cell.center);
            buckets.cells[row * columns + column].push(number);
        }
        buckets
    }

    fn place(&self, (x, y): Place) -> (usize, usize) {
        let at = |value: f64, end: usize| ((value / self.size).max(0.0) as usize).min(end - 1);
        (at(x, self.columns), at(y, self.rows))
    }

    /// The nearest cell to a place, up to a distance, among those of which the side is near enough to one.
    fn nearest(&self, cells: &[Cell], at: Place, within: f64, side: f64) -> Option<usize> {
        let (first, last) =
            (self.place((at.0 - within, at.1 - within)), self.place((at.0 + within, at.1 + within)));
        let mut best = None;
        for row in first.1..=last.1 {
            for column in first.0..=last.0 {
                for &number in &self.cells[row * self.columns + column] {
                    let cell = &cells[number];
                    let (dx, dy) = (cell.center.0 - at.0, cell.center.1 - at.1);
                    let distance = dx * dx + dy * dy;
                    let like = cell.side > 0.6 * side && cell.side < 1.6 * side;
                    if like && distance < within * within && best.is_none_or(|(least, _)| distance < least) {
                        best = Some((distance, number));
                    }
                }
            }
        }
        best.map(|(_, number)| number)
    }
}

/// Numbers the cells that can be reached from one, each from the one before with the steps found so far.
fn numbered(cells: &[Cell], near: &Buckets, seed: usize, taken: &mut [bool]) -> Numbered {
    let Some(steps) = first_steps(cells, near, seed) else { return Vec::new() };
    let mut all = vec![((0, 0), seed, steps)];
    let mut places = std::collections::BTreeSet::from([(0, 0)]);
    let mut mine = std::collections::BTreeSet::from([seed]);
    let mut next = 0;
    while next < all.len() && all.len() < 400 {
        let ((column, row), number, steps) = all[next];
        next += 1;
        let (center, side) = (cells[number].center, cells[number].side);
        for (direction, sign) in [(0, 1), (0, -1), (1, 1), (1, -1)] {
            let place = if direction == 0 { (column + sign, row) } else { (column, row + sign) };
            let step = steps[direction];
            let to = (center.0 + f64::from(sign) * step.0, center.1 + f64::from(sign) * step.1);
            let length = (step.0 * step.0 + step.1 * step.1).sqrt();
            let Some(other) = near.nearest(cells, to, 0.3 * length, side) else { continue };
            if mine.contains(&other) || !places.insert(place) {
                continue;
            }
            mine.insert(other);
            let found = cells[other].center;
            let (dx, dy) = (f64::from(sign) * (found.0 - center.0), f64::from(sign) * (found.1 - center.1));
            let mut own = steps;
            own[direction] = (0.6 * step.0 + 0.4 * dx, 0.6 * step.1 + 0.4 * dy);
            all.push((place, other, own));
        }
    }
    mine.iter().for_each(|&number| taken[number] = true);
    all.into_iter().map(|(place, number, _)| (place, cells[number].center)).collect()
}

/// The steps from a cell to its neighbours, to the right and down: where a cell lies on either side of it in two
/// directions that cross.
fn first_steps(cells: &[Cell], near: &Buckets, seed: usize) -> Option<[Place; 2]> {
    let Cell { center, side } = cells[seed];
    let mut steps: Vec<(f64, Place)> = Vec::new();
    // Neighbours are about a side away, whichever way the grid is turned.
    for (dx, dy) in WAYS {
        let to = (center.0 + 1.15 * side * dx, center.1 + 1.15 * side * dy);
        if let Some(other) = near.nearest(cells, to, 0.3 * side, side).filter(|&other| other != seed) {
            let step = (cells[other].center.0 - center.0, cells[other].center.1 - center.1);
            steps.push((step.0 * step.0 + step.1 * step.1, step));
        }
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let first = steps.first()?.1;
    let crossing = |&(length, step): &(f64, Place)| {
        let dot = step.0 * first.0 + step.1 * first.1;
        dot.abs() < 0.45 * (length * (first.0 * first.0 + first.1 * first.1)).sqrt()
    };
    let second = steps.iter().find(|step| crossing(step))?.1;
    // The first is the one that goes more to the right, the second turns clockwise from it, which is down.
    let (mut a, mut b) = if first.0.abs() >= second.0.abs() { (first, second) } else { (second, first) };
    if a.0 < 0.0 {
        a = (-a.0, -a.1);
    }
    if a.0 * b.1 - a.1 * b.0 < 0.0 {
        b = (-b.0, -b.1);
    }
    Some([a, b])
}

/// Sixteen directions.
const WAYS: [Place; 16] = {
    const A: f64 = 0.923_879_532_511_286_7;
    const B: f64 = 0.382_683_432_365_089_8;
    const C: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [
        (1.0, 0.0),
        (A, B),
        (C, C),
        (B, A),
        (0.0, 1.0),
        (-B, A),
        (-C, C),
        (-A, B),
        (-1.0, 0.0),
        (-A, -B),
        (-C, -C),
        (-B, -A),
        (0.0, -1.0),
        (B, -A),
        (C, -C),
        (A, -B),
    ]
};

/// Places of a square that are tried: those with the most cells.
const WINDOWS: usize = 9;

/// The squares of 9, 6 or 4 cells a side that numbered cells may be part of, each as a lattice.
fn windows(numbered: &Numbered, lattices: &mut Vec<Lattice>) {
    let range = |of: fn(&((i32, i32), Place)) -> i32| {
        numbered.iter().map(of).fold((i32::MAX, i32::MIN), |all, value| (all.0.min(value), all.1.max(value)))
    };
    let (columns, rows) = (range(|cell| cell.0.0), range(|cell| cell.0.1));
    let (wide, high) = (columns.1 - columns.0 + 1, rows.1 - rows.0 + 1);
    if wide < 3 || high < 3 {
        return;
    }
    // As large as the cells reach, and larger by a few that were not found.
    let extent = wide.max(high);
    for side in [4, 6, 9].into_iter().filter(|&side| extent <= side + 1 && side <= extent + 3 || side == 9) {
        windows_of(numbered, (columns, rows), (side, 1), lattices);
    }
    // The lines inside of boxes may be so faint that each box is one region.
    if extent <= 4 {
        windows_of(numbered, (columns, rows), (3, 3), lattices);
    }
}

/// The squares of `side` regions a side, in the order of how many were found of them; a region is `each` cells wide.
fn windows_of(
    numbered: &Numbered,
    (columns, rows): ((i32, i32), (i32, i32)),
    (side, each): (i32, i32),
    lattices: &mut Vec<Lattice>,
) {
    let inside = |first: (i32, i32)| {
        let is = |&&((column, row), _): &&((i32, i32), Place)| {
            (first.0..first.0 + side).contains(&column) && (first.1..first.1 + side).contains(&row)
        };
        numbered.iter().filter(is).copied().collect::<Vec<_>>()
    };
    // Where the cells reach farther than the square, or less far, all its places are tried.
    let firsts = |(first, last): (i32, i32)| {
        let (a, b) = (last - side + 1, first);
        a.min(b)..=a.max(b)
    };
    let mut tried: Vec<(usize, (i32, i32), Numbered)> = Vec::new();
    for first_column in firsts(columns) {
        for first_row in firsts(rows) {
            let first = (first_column, first_row);
            let some = inside(first);
            if some.len() >= 6 {
                tried.push((some.len(), first, some));
            }
        }
    }
    tried.sort_by_key(|(number, ..)| std::cmp::Reverse(*number));
    for (_, first, some) in tried.into_iter().take(WINDOWS) {
        let pairs: Vec<(Place, Place)> = some
            .iter()
            .map(|&((column, row), center)| {
                let middle = |number: i32| (f64::from(number) + 0.5) * f64::from(each);
                ((middle(column - first.0), middle(row - first.1)), center)
            })
            .collect();
        if let Some(map) = Homography::fit(&pairs) {
            lattices.push(Lattice { side: usize::try_from(side * each).unwrap_or(9), map });
        }
    }
}
