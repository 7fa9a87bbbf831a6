//! What is found out about puzzles.

use std::cell::{Cell, RefCell};

use shared::{
    grid::{Shape, notation::Puzzle},
    solve::{
        bitslice::{Answer, Engine},
        general::{self, Question},
        level::{Level, level},
        methods::{self, Effort, Settings},
    },
    symmetry::minlex,
};

use super::{
    args::Asked,
    entry::{Batch, Entry},
    method::Method,
    more::{Form, More},
    rows::{Row, Verdict},
};
use crate::kind::{UnitContext, UnitError};

/// Puzzles that the engine is given at once.
pub const BATCH: usize = 1 << 14;

/// How puzzles are solved.
pub struct Solver<'a> {
    /// Solutions that are counted.
    pub limit: u32,
    /// By what.
    pub method: Method,
    /// Of methods that begin anywhere.
    pub seed: u64,
    /// Guesses, nodes or iterations in a puzzle that is not solved in bulk.
    pub cap: u64,
    /// What else is to be found out.
    pub asked: Asked,
    /// To stop early.
    pub context: &'a UnitContext<'a>,
}

/// What a way of solving says of a puzzle.
struct Found {
    verdict: Verdict,
    solutions: u64,
    /// Empty if there is none.
    first: Vec<u8>,
    /// If it was measured.
    effort: Option<Effort>,
}

thread_local! {
    // Its memory is used again from unit to unit.
    static ENGINE: RefCell<Engine> = RefCell::default();
    static ANSWERS: RefCell<Vec<Answer>> = const { RefCell::new(Vec::new()) };
}

impl Solver<'_> {
    /// Solves the puzzles of a batch, and hands out the rows in order.
    ///
    /// # Errors
    ///
    /// When it is told to stop.
    pub fn solve(&self, batch: &Batch<'_>, take: impl FnMut(u32, &Row<'_>)) -> Result<(), UnitError> {
        ANSWERS.with_borrow_mut(|answers| {
            answers.clear();
            if self.method == Method::Bitslice {
                ENGINE.with_borrow_mut(|engine| engine.solve(batch.nines, self.limit, answers));
            }
            self.hand_out(batch, answers, take)
        })
    }

    /// Hands out the rows of puzzles that were solved in bulk, and solves the others.
    fn hand_out(
        &self,
        batch: &Batch<'_>,
        answers: &[Answer],
        mut take: impl FnMut(u32, &Row<'_>),
    ) -> Result<(), UnitError> {
        let redundant =
            if self.asked.redundant { self.redundant_of_nines(batch.nines, answers)? } else { Vec::new() };
        let (mut nines, mut answers, mut redundant) =
            (batch.nines.iter(), answers.iter(), redundant.into_iter());
        for (line, entry) in batch.entries {
            let mut take = |row: &Row<'_>| take(*line, row);
            match entry {
                Entry::Unreadable(why) => take(&Row::unreadable(why)),
                Entry::Other(puzzle) => self.alone(puzzle, take)?,
                Entry::Nine => {
                    let cells = nines.next().expect("as many as entries say");
                    match answers.next() {
                        Some(answer) => self.nine(cells, answer, redundant.next().flatten(), take)?,
                        None => self.alone(&nine(cells), take)?,
                    }
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
        let solved = puzzles.iter().zip(answers).enumerate();
        let without = solved.filter(|(_, (_, answer))| unique(answer)).flat_map(|(puzzle, (cells, _))| {
            let clues = (0..81u16).filter(|&cell| cells[usize::from(cell)] != 0);
            clues.map(move |cell| {
                let mut less = *cells;
                less[usize::from(cell)] = 0;
                (puzzle, cell, less)
            })
        });
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
            return self.alone(&nine(cells), take);
        }
        let row = Row::solved(Shape::NINE, cells, answer.solutions.into(), &answer.solution);
        if self.asked == Asked::default() {
            take(&row);
            return Ok(());
        }
        if self.context.stopped() {
            return Err(UnitError::Stopped);
        }
        let effort = if self.asked.effort { self.effort(Shape::NINE, cells)? } else { None };
        let more = More { redundant, ..self.more(&row, effort)? };
        take(&Row { more: &more, ..row });
        Ok(())
    }

    /// Any puzzle, by itself.
    fn alone(&self, puzzle: &Puzzle, take: impl FnOnce(&Row<'_>)) -> Result<(), UnitError> {
        let Puzzle { shape, cells, candidates } = puzzle;
        let found = match self.method {
            Method::Bitslice => self.general(puzzle)?,
            Method::Taught(method) if candidates.is_some() => {
                let why = format!("pencil marks: --method {} takes clues only", method.name());
                take(&Row::unreadable(&why));
                return Ok(());
            }
            Method::Taught(method) => self.taught(method, *shape, cells)?,
        };
        let found = match found {
            Err(error) => {
                take(&Row { candidates: candidates.as_deref(), ..Row::invalid(*shape, cells, &error) });
                return Ok(());
            }
            Ok(found) => found,
        };
        let row = Row::solved(*shape, cells, found.solutions, &found.first);
        let row = match found.verdict {
            Verdict::Solved => Row { verdict: Verdict::Solved, solution: &found.first, ..row },
            Verdict::Unsolved => Row { verdict: Verdict::Unsolved, solution: &[], ..row },
            _ => row,
        };
        let row = Row { candidates: candidates.as_deref(), ..row };
        // Of pencil marks there is no telling what a clue is, and which one could be left out.
        if candidates.is_some() {
            take(&row);
            return Ok(());
        }
        let effort = match found.effort {
            None if self.asked.effort => self.effort(*shape, cells)?,
            effort => effort,
        };
        let mut more = self.more(&row, effort)?;
        if self.asked.redundant && row.verdict == Verdict::Unique {
            more.redundant = self.redundant(*shape, cells)?;
        }
        take(&Row { more: &more, ..row });
        Ok(())
    }

    fn general(&self, puzzle: &Puzzle) -> Result<Result<Found, String>, UnitError> {
        let answer = self.count(puzzle.shape, &puzzle.cells, puzzle.candidates.as_deref(), self.limit)?;
        Ok(answer.map(|answer| Found {
            verdict: if answer.finished { Verdict::of(answer.solutions) } else { Verdict::Unsolved },
            solutions: answer.solutions,
            first: answer.first.unwrap_or_default(),
            effort: None,
        }))
    }

    fn taught(
        &self,
        method: methods::Method,
        shape: Shape,
        cells: &[u8],
    ) -> Result<Result<Found, String>, UnitError> {
        let settings = Settings { limit: self.limit.into(), cap: self.cap, seed: self.seed };
        let outcome = methods::solve(method, shape, cells, settings, &|| self.context.stopped());
        if self.context.stopped() {
            return Err(UnitError::Stopped);
        }
        let verdict = |outcome: &methods::Outcome| match (outcome.finished, method.searches()) {
            (false, _) => Verdict::Unsolved,
            (true, true) => Verdict::of(outcome.solutions),
            (true, false) => Verdict::Solved,
        };
        Ok(outcome.map_err(|error| error.to_string()).map(|outcome| Found {
            verdict: verdict(&outcome),
            solutions: outcome.solutions,
            effort: Some(outcome.effort),
            first: outcome.first.unwrap_or_default(),
        }))
    }

    /// What a plain search takes: it is the same everywhere, unlike that of puzzles that are solved side by side. `None`
    /// when it gives up: that would be no measure of the puzzle.
    fn effort(&self, shape: Shape, cells: &[u8]) -> Result<Option<Effort>, UnitError> {
        let found = self.taught(methods::Method::Fewest, shape, cells)?;
        Ok(found.ok().filter(|found| found.verdict != Verdict::Unsolved).and_then(|found| found.effort))
    }

    /// What was asked for beside the solutions, but for redundant clues.
    fn more(&self, row: &Row<'_>, effort: Option<Effort>) -> Result<More, UnitError> {
        let level = if self.asked.level && row.verdict == Verdict::Unique { self.level(row)? } else { None };
        let form = if self.asked.form { form(row.shape, row.cells) } else { None };
        Ok(More { redundant: None, form, level, effort: effort.filter(|_| self.asked.effort) })
    }

    /// `None` beyond the assumptions that may be made.
    fn level(&self, row: &Row<'_>) -> Result<Option<Level>, UnitError> {
        let left = Cell::new(self.cap);
        let stop = || {
            left.set(left.get().saturating_sub(1));
            left.get() == 0 || self.context.stopped()
        };
        let level = level(row.shape, row.cells, Some(row.solution), &stop);
        if self.context.stopped() { Err(UnitError::Stopped) } else { Ok(level) }
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

fn nine(cells: &[u8; 81]) -> Puzzle {
    Puzzle { shape: Shape::NINE, cells: cells.to_vec(), candidates: None }
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
