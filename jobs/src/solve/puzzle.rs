//! What a line holds.

use shared::grid::{Shape, line};

use super::lines::{Line, MOST_LINE_BYTES};

/// A line, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Empty, a comment, or the names of columns.
    Nothing,
    /// Something else, and what.
    Unreadable(String),
    /// A 9x9 puzzle: 0 is empty.
    Nine([u8; 81]),
    /// A puzzle of another shape.
    Other(Shape, Vec<u8>),
}

/// The cell for each byte: 0 to 9, or [`NO_CELL`].
const CELLS: [u8; 256] = {
    let mut cells = [NO_CELL; 256];
    let mut digit = 0;
    while digit < 10 {
        cells[b'0' as usize + digit as usize] = digit;
        digit += 1;
    }
    let empty = b".*_xX";
    let mut i = 0;
    while i < empty.len() {
        cells[empty[i] as usize] = 0;
        i += 1;
    }
    cells
};

const NO_CELL: u8 = 0x80;

impl Entry {
    /// Reads a line; in the first line of a file there may be names of columns.
    pub fn read(line: Line<'_>, first_of_file: bool) -> Self {
        let Line::Text(text) = line else {
            return Self::Unreadable(format!("the line has more than {MOST_LINE_BYTES} bytes"));
        };
        if let Some(cells) = nine(text) {
            return Self::Nine(cells);
        }
        let Ok(text) = str::from_utf8(text) else {
            return Self::Unreadable("the line is not UTF-8".into());
        };
        match line::read(text) {
            Ok(None) => Self::Nothing,
            Ok(Some(read)) => match <[u8; 81]>::try_from(read.cells) {
                Ok(cells) => Self::Nine(cells),
                Err(cells) => Self::Other(read.shape, cells),
            },
            Err(_) if first_of_file && names_columns(text) => Self::Nothing,
            Err(error) => Self::Unreadable(error.to_string()),
        }
    }
}

/// A 9x9 puzzle of 81 bytes that ends there or before a separator: nearly every line there is.
fn nine(text: &[u8]) -> Option<[u8; 81]> {
    let (puzzle, rest) = text.split_first_chunk::<81>()?;
    if !matches!(rest.first(), None | Some(b' ' | b',' | b';' | b'\t' | b'\r')) {
        return None;
    }
    let cells = puzzle.map(|byte| CELLS[usize::from(byte)]);
    (cells.iter().fold(0, |all, cell| all | cell) & NO_CELL == 0).then_some(cells)
}

/// Whether a line looks like the names of columns: words between separators.
fn names_columns(text: &str) -> bool {
    text.split([',', ';', '\t']).all(|name| {
        let name = name.trim().trim_matches('"');
        name.len() <= 40
            && name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|symbol| symbol.is_ascii_alphanumeric() || " _-".contains(symbol))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Entry {
        Entry::read(Line::Text(text.as_bytes()), false)
    }

    #[test]
    fn quick_and_careful_reading_agree() {
        let dots = ".................1.....2.3......3.2...4....5...6.1.....3......6.7..8...952.7.....";
        let Entry::Nine(cells) = read(dots) else { panic!("a puzzle") };
        assert_eq!(cells[17], 1);
        for empty in ["0", "*", "_", "x", "X"] {
            assert_eq!(read(&dots.replace('.', empty)), Entry::Nine(cells));
        }
        for tail in ["\r", " ", "  # name ED=9.0", ",123", "\t17", ";"] {
            let text = format!("{dots}{tail}");
            assert_eq!(read(&text), Entry::Nine(cells), "{tail:?}");
            assert_eq!(line::read(&text).unwrap().unwrap().cells, cells);
        }
        assert_eq!(read(&format!("  {dots}")), Entry::Nine(cells));
        assert_eq!(
            read("1.....3..2.....4"),
            Entry::Other(Shape::FOUR, vec![1, 0, 0, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 0, 0, 4])
        );
    }

    #[test]
    fn what_is_no_puzzle_is_said_or_passed_over() {
        for nothing in ["", "   ", "# a comment", "\r"] {
            assert_eq!(read(nothing), Entry::Nothing, "{nothing:?}");
        }
        let first = |text: &str| Entry::read(Line::Text(text.as_bytes()), true);
        for header in ["quizzes,solutions", "puzzle", "\"Puzzle\";\"Rating\"", "id, clue count"] {
            assert_eq!(first(header), Entry::Nothing, "{header:?}");
            assert!(matches!(read(header), Entry::Unreadable(_)), "only the first line has names");
        }
        for wrong in ["12345", "1,2", &"1".repeat(82), &"a".repeat(81), "{\"a\":1}"] {
            assert!(matches!(first(wrong), Entry::Unreadable(_)), "{wrong:?}");
        }
        assert!(
            matches!(Entry::read(Line::Text(b"\xFF\xFE"), true), Entry::Unreadable(what) if what.contains("UTF-8"))
        );
        assert!(matches!(Entry::read(Line::TooLong, true), Entry::Unreadable(what) if what.contains("4096")));
    }
}
