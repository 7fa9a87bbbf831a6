//! Puzzles of one line: a character a cell, row by row. [`super::notation`] reads these and whatever else there is.

use super::Shape;

/// Shapes whose puzzles are told by the length of their line: 16, 36 and 81 cells.
pub const SHAPES: [(usize, Shape); 3] = [(16, Shape::FOUR), (36, Shape::SIX), (81, Shape::NINE)];

/// A line that is no puzzle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Not 16, 36 or 81 characters before the first blank, comma or end.
    #[error(
        "{cells} characters: a puzzle has 81 (9x9), 36 (6x6) or 16 (4x4), and . 0 * _ or x where a cell is empty"
    )]
    Length {
        /// What there is.
        cells: usize,
    },
    /// A character that is no cell.
    #[error(
        "character {place} is {found:?}: expected a digit from 1 to {side}, or . 0 * _ or x for an empty cell"
    )]
    Character {
        /// Counted from 1.
        place: usize,
        /// What is there.
        found: char,
        /// The largest digit.
        side: usize,
    },
}

/// A puzzle read from a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Told by the number of cells.
    pub shape: Shape,
    /// Row by row; 0 is empty.
    pub cells: Vec<u8>,
}

/// Reads a puzzle from the beginning of a line; what follows a blank, a comma, a semicolon or a tabulator (a name, a
/// rating, a solution) is left alone. `None` for a line that is empty or a comment (`#`).
///
/// Whether digits clash is not looked at.
///
/// # Errors
///
/// When the line is something else.
///
/// ```
/// use shared::grid::line::read;
///
/// let puzzle = read("1...  ..3. .2..").unwrap_err();
/// assert_eq!(puzzle.to_string()[..12], *"4 characters");
/// assert_eq!(read("1.....3..2.....4 a name").unwrap().unwrap().cells[10..], [0, 0, 0, 0, 0, 4][..]);
/// assert_eq!(read("# nothing"), Ok(None));
/// ```
pub fn read(line: &str) -> Result<Option<Line>, LineError> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let end = line.find([' ', ',', ';', '\t']).unwrap_or(line.len());
    let cells = &line[..end];
    let length = cells.chars().count();
    let Some(&(_, shape)) = SHAPES.iter().find(|(cells, _)| *cells == length) else {
        return Err(LineError::Length { cells: length });
    };
    let side = shape.side();
    let cell = |(place, found): (usize, char)| match found {
        '.' | '0' | '*' | '_' | 'x' | 'X' => Ok(0),
        _ => match found.to_digit(10).and_then(|digit| u8::try_from(digit).ok()) {
            Some(digit) if usize::from(digit) <= side => Ok(digit),
            _ => Err(LineError::Character { place: place + 1, found, side }),
        },
    };
    Ok(Some(Line { shape, cells: cells.chars().enumerate().map(cell).collect::<Result<_, _>>()? }))
}

/// Cells as a line; empty ones as dots.
pub fn text(cells: &[u8]) -> String {
    let symbol = |&digit: &u8| match digit {
        0 => '.',
        _ => super::shape::symbol(usize::from(digit) - 1),
    };
    cells.iter().map(symbol).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_cells_have_many_faces_and_reading_undoes_writing() {
        let dots = ".................1.....2.3......3.2...4....5...6.1.....3......6.7..8...952.7.....";
        let cells = read(dots).unwrap().unwrap().cells;
        assert_eq!(text(&cells), dots);
        for empty in ['0', '*', '_', 'x', 'X'] {
            assert_eq!(read(&dots.replace('.', &empty.to_string())).unwrap().unwrap().cells, cells);
        }
        for tail in ["\r", "  # name ED=9.0", ",123", "\t17", ";"] {
            assert_eq!(read(&format!("{dots}{tail}")).unwrap().unwrap().cells, cells, "{tail:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let error = |line: &str| read(line).unwrap_err();
        assert_eq!(error("12345"), LineError::Length { cells: 5 });
        assert_eq!(error("1.....3..2.....5"), LineError::Character { place: 16, found: '5', side: 4 });
        assert_eq!(error("1..é..3..2.....4"), LineError::Character { place: 4, found: 'é', side: 4 });
        assert_eq!(error(&"é".repeat(82)), LineError::Length { cells: 82 });
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("  \r"), Ok(None));
    }
}
