//! Documents in which a puzzle takes several lines.

use super::{
    MOST_LINE_BYTES, Puzzle,
    block::{Block, Item},
    error::NotationError,
    one_line,
    row::Line,
    sides::of_cells,
    signs::{bare_start, is_cell_like, without_mark},
};
use crate::grid::Shape;

/// Reads a document of drawings, rows of characters or rows of numbers; see the rules in [`super`]. Gives each puzzle
/// with the number of its first line, from 1; what is no puzzle gives an error, and reading goes on behind it.
///
/// With a `shape`, only puzzles of it are read.
///
/// Cost: linear; takes memory for the lines of one puzzle.
///
/// ```
/// use shared::grid::notation::blocks;
///
/// let text = b"+-----+-----+\n| 1 . | . . |\n| . . | 2 . |\n+-----+-----+\n| . 3 | . . |\n| . . | . 4 |\n+-----+-----+\n";
/// let read: Vec<_> = blocks(text, None).collect();
/// let (line, puzzle) = &read[0];
/// assert_eq!((read.len(), *line), (1, 2));
/// assert_eq!(puzzle.as_ref().unwrap().cells, [1, 0, 0, 0, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 4]);
/// ```
pub fn blocks(
    text: &[u8],
    shape: Option<Shape>,
) -> impl Iterator<Item = (u64, Result<Puzzle, NotationError>)> {
    Blocks::new(text, shape)
}

/// See [`blocks`].
pub struct Blocks<'a> {
    rest: Option<&'a [u8]>,
    /// Of the line before the rest.
    number: u64,
    shape: Option<Shape>,
    block: Block,
    /// After an error, until an empty line, words or a section.
    skipping: bool,
    /// In a section that is not the puzzle's.
    elsewhere: bool,
    /// Whether the last puzzle took several lines.
    pub drawn: bool,
}

/// Characters from which on a puzzle's line cannot be a row of a larger one.
const LONGER_THAN_ROWS: usize = 36;

impl<'a> Blocks<'a> {
    pub fn new(text: &'a [u8], shape: Option<Shape>) -> Self {
        Self {
            rest: Some(without_mark(text)),
            number: 0,
            shape,
            block: Block::default(),
            skipping: false,
            elsewhere: false,
            drawn: false,
        }
    }

    fn line(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let end = rest.iter().position(|&byte| byte == b'\n');
        self.rest = end.map(|end| &rest[end + 1..]);
        self.number += 1;
        let line = &rest[..end.unwrap_or(rest.len())];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// What a line completes.
    fn take(&mut self, line: &[u8]) -> Option<Item> {
        if line.len() > MOST_LINE_BYTES {
            return self.fault(NotationError::LongLine);
        }
        if let Some(puzzle) = self.whole(line) {
            self.drawn = false;
            return Some((self.number, Ok(puzzle)));
        }
        match Line::read(line, self.block.rows() + 1, self.shape) {
            Line::Blank => {
                self.skipping = false;
                self.block.end()
            }
            Line::Section { puzzle } => {
                self.skipping = false;
                self.elsewhere = !puzzle;
                self.block.end()
            }
            Line::Passed | Line::Border => None,
            Line::Text => {
                self.skipping = false;
                self.block.interrupt()
            }
            _ if self.skipping || self.elsewhere => None,
            Line::Row(row) => {
                let item = self.block.add(self.number, row, self.shape);
                self.skipping = matches!(item, Some((_, Err(_))));
                item
            }
            Line::Bad(error) => self.fault(error),
        }
    }

    fn fault(&mut self, error: NotationError) -> Option<Item> {
        if self.skipping || self.elsewhere {
            return None;
        }
        let item = self.block.complain(self.number, error);
        self.skipping = item.is_some();
        item
    }

    /// A puzzle that takes only this line.
    fn whole(&self, line: &[u8]) -> Option<Puzzle> {
        if self.skipping || self.elsewhere || self.block.rows() > 0 {
            return None;
        }
        let length = bare_start(line).iter().take_while(|&&byte| is_cell_like(byte)).count();
        let is_long = length >= LONGER_THAN_ROWS && (length == 729 || of_cells(length, self.shape).is_some());
        if is_long { one_line::read(line, self.shape).ok() } else { None }
    }
}

impl Iterator for Blocks<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        self.drawn = true;
        while let Some(line) = self.line() {
            if let Some(item) = self.take(line) {
                return Some(item);
            }
        }
        self.block.end()
    }
}
