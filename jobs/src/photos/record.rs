//! What is known of a photograph once it has been looked at.

use std::fmt;

use serde::{Deserialize, Serialize};
use shared::{
    grid::{Shape, shape::symbol},
    photo::reading::Point,
    unavoidable::CellSet,
};

/// What is known of a photograph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Where it is.
    pub file: String,
    /// What came of it.
    pub outcome: Outcome,
    /// The boards on it, the largest first.
    pub boards: Vec<Board>,
    /// A small JPEG of what was read, or of what was refused; empty where there is no picture.
    pub thumbnail: Vec<u8>,
}

/// What came of a photograph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// There is a board on it, at least one.
    Read,
    /// It is a picture, but shows no sudoku that can be read: why.
    Refused(String),
    /// It is no picture that can be read: why.
    Unreadable(String),
}

/// A board on a photograph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Board {
    /// Its shape.
    pub shape: Shape,
    /// Its digits, row by row, 0 for a cell without one.
    pub cells: Vec<u8>,
    /// For each cell how likely it is right, in thousandths.
    pub confidence: Vec<u16>,
    /// Doubtful cells.
    pub flagged: CellSet,
    /// Cells with small candidates.
    pub candidates: CellSet,
    /// Top left, top right, bottom right and bottom left of the board as it is read, in pixels of the photograph.
    pub corners: [Point; 4],
    /// How many solutions it has.
    pub verdict: Verdict,
    /// Why it is invalid.
    pub problem: String,
    /// The solution, if it was asked for and there is only one.
    pub solution: Option<Vec<u8>>,
}

/// What is to be said of the solutions of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// One.
    Unique,
    /// Several.
    Multiple,
    /// None, though no digits clash.
    None,
    /// Digits clash.
    Invalid,
    /// Not found out with reasonable effort.
    Unsolved,
}

impl Verdict {
    /// All there are.
    pub const ALL: [Self; 5] = [Self::Unique, Self::Multiple, Self::None, Self::Invalid, Self::Unsolved];

    /// As it is written.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::Multiple => "multiple",
            Self::None => "none",
            Self::Invalid => "invalid",
            Self::Unsolved => "unsolved",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Outcome {
    /// The word for it where boards have a verdict.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Refused(_) => "refused",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// Why there is no board.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Read => None,
            Self::Refused(reason) | Self::Unreadable(reason) => Some(reason),
        }
    }
}

impl Record {
    /// One of a file that is no picture.
    #[must_use]
    pub fn unreadable(file: &str, why: String) -> Self {
        Self { file: file.into(), outcome: Outcome::Unreadable(why), boards: vec![], thumbnail: vec![] }
    }

    /// Reads what postcard has written, if it is a record that can be.
    #[must_use]
    pub fn decode(part: &[u8]) -> Option<Self> {
        let (record, rest) = postcard::take_from_bytes::<Self>(part).ok()?;
        let whole = |board: &Board| {
            let cells = board.shape.side() * board.shape.side();
            let fits = |these: &[u8]| {
                these.len() == cells && these.iter().all(|&d| usize::from(d) <= board.shape.side())
            };
            let below = |set: CellSet| set.iter().all(|cell| cell < cells);
            fits(&board.cells)
                && board.solution.as_ref().is_none_or(|solution| fits(solution))
                && board.confidence.len() == cells
                && below(board.flagged)
                && below(board.candidates)
        };
        (rest.is_empty() && record.boards.iter().all(whole)).then_some(record)
    }
}

impl Board {
    /// How many cells may be wrong, in thousandths of a cell: the sum of what is missing to certainty.
    #[must_use]
    pub fn doubt(&self) -> u32 {
        self.confidence.iter().map(|&share| u32::from(1000u16.saturating_sub(share))).sum()
    }
}

/// Cells in one line: a character each, `0` when empty.
#[must_use]
pub fn text(cells: &[u8]) -> String {
    cells.iter().map(|&digit| digit.checked_sub(1).map_or('0', |digit| symbol(digit.into()))).collect()
}
