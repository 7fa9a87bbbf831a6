//! Sets of cells.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A set of cells of a grid of at most 128 cells (9x9 and smaller), numbered row by row from 0: bit `c` is cell `c`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellSet(pub u128);

impl CellSet {
    /// No cell.
    pub const EMPTY: Self = Self(0);

    /// One cell.
    pub const fn single(cell: usize) -> Self {
        Self(1 << cell)
    }

    /// The cells `0..count`, for at most 127 cells.
    pub const fn below(count: usize) -> Self {
        Self((1 << count) - 1)
    }

    /// Number of cells.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is no cell.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a cell belongs to the set.
    pub const fn contains(self, cell: usize) -> bool {
        self.0 >> cell & 1 == 1
    }

    /// Whether a cell belongs to both sets.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether every cell belongs to the other set too.
    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The cells of both sets together.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The cells that do not belong to the other set.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The cells, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let cell = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                cell
            })
        })
    }
}

impl FromIterator<usize> for CellSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cells: I) -> Self {
        cells.into_iter().fold(Self::EMPTY, |set, cell| set.union(Self::single(cell)))
    }
}

impl fmt::Debug for CellSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
