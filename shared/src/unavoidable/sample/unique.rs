//! Which puzzles have one solution, asked for many at once.

use super::super::{CellSet, CompleteGrid, hit::Uniqueness};
use crate::{
    grid::Shape,
    solve::bitslice::{Answer, Engine},
};

/// Puzzles solved at a time: enough for the lanes of the engine, and few enough for the cache.
const BATCH: usize = 4096;

/// A puzzle of one of the grids: its number, and the clues.
pub(super) type Asked = (usize, CellSet);

/// Tells it for puzzles of some grids.
pub(super) enum Unique<'a> {
    /// Of 9x9 grids, by the bulk solver.
    Nine(Bulk<'a>),
    /// Of one grid of another shape.
    Small(Box<Uniqueness>),
}

impl<'a> Unique<'a> {
    /// For one grid.
    pub(super) fn of_grid(grid: &CompleteGrid, engine: &'a mut Engine) -> Self {
        match <[u8; 81]>::try_from(grid.digits()) {
            Ok(digits) if grid.shape() == Shape::NINE => Self::Nine(Bulk::new(vec![digits], engine)),
            _ => Self::Small(Box::new(Uniqueness::new(grid))),
        }
    }

    /// Whether each puzzle has one solution.
    pub(super) fn tell(&mut self, asked: &[Asked]) -> Vec<bool> {
        match self {
            Self::Nine(bulk) => bulk.tell(asked),
            Self::Small(uniqueness) => asked.iter().map(|&(_, clues)| uniqueness.holds(clues)).collect(),
        }
    }
}

/// The bulk solver with what it is given and answers.
pub(super) struct Bulk<'a> {
    grids: Vec<[u8; 81]>,
    engine: &'a mut Engine,
    puzzles: Vec<[u8; 81]>,
    answers: Vec<Answer>,
}

impl<'a> Bulk<'a> {
    pub(super) fn new(grids: Vec<[u8; 81]>, engine: &'a mut Engine) -> Self {
        Self { grids, engine, puzzles: Vec::new(), answers: Vec::new() }
    }

    fn tell(&mut self, asked: &[Asked]) -> Vec<bool> {
        let mut told = Vec::with_capacity(asked.len());
        for batch in asked.chunks(BATCH) {
            self.puzzles.clear();
            let grids = &self.grids;
            self.puzzles.extend(batch.iter().map(|&(grid, clues)| puzzle(&grids[grid], clues)));
            self.engine.solve(&self.puzzles, 2, &mut self.answers);
            told.extend(self.answers.iter().map(|answer| answer.solutions == 1));
        }
        told
    }
}

fn puzzle(digits: &[u8; 81], clues: CellSet) -> [u8; 81] {
    let mut puzzle = [0; 81];
    clues.iter().for_each(|cell| puzzle[cell] = digits[cell]);
    puzzle
}
