//! Files of the program `OpenSudoku`: puzzles are attributes of elements, `<game data="..."/>`.

use super::{
    MOST_LINE_BYTES, Puzzle,
    error::{Counted, NotationError},
    one_line,
    sides::of_cells,
    signs::bare,
};
use crate::grid::Shape;

/// Reads the puzzles of all elements `game`, each with the number of the line where the element begins, from 1. An
/// element without a puzzle gives an error.
///
/// `data` has a character a cell, or is a saved game (`version: 1` and later), of which what was given is read and
/// what the player has filled in is not.
///
/// Cost: linear; takes memory for one puzzle.
///
/// ```
/// use shared::grid::notation::open_sudoku;
///
/// let text = br#"<opensudoku><game data="1000003002000004"/></opensudoku>"#;
/// let read: Vec<_> = open_sudoku(text, None).map(|(line, puzzle)| (line, puzzle.unwrap().cells[15])).collect();
/// assert_eq!(read, [(1, 4)]);
/// ```
pub fn open_sudoku(
    text: &[u8],
    shape: Option<Shape>,
) -> impl Iterator<Item = (u64, Result<Puzzle, NotationError>)> {
    let mut elements = Elements { rest: text, number: 1 };
    std::iter::from_fn(move || {
        let (line, data) = elements.game()?;
        Some((line, data.and_then(|data| read(data, shape))))
    })
}

/// What is left of a document.
struct Elements<'a> {
    rest: &'a [u8],
    /// Of the line where the rest begins.
    number: u64,
}

impl<'a> Elements<'a> {
    /// Goes on by some bytes.
    fn skip(&mut self, bytes: usize) {
        let (before, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.number += before.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>();
        self.rest = rest;
    }

    /// The next element and its attribute `data`.
    fn game(&mut self) -> Option<(u64, Result<&'a [u8], NotationError>)> {
        loop {
            self.skip(self.rest.iter().position(|&byte| byte == b'<')?);
            if self.rest.starts_with(b"<!--") {
                self.skip(find(self.rest, b"-->").unwrap_or(self.rest.len()));
                continue;
            }
            let is_game = self.rest.strip_prefix(b"<game");
            let is_game = is_game.and_then(<[u8]>::first).is_some_and(|&next| !next.is_ascii_alphanumeric());
            if is_game {
                let line = self.number;
                self.skip(b"<game".len());
                return Some((line, self.data()));
            }
            self.skip(1);
        }
    }

    /// The attribute `data` of the element whose attributes begin here.
    fn data(&mut self) -> Result<&'a [u8], NotationError> {
        let fault = |what| Err(NotationError::Markup { what });
        let mut data = None;
        loop {
            self.skip(self.rest.len() - self.rest.trim_ascii_start().len());
            let is_name = |byte: &u8| !b"=\"'<>/".contains(byte) && !byte.is_ascii_whitespace();
            let name = &self.rest[..self.rest.iter().take_while(|byte| is_name(byte)).count()];
            self.skip(name.len());
            self.skip(self.rest.len() - self.rest.trim_ascii_start().len());
            match self.rest.first() {
                Some(b'=') => {
                    self.skip(1);
                    let value = self.value()?;
                    if name == b"data" {
                        data = Some(value);
                    }
                }
                Some(b'/') if name.is_empty() => self.skip(1),
                Some(b'>') => break,
                None | Some(b'<') => return fault("it is not closed"),
                // A name without a value, or a sign out of place.
                Some(_) => self.skip(usize::from(name.is_empty())),
            }
        }
        match data {
            Some(data) if data.len() > MOST_LINE_BYTES => fault("the attribute data is too long"),
            Some(data) => Ok(data),
            None => fault("the attribute data is missing"),
        }
    }

    /// The value of an attribute. It cannot contain `<`, so that a missing quote costs one element only.
    fn value(&mut self) -> Result<&'a [u8], NotationError> {
        self.skip(self.rest.len() - self.rest.trim_ascii_start().len());
        let Some(&quote) = self.rest.first().filter(|quote| b"\"'".contains(quote)) else {
            return Err(NotationError::Markup { what: "an attribute has no quotes" });
        };
        let inside = &self.rest[1..];
        let end = inside.iter().position(|&byte| byte == quote || byte == b'<').unwrap_or(inside.len());
        self.skip(1 + end);
        if self.rest.first() != Some(&quote) {
            return Err(NotationError::Markup { what: "an attribute is not closed" });
        }
        self.skip(1);
        Ok(&inside[..end])
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

fn read(data: &[u8], shape: Option<Shape>) -> Result<Puzzle, NotationError> {
    match saved(data) {
        Some(saved) => given(saved, shape),
        None => one_line::read(data, shape),
    }
}

/// What follows `version: N` and the end of the line, as such or as an entity.
fn saved(data: &[u8]) -> Option<&[u8]> {
    let rest = data.trim_ascii_start().strip_prefix(b"version:")?.trim_ascii_start();
    let rest = &rest[rest.iter().take_while(|byte| byte.is_ascii_digit()).count()..];
    let entity = [&b"&#10;"[..], b"&#xA;", b"&#xa;"].into_iter().find_map(|end| rest.strip_prefix(end));
    Some(entity.unwrap_or(rest).trim_ascii())
}

/// The clues of a saved game: for each cell `digit|notes|` and whether it can be changed, `1|` or `0|`; later versions
/// have several notes.
fn given(saved: &[u8], shape: Option<Shape>) -> Result<Puzzle, NotationError> {
    let saved = saved.strip_suffix(b"|").unwrap_or(saved);
    let parts: Vec<&[u8]> = saved.split(|&byte| byte == b'|').map(bare).collect();
    let fields = [3, 4].into_iter().find(|fields| {
        parts.len().is_multiple_of(*fields) && of_cells(parts.len() / fields, shape).is_some()
    });
    let Some((fields, shape)) =
        fields.and_then(|fields| Some((fields, of_cells(parts.len() / fields, shape)?)))
    else {
        return Err(NotationError::Count { found: parts.len() / 3, counted: Counted::Cells, shape });
    };
    let clue = |cell: &[&'_ [u8]]| if cell[fields - 1] == b"0" { cell[0].to_vec() } else { Vec::new() };
    let clues: Vec<Vec<u8>> = parts.chunks(fields).map(clue).collect();
    let tokens: Vec<&[u8]> = clues.iter().map(Vec::as_slice).collect();
    super::list::read(&tokens, shape, &|at| super::error::Place::Cell(at + 1))
}
