//! A solver that is plain before anything else: the smallest choice there is, a cell's digits or a digit's places in a
//! row, column or box, is tried one by one.
//!
//! Works for every shape up to 25x25. The fast solvers are held against it.

use crate::grid::{Shape, shape::MAX_SIDE};

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

/// Whether a grid is full, breaks no rule, and has the clues of a puzzle. Cost: that of [`check`].
pub fn is_solution(shape: Shape, puzzle: &[u8], grid: &[u8]) -> bool {
    check(shape, grid).is_ok()
        && puzzle.len() == grid.len()
        && grid.iter().zip(puzzle).all(|(&digit, &clue)| digit != 0 && (clue == 0 || clue == digit))
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
        let empty = || (0..self.cells.len()).filter(|&cell| self.cells[cell] == 0);
        let cell = empty().min_by_key(|&cell| self.digits(cell).count_ones())?;
        let fewest = self.digits(cell).count_ones() as usize;
        // Places by unit and digit: rows, columns, boxes.
        let mut places = vec![0; 3 * side * side];
        for cell in empty() {
            for unit in self.numbers(cell) {
                for digit in bits(self.digits(cell)) {
                    places[side * unit + usize::from(digit) - 1] += 1;
                }
            }
        }
        let given = self.rows.iter().chain(&self.columns).chain(&self.boxes);
        let open = given.enumerate().flat_map(|(unit, &given)| {
            (0..side).filter(move |digit| given >> digit & 1 == 0).map(move |digit| side * unit + digit)
        });
        let place = open.min_by_key(|&at| places[at]);
        Some(match place.filter(|&at| places[at] < fewest) {
            Some(at) => {
                let digit = u8::try_from(at % side + 1).expect("no more digits than 25");
                let inside = empty().filter(|&cell| self.numbers(cell).contains(&(at / side)));
                inside
                    .filter(|&cell| self.digits(cell) >> (digit - 1) & 1 == 1)
                    .map(|cell| (cell, digit))
                    .collect()
            }
            None => bits(self.digits(cell)).map(|digit| (cell, digit)).collect(),
        })
    }

    /// The row, the column and the box of a cell, numbered one after the other.
    fn numbers(&self, cell: usize) -> [usize; 3] {
        let (row, column, of_box) = self.units(cell);
        let side = self.shape.side();
        [row, side + column, 2 * side + of_box]
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

/// The digits of a set.
fn bits(digits: u32) -> impl Iterator<Item = u8> {
    (1..=MAX_SIDE).filter(move |digit| digits >> (digit - 1) & 1 == 1)
}
