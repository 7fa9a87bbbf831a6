//! Cells that are separated from each other: characters, numbers, or several candidates each.

use super::{
    Puzzle, cells,
    error::{NotationError, Place},
    signs::{bare, is_blank_sign, quoted},
};
use crate::grid::Shape;

/// Splits a text into cells, at most `most + 2` of them. Separators are commas, or else semicolons, or else tabs if
/// `tabs`, between which nothing is an empty cell, or else blanks. One at the end is not counted.
pub fn split(text: &[u8], most: usize, tabs: bool) -> Vec<&[u8]> {
    let has = |separator: &u8| text.contains(separator);
    let separator = b",;\t".iter().find(|&separator| has(separator) && (tabs || *separator != b'\t'));
    let mut tokens: Vec<&[u8]> = if let Some(separator) = separator {
        text.split(|byte| byte == separator).map(bare).take(most + 2).collect()
    } else {
        let tokens = text.split(u8::is_ascii_whitespace).map(bare);
        tokens.filter(|token| !token.is_empty()).take(most + 2).collect()
    };
    if separator.is_some() && tokens.last().is_some_and(|last| last.is_empty()) {
        tokens.pop();
    }
    tokens
}

/// Reads as many cells as the shape has; an empty text is an empty cell.
///
/// # Errors
///
/// For the first one that is no cell; `place` tells where the one of an index stands.
pub fn read(tokens: &[&[u8]], shape: Shape, place: &dyn Fn(usize) -> Place) -> Result<Puzzle, NotationError> {
    let side = shape.side();
    if tokens.iter().all(|token| token.len() <= 1) {
        let symbols: Vec<u8> = tokens.iter().map(|token| token.first().copied().unwrap_or(b'.')).collect();
        return Ok(Puzzle::of_cells(shape, cells::read(&symbols, side, place)?));
    }
    if side > 9 {
        let cell =
            |(at, token): (usize, &&[u8])| {
                number(token)
                    .filter(|&number| usize::from(number) <= side)
                    .ok_or_else(|| NotationError::Number { place: place(at), found: quoted(token), side })
            };
        let cells = tokens.iter().enumerate().map(cell).collect::<Result<_, _>>()?;
        return Ok(Puzzle::of_cells(shape, cells));
    }
    let set = |(at, token): (usize, &&[u8])| {
        candidates(token, side).ok_or_else(|| match token.len() {
            1 => NotationError::Character { place: place(at), found: char::from(token[0]), side },
            _ => NotationError::Candidates { place: place(at), found: quoted(token), side },
        })
    };
    Ok(Puzzle::of_candidates(shape, tokens.iter().enumerate().map(set).collect::<Result<_, _>>()?))
}

/// A number; 0 for signs of an empty cell only, or nothing.
fn number(token: &[u8]) -> Option<u8> {
    if token.iter().all(|&byte| is_blank_sign(byte)) {
        return Some(0);
    }
    // Without this, `+7` would be one.
    let digits = token.len() <= 3 && token.iter().all(u8::is_ascii_digit);
    str::from_utf8(token).ok().filter(|_| digits)?.parse().ok()
}

/// The digits of a token, a bit each; all for signs of an empty cell only, or nothing.
fn candidates(token: &[u8], side: usize) -> Option<u32> {
    let mut set = 0;
    for &byte in token.iter().filter(|&&byte| !is_blank_sign(byte)) {
        let digit = char::from(byte).to_digit(10).filter(|&digit| digit as usize <= side)?;
        let bit = 1 << (digit - 1);
        if set & bit != 0 {
            return None;
        }
        set |= bit;
    }
    Some(if set == 0 { (1 << side) - 1 } else { set })
}
