//! Flat pages that somebody might photograph, none of them a sudoku.

use shared::{photo::reading::Point, random::Random};

use super::super::canvas::{Canvas, Rgb, coordinate};

const PAPER: Rgb = [235; 3];
pub(super) const INK: Rgb = [25; 3];

/// Pixels of a page.
const WIDTH: usize = 600;
const HEIGHT: usize = 760;

pub(super) fn page() -> Canvas {
    Canvas::filled(WIDTH, HEIGHT, PAPER)
}

pub(super) fn at(x: f32, y: f32) -> Point {
    Point { x, y }
}

pub(super) fn word(random: &mut Random) -> String {
    let letters = 2 + random.below(7);
    (0..letters).map(|_| char::from(b'A' + u8::try_from(random.below(26)).unwrap_or(0))).collect()
}

/// A lattice of `columns` by `rows` cells, from its top left corner; bold lines every so many.
pub(super) struct Lattice {
    left: f32,
    top: f32,
    pub(super) across: f32,
    pub(super) down: f32,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Lattice {
    /// One in the middle of the page, with cells as large as they can be.
    pub(super) fn middle(columns: usize, rows: usize) -> Self {
        let cell = ((coordinate(WIDTH) - 80.0) / coordinate(columns))
            .min((coordinate(HEIGHT) - 160.0) / coordinate(rows));
        let left = (coordinate(WIDTH) - cell * coordinate(columns)) / 2.0;
        Self { left, top: 110.0, across: cell, down: cell, columns, rows }
    }

    pub(super) fn corner(&self, column: usize, row: usize) -> Point {
        at(self.left + coordinate(column) * self.across, self.top + coordinate(row) * self.down)
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, radius: f32) {
        (0..=self.rows)
            .for_each(|row| canvas.stroke(self.corner(0, row), self.corner(self.columns, row), radius, INK));
        (0..=self.columns).for_each(|column| {
            canvas.stroke(self.corner(column, 0), self.corner(column, self.rows), radius, INK);
        });
    }

    pub(super) fn fill(&self, canvas: &mut Canvas, column: usize, row: usize) {
        let (a, c) = (self.corner(column, row), self.corner(column + 1, row + 1));
        canvas.fill(&[a, at(c.x, a.y), c, at(a.x, c.y)], 1.0, INK);
    }

    /// Writes into the middle of a cell, `share` of it high.
    pub(super) fn write(&self, canvas: &mut Canvas, column: usize, row: usize, text: &str, share: f32) {
        let height = self.down * share;
        let wide = coordinate(text.len()) * height * 0.95 - height * 0.28;
        let corner = self.corner(column, row);
        let start = at(corner.x + (self.across - wide) / 2.0, corner.y + (self.down - height) / 2.0);
        canvas.text(text, start, height, (height / 14.0).max(0.7), INK);
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let columns = self.columns;
        (0..self.rows).flat_map(move |row| (0..columns).map(move |column| (column, row)))
    }
}

/// Columns of text with a headline.
pub fn text(random: &mut Random) -> Canvas {
    let mut canvas = page();
    canvas.text(&word(random), at(60.0, 40.0), 34.0, 2.2, INK);
    let height = 11.0 + coordinate(random.below(6));
    let mut y = 100.0;
    while y + height < coordinate(HEIGHT) - 30.0 {
        let mut x = 50.0;
        loop {
            let word = word(random);
            let wide = coordinate(word.len() + 1) * height * 0.95;
            if x + wide > coordinate(WIDTH) - 30.0 {
                break;
            }
            canvas.text(&word, at(x, y), height, 0.9, INK);
            x += wide;
        }
        y += height * 1.8;
    }
    canvas
}

/// A chessboard, with a few letters on it.
pub fn chess(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let lattice = Lattice::middle(8, 8);
    lattice.draw(&mut canvas, 1.5);
    for (column, row) in lattice.cells() {
        if (column + row) % 2 == 1 {
            lattice.fill(&mut canvas, column, row);
        } else if random.below(5) == 0 {
            lattice.write(&mut canvas, column, row, ["K", "Q", "R", "B", "N"][random.below(5)], 0.6);
        }
    }
    canvas
}

/// A table of words and prices.
pub fn table(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let (columns, rows) = (4 + random.below(3), 10 + random.below(6));
    let mut lattice = Lattice::middle(columns, rows);
    lattice.left = 40.0;
    lattice.across = (coordinate(WIDTH) - 80.0) / coordinate(columns);
    lattice.draw(&mut canvas, 1.0);
    for (column, row) in lattice.cells() {
        let text = if column == 0 || row == 0 {
            word(random).chars().take(5).collect()
        } else {
            format!("{}.{:02}", random.below(400), random.below(100))
        };
        lattice.write(&mut canvas, column, row, &text, 0.32);
    }
    canvas
}

/// A crossword: black cells, small numbers in corners.
pub fn crossword(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let side = [9, 11, 13, 15][random.below(4)];
    let lattice = Lattice::middle(side, side);
    lattice.draw(&mut canvas, 1.0);
    let mut count = 0;
    for (column, row) in lattice.cells() {
        if random.below(5) == 0 {
            lattice.fill(&mut canvas, column, row);
        } else if random.below(3) == 0 {
            count += 1;
            let corner = lattice.corner(column, row);
            canvas.text(
                &count.to_string(),
                at(corner.x + 3.0, corner.y + 3.0),
                lattice.down * 0.25,
                0.7,
                INK,
            );
        }
    }
    canvas
}

/// A month.
pub fn calendar(random: &mut Random) -> Canvas {
    let mut canvas = page();
    canvas.text(["MARCH", "JUNE", "OCTOBER"][random.below(3)], at(180.0, 40.0), 36.0, 2.4, INK);
    let lattice = Lattice::middle(7, 6);
    lattice.draw(&mut canvas, 1.2);
    for (column, day) in ["MO", "TU", "WE", "TH", "FR", "SA", "SU"].into_iter().enumerate() {
        lattice.write(&mut canvas, column, 0, day, 0.3);
    }
    let first = random.below(5);
    for day in 1..=28 + random.below(4) {
        let place = first + day - 1;
        if place < 35 {
            lattice.write(&mut canvas, place % 7, 1 + place / 7, &day.to_string(), 0.4);
        }
    }
    canvas
}

/// Nothing but grain.
pub fn noise(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let most = 40 + random.below(200);
    for pixel in canvas.pixels_mut() {
        *pixel = [u8::try_from(235 - random.below(most)).unwrap_or(0); 3];
    }
    canvas
}

/// A clean sheet.
pub fn blank(_: &mut Random) -> Canvas {
    page()
}

/// Strokes in all directions, and frames within frames.
pub fn line_art(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let mut place = || at(coordinate(random.below(WIDTH)), coordinate(random.below(HEIGHT)));
    for _ in 0..60 {
        let (from, to) = (place(), place());
        canvas.stroke(from, to, 1.5, INK);
    }
    for _ in 0..6 {
        let (a, c) = (place(), place());
        canvas.outline(&[a, at(c.x, a.y), c, at(a.x, c.y)], 2.0, INK);
    }
    canvas
}

/// A kakuro: black cells cut in two with sums in them, digits elsewhere.
pub fn kakuro(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let side = [8, 10, 12][random.below(3)];
    let lattice = Lattice::middle(side, side);
    lattice.draw(&mut canvas, 1.2);
    for (column, row) in lattice.cells() {
        if column == 0 || row == 0 || random.below(4) == 0 {
            canvas.stroke(lattice.corner(column, row), lattice.corner(column + 1, row + 1), 1.0, INK);
            let corner = lattice.corner(column, row);
            let sum = (3 + random.below(40)).to_string();
            let height = lattice.down * 0.25;
            canvas.text(&sum, at(corner.x + lattice.across * 0.5, corner.y + 4.0), height, 0.8, INK);
        } else if random.below(3) == 0 {
            lattice.write(&mut canvas, column, row, &(1 + random.below(9)).to_string(), 0.55);
        }
    }
    canvas
}

/// A bingo card.
pub fn bingo(random: &mut Random) -> Canvas {
    let mut canvas = page();
    canvas.text("BINGO", at(150.0, 30.0), 56.0, 4.0, INK);
    let lattice = Lattice::middle(5, 5);
    lattice.draw(&mut canvas, 2.0);
    for (column, row) in lattice.cells() {
        let text = if (column, row) == (2, 2) {
            "FREE".into()
        } else {
            (column * 15 + 1 + random.below(15)).to_string()
        };
        lattice.write(&mut canvas, column, row, &text, if text.len() > 2 { 0.25 } else { 0.5 });
    }
    canvas
}

/// Squared or ruled paper with some words written on it.
pub fn ruled(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let (gap, squared) = (18.0 + coordinate(random.below(20)), random.below(2) == 0);
    let lines = |end: usize| {
        (1..).map(move |line| coordinate(line) * gap).take_while(move |&at| at < coordinate(end))
    };
    lines(HEIGHT).for_each(|y| canvas.stroke(at(0.0, y), at(coordinate(WIDTH), y), 0.7, [120; 3]));
    if squared {
        lines(WIDTH).for_each(|x| canvas.stroke(at(x, 0.0), at(x, coordinate(HEIGHT)), 0.7, [120; 3]));
    }
    for _ in 0..12 {
        let y = gap * coordinate(2 + random.below(16));
        canvas.text(&word(random), at(coordinate(40 + random.below(300)), y + 3.0), gap * 0.7, 1.4, INK);
    }
    canvas
}

/// A table of products: nine by nine, but with numbers of two digits.
pub fn products(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let first = 2 + random.below(9);
    let lattice = Lattice::middle(9, 9);
    lattice.draw(&mut canvas, 1.3);
    for (column, row) in lattice.cells() {
        lattice.write(&mut canvas, column, row, &((first + column) * (row + 2)).to_string(), 0.4);
    }
    canvas
}
