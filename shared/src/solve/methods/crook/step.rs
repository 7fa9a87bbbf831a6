//! The steps of Crook's method, as data and in words.

use std::fmt;

use crate::{grid::shape::symbol, solve::reference::Unit};

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it is written in.
    pub colour: Colour,
    /// What is done.
    pub deed: Deed,
}

/// A pen: the pencil for what is certain, then a colour for each guess that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Colour(
    /// The number of guesses that stand.
    pub usize,
);

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 0.
    pub row: usize,
    /// Counted from 0.
    pub column: usize,
}

/// A row, a column or a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitName {
    /// What it is.
    pub unit: Unit,
    /// Counted from 0; boxes in reading order.
    pub number: usize,
}

/// Cells of a unit, and the digits in their mark-ups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetOfCells {
    /// In reading order.
    pub cells: Vec<Place>,
    /// In order.
    pub digits: Vec<u8>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Writes the last digit of a cell.
    Naked {
        /// Where.
        place: Place,
        /// What.
        digit: u8,
    },
    /// Writes a digit in its last place.
    Hidden {
        /// Where.
        place: Place,
        /// What.
        digit: u8,
        /// Where it has no other place.
        unit: UnitName,
    },
    /// Crosses out the digits of a preemptive set.
    Preemptive {
        /// Where the set is.
        unit: UnitName,
        /// As many cells as digits.
        set: SetOfCells,
        /// The other empty cells of the unit, and the digits that are left to them: the hidden set.
        complement: SetOfCells,
        /// Digits crossed out of cells.
        crossed: Vec<(Place, Vec<u8>)>,
    },
    /// Guesses, in a new colour.
    Guess {
        /// Where.
        place: Place,
        /// What.
        digit: u8,
        /// All digits of the cell.
        digits: Vec<u8>,
    },
    /// Finds that the colour is impossible.
    Contradiction(Reason),
    /// Finds a solution.
    Solution {
        /// Counted from 1.
        number: u64,
    },
    /// Erases the colour, and crosses out what it began with.
    Erase {
        /// Where it began.
        place: Place,
        /// What it began with.
        digit: u8,
        /// Whether it was impossible; else it led to solutions only.
        impossible: bool,
    },
}

/// Why there is no solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The mark-up of a cell is empty.
    NoDigit {
        /// The cell.
        place: Place,
    },
    /// A digit has no place.
    NoPlace {
        /// The digit.
        digit: u8,
        /// Where.
        unit: UnitName,
    },
    /// Cells have fewer digits than they are.
    TooFew {
        /// Where.
        unit: UnitName,
        /// The cells and their digits.
        set: SetOfCells,
    },
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 9] =
            ["pencil", "red", "blue", "green", "orange", "purple", "brown", "pink", "grey"];
        match NAMES.get(self.0) {
            Some(name) => f.write_str(name),
            None => write!(f, "colour {}", self.0),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c({}, {})", self.row + 1, self.column + 1)
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.unit, self.number + 1)
    }
}

impl fmt::Display for SetOfCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{[{}], [{}]}}", digits(&self.digits), joined(&self.cells, ", "))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDigit { place } => write!(f, "no digit is left for {place}"),
            Self::NoPlace { digit, unit } => write!(f, "no place is left for {} in {unit}", name(*digit)),
            Self::TooFew { unit, set } => write!(
                f,
                "the {} cells {} in {unit} have only {}",
                set.cells.len(),
                joined(&set.cells, ", "),
                match set.digits.len() {
                    1 => format!("the digit {}", digits(&set.digits)),
                    _ => format!("the digits {}", digits(&set.digits)),
                }
            ),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.colour > Colour(0) {
            write!(f, "{}: ", self.colour)?;
        }
        self.deed.fmt(f)
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Naked { place, digit } => write!(f, "{place} = {}: its last digit", name(*digit)),
            Self::Hidden { place, digit, unit } => {
                write!(f, "{place} = {0}: the only place for {0} in {unit}", name(*digit))
            }
            Self::Preemptive { unit, set, complement, crossed } => {
                let m = set.cells.len();
                write!(f, "{unit}: preemptive {} {set}", kind(m))?;
                if !complement.cells.is_empty() {
                    write!(f, ", complement (hidden {}) {complement}", kind(complement.cells.len()))?;
                }
                let crossed = crossed.iter().map(|(place, out)| format!("{} out of {place}", digits(out)));
                write!(f, "; crosses {}", joined(&crossed.collect::<Vec<_>>(), "; "))
            }
            Self::Guess { place, digit, digits: all } => {
                write!(f, "{place} = {}: a guess out of {}", name(*digit), digits(all))
            }
            Self::Contradiction(reason) => write!(f, "{reason}: impossible"),
            Self::Solution { number } => write!(f, "solution {number}"),
            Self::Erase { place, digit, impossible } => {
                let why = if *impossible { "" } else { ", to look for other solutions" };
                write!(f, "erased{why}; {} crossed out of {place}", name(*digit))
            }
        }
    }
}

/// What a set of so many cells is called.
fn kind(cells: usize) -> String {
    match cells {
        1 => "single".to_owned(),
        2 => "pair".to_owned(),
        3 => "triple".to_owned(),
        4 => "quadruple".to_owned(),
        5 => "quintuple".to_owned(),
        _ => format!("set of {cells}"),
    }
}

fn name(digit: u8) -> char {
    symbol(usize::from(digit) - 1)
}

fn digits(digits: &[u8]) -> String {
    joined(&digits.iter().map(|&digit| name(digit)).collect::<Vec<_>>(), ", ")
}

fn joined<T: fmt::Display>(items: &[T], between: &str) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(between)
}
