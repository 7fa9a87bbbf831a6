//! A clean page with a board on it, drawn from nothing: what tests of the machinery photograph.

use shared::photo::reading::Point;

use super::canvas::{Canvas, Rgb};

/// Pixels of a cell, and of the margin around the board.
pub const CELL: usize = 48;

const PAPER: Rgb = [245; 3];
const INK: Rgb = [20; 3];

/// A page with a board of 9x9, 0 for an empty cell.
#[must_use]
pub fn page(cells: &[u8; 81]) -> Canvas {
    let edge = CELL * 11;
    let mut canvas = Canvas::filled(edge, edge, PAPER);
    for line in 0..=9 {
        let radius = if line % 3 == 0 { 1.7 } else { 0.7 };
        canvas.stroke(corner(0, line), corner(9, line), radius, INK);
        canvas.stroke(corner(line, 0), corner(line, 9), radius, INK);
    }
    for (at, &digit) in cells.iter().enumerate().filter(|(_, digit)| **digit > 0) {
        let place = corner(at % 9, at / 9);
        let digit = char::from(b'0' + digit.min(9));
        canvas.text(&digit.to_string(), Point { x: place.x + 14.0, y: place.y + 10.0 }, 28.0, 1.9, INK);
    }
    canvas
}

/// A crossing of the lines of [`page`].
#[must_use]
pub fn corner(column: usize, row: usize) -> Point {
    let place = |at: usize| super::canvas::coordinate((at + 1) * CELL);
    Point { x: place(column), y: place(row) }
}

/// A page with a puzzle in one line, for tests.
///
/// # Panics
///
/// When it has not 81 characters.
#[must_use]
pub fn puzzle(text: &str) -> Canvas {
    let cells: Vec<u8> = text.bytes().map(|byte| byte.saturating_sub(b'0').min(9)).collect();
    page(&cells.try_into().expect("81 characters"))
}
