//! A symmetry of 9x9 grids: where each cell comes from, and what its digit becomes.

use std::array;

use super::Cells;

/// A cell symmetry and a renaming of digits. The image `new` of `old` has
///
/// ```text
/// new[9 r + c] = digits[old[9 rows[r] + columns[c]]],   or, transposed,
/// new[9 r + c] = digits[old[9 columns[c] + rows[r]]]
/// ```
///
/// with `digits[0] = 0`: an empty cell stays empty.
///
/// ```
/// use shared::symmetry::minlex::Transformation;
///
/// let transposition = Transformation { transposed: true, ..Transformation::IDENTITY };
/// let mut cells = [0; 81];
/// cells[1] = 5;
/// assert_eq!(transposition.apply(&cells)[9], 5);
/// assert_eq!(transposition.then(&transposition), Transformation::IDENTITY);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transformation {
    /// Whether rows of the image come from columns.
    pub transposed: bool,
    /// For each row of the image, the row (transposed: the column) it comes from.
    pub rows: [u8; 9],
    /// For each column of the image, the column (transposed: the row) it comes from.
    pub columns: [u8; 9],
    /// For each digit its new name; 0 stays 0.
    pub digits: [u8; 10],
}

impl Transformation {
    /// What changes nothing.
    pub const IDENTITY: Self = Self {
        transposed: false,
        rows: [0, 1, 2, 3, 4, 5, 6, 7, 8],
        columns: [0, 1, 2, 3, 4, 5, 6, 7, 8],
        digits: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    };

    /// The image of cells.
    ///
    /// # Panics
    ///
    /// When a cell exceeds 9.
    pub fn apply(&self, cells: &Cells) -> Cells {
        let mut image = [0; 81];
        let (down, across) = if self.transposed { (1, 9) } else { (9, 1) };
        for (row, &from) in image.as_chunks_mut::<9>().0.iter_mut().zip(&self.rows) {
            for (cell, &column) in row.iter_mut().zip(&self.columns) {
                let digit = cells[down * usize::from(from) + across * usize::from(column)];
                *cell = self.digits[usize::from(digit)];
            }
        }
        image
    }

    /// What takes images back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let (mut rows, mut columns) = (inverted(&self.rows), inverted(&self.columns));
        if self.transposed {
            std::mem::swap(&mut rows, &mut columns);
        }
        Self { transposed: self.transposed, rows, columns, digits: inverted(&self.digits) }
    }

    /// This one first, then `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let (mine, other) =
            if next.transposed { (&self.columns, &self.rows) } else { (&self.rows, &self.columns) };
        Self {
            transposed: self.transposed != next.transposed,
            rows: next.rows.map(|r| mine[usize::from(r)]),
            columns: next.columns.map(|c| other[usize::from(c)]),
            digits: self.digits.map(|d| next.digits[usize::from(d)]),
        }
    }
}

/// The inverse of a permutation.
fn inverted<const N: usize>(permutation: &[u8; N]) -> [u8; N] {
    let mut inverse = array::from_fn(|_| 0);
    for (to, &from) in (0u8..).zip(permutation) {
        inverse[usize::from(from)] = to;
    }
    inverse
}
