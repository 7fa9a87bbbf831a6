//! Puzzles to test and to measure with.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Question, Shape, solve};

/// The order of the rows, or of the columns: chutes of `size` lines in any order, and the lines of each.
fn lines(chutes: usize, size: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..chutes).collect();
    order.shuffle(rng);
    let mut lines = Vec::new();
    for chute in order {
        let mut inside: Vec<usize> = (chute * size..(chute + 1) * size).collect();
        inside.shuffle(rng);
        lines.extend(inside);
    }
    lines
}

/// A grid seen through a random symmetry that keeps the shape. 0 stays 0.
pub fn turned(shape: Shape, grid: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let side = shape.side();
    let rows = lines(shape.columns(), shape.rows(), rng);
    let columns = lines(shape.rows(), shape.columns(), rng);
    let mut names: Vec<u8> = (1..=u8::try_from(side).unwrap()).collect();
    names.shuffle(rng);
    names.insert(0, 0);
    let cells = (0..side * side).map(|cell| side * rows[cell / side] + columns[cell % side]);
    cells.map(|cell| names[usize::from(grid[cell])]).collect()
}

/// A puzzle with `clues` of a grid's digits.
pub fn dug(grid: &[u8], clues: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut order: Vec<usize> = (0..grid.len()).collect();
    order.shuffle(rng);
    let mut puzzle = grid.to_vec();
    order[clues..].iter().for_each(|&cell| puzzle[cell] = 0);
    puzzle
}

/// A random full grid: a regular one, of which three times all but a quarter of the digits are taken away and filled
/// in another way.
pub fn grid(shape: Shape, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let side = shape.side();
    let regular = |cell: usize| {
        let (row, column) = (cell / side, cell % side);
        (shape.columns() * (row % shape.rows()) + row / shape.rows() + column) % side
    };
    let mut grid: Vec<u8> = (0..side * side).map(|cell| u8::try_from(regular(cell) + 1).unwrap()).collect();
    for _ in 0..3 {
        let cells = turned(shape, &dug(&grid, side * side / 4, rng), rng);
        let question = Question { shape, cells: &cells, candidates: None, limit: 1, cap: 20_000 };
        // One that is too hard to fill stays as it is.
        if let Some(first) = solve(&question, &|| false).unwrap().first {
            grid = first;
        }
    }
    turned(shape, &grid, rng)
}

/// A puzzle with one solution from a grid: clues are taken away in a random order while it stays the only one and more
/// than `clues` are left. With 0 it becomes minimal.
pub fn minimal(shape: Shape, grid: &[u8], clues: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut order: Vec<usize> = (0..grid.len()).collect();
    order.shuffle(rng);
    let mut puzzle = grid.to_vec();
    let mut left = grid.len();
    for cell in order {
        if left <= clues {
            break;
        }
        let clue = std::mem::replace(&mut puzzle[cell], 0);
        let question = Question { shape, cells: &puzzle, candidates: None, limit: 2, cap: 100_000 };
        let answer = solve(&question, &|| false).unwrap();
        if answer.finished && answer.solutions == 1 {
            left -= 1;
        } else {
            puzzle[cell] = clue;
        }
    }
    puzzle
}
