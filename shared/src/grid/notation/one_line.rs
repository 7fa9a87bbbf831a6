//! A puzzle in one line, or in one field of a table.

use super::{
    Puzzle, cells,
    error::{Counted, NotationError, Place},
    list, nine,
    sides::{MOST_ROWS, of_cells, of_side},
    signs::{bare_start, character, characters, is_blank_sign, is_cell_like},
};
use crate::grid::Shape;

/// Marks of a 9x9 puzzle in which each cell has nine.
const MARKS: usize = 729;

/// Reads a puzzle from the beginning of a text.
///
/// # Errors
///
/// When the text does not begin with a puzzle, or is more than one of the shape that is asked for.
///
/// Cost: linear, a few passes.
pub fn read(text: &[u8], shape: Option<Shape>) -> Result<Puzzle, NotationError> {
    if let Some(shape) = of_side(9, shape)
        && let Some(cells) = nine(text)
    {
        return Ok(Puzzle::of_cells(shape, cells.to_vec()));
    }
    let text = bare_start(text);
    if let Some((shape, symbols)) = groups(text, shape) {
        let place = |at: usize| Place::At { row: at / shape.side() + 1, column: at % shape.side() + 1 };
        return Ok(Puzzle::of_cells(shape, cells::read(&symbols, shape.side(), &place)?));
    }
    let run = run(text);
    let count = characters(run);
    let own = of_cells(count, shape);
    if (own.is_some() || count == MARKS)
        && let Some(at) = run.iter().position(|byte| !byte.is_ascii())
    {
        let side = own.map_or(9, Shape::side);
        return Err(NotationError::Character {
            place: Place::Character(characters(&run[..at]) + 1),
            found: character(run, at),
            side,
        });
    }
    if let Some(shape) = own {
        return Ok(Puzzle::of_cells(shape, cells::read(run, shape.side(), &|at| Place::Character(at + 1))?));
    }
    if let Some(shape) = of_side(9, shape).filter(|_| count == MARKS) {
        return marks(run, shape);
    }
    separated(text, run, shape)
}

/// What is or could be cells, up to the first byte that is none.
fn run(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|&byte| !is_cell_like(byte)).unwrap_or(text.len());
    &text[..end]
}

/// Cells with something between rows: as many groups as each has cells, one separator between them.
fn groups(text: &[u8], shape: Option<Shape>) -> Option<(Shape, Vec<u8>)> {
    let side = run(text).len();
    let shape = of_side(side, shape).filter(|_| side > 1)?;
    let mut symbols = Vec::with_capacity(side * side);
    let mut rest = text;
    for row in 0..side {
        let group = run(rest);
        if group.len() != side || !group.is_ascii() {
            return None;
        }
        symbols.extend_from_slice(group);
        rest = &rest[side..];
        if row + 1 < side {
            rest = rest.split_first().filter(|(between, _)| b" ,;\t/|:".contains(between))?.1;
        }
    }
    Some((shape, symbols))
}

/// Nine characters a cell: the digit of their place where it is possible.
fn marks(run: &[u8], shape: Shape) -> Result<Puzzle, NotationError> {
    let mut sets = vec![0; MARKS / 9];
    for (at, &mark) in run.iter().enumerate() {
        let digit = at % 9 + 1;
        if usize::from(mark.wrapping_sub(b'0')) == digit {
            sets[at / 9] |= 1 << (digit - 1);
        } else if !is_blank_sign(mark) {
            let place = Place::Character(at + 1);
            return Err(NotationError::Mark { place, found: char::from(mark), digit });
        }
    }
    Ok(Puzzle::of_candidates(shape, sets))
}

/// A list of cells, or else what is wrong with the text.
fn separated(text: &[u8], run: &[u8], shape: Option<Shape>) -> Result<Puzzle, NotationError> {
    let end = text.iter().position(|&byte| byte == b'#').unwrap_or(text.len());
    let tokens = list::split(&text[..end], MOST_ROWS * MOST_ROWS, true);
    if let Some(shape) = of_cells(tokens.len(), shape).filter(|_| tokens.len() > 1) {
        return list::read(&tokens, shape, &|at| Place::Cell(at + 1));
    }
    let looks_separated = run.len() <= 2 && tokens.len() > 2;
    Err(match run {
        [] if !text.is_empty() => NotationError::Character {
            place: Place::Character(1),
            found: character(text, 0),
            side: shape.map_or(9, Shape::side),
        },
        _ if looks_separated => NotationError::Count { found: tokens.len(), counted: Counted::Cells, shape },
        _ => NotationError::Count { found: characters(run), counted: Counted::Characters, shape },
    })
}
