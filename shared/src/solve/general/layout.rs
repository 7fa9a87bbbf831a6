//! Which candidates exclude each other in a shape: the tables that all searches read.

use std::sync::OnceLock;

use crate::grid::{Shape, shape::MAX_SIDE};

/// A digit in a cell: 32 times the cell, plus the digit counted from 0.
pub(super) type Candidate = u16;

/// A set of candidates of which exactly one holds: the digits of a cell, or the places of a digit in a row, a column
/// or a box. With side n, groups are numbered by kind: `cell`, then `n*n + n*row + digit`,
/// `2*n*n + n*column + digit` and `3*n*n + n*box + digit`.
pub(super) type Group = usize;

/// Kinds of groups; each candidate is in one group of each.
pub(super) const KINDS: usize = 4;

/// The groups of a shape and their members.
pub(super) struct Layout {
    pub side: usize,
    places: Vec<Place>,
    /// The members of a group: `side` of them, by bit.
    members: Vec<Candidate>,
}

/// Where a cell is.
#[derive(Clone, Copy)]
struct Place {
    /// The groups of the first digit in its row, column and box.
    bases: [u16; 3],
    /// The bits that stand for the cell in them: its column, its row and its number inside the box.
    bits: [u32; 3],
}

impl Layout {
    /// The layout of a shape, made once for the life of the process.
    pub fn of(shape: Shape) -> &'static Self {
        const SIDES: usize = MAX_SIDE as usize;
        static LAYOUTS: [OnceLock<Layout>; SIDES * SIDES] = [const { OnceLock::new() }; SIDES * SIDES];
        LAYOUTS[(shape.rows() - 1) * SIDES + shape.columns() - 1].get_or_init(|| Self::new(shape))
    }

    fn new(shape: Shape) -> Self {
        let side = shape.side();
        let small = |n: usize| u16::try_from(n).expect("there are at most 2500 groups and 20000 candidates");
        let place = |cell: usize| {
            let (row, column) = (cell / side, cell % side);
            // A band has as many boxes as a box has rows.
            let of_box = row / shape.rows() * shape.rows() + column / shape.columns();
            let inside = row % shape.rows() * shape.columns() + column % shape.columns();
            let base = |kind: usize, unit: usize| small(kind * side * side + unit * side);
            Place {
                bases: [base(1, row), base(2, column), base(3, of_box)],
                bits: [1 << column, 1 << row, 1 << inside],
            }
        };
        let places = (0..side * side).map(place).collect();
        let mut layout = Self { side, places, members: vec![0; KINDS * side * side * side] };
        for (cell, digit) in (0..side * side).flat_map(|cell| (0..side).map(move |digit| (cell, digit))) {
            let candidate = small(32 * cell + digit);
            let (groups, bits) = (layout.groups(candidate), layout.bits(candidate));
            for (group, bit) in groups.into_iter().zip(bits) {
                layout.members[group * side + bit.trailing_zeros() as usize] = candidate;
            }
        }
        layout
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        KINDS * self.side * self.side
    }

    /// The four groups of a candidate: its cell's, its row's, its column's and its box's.
    #[inline]
    pub fn groups(&self, candidate: Candidate) -> [Group; KINDS] {
        let (cell, digit) = split(candidate);
        let [row, column, of_box] = self.places[cell].bases.map(usize::from);
        [cell, row + digit, column + digit, of_box + digit]
    }

    /// The bits that stand for a candidate in its four groups.
    #[inline]
    pub fn bits(&self, candidate: Candidate) -> [u32; KINDS] {
        let (cell, digit) = split(candidate);
        let [row, column, of_box] = self.places[cell].bits;
        [1 << digit, row, column, of_box]
    }

    /// The member of a group that the lowest bit of a set stands for.
    #[inline]
    pub fn member(&self, group: Group, set: u32) -> Candidate {
        self.members[group * self.side + set.trailing_zeros() as usize]
    }
}

/// The cell and the digit, from 0, of a candidate.
#[inline]
pub(super) fn split(candidate: Candidate) -> (usize, usize) {
    (usize::from(candidate / 32), usize::from(candidate % 32))
}
