//! Rows of the output.

use std::{borrow::Cow, io::Write};

use shared::grid::line;

/// The names of the columns.
pub const HEADER: &[u8] = b"puzzle,verdict,solutions,solution\n";

/// What a line is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// One solution.
    Unique,
    /// More than one.
    Multiple,
    /// No solution.
    None,
    /// Digits clash.
    Invalid,
    /// No puzzle.
    Unreadable,
}

impl Verdict {
    /// By the number of solutions.
    pub fn of(solutions: u64) -> Self {
        match solutions {
            0 => Self::None,
            1 => Self::Unique,
            _ => Self::Multiple,
        }
    }

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::Multiple => "multiple",
            Self::None => "none",
            Self::Invalid => "invalid",
            Self::Unreadable => "unreadable",
        }
    }
}

/// What is known of a line.
pub struct Row<'a> {
    /// Empty if there is no puzzle.
    pub cells: &'a [u8],
    pub verdict: Verdict,
    /// Up to the limit.
    pub solutions: u64,
    /// The only solution; else empty.
    pub solution: Cow<'a, [u8]>,
    /// What is wrong with the line, if something is.
    pub wrong: Option<String>,
}

impl<'a> Row<'a> {
    pub fn new(cells: &'a [u8], verdict: Verdict, solutions: u64, solution: Cow<'a, [u8]>) -> Self {
        Self { cells, verdict, solutions, solution, wrong: None }
    }

    pub fn invalid(cells: &'a [u8], wrong: String) -> Self {
        Self { wrong: Some(wrong), ..Self::new(cells, Verdict::Invalid, 0, Cow::default()) }
    }

    pub fn unreadable(wrong: String) -> Self {
        Self { wrong: Some(wrong), ..Self::new(&[], Verdict::Unreadable, 0, Cow::default()) }
    }

    /// Given cells.
    pub fn clues(&self) -> usize {
        self.cells.iter().filter(|&&cell| cell != 0).count()
    }

    /// Appends the row as CSV.
    pub fn write(&self, limit: u32, out: &mut Vec<u8>) {
        write_cells(self.cells, out);
        out.push(b',');
        out.extend_from_slice(self.verdict.word().as_bytes());
        out.push(b',');
        match self.verdict {
            Verdict::Unique => out.push(b'1'),
            Verdict::Multiple => {
                let cut = if self.solutions >= limit.into() { ">=" } else { "" };
                write!(out, "{cut}{}", self.solutions).expect("vectors take everything");
            }
            Verdict::None | Verdict::Invalid => out.push(b'0'),
            Verdict::Unreadable => {}
        }
        out.push(b',');
        write_cells(&self.solution, out);
        out.push(b'\n');
    }
}

fn write_cells(cells: &[u8], out: &mut Vec<u8>) {
    if cells.len() == 81 {
        out.extend(cells.iter().map(|&digit| if digit == 0 { b'.' } else { b'0' + digit }));
    } else {
        out.extend_from_slice(line::text(cells).as_bytes());
    }
}
