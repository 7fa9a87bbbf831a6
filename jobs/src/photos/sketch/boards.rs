//! Random boards with one solution.

use shared::{
    grid::Shape,
    random::Random,
    solve::general::{Question, solve},
};

/// A complete grid: a pattern with its digits, and the rows and columns of each band, in random order.
pub fn grid(shape: Shape, random: &mut Random) -> Vec<u8> {
    let side = shape.side();
    let rows = lines(shape.rows(), shape.columns(), random);
    let columns = lines(shape.columns(), shape.rows(), random);
    let mut digits: Vec<u8> = (1..=u8::try_from(side).expect("small")).collect();
    random.shuffle(&mut digits);
    let digit = |row: usize, column: usize| {
        digits[(shape.columns() * (row % shape.rows()) + row / shape.rows() + column) % side]
    };
    let side = 0..side;
    let cells = side.clone().flat_map(|row| side.clone().map(move |column| (row, column)));
    cells.map(|(row, column)| digit(rows[row], columns[column])).collect()
}

/// The numbers of `bands` bands of `each` lines, shuffled so that bands stay together.
fn lines(each: usize, bands: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..bands).collect();
    random.shuffle(&mut order);
    let mut all = Vec::new();
    for band in order {
        let mut inside: Vec<usize> = (0..each).map(|line| band * each + line).collect();
        random.shuffle(&mut inside);
        all.extend(inside);
    }
    all
}

/// A puzzle: digits are taken from a grid in random order while one solution is left, down to `clues` of them.
pub fn puzzle(shape: Shape, clues: usize, random: &mut Random) -> Vec<u8> {
    let mut cells = grid(shape, random);
    let mut order: Vec<usize> = (0..cells.len()).collect();
    random.shuffle(&mut order);
    let mut left = cells.len();
    for cell in order {
        if left <= clues {
            break;
        }
        let digit = std::mem::take(&mut cells[cell]);
        if is_unique(shape, &cells) {
            left -= 1;
        } else {
            cells[cell] = digit;
        }
    }
    cells
}

fn is_unique(shape: Shape, cells: &[u8]) -> bool {
    let question = Question { shape, cells, candidates: None, limit: 2, cap: 1 << 20 };
    solve(&question, &|| false).is_ok_and(|answer| answer.solutions == 1)
}
