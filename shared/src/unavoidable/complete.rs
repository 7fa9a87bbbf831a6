//! Complete grids: every cell filled, no digit twice in a row, column or box.

use super::CellSet;
use crate::grid::{
    Shape,
    notation::{LineLayout, NotationError},
};

/// Most cells of a grid here.
pub const MOST_CELLS: usize = 81;

/// A complete grid of 9x9 or a smaller shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompleteGrid {
    shape: Shape,
    digits: Vec<u8>,
}

/// Why cells are no complete grid. Rows, columns and digits are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComplete {
    /// The line cannot be read.
    #[error(transparent)]
    Notation(#[from] NotationError),
    /// The line has no grid at all.
    #[error("there is no grid on this line")]
    Nothing,
    /// A grid of more cells than there is room for.
    #[error("grids of shape {shape} have {} cells; at most {MOST_CELLS} are searched", shape.side().pow(2))]
    TooLarge {
        /// What was given.
        shape: Shape,
    },
    /// Too few or too many cells.
    #[error("{found} cells; a grid of shape {shape} has {}", shape.side().pow(2))]
    Cells {
        /// What was given.
        found: usize,
        /// The shape.
        shape: Shape,
    },
    /// A cell without a digit, or with one that is too large.
    #[error("row {row}, column {column} has no digit from 1 to {side}: only complete grids are searched")]
    Empty {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The largest digit.
        side: usize,
    },
    /// A digit twice in a unit.
    #[error(
        "digit {digit} stands twice in {unit}: at row {}, column {} and at row {}, column {}",
        cells[0].0, cells[0].1, cells[1].0, cells[1].1
    )]
    Clash {
        /// The digit.
        digit: u8,
        /// `row 3`, `column 1` or `box 9`.
        unit: String,
        /// Row and column of the two cells.
        cells: [(usize, usize); 2],
    },
}

impl CompleteGrid {
    /// Takes the digits of a grid, row by row.
    ///
    /// # Errors
    ///
    /// Names the first cell without a digit or the first clash.
    pub fn new(shape: Shape, digits: &[u8]) -> Result<Self, NotComplete> {
        let side = shape.side();
        if side * side > MOST_CELLS {
            return Err(NotComplete::TooLarge { shape });
        }
        if digits.len() != side * side {
            return Err(NotComplete::Cells { found: digits.len(), shape });
        }
        let place = |cell: usize| (cell / side + 1, cell % side + 1);
        if let Some(cell) = digits.iter().position(|&digit| digit == 0 || usize::from(digit) > side) {
            let (row, column) = place(cell);
            return Err(NotComplete::Empty { row, column, side });
        }
        for (unit, cells) in Units::new(shape).all.iter().enumerate() {
            let mut seen = [usize::MAX; 10];
            for cell in cells.iter() {
                let digit = digits[cell];
                let before = std::mem::replace(&mut seen[usize::from(digit)], cell);
                if before != usize::MAX {
                    let kind = ["row", "column", "box"][unit / side];
                    let unit = format!("{kind} {}", unit % side + 1);
                    return Err(NotComplete::Clash { digit, unit, cells: [place(before), place(cell)] });
                }
            }
        }
        Ok(Self { shape, digits: digits.to_vec() })
    }

    /// Reads a grid from a line, in any notation for one.
    ///
    /// # Errors
    ///
    /// When the line cannot be read, or names the first cell without a digit or the first clash.
    ///
    /// ```
    /// use shared::unavoidable::CompleteGrid;
    ///
    /// assert!(CompleteGrid::read("1234341221434321").is_ok());
    /// let error = CompleteGrid::read("1234341221434312").unwrap_err().to_string();
    /// assert_eq!(error, "digit 1 stands twice in column 3: at row 2, column 3 and at row 4, column 3");
    /// ```
    pub fn read(text: &str) -> Result<Self, NotComplete> {
        let grid = LineLayout::default().read(text.as_bytes(), None)?.ok_or(NotComplete::Nothing)?;
        Self::new(grid.shape, &grid.cells)
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The digits from 1, row by row.
    pub fn digits(&self) -> &[u8] {
        &self.digits
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.digits.len()
    }

    /// The puzzle that gives the digits of these cells only, 0 elsewhere.
    pub fn puzzle(&self, clues: CellSet) -> Vec<u8> {
        let given = |(cell, &digit)| if clues.contains(cell) { digit } else { 0 };
        self.digits.iter().enumerate().map(given).collect()
    }
}

/// The rows, columns and boxes of a shape of at most 81 cells.
#[derive(Clone, Debug)]
pub(super) struct Units {
    /// Rows, then columns, then boxes.
    pub all: Vec<CellSet>,
    /// The numbers of the row, column and box of each cell in `all`.
    pub of: Vec<[usize; 3]>,
    /// The cells that share a unit with each cell, the cell itself among them.
    pub seen: Vec<CellSet>,
}

impl Units {
    pub(super) fn new(shape: Shape) -> Self {
        let side = shape.side();
        let number = |cell: usize| {
            let (row, column) = (cell / side, cell % side);
            let own = row / shape.rows() * shape.rows() + column / shape.columns();
            [row, side + column, 2 * side + own]
        };
        let of: Vec<[usize; 3]> = (0..side * side).map(number).collect();
        let mut all = vec![CellSet::EMPTY; 3 * side];
        for (cell, units) in of.iter().enumerate() {
            units.iter().for_each(|&unit| all[unit] = all[unit].union(CellSet::single(cell)));
        }
        let union = |units: &[usize; 3]| units.iter().fold(CellSet::EMPTY, |sum, &unit| sum.union(all[unit]));
        let seen = of.iter().map(union).collect();
        Self { all, of, seen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_complete_grid_is_refused_with_the_clash() {
        let error = |text: &str| CompleteGrid::read(text).unwrap_err().to_string();
        assert_eq!(
            error("123434122143432."),
            "row 4, column 4 has no digit from 1 to 4: only complete grids are searched"
        );
        assert!(
            error("1134341221434321").starts_with("digit 1 stands twice in row 1: at row 1, column 1 and")
        );
        // Rows and columns are right, boxes are not.
        assert!(error("1234234134124123").starts_with("digit 2 stands twice in box 1"));
        assert_eq!(error("# a comment"), "there is no grid on this line");
        assert!(error("123").starts_with("3 characters"));
        let shape = Shape::new(2, 5).unwrap();
        assert_eq!(CompleteGrid::new(shape, &[1; 100]), Err(NotComplete::TooLarge { shape }));
        let few = CompleteGrid::new(Shape::FOUR, &[1; 15]);
        assert_eq!(few, Err(NotComplete::Cells { found: 15, shape: Shape::FOUR }));
        assert!(CompleteGrid::new(Shape::FOUR, &[255; 16]).is_err());
    }

    #[test]
    fn every_cell_sees_its_units() {
        let units = Units::new(Shape::SIX);
        assert_eq!(units.all.len(), 18);
        assert!(units.all.iter().all(|unit| unit.len() == 6));
        assert!(units.seen.iter().all(|seen| seen.len() == 1 + 5 + 5 + 2));
    }
}
