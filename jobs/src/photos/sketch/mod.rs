//! Pages with boards as newspapers, books and programs show them, drawn from a seed: what tests of the reading look at.

mod boards;
mod scenes;
#[cfg(test)]
pub(super) mod tests;

use shared::{grid::Shape, photo::reading::Point};

use super::canvas::{Canvas, Quad, Rgb, within};
pub use scenes::{Scene, dark, marked, mixed, several, small};

/// How a board is drawn.
#[derive(Clone, Debug)]
pub struct Style {
    /// Half the width of the lines inside of boxes, and of those around them, in pixels.
    pub thin: f32,
    pub bold: f32,
    pub ink: Rgb,
    pub lines: Rgb,
    /// How high digits are, as a part of a cell, and half the width of their strokes, as a part of their height.
    pub digit: f32,
    pub pen: f32,
    /// Whether empty cells hold their candidates.
    pub marks: bool,
}

impl Style {
    /// Black on white.
    pub const PRINT: Self =
        Self { thin: 0.7, bold: 1.7, ink: [20; 3], lines: [20; 3], digit: 0.58, pen: 0.068, marks: false };
}

/// A board of any size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Board {
    pub shape: Shape,
    pub cells: Vec<u8>,
}

/// Pixels as they are reckoned with.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn number(of: usize) -> f32 {
    of as f32
}

impl Board {
    /// Draws it into a quadrangle.
    pub fn draw(&self, canvas: &mut Canvas, quad: &Quad, style: &Style) {
        let side = self.shape.side();
        let at = |column: usize, row: usize| {
            within(quad, number(column) / number(side), number(row) / number(side))
        };
        for line in 0..=side {
            let radius = |each: usize| if line % each == 0 { style.bold } else { style.thin };
            canvas.stroke(at(0, line), at(side, line), radius(self.shape.rows()), style.lines);
            canvas.stroke(at(line, 0), at(line, side), radius(self.shape.columns()), style.lines);
        }
        for (cell, &digit) in self.cells.iter().enumerate() {
            let place = self.place(quad, cell);
            if digit > 0 {
                write(canvas, &place, (0.5, 0.5, style.digit), digit, style);
            } else if style.marks {
                for digit in self.allowed(cell) {
                    let (column, row) = (usize::from(digit - 1) % 3, usize::from(digit - 1) / 3);
                    let middle = |at: usize| 0.2 + 0.3 * number(at);
                    write(canvas, &place, (middle(column), middle(row), 0.2), digit, style);
                }
            }
        }
    }

    /// Where a cell is.
    fn place(&self, quad: &Quad, cell: usize) -> Quad {
        let side = self.shape.side();
        let (column, row) = (cell % side, cell / side);
        let at = |column: usize, row: usize| {
            within(quad, number(column) / number(side), number(row) / number(side))
        };
        [at(column, row), at(column + 1, row), at(column + 1, row + 1), at(column, row + 1)]
    }

    /// The digits that the rules allow in a cell.
    fn allowed(&self, cell: usize) -> Vec<u8> {
        let side = self.shape.side();
        let (rows, columns) = (self.shape.rows(), self.shape.columns());
        let units = |cell: usize| {
            let (row, column) = (cell / side, cell % side);
            (row, column, (row / rows, column / columns))
        };
        let own = units(cell);
        let sees = |other: usize| {
            let units = units(other);
            units.0 == own.0 || units.1 == own.1 || units.2 == own.2
        };
        let side = u8::try_from(side).expect("small");
        (1..=side)
            .filter(|&digit| !(0..self.cells.len()).any(|other| self.cells[other] == digit && sees(other)))
            .collect()
    }
}

/// Writes a digit around a place of a cell, so high.
fn write(canvas: &mut Canvas, cell: &Quad, (x, y, high): (f32, f32, f32), digit: u8, style: &Style) {
    let wide = high * 2.0 / 3.0;
    let at = |dx: f32, dy: f32| within(cell, x + dx * wide, y + dy * high);
    let quad = [at(-0.5, -0.5), at(0.5, -0.5), at(0.5, 0.5), at(-0.5, 0.5)];
    let tall = distance(quad[0], quad[3]);
    canvas.character(char::from(b'0' + digit), &quad, (tall * style.pen).max(0.5), style.ink);
}

fn distance(a: Point, b: Point) -> f32 {
    let (dx, dy) = (a.x - b.x, a.y - b.y);
    (dx * dx + dy * dy).sqrt()
}
