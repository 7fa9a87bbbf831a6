//! Why something is no puzzle.

use std::fmt;

use crate::grid::{Shape, shape::symbol};

use super::{MOST_LINE_BYTES, sides::MOST_ROWS};

/// Where something stands; all are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A character of the line, or of the field of a table.
    Character(usize),
    /// A cell in a list of cells.
    Cell(usize),
    /// A cell of a drawing.
    At {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character(place) => write!(f, "character {place}"),
            Self::Cell(place) => write!(f, "cell {place}"),
            Self::At { row, column } => write!(f, "row {row}, column {column}"),
        }
    }
}

/// What is counted when there is too much or too little of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Characters that are or could be cells.
    Characters,
    /// Cells, separated from each other.
    Cells,
}

/// A line, a drawing or an element that is no puzzle. The message is never longer than about 200 bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotationError {
    /// A line without end.
    #[error("the line has more than {MOST_LINE_BYTES} bytes")]
    LongLine,
    /// A table's line that is too short.
    #[error("the puzzle should be field {field}: the line has {fields}")]
    NoField {
        /// The puzzle's field, from 1.
        field: usize,
        /// What there is.
        fields: usize,
    },
    /// What is wrong is in this field of a table.
    #[error("field {field}: {error}")]
    Field {
        /// From 1.
        field: usize,
        /// What is wrong with it.
        error: Box<NotationError>,
    },
    /// Not as many as a puzzle has.
    #[error("{found} {}: {}", if matches!(counted, Counted::Characters) { "characters" } else { "cells" }, sizes(*shape))]
    Count {
        /// How many there are.
        found: usize,
        /// Of what.
        counted: Counted,
        /// The shape that was asked for.
        shape: Option<Shape>,
    },
    /// A character that is no cell.
    #[error("{place} is {found:?}: expected {} or . 0 * _ - x ? for an empty cell", digits(*side))]
    Character {
        /// Where.
        place: Place,
        /// What is there.
        found: char,
        /// The side of the grid.
        side: usize,
    },
    /// A number that is no cell.
    #[error("{place} is {found:?}: expected a number from 1 to {side}, or . 0 * _ - x ? for an empty cell")]
    Number {
        /// Where.
        place: Place,
        /// The beginning of what is there.
        found: String,
        /// The largest digit.
        side: usize,
    },
    /// Several digits that are no set of candidates.
    #[error("{place} is {found:?}: expected candidates, different digits from 1 to {side}")]
    Candidates {
        /// Where.
        place: Place,
        /// The beginning of what is there.
        found: String,
        /// The largest digit.
        side: usize,
    },
    /// A character out of place in a line of pencil marks.
    #[error("{place} is {found:?}: of 729 pencil marks, this one is {digit}, or . 0 * _ - x ? when excluded")]
    Mark {
        /// Where.
        place: Place,
        /// What is there.
        found: char,
        /// What may be there.
        digit: usize,
    },
    /// A line of a drawing that is no row of it.
    #[error("row {row} has {found} cells: {}", widths(*expected))]
    Width {
        /// The row, from 1.
        row: usize,
        /// Its cells.
        found: usize,
        /// The cells of the rows before, if there are any.
        expected: Option<usize>,
    },
    /// A drawing that ends too early.
    #[error("{rows} rows of {side} cells: the puzzle should have {side} rows")]
    Height {
        /// The rows there are.
        rows: usize,
        /// The cells of each.
        side: usize,
    },
    /// A drawing whose cells cannot be told.
    #[error(
        "{rows} rows whose cells cannot be told: the same number of cells is expected in each, empty ones as ."
    )]
    Unclear {
        /// The rows there are.
        rows: usize,
    },
    /// A drawing that does not end.
    #[error("more than {MOST_ROWS} rows that make no puzzle: what follows, up to an empty line, is left out")]
    ManyRows,
    /// An element that is not as it should be.
    #[error("the element <game>: {what}")]
    Markup {
        /// What is wrong.
        what: &'static str,
    },
}

/// The sizes there are, for a message.
fn sizes(shape: Option<Shape>) -> String {
    match shape {
        Some(shape) => format!("a {shape} puzzle has {}", shape.side().pow(2)),
        None => "a puzzle has 81 (9x9), or 16, 36, 64, 100, 144, 225, 256, 400 or 625 (other sizes)".into(),
    }
}

/// The digits there are, for a message.
fn digits(side: usize) -> String {
    match side {
        10.. => format!("a digit from 1 to 9, a letter from A to {}", symbol(side - 1)),
        _ => format!("a digit from 1 to {side}"),
    }
}

fn widths(expected: Option<usize>) -> String {
    match expected {
        Some(cells) => format!("the rows before have {cells}"),
        None => "a row has 9 (9x9), or 4, 6, 8, 10, 12, 15, 16, 20 or 25 (other sizes)".into(),
    }
}

/// A file that cannot be a file of puzzles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Another kind of file, told by how it begins.
    #[error("this looks like {kind}: puzzles are read from text{}", if *packed { ", so unpack it first" } else { "" })]
    OtherFile {
        /// Which kind.
        kind: &'static str,
        /// Whether there may be text inside.
        packed: bool,
    },
    /// A byte that no text has.
    #[error("byte {place} is 0x{byte:02x}: this is not text")]
    Binary {
        /// From 1.
        place: usize,
        /// What is there.
        byte: u8,
    },
}
