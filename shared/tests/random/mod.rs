//! Random puzzles of any shape, by the plain solver.

use rand::{RngExt, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use shared::{grid::Shape, solve::reference};

/// A random grid: the first that the plain solver finds with a few random clues, which settle which one that is.
pub fn grid(shape: Shape, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let side = shape.side();
    loop {
        let mut puzzle = vec![0; side * side];
        for _ in 0..side + side / 3 {
            let digit = rng.random_range(1..=side);
            puzzle[rng.random_range(0..side * side)] = u8::try_from(digit).unwrap();
        }
        if let Some(grid) = reference::solve(shape, &puzzle, 1).ok().and_then(|found| found.first) {
            return grid;
        }
    }
}

/// Takes clues away in random order, as long as the solution is the only one.
pub fn minimal(shape: Shape, mut puzzle: Vec<u8>, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut order: Vec<usize> = (0..puzzle.len()).collect();
    order.shuffle(rng);
    for cell in order {
        let clue = std::mem::take(&mut puzzle[cell]);
        if reference::solve(shape, &puzzle, 2).unwrap().solutions > 1 {
            puzzle[cell] = clue;
        }
    }
    puzzle
}
