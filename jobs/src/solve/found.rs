//! What is found out about puzzles.

use std::cell::RefCell;

use shared::{
    grid::{Shape, notation::Puzzle},
    solve::{
        bitslice::{Answer, Engine},
        general::{self, Question},
    },
    symmetry::minlex,
};

use super::{
    args::Asked,
    entry::Entry,
    rows::{More, NO_MORE, Row, Verdict},
};
use crate::kind::{UnitContext, UnitError};

/// Puzzles that the engine is given at once.
pub const BATCH: usize = 1 << 14;

/// A minlex form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Row by row.
    pub cells: Vec<u8>,
    /// Symmetries that take the puzzle to itself.
    pub automorphisms: u32,
}

/// How puzzles are solved.
pub struct Solver<'a> {
    /// Solutions that are counted.
    pub limit: u32,
    /// Guesses in a puzzle that is not solved in bulk.
    pub cap: u64,
    /// What else is to be found out.
    pub asked: Asked,
    /// To stop early.
    pub context: &'a UnitContext<'a>,
}

thread_local! {
    // Its memory is used again from unit to unit.
    static ENGINE: RefCell<Engine> = RefCell::default();
}

impl Solver<'_> {
    /// Solves the puzzles of a batch, and hands out the rows in order.
    ///
    /// # Errors
    ///
    /// When it is told to stop.
    pub fn solve(
        &self,
        batch: &[(u32, Entry)],
        mut take: impl FnMut(u32, &Row<'_>),
    ) -> Result<(), UnitError> {
        let nines = batch.iter().filter_map(|(_, entry)| match entry {
            Entry::Nine(cells) => Some(*cells),
            _ => None,
        });
        let puzzles: Vec<[u8; 81]> = nines.collect();
        let mut answers = Vec::new();
        ENGINE.with_borrow_mut(|engine| engine.solve(&puzzles, self.limit, &mut answers));
        let redundant =
            if self.asked.redundant { Some(self.redundant_of_nines(&puzzles, &answers)?) } else { None };
        let mut number = 0;
        for (line, entry) in batch {
            match entry {
                Entry::Unreadable(why) => take(*line, &Row::unreadable(why)),
                Entry::Other(puzzle) => self.other(puzzle, |row| take(*line, row))?,
                Entry::Nine(cells) => {
                    let answer = &answers[number];
                    let redundant = redundant.as_ref().and_then(|all| all[number].clone());
                    number += 1;
                    self.nine(cells, answer, redundant, |row| take(*line, row))?;
                }
            }
        }
        Ok(())
    }

    /// For each puzzle with one solution the clues that can be left out: each is, and the rest solved in bulk.
    fn redundant_of_nines(
        &self,
        puzzles: &[[u8; 81]],
        answers: &[Answer],
    ) -> Result<Vec<Option<Vec<u16>>>, UnitError> {
        let unique = |answer: &Answer| answer.solutions == 1;
        let mut redundant: Vec<_> = answers.iter().map(|answer| unique(answer).then(Vec::new)).collect();
        let without = puzzles.iter().enumerate().filter(|&(puzzle, _)| unique(&answers[puzzle])).flat_map(
            |(puzzle, cells)| {
                let clues = (0..81u16).filter(|&cell| cells[usize::from(cell)] != 0);
                clues.map(move |cell| {
                    let mut less = *cells;
                    less[usize::from(cell)] = 0;
                    (puzzle, cell, less)
                })
            },
        );
        let mut without = without.peekable();
        let (mut less, mut of, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        while without.peek().is_some() {
            if self.context.stopped() {
                return Err(UnitError::Stopped);
            }
            less.clear();
            of.clear();
            for (puzzle, cell, cells) in without.by_ref().take(BATCH) {
                less.push(cells);
                of.push((puzzle, cell));
            }
            ENGINE.with_borrow_mut(|engine| engine.solve(&less, 2, &mut answers));
            for ((puzzle, cell), answer) in of.iter().zip(&answers) {
                if unique(answer)
                    && let Some(cells) = &mut redundant[*puzzle]
                {
                    cells.push(*cell);
                }
            }
        }
        Ok(redundant)
    }

    fn nine(
        &self,
        cells: &[u8; 81],
        answer: &Answer,
        redundant: Option<Vec<u16>>,
        take: impl FnOnce(&Row<'_>),
    ) -> Result<(), UnitError> {
        if answer.invalid {
            let puzzle = Puzzle { shape: Shape::NINE, cells: cells.to_vec(), candidates: None };
            return self.other(&puzzle, take);
        }
        let row = Row::solved(Shape::NINE, cells, answer.solutions.into(), &answer.solution);
        if self.asked == Asked::default() {
            take(&row);
            return Ok(());
        }
        if self.context.stopped() {
            return Err(UnitError::Stopped);
        }
        let form = self.asked.form.then(|| form(Shape::NINE, cells)).flatten();
        take(&Row { more: &More { redundant, form }, ..row });
        Ok(())
    }

    /// Any puzzle, alone.
    fn other(&self, puzzle: &Puzzle, take: impl FnOnce(&Row<'_>)) -> Result<(), UnitError> {
        let Puzzle { shape, cells, candidates } = puzzle;
        let answer = match self.count(*shape, cells, candidates.as_deref(), self.limit)? {
            Err(error) => {
                take(&Row { candidates: candidates.as_deref(), ..Row::invalid(*shape, cells, &error) });
                return Ok(());
            }
            Ok(answer) => answer,
        };
        let solution = answer.first.unwrap_or_default();
        let mut row = Row::solved(*shape, cells, answer.solutions, &solution);
        if !answer.finished {
            (row.verdict, row.solution) = (Verdict::Unsolved, &[]);
        }
        row.candidates = candidates.as_deref();
        let mut more = NO_MORE.clone();
        // Of pencil marks there is no telling what a clue is, and which one could be left out.
        if candidates.is_none() {
            if self.asked.redundant && row.verdict == Verdict::Unique {
                more.redundant = self.redundant(*shape, cells)?;
            }
            if self.asked.form {
                more.form = form(*shape, cells);
            }
        }
        take(&Row { more: &more, ..row });
        Ok(())
    }

    /// `None` when one of the searches is given up.
    fn redundant(&self, shape: Shape, cells: &[u8]) -> Result<Option<Vec<u16>>, UnitError> {
        let mut less = cells.to_vec();
        let mut redundant = Vec::new();
        for (cell, number) in (0..less.len()).zip(0u16..) {
            let clue = std::mem::take(&mut less[cell]);
            if clue == 0 {
                continue;
            }
            let Ok(answer) = self.count(shape, &less, None, 2)? else { return Ok(None) };
            if !answer.finished {
                return Ok(None);
            }
            if answer.solutions == 1 {
                redundant.push(number);
            }
            less[cell] = clue;
        }
        Ok(Some(redundant))
    }

    fn count(
        &self,
        shape: Shape,
        cells: &[u8],
        candidates: Option<&[u32]>,
        limit: u32,
    ) -> Result<Result<general::Answer, String>, UnitError> {
        let question = Question { shape, cells, candidates, limit: limit.into(), cap: self.cap };
        let answer = general::solve(&question, &|| self.context.stopped());
        if self.context.stopped() {
            return Err(UnitError::Stopped);
        }
        Ok(answer.map_err(|error| error.to_string()))
    }
}

/// The minlex form of a puzzle, for shapes that have one here.
fn form(shape: Shape, cells: &[u8]) -> Option<Form> {
    if let (Shape::NINE, Ok(cells)) = (shape, cells.try_into()) {
        let canonical = minlex::puzzle(cells);
        return Some(Form { cells: canonical.form.to_vec(), automorphisms: canonical.automorphisms });
    }
    if shape.side() > 6 {
        return None;
    }
    let brute = minlex::brute::canonical(shape, cells);
    Some(Form { cells: brute.cells, automorphisms: u32::try_from(brute.automorphisms).ok()? })
}
