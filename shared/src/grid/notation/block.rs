//! The rows of a drawing, gathered until they are a puzzle.

use super::{
    Puzzle, cells,
    error::{NotationError, Place},
    list, placed,
    row::Row,
    sides::MOST_ROWS,
};
use crate::grid::Shape;

/// A puzzle or an error, and the number of the line where it begins.
pub type Item = (u64, Result<Puzzle, NotationError>);

/// Lines that are kept at most: rows, and strokes that may be rows.
const MOST_LINES: usize = 4 * MOST_ROWS;

/// What there is of a puzzle.
#[derive(Debug, Default)]
pub struct Block {
    /// Rows, and what may be one, with the numbers of their lines.
    rows: Vec<(u64, Row)>,
    /// Something before the rows that may be a title, or a bad row.
    complaint: Option<(u64, NotationError)>,
    /// Whether there was a puzzle since the last empty line.
    fruitful: bool,
}

/// How the cells of rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    Tokens,
    Characters,
}

impl Written {
    fn shape(self, row: &Row) -> Option<Shape> {
        match self {
            Self::Tokens => row.by_token,
            Self::Characters => row.by_character,
        }
    }
}

impl Block {
    /// Rows so far, without what may be a border.
    pub fn rows(&self) -> usize {
        self.certain().count()
    }

    /// Adds a row. If it is the last one of a puzzle or an error, that is given; then the block is empty.
    pub fn add(&mut self, line: u64, row: Row, shape: Option<Shape>) -> Option<Item> {
        let number = self.rows() + 1;
        let found = row.count;
        self.rows.push((line, row));
        if let Some((written, shape)) = self.agreed() {
            return self.complete(written, shape, false);
        }
        let rows = self.certain().count();
        if rows > MOST_ROWS || self.rows.len() > MOST_LINES {
            return Some(self.finish(Err(NotationError::ManyRows)));
        }
        if self.certain().any(|row| row.parts().len() > 1) {
            let placed = self.placed(shape)?;
            return Some(self.finish(placed));
        }
        if rows == 2 {
            // The first one was something else, it seems.
            let (line, first) = self.rows.remove(0);
            let error = NotationError::Width { row: 1, found: first.count, expected: None };
            self.complaint.get_or_insert((line, error));
            return None;
        }
        let expected = self.certain().next().filter(|_| rows > 2).map(|row| row.count);
        expected.map(|_| self.finish(Err(NotationError::Width { row: number, found, expected })))
    }

    /// Takes note of what is no row. An error if it comes in the middle of a puzzle; then the block is empty.
    pub fn complain(&mut self, line: u64, error: NotationError) -> Option<Item> {
        if self.rows() > 0 {
            return Some(self.finish(Err(error)));
        }
        self.complaint.get_or_insert((line, error));
        None
    }

    /// Ends the block where words are in between.
    pub fn interrupt(&mut self) -> Option<Item> {
        if self.rows.is_empty() { None } else { self.end_rows() }
    }

    /// Ends the block.
    pub fn end(&mut self) -> Option<Item> {
        let item = self.end_rows();
        let complaint = self.complaint.take().filter(|_| !self.fruitful);
        *self = Self::default();
        item.or(complaint.map(|(line, error)| (line, Err(error))))
    }

    /// Ends the rows: strokes are rows if this makes a puzzle.
    fn end_rows(&mut self) -> Option<Item> {
        if let Some((written, shape)) = self.agreed_on_strokes() {
            let item = self.complete(written, shape, true);
            if item.is_some() {
                return item;
            }
        }
        let rows = self.certain().filter(|row| !row.hollow).count();
        let side = self.agreed().map(|(_, shape)| shape.side());
        let error = match side {
            _ if rows == 0 => {
                self.rows.clear();
                return None;
            }
            Some(side) => NotationError::Height { rows, side },
            None => self.disagreement().unwrap_or(NotationError::Unclear { rows }),
        };
        // What came before was a row, then, and is the cause.
        let cause = self.complaint.take();
        Some(match cause {
            Some((line, error)) => {
                self.rows.clear();
                (line, Err(error))
            }
            None => self.finish(Err(error)),
        })
    }

    /// The first row that has not as many cells as the first of all.
    fn disagreement(&self) -> Option<NotationError> {
        let first = self.certain().next().filter(|row| row.by_token.or(row.by_character).is_some())?;
        let is_other = |row: &Row| (row.by_token, row.by_character) != (first.by_token, first.by_character);
        let (at, row) =
            self.certain().enumerate().find(|(_, row)| is_other(row) && row.count != first.count)?;
        Some(NotationError::Width { row: at + 1, found: row.count, expected: Some(first.count) })
    }

    /// The puzzle, if all its rows are there; see [`Block::of`].
    fn complete(&mut self, written: Written, shape: Shape, all: bool) -> Option<Item> {
        let rows = self.of(written, shape, all);
        let result = (rows.len() == shape.side()).then(|| read(&rows, written, shape))?;
        Some(self.finish(result))
    }

    fn finish(&mut self, result: Result<Puzzle, NotationError>) -> Item {
        let line = self.rows.first().map_or(0, |(line, _)| *line);
        let line = self.rows.iter().find(|(_, row)| row.stroke.is_none()).map_or(line, |(line, _)| *line);
        self.rows.clear();
        self.fruitful |= result.is_ok();
        self.complaint = None;
        (line, result)
    }

    fn certain(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().map(|(_, row)| row).filter(|row| row.stroke.is_none())
    }

    /// How all rows can be read, if they can in one way: a character a cell before anything else.
    fn agreed(&self) -> Option<(Written, Shape)> {
        agreed(|| self.certain().filter(|row| !row.hollow))
    }

    /// As [`Block::agreed`]; if there are only strokes, by them.
    fn agreed_on_strokes(&self) -> Option<(Written, Shape)> {
        let only_strokes = self.certain().next().is_none();
        if only_strokes { agreed(|| self.rows.iter().map(|(_, row)| row)) } else { self.agreed() }
    }

    /// The rows of a shape. Strokes that are as many as a row has cells are among them if another row has this sign
    /// for an empty cell, or if `all`.
    fn of(&self, written: Written, shape: Shape, all: bool) -> Vec<&Row> {
        let is_row = |row: &&Row| {
            let counts = match row.stroke {
                None => !row.hollow,
                Some(sign) => all || self.certain().any(|other| other.has_stroke(sign)),
            };
            counts && written.shape(row) == Some(shape)
        };
        self.rows.iter().map(|(_, row)| row).filter(is_row).collect()
    }

    /// Reads rows in which empty cells are blanks, if there are as many as a puzzle has.
    fn placed(&self, shape: Option<Shape>) -> Option<Result<Puzzle, NotationError>> {
        let rows: Vec<Vec<&[u8]>> = self.certain().map(|row| row.parts().collect()).collect();
        placed::read(&rows, shape)
    }
}

fn agreed<'a, I: Iterator<Item = &'a Row>>(rows: impl Fn() -> I) -> Option<(Written, Shape)> {
    [Written::Characters, Written::Tokens].into_iter().find_map(|written| {
        let shape = written.shape(rows().next()?)?;
        rows().all(|row| written.shape(row) == Some(shape)).then_some((written, shape))
    })
}

fn read(rows: &[&Row], written: Written, shape: Shape) -> Result<Puzzle, NotationError> {
    let place = |at: usize| Place::At { row: at / shape.side() + 1, column: at % shape.side() + 1 };
    match written {
        Written::Tokens => {
            let tokens: Vec<&[u8]> = rows.iter().flat_map(|row| row.tokens()).collect();
            list::read(&tokens, shape, &place)
        }
        Written::Characters => {
            let symbols: Vec<u8> = rows.iter().flat_map(|row| row.symbols()).collect();
            Ok(Puzzle::of_cells(shape, cells::read(&symbols, shape.side(), &place)?))
        }
    }
}
