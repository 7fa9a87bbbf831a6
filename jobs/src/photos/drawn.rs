//! Boards drawn from nothing: what tests photograph.

use shared::{grid::Shape, photo::reading::Point};

use super::canvas::{Canvas, Quad, Rgb, coordinate, within};

/// Pixels of a cell of [`page`], and of the margin around the board.
pub const CELL: usize = 48;

const PAPER: Rgb = [245; 3];

/// A clean page with a board of 9x9, 0 for an empty cell.
#[must_use]
pub fn page(cells: &[u8; 81]) -> Canvas {
    let edge = CELL * 11;
    let mut canvas = Canvas::filled(edge, edge, PAPER);
    let board = Board { shape: Shape::NINE, cells: cells.to_vec() };
    board.draw(&mut canvas, &[corner(0, 0), corner(9, 0), corner(9, 9), corner(0, 9)], &Style::PRINT);
    canvas
}

/// A crossing of the lines of [`page`].
#[must_use]
pub fn corner(column: usize, row: usize) -> Point {
    let place = |at: usize| coordinate((at + 1) * CELL);
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

/// How a board is drawn.
#[derive(Clone, Debug)]
pub struct Style {
    /// Half the width of the lines inside of boxes, in pixels.
    pub thin: f32,
    /// Half the width of the lines around boxes, in pixels.
    pub bold: f32,
    /// The colour of digits.
    pub ink: Rgb,
    /// The colour of lines.
    pub lines: Rgb,
    /// How high digits are, as a part of a cell.
    pub digit: f32,
    /// Half the width of the strokes of digits, as a part of their height.
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
    /// Its shape.
    pub shape: Shape,
    /// Its digits, row by row, 0 for none.
    pub cells: Vec<u8>,
}

impl Board {
    /// Draws it into a quadrangle.
    pub fn draw(&self, canvas: &mut Canvas, quad: &Quad, style: &Style) {
        let side = self.shape.side();
        let at = |column: usize, row: usize| {
            within(quad, coordinate(column) / coordinate(side), coordinate(row) / coordinate(side))
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
                    let middle = |at: usize| 0.2 + 0.3 * coordinate(at);
                    write(canvas, &place, (middle(column), middle(row), 0.2), digit, style);
                }
            }
        }
    }

    /// Where a cell is.
    #[must_use]
    pub fn place(&self, quad: &Quad, cell: usize) -> Quad {
        let side = self.shape.side();
        let (column, row) = (cell % side, cell / side);
        let at = |column: usize, row: usize| {
            within(quad, coordinate(column) / coordinate(side), coordinate(row) / coordinate(side))
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
