//! Files in which each line is a record.

use serde::{Deserialize, Serialize};

use super::{
    MOST_LINE_BYTES, Puzzle,
    error::NotationError,
    fields::Fields,
    nine, one_line,
    sides::of_side,
    signs::{is_comment, without_mark},
};
use crate::grid::Shape;

/// Where in a line the puzzle is. The default is its beginning.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct LineLayout {
    /// The field that holds the puzzle, from 0.
    pub column: u16,
    /// What is between fields, if the lines are a table. Several blanks are one delimiter.
    pub delimiter: Option<u8>,
    /// Whether the first line that is not passed over has the names of columns. It is for the caller to leave out.
    pub header: bool,
}

impl LineLayout {
    /// Whether a line is empty or a comment (`#` or `//`).
    pub fn passes_over(line: &[u8]) -> bool {
        let text = without_mark(line).trim_ascii_start();
        text.is_empty() || is_comment(text)
    }

    /// Reads a line, with or without its end. `None` if it is to be passed over. What is behind the puzzle is not
    /// looked at; nor is whether digits clash.
    ///
    /// With a `shape`, only puzzles of it are read; without, it is told by the number of cells.
    ///
    /// # Errors
    ///
    /// When there is something else than a puzzle.
    ///
    /// Cost: linear; some 50 ns for 81 characters.
    ///
    /// ```
    /// use shared::grid::notation::LineLayout;
    ///
    /// let lines = LineLayout::default();
    /// let puzzle = lines.read(b"1.....3..2.....4 a name\r\n", None).unwrap().unwrap();
    /// assert_eq!(puzzle.cells, [1, 0, 0, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 0, 0, 4]);
    /// assert_eq!(lines.read(b"# nothing", None), Ok(None));
    /// let error = lines.read(b"1.....3..2.....5", None).unwrap_err().to_string();
    /// assert!(error.starts_with("character 16 is '5': expected a digit from 1 to 4"), "{error}");
    /// ```
    pub fn read(&self, line: &[u8], shape: Option<Shape>) -> Result<Option<Puzzle>, NotationError> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > MOST_LINE_BYTES {
            return Err(NotationError::LongLine);
        }
        if self.column == 0
            && let Some(shape) = of_side(9, shape)
            && let Some(cells) = nine(line)
        {
            return Ok(Some(Puzzle::of_cells(shape, cells.to_vec())));
        }
        if Self::passes_over(line) {
            return Ok(None);
        }
        let line = without_mark(line);
        let Some(delimiter) = self.delimiter else {
            return one_line::read(line, shape).map(Some);
        };
        let column = usize::from(self.column);
        let Some(text) = Fields::new(line, delimiter).nth(column) else {
            let fields = Fields::new(line, delimiter).count();
            return Err(NotationError::NoField { field: column + 1, fields });
        };
        let in_field = |error| NotationError::Field { field: column + 1, error: Box::new(error) };
        one_line::read(text, shape).map(Some).map_err(in_field)
    }
}
