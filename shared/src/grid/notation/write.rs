//! Writing puzzles, so that they are read back as what they are.

use crate::grid::{Shape, shape::symbol};

/// A puzzle in one line: a character a cell, `.` when empty; numbers between blanks if that would be misread, because
/// none of the digits up to 9 is there to tell that `A` is 10.
///
/// [`super::LineLayout::read`] reads it back, if `shape` is the usual one of its size or is given there.
///
/// ```
/// use shared::grid::{Shape, notation::text};
///
/// assert_eq!(text(Shape::FOUR, &[1, 0, 0, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 0, 0, 4]), "1.....3..2.....4");
/// ```
pub fn text(shape: Shape, cells: &[u8]) -> String {
    let only_letters =
        cells.iter().all(|&digit| !(1..=9).contains(&digit)) && cells.iter().any(|&digit| digit > 9);
    if shape.side() > 9 && only_letters {
        let numbers: Vec<String> = cells.iter().map(|&digit| number(digit)).collect();
        return numbers.join(" ");
    }
    cells.iter().map(|&digit| digit.checked_sub(1).map_or('.', |digit| symbol(digit.into()))).collect()
}

/// A puzzle as a drawing with borders between boxes, `.` for empty cells; numbers if there are more than 9. Each line
/// has an end.
///
/// [`super::blocks`] reads it back, if `shape` is given there or has boxes of several rows and columns.
///
/// ```
/// use shared::grid::{Shape, notation::drawing};
///
/// let drawn = drawing(Shape::FOUR, &[1, 0, 0, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 0, 0, 4]);
/// assert_eq!(drawn.lines().next(), Some("+-----+-----+"));
/// assert_eq!(drawn.lines().nth(2), Some("| . . | 3 . |"));
/// ```
///
/// # Panics
///
/// When there are fewer cells than the shape has.
pub fn drawing(shape: Shape, cells: &[u8]) -> String {
    let (side, columns) = (shape.side(), shape.columns());
    let width = if side > 9 { 2 } else { 1 };
    let border =
        format!("+{}\n", format!("{}+", "-".repeat(columns * (width + 1) + 1)).repeat(side / columns));
    let mut drawing = String::new();
    for row in 0..side {
        if row % shape.rows() == 0 {
            drawing += &border;
        }
        for column in 0..side {
            drawing += if column % columns == 0 { "| " } else { "" };
            drawing += &format!("{:>width$} ", number(cells[row * side + column]));
        }
        drawing += "|\n";
    }
    drawing + &border
}

fn number(digit: u8) -> String {
    if digit == 0 { ".".into() } else { digit.to_string() }
}
