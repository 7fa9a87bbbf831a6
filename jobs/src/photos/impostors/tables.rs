//! Pages that look more like a sudoku: squares of cells, many with single digits, whose rules are others.

use shared::random::Random;

use super::{
    super::canvas::{Canvas, coordinate},
    pages::{INK, Lattice, at, page},
};

/// Lines between boxes of so many cells, over those that are there.
fn boxes(lattice: &Lattice, canvas: &mut Canvas, columns: usize, rows: usize) {
    for row in (0..=lattice.rows).step_by(rows) {
        canvas.stroke(lattice.corner(0, row), lattice.corner(lattice.columns, row), 2.2, INK);
    }
    for column in (0..=lattice.columns).step_by(columns) {
        canvas.stroke(lattice.corner(column, 0), lattice.corner(column, lattice.rows), 2.2, INK);
    }
}

/// A square of cells with lines as a sudoku has them.
fn square(canvas: &mut Canvas, side: usize, (columns, rows): (usize, usize)) -> Lattice {
    let lattice = Lattice::middle(side, side);
    lattice.draw(canvas, 0.9);
    boxes(&lattice, canvas, columns, rows);
    lattice
}

/// A side with the boxes of it, as columns and rows.
const SIDES: [(usize, (usize, usize)); 3] = [(9, (3, 3)), (6, (3, 2)), (4, (2, 2))];

/// A grid that nobody has put a digit into.
pub fn empty(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let (side, boxes) = SIDES[random.below(3)];
    square(&mut canvas, side, boxes);
    canvas
}

/// The last digits of products: nine by nine single digits.
pub fn last_digits(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let first = 1 + random.below(6);
    let lattice = square(&mut canvas, 9, (3, 3));
    for (column, row) in lattice.cells() {
        let digit = (first + column) * (1 + row) % 10;
        lattice.write(&mut canvas, column, row, &digit.to_string(), 0.55);
    }
    canvas
}

/// Digits as they come, in every cell or in half of them, so that many are twice in a row.
pub fn random_digits(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let (side, boxes) = SIDES[random.below(3)];
    let lattice = square(&mut canvas, side, boxes);
    let (share, most) = (1 + random.below(2), if random.below(2) == 0 { side } else { 9 });
    for (column, row) in lattice.cells() {
        let forced = row == 0 && column < 2;
        if forced || random.below(share) == 0 {
            let digit = if forced { 1 } else { 1 + random.below(most) };
            lattice.write(&mut canvas, column, row, &digit.to_string(), 0.55);
        }
    }
    canvas
}

/// Each row the one above moved by one: no digit twice in a row or column, but in the boxes.
pub fn latin_square(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let (side, boxes) = SIDES[random.below(3)];
    let lattice = square(&mut canvas, side, boxes);
    let first = random.below(side);
    for (column, row) in lattice.cells() {
        let digit = 1 + (first + column + row) % side;
        lattice.write(&mut canvas, column, row, &digit.to_string(), 0.55);
    }
    canvas
}

/// A letter in each cell.
pub fn word_search(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let side = [4, 6, 9, 9, 12][random.below(5)];
    let lattice = Lattice::middle(side, side);
    lattice.draw(&mut canvas, 0.9);
    for (column, row) in lattice.cells() {
        let letter = char::from(b'A' + u8::try_from(random.below(26)).unwrap_or(0));
        lattice.write(&mut canvas, column, row, &letter.to_string(), 0.55);
    }
    canvas
}

/// A nonogram: numbers in the first rows and columns, some of the other cells black.
pub fn nonogram(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let side = [9, 12, 14][random.below(3)];
    let clues = side / 3;
    let lattice = square(&mut canvas, side, (clues, clues));
    for (column, row) in lattice.cells() {
        let beside = usize::from(column < clues) + usize::from(row < clues);
        if beside == 0 && random.below(3) == 0 {
            lattice.fill(&mut canvas, column, row);
        } else if beside == 1 && random.below(3) > 0 {
            lattice.write(&mut canvas, column, row, &(1 + random.below(6)).to_string(), 0.55);
        }
    }
    canvas
}

/// A square of which all rows have one sum, with or without gaps.
pub fn magic_square(random: &mut Random) -> Canvas {
    const FOUR: [usize; 16] = [16, 3, 2, 13, 5, 10, 11, 8, 9, 6, 7, 12, 4, 15, 14, 1];
    let mut canvas = page();
    let lattice = square(&mut canvas, 4, (2, 2));
    let gaps = random.below(3);
    for ((column, row), value) in lattice.cells().zip(FOUR) {
        if random.below(4) >= gaps {
            lattice.write(&mut canvas, column, row, &value.to_string(), 0.5);
        }
    }
    canvas
}

/// A table of four or six lines with marks from 1 to 9, as schools give them.
pub fn small_table(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let side = [4, 6][random.below(2)];
    let mut lattice = Lattice::middle(side, side);
    lattice.down *= 0.6 + 0.1 * coordinate(random.below(5));
    lattice.draw(&mut canvas, 1.2);
    for (column, row) in lattice.cells() {
        let text = match (column, row) {
            (0, 0) => String::new(),
            (0, _) => char::from(b'A' + u8::try_from(row).unwrap_or(0)).to_string(),
            (_, 0) => format!("Q{column}"),
            _ => (1 + random.below(9)).to_string(),
        };
        lattice.write(&mut canvas, column, row, &text, 0.45);
    }
    canvas
}

/// Mines: mostly 1 and 2, side by side.
pub fn minesweeper(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let lattice = Lattice::middle(9, 9);
    lattice.draw(&mut canvas, 1.2);
    for (column, row) in lattice.cells() {
        match random.below(4) {
            0 => lattice.fill(&mut canvas, column, row),
            1 => {}
            _ => {
                let digit = 1 + random.below(2) + random.below(2);
                lattice.write(&mut canvas, column, row, &digit.to_string(), 0.6);
            }
        }
    }
    canvas
}

/// Black and white squares, the smaller the more there are, with or without lines between.
pub fn matrix_code(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let side = [9, 21, 29][random.below(3)];
    let lattice = Lattice::middle(side, side);
    if random.below(2) == 0 {
        lattice.draw(&mut canvas, 0.6);
    }
    for (column, row) in lattice.cells() {
        if random.below(2) == 0 {
            lattice.fill(&mut canvas, column, row);
        }
    }
    canvas
}

/// A crossword of nine by nine with bold lines, the small numbers of which have one digit.
pub fn boxed_crossword(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let lattice = square(&mut canvas, 9, (3, 3));
    let mut count = 0;
    for (column, row) in lattice.cells() {
        if random.below(4) == 0 && count < 9 {
            count += 1;
            let corner = lattice.corner(column, row);
            let place = at(corner.x + 3.0, corner.y + 3.0);
            canvas.text(&count.to_string(), place, lattice.down * 0.25, 0.8, INK);
        } else if random.below(5) == 0 {
            lattice.fill(&mut canvas, column, row);
        }
    }
    canvas
}

/// The first days of a month in large cells: six by six of them or four by four.
pub fn week(random: &mut Random) -> Canvas {
    let mut canvas = page();
    let side = [4, 6][random.below(2)];
    let lattice = square(&mut canvas, side, (side, side));
    let first = random.below(3);
    for (day, (column, row)) in lattice.cells().skip(first).enumerate().take(31) {
        lattice.write(&mut canvas, column, row, &(day + 1).to_string(), 0.45);
    }
    canvas
}
