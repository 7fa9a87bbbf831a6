//! One character a cell. Which digit a character is depends on the others: see the rules in [`super`].

use super::error::{NotationError, Place};
use super::signs::is_blank_sign;

/// How characters are digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alphabet {
    /// `1`..`9`, then `A`..
    FromOne,
    /// `0`..`9`, then `A`..: the digit after.
    FromZero,
    /// `A`.. from 1; whether `X` is one of them.
    Letters { with_x: bool },
}

/// Reads cells, a byte each.
///
/// # Errors
///
/// For the first one that is no cell; `place` tells where the one of an index stands.
pub fn read(symbols: &[u8], side: usize, place: &dyn Fn(usize) -> Place) -> Result<Vec<u8>, NotationError> {
    let alphabet = if side > 9 { Alphabet::of(symbols, side) } else { Alphabet::FromOne };
    let cell = |(at, &symbol): (usize, &u8)| match alphabet.digit(symbol) {
        Some(digit) if usize::from(digit) <= side => Ok(digit),
        _ => Err(NotationError::Character { place: place(at), found: char::from(symbol), side }),
    };
    symbols.iter().enumerate().map(cell).collect()
}

/// The value of a digit or a letter of either case, `A` after 9.
fn value(symbol: u8) -> Option<u8> {
    char::from(symbol).to_digit(36).and_then(|value| u8::try_from(value).ok())
}

impl Alphabet {
    /// The alphabet of a puzzle whose side is more than 9.
    fn of(symbols: &[u8], side: usize) -> Self {
        let mut counts = [0_usize; 36];
        for value in symbols.iter().filter_map(|&symbol| value(symbol)) {
            counts[usize::from(value)] += 1;
        }
        let x = counts[33];
        let letters = counts[10..].iter().sum::<usize>() - x;
        if counts[1..10].iter().all(|&count| count == 0) && letters > 0 {
            return Self::Letters { with_x: side >= 24 && x <= side };
        }
        let others = symbols.iter().any(|&symbol| symbol != b'0' && is_blank_sign(symbol));
        let full = counts[..side].iter().all(|&count| count == side);
        if counts[0] > 0 && (others || full) && counts[side] == 0 {
            return Self::FromZero;
        }
        Self::FromOne
    }

    fn digit(self, symbol: u8) -> Option<u8> {
        let is_x = symbol.eq_ignore_ascii_case(&b'x');
        match self {
            Self::FromZero if symbol == b'0' => Some(1),
            Self::Letters { with_x: true } if is_x => Some(24),
            _ if is_blank_sign(symbol) => Some(0),
            Self::FromOne => value(symbol),
            Self::FromZero => Some(value(symbol)? + 1),
            Self::Letters { .. } => value(symbol)?.checked_sub(9),
        }
    }
}
