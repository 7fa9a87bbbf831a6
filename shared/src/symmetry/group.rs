//! The cell symmetries of a shape.
//!
//! Rearrangements of the cells that take every grid to a grid, whatever its digits are: rows change places inside a
//! band, bands change places, columns inside a stack, stacks, and where boxes are square the grid may be transposed.
//! Rows and columns are rearranged independently, so that without transposition the group is
//! `(S_R wr S_C) x (S_C wr S_R)`: C bands of R rows, R stacks of C columns. With it, on square boxes, it is
//! `(S_R wr S_R) wr S_2`: 3,359,232 elements for 3x3.
//!
//! Relabelling the digits is not part of it.

use crate::{count::Exact, grid::Shape};

/// A rearrangement of the cells of a grid.
///
/// **Convention:** a symmetry says where the content of each cell comes from. `new[r][c] = old[rows[r]][columns[c]]`,
/// or `old[columns[c]][rows[r]]` where it transposes.
///
/// ```
/// use shared::{grid::Shape, symmetry::Symmetry};
///
/// let shape = Shape::new(2, 2).unwrap();
/// let swap = Symmetry::new(shape, &[1, 0, 2, 3], &[0, 1, 2, 3], false).unwrap();
/// let grid = [1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 2, 1];
/// assert_eq!(swap.apply(&grid)[..8], [3, 4, 1, 2, 1, 2, 3, 4]);
/// assert_eq!((swap.order(), swap.cycle_type()), (2, vec![(1, 8), (2, 4)]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symmetry {
    shape: Shape,
    transposed: bool,
    rows: Vec<u8>,
    columns: Vec<u8>,
}

impl Symmetry {
    /// The symmetry that moves nothing.
    pub fn identity(shape: Shape) -> Self {
        let all: Vec<u8> = lines(shape).collect();
        Self { shape, transposed: false, rows: all.clone(), columns: all }
    }

    /// A symmetry from its parts; `None` unless `rows` permutes bands and rows inside bands, `columns` stacks and
    /// columns inside stacks, and boxes are square where it transposes.
    pub fn new(shape: Shape, rows: &[u8], columns: &[u8], transposed: bool) -> Option<Self> {
        let square = shape.rows() == shape.columns();
        let fits = keeps_blocks(rows, shape.rows(), shape.side())
            && keeps_blocks(columns, shape.columns(), shape.side())
            && (square || !transposed);
        fits.then(|| Self { shape, transposed, rows: rows.to_vec(), columns: columns.to_vec() })
    }

    /// A symmetry whose parts are known to fit.
    pub(super) fn from_parts(shape: Shape, rows: Vec<u8>, columns: Vec<u8>, transposed: bool) -> Self {
        debug_assert!(Self::new(shape, &rows, &columns, transposed).is_some());
        Self { shape, transposed, rows, columns }
    }

    /// The shape of the grids it rearranges.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// For every row, the line it comes from.
    pub fn rows(&self) -> &[u8] {
        &self.rows
    }

    /// For every column, the line it comes from.
    pub fn columns(&self) -> &[u8] {
        &self.columns
    }

    /// Whether rows come from columns.
    pub fn transposed(&self) -> bool {
        self.transposed
    }

    /// The cell whose content comes to `cell`; cells are numbered row by row.
    ///
    /// # Panics
    ///
    /// When there is no such cell.
    pub fn source(&self, cell: usize) -> usize {
        let n = self.shape.side();
        let (row, column) = (usize::from(self.rows[cell / n]), usize::from(self.columns[cell % n]));
        if self.transposed { column * n + row } else { row * n + column }
    }

    /// The symmetry as a permutation of the cells: the source of each.
    pub fn cells(&self) -> Vec<usize> {
        (0..self.rows.len() * self.columns.len()).map(|cell| self.source(cell)).collect()
    }

    /// The rearranged grid.
    ///
    /// # Panics
    ///
    /// When `grid` has fewer cells than the shape.
    pub fn apply<T: Clone>(&self, grid: &[T]) -> Vec<T> {
        self.cells().into_iter().map(|source| grid[source].clone()).collect()
    }

    /// This symmetry, and `next` after it: `a.then(&b).apply(grid) == b.apply(&a.apply(grid))`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        debug_assert_eq!(self.shape, next.shape);
        // The content of cell p comes from self(next(p)). Where `next` transposes, what it calls a row is a column here.
        let (rows, columns) =
            if next.transposed { (&self.columns, &self.rows) } else { (&self.rows, &self.columns) };
        Self {
            shape: self.shape,
            transposed: self.transposed != next.transposed,
            rows: after(rows, &next.rows),
            columns: after(columns, &next.columns),
        }
    }

    /// The symmetry that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let (rows, columns) =
            if self.transposed { (&self.columns, &self.rows) } else { (&self.rows, &self.columns) };
        Self { rows: inverse(rows), columns: inverse(columns), ..*self }
    }

    /// Whether nothing moves.
    pub fn is_identity(&self) -> bool {
        !self.transposed && self.rows.iter().zip(&self.columns).zip(0..).all(|((&r, &c), i)| r == i && c == i)
    }

    /// How often it has to be repeated until nothing has moved.
    pub fn order(&self) -> u64 {
        self.cycle_type().iter().fold(1, |order, &(length, _)| lcm(order, length.into()))
    }

    /// The cycles of the permutation of the cells: (length, how many), by length.
    ///
    /// # Panics
    ///
    /// Never: there are at most 625 cells.
    pub fn cycle_type(&self) -> Vec<(u32, u32)> {
        let mut lengths: Vec<u32> = Vec::new();
        let mut seen = vec![false; self.rows.len() * self.columns.len()];
        for start in 0..seen.len() {
            let (mut cell, mut length) = (start, 0);
            while !seen[cell] {
                seen[cell] = true;
                cell = self.source(cell);
                length += 1;
            }
            if length > 0 {
                lengths.push(length);
            }
        }
        lengths.sort_unstable();
        let counted = lengths.chunk_by(|a, b| a == b);
        counted.map(|same| (same[0], u32::try_from(same.len()).expect("few cells"))).collect()
    }
}

/// All symmetries of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymmetryGroup {
    shape: Shape,
    with_transpose: bool,
}

impl SymmetryGroup {
    /// The symmetries of `shape`, with transposition if it is wanted and boxes are square.
    pub fn new(shape: Shape, with_transpose: bool) -> Self {
        Self { shape, with_transpose: with_transpose && shape.rows() == shape.columns() }
    }

    /// The shape of the grids.
    pub fn shape(self) -> Shape {
        self.shape
    }

    /// Whether the transposing symmetries belong to it.
    pub fn with_transpose(self) -> bool {
        self.with_transpose
    }

    /// Number of symmetries: `(R!)^C C! (C!)^R R!`, twice that with transposition.
    pub fn order(self) -> Exact {
        let doubled = Exact::from(1 + u64::from(self.with_transpose));
        Self::lines(self.shape).times(&Self::lines(self.shape.transposed())).times(&doubled)
    }

    /// Ways to rearrange the rows of a shape: `(R!)^C C!`.
    fn lines(shape: Shape) -> Exact {
        let blocks = u32::try_from(shape.columns()).expect("at most 25");
        Exact::factorial(shape.rows() as u64).power(blocks).times(&Exact::factorial(blocks.into()))
    }

    /// A few symmetries that generate all: exchanges of neighbours, and the transposition.
    pub fn generators(self) -> Vec<Symmetry> {
        let shape = self.shape;
        let fixed: Vec<u8> = lines(shape).collect();
        let rows = exchanges(shape.rows(), shape.columns());
        let columns = exchanges(shape.columns(), shape.rows());
        let rows = rows.into_iter().map(|rows| Symmetry::from_parts(shape, rows, fixed.clone(), false));
        let columns =
            columns.into_iter().map(|columns| Symmetry::from_parts(shape, fixed.clone(), columns, false));
        let transposition = Symmetry { transposed: true, ..Symmetry::identity(shape) };
        rows.chain(columns).chain(self.with_transpose.then_some(transposition)).collect()
    }
}

/// The numbers of the rows, which are those of the columns too.
fn lines(shape: Shape) -> impl Iterator<Item = u8> {
    (0..=u8::MAX).take(shape.side())
}

/// Exchanges of the first block with each other, and of neighbours inside the first block: with their conjugates they
/// generate `S_size wr S_blocks`.
fn exchanges(size: usize, blocks: usize) -> Vec<Vec<u8>> {
    let mut list = Vec::new();
    let fixed: Vec<u8> = (0..=u8::MAX).take(size * blocks).collect();
    for place in 1..size {
        let mut lines = fixed.clone();
        lines.swap(place - 1, place);
        list.push(lines);
    }
    for block in 1..blocks {
        let mut lines = fixed.clone();
        for place in 0..size {
            lines.swap(place, block * size + place);
        }
        list.push(lines);
    }
    list
}

/// Whether `lines` is a permutation of `0..side` that takes blocks of `size` to blocks.
fn keeps_blocks(lines: &[u8], size: usize, side: usize) -> bool {
    let mut seen = vec![false; side];
    lines.len() == side
        && lines
            .iter()
            .all(|&line| seen.get_mut(usize::from(line)).is_some_and(|seen| !std::mem::replace(seen, true)))
        && lines
            .chunks(size)
            .all(|block| block.iter().all(|&line| usize::from(line) / size == usize::from(block[0]) / size))
}

/// `a` after `b`: the permutation that takes `i` to `a[b[i]]`.
pub(super) fn after(a: &[u8], b: &[u8]) -> Vec<u8> {
    b.iter().map(|&i| a[usize::from(i)]).collect()
}

fn inverse(permutation: &[u8]) -> Vec<u8> {
    let mut inverse = vec![0; permutation.len()];
    for (&to, from) in permutation.iter().zip(0..) {
        inverse[usize::from(to)] = from;
    }
    inverse
}

/// Least common multiple.
fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_the_groups() {
        let order =
            |shape: &str, transpose| SymmetryGroup::new(shape.parse().unwrap(), transpose).order().to_u128();
        assert_eq!(order("3x3", true), Some(3_359_232));
        assert_eq!(order("3x3", false), Some(1_679_616));
        assert_eq!(order("2x2", true), Some(128));
        assert_eq!(order("2x3", true), Some(3_456));
        assert_eq!(order("2x3", true), order("3x2", false));
    }

    #[test]
    fn blocks_are_kept() {
        let shape = Shape::new(2, 3).unwrap();
        let six = [0, 1, 2, 3, 4, 5];
        assert!(Symmetry::new(shape, &[3, 2, 0, 1, 4, 5], &[3, 5, 4, 1, 0, 2], false).is_some());
        assert_eq!(Symmetry::new(shape, &[0, 2, 1, 3, 4, 5], &six, false), None);
        assert_eq!(Symmetry::new(shape, &six, &[0, 1, 3, 2, 4, 5], false), None);
        assert_eq!(Symmetry::new(shape, &six, &six, true), None);
        assert_eq!(Symmetry::new(shape, &[0, 0, 2, 3, 4, 5], &six, false), None);
        assert_eq!(Symmetry::new(shape, &[0, 1, 2, 3, 4, 6], &six, false), None);
        assert_eq!(Symmetry::new(shape, &six[..5], &six, false), None);
    }

    #[test]
    fn products_and_inverses_act_as_they_should() {
        let group = SymmetryGroup::new(Shape::NINE, true);
        let grid: Vec<u32> = (0..81).collect();
        let mut element = Symmetry::identity(Shape::NINE);
        for (step, generator) in group.generators().iter().cycle().take(60).enumerate() {
            let next = element.then(generator);
            assert_eq!(next.apply(&grid), generator.apply(&element.apply(&grid)), "step {step}");
            let undone = next.then(&next.inverse());
            assert!(undone.is_identity() && next.inverse().then(&next).is_identity(), "step {step}");
            let turned = (1..next.order()).fold(next.clone(), |power, _| power.then(&next));
            assert!(turned.is_identity(), "step {step}");
            element = next;
        }
    }
}
