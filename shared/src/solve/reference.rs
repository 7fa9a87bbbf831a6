//! A solver that is plain before anything else: the smallest choice there is, a cell's digits or a digit's places in a
//! row, column or box, is tried one by one.
//!
//! Works for every shape up to 25x25. The fast solvers are held against it.

use crate::grid::Shape;

/// A cell that makes a puzzle impossible to read as one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PuzzleError {
    /// Not a grid of the shape.
    #[error("{cells} cells: a {shape} grid has {}", shape.side() * shape.side())]
    Size {
        /// What there is.
        cells: usize,
        /// The shape it should have.
        shape: Shape,
    },
    /// A digit that the shape does not have.
    #[error("row {}, column {}: {digit} is more than the side {side}", row + 1, column + 1)]
    Digit {
        /// Counted from 0.
        row: usize,
        /// Counted from 0.
        column: usize,
        /// What is there.
        digit: u8,
        /// The largest digit.
        side: usize,
    },
    /// A digit twice in a row, a column or a box.
    #[error("{digit} is given twice in one {unit}: in row {}, column {} and in row {}, column {}",
        first.0 + 1, first.1 + 1, second.0 + 1, second.1 + 1)]
    Clash {
        /// The digit.
        digit: u8,
        /// Row and column of one, counted from 0.
        first: (usize, usize),
        /// Row and column of the other.
        second: (usize, usize),
        /// What they share.
        unit: Unit,
    },
}

/// What holds every digit once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A row.
    Row,
    /// A column.
    Column,
    /// A box.
    Box,
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Row => "row",
            Self::Column => "column",
            Self::Box => "box",
        })
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Number of solutions, or the limit if there are at least as many.
    pub solutions: u64,
    /// The solution that was found first.
    pub first: Option<Vec<u8>>,
    /// Digits tried in cells.
    pub nodes: u64,
}

/// Looks for what is wrong with a puzzle before any search: size, digits, and the first clash in reading order.
///
/// # Errors
///
/// When something is, naming the cells.
///
/// ```
/// use shared::{grid::Shape, solve::reference::check};
///
/// let mut puzzle = [0; 81];
/// puzzle[0] = 5;
/// assert_eq!(check(Shape::NINE, &puzzle), Ok(()));
/// puzzle[72] = 5;
/// assert_eq!(
///     check(Shape::NINE, &puzzle).unwrap_err().to_string(),
///     "5 is given twice in one column: in row 1, column 1 and in row 9, column 1"
/// );
/// ```
pub fn check(shape: Shape, cells: &[u8]) -> Result<(), PuzzleError> {
    let side = shape.side();
    if cells.len() != side * side {
        return Err(PuzzleError::Size { cells: cells.len(), shape });
    }
    for (second, &digit) in cells.iter().enumerate() {
        let place = (second / side, second % side);
        if usize::from(digit) > side {
            return Err(PuzzleError::Digit { row: place.0, column: place.1, digit, side });
        }
        for first in (0..second).filter(|&first| digit != 0 && cells[first] == digit) {
            if let Some(unit) = shared_unit(shape, first, second) {
                return Err(PuzzleError::Clash {
                    digit,
                    first: (first / side, first % side),
                    second: place,
                    unit,
                });
            }
        }
    }
    Ok(())
}

/// What two cells have in common: a row before a column before a box.
fn shared_unit(shape: Shape, a: usize, b: usize) -> Option<Unit> {
    let side = shape.side();
    let row = |cell: usize| cell / side;
    let column = |cell: usize| cell % side;
    let chutes = |cell: usize| (row(cell) / shape.rows(), column(cell) / shape.columns());
    if row(a) == row(b) {
        Some(Unit::Row)
    } else if column(a) == column(b) {
        Some(Unit::Column)
    } else if chutes(a) == chutes(b) {
        Some(Unit::Box)
    } else {
        None
    }
}

/// Counts the solutions of a puzzle (row by row, 0 is empty) up to `limit`, and gives the first one that was found.
///
/// Deterministic: of choices of the same size the first one is made, in the same order each time.
///
/// # Errors
///
/// As [`check`] does.
///
/// Cost: a look at all empty cells and their digits for each digit tried; puzzles of side 16 and more can take very long.
pub fn solve(shape: Shape, cells: &[u8], limit: u64) -> Result<Found, PuzzleError> {
    check(shape, cells)?;
    let mut search = Search::new(shape, cells);
    if limit > 0 {
        search.run(limit);
    }
    Ok(search.found)
}

struct Search {
    shape: Shape,
    cells: Vec<u8>,
    /// Digits in each row, column and box, a bit each.
    rows: Vec<u32>,
    columns: Vec<u32>,
    boxes: Vec<u32>,
    found: Found,
}

impl Search {
    fn new(shape: Shape, cells: &[u8]) -> Self {
        let none = vec![0; shape.side()];
        let mut search = Self {
            shape,
            cells: cells.to_vec(),
            rows: none.clone(),
            columns: none.clone(),
            boxes: none,
            found: Found::default(),
        };
        for (cell, &digit) in cells.iter().enumerate().filter(|(_, digit)| **digit != 0) {
            search.toggle(cell, digit);
        }
        search
    }

    fn units(&self, cell: usize) -> (usize, usize, usize) {
        let side = self.shape.side();
        let (row, column) = (cell / side, cell % side);
        // A band has as many boxes as a box has rows.
        (row, column, row / self.shape.rows() * self.shape.rows() + column / self.shape.columns())
    }

    /// Puts a digit in a cell's units, or takes it out.
    fn toggle(&mut self, cell: usize, digit: u8) {
        let (row, column, of_box) = self.units(cell);
        let bit = 1 << (digit - 1);
        self.rows[row] ^= bit;
        self.columns[column] ^= bit;
        self.boxes[of_box] ^= bit;
    }

    /// The digits that a cell can have.
    fn digits(&self, cell: usize) -> u32 {
        let (row, column, of_box) = self.units(cell);
        let all = (1 << self.shape.side()) - 1;
        all & !(self.rows[row] | self.columns[column] | self.boxes[of_box])
    }

    /// The smallest choice there is: the digits of a cell, or the places of a digit in a unit. `None` if all is filled.
    fn choice(&self) -> Option<Vec<(usize, u8)>> {
        let side = self.shape.side();
        let mut least: Option<Vec<(usize, u8)>> = None;
        // Places by unit (rows, columns, boxes) and digit.
        let mut places = vec![Vec::new(); 3 * side * side];
        for cell in (0..self.cells.len()).filter(|&cell| self.cells[cell] == 0) {
            let digits = self.digits(cell);
            let (row, column, of_box) = self.units(cell);
            let own: Vec<(usize, u8)> =
                (1..=25).filter(|digit| digits >> (digit - 1) & 1 == 1).map(|digit| (cell, digit)).collect();
            for unit in [row, side + column, 2 * side + of_box] {
                for &(_, digit) in &own {
                    places[side * unit + usize::from(digit) - 1].push((cell, digit));
                }
            }
            if least.as_ref().is_none_or(|least| own.len() < least.len()) {
                least = Some(own);
            }
        }
        let mut least = least?;
        for (at, places) in places.into_iter().enumerate() {
            let (unit, digit) = (at / side, at % side);
            let given = match unit / side {
                0 => self.rows[unit],
                1 => self.columns[unit - side],
                _ => self.boxes[unit - 2 * side],
            };
            if given >> digit & 1 == 0 && places.len() < least.len() {
                least = places;
            }
        }
        Some(least)
    }

    fn run(&mut self, limit: u64) {
        let Some(choice) = self.choice() else {
            self.found.solutions += 1;
            if self.found.first.is_none() {
                self.found.first = Some(self.cells.clone());
            }
            return;
        };
        for (cell, digit) in choice {
            if self.found.solutions < limit {
                self.found.nodes += 1;
                self.cells[cell] = digit;
                self.toggle(cell, digit);
                self.run(limit);
                self.toggle(cell, digit);
                self.cells[cell] = 0;
            }
        }
    }
}
