//! Methods on puzzles, one puzzle after the other on one thread, each measured.

use std::time::{Duration, Instant};

use jobs::solve::Method;
use shared::{
    grid::{Shape, notation::Puzzle},
    solve::{
        bitslice::Engine,
        general::{self, Question},
        methods::{self, Effort, Settings},
        reference::is_solution,
    },
};

/// How far methods go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Solutions that searches look for.
    pub solutions: u32,
    /// Nodes or iterations, if something else than usual is asked for.
    pub cap: Option<u64>,
    /// For methods that begin anywhere.
    pub seed: u64,
}

/// A method on all puzzles of a corpus.
pub struct Runs {
    pub method: Method,
    /// In the order of the puzzles.
    pub runs: Vec<Run>,
}

/// A method on a puzzle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What it found, up to the limit.
    pub solutions: u64,
    /// Whether it came to its end within the cap.
    pub finished: bool,
    /// Whether what it found is a solution, if it gave one.
    pub right: bool,
    /// Unknown for puzzles that are solved side by side.
    pub effort: Option<Effort>,
    pub time: Duration,
}

/// Puzzles of a batch that is solved side by side, at least: few ones come again until all lanes are full.
const LEAST_BATCH: usize = 1 << 13;

/// How long such batches are measured.
const LEAST_BATCH_TIME: Duration = Duration::from_millis(20);

/// Runs a method on all puzzles; `None` when it is to stop.
pub fn run_all(method: Method, puzzles: &[Puzzle], limits: Limits, stop: &dyn Fn() -> bool) -> Option<Runs> {
    let runs = match method {
        Method::Bitslice => bitslice(puzzles, limits, stop),
        Method::Taught(taught) => {
            let settings = Settings {
                limit: limits.solutions.into(),
                cap: limits.cap.unwrap_or(method.usual_cap()),
                seed: limits.seed,
            };
            puzzles
                .iter()
                .map_while(|puzzle| (!stop()).then(|| one(taught, puzzle, settings, stop)))
                .collect()
        }
    };
    (!stop()).then_some(Runs { method, runs })
}

fn one(method: methods::Method, puzzle: &Puzzle, settings: Settings, stop: &dyn Fn() -> bool) -> Run {
    let began = Instant::now();
    let outcome = methods::solve(method, puzzle.shape, &puzzle.cells, settings, stop);
    let time = began.elapsed();
    // Samples hold puzzles that are none of the wrong kind.
    let outcome = outcome.unwrap_or_default();
    Run {
        solutions: outcome.solutions,
        finished: outcome.finished,
        right: outcome.first.is_none_or(|grid| is_solution(puzzle.shape, &puzzle.cells, &grid)),
        effort: Some(outcome.effort),
        time,
    }
}

/// 9x9 puzzles side by side, so each takes its share; the others one by one.
fn bitslice(puzzles: &[Puzzle], limits: Limits, stop: &dyn Fn() -> bool) -> Vec<Run> {
    let nine = |puzzle: &Puzzle| match <[u8; 81]>::try_from(puzzle.cells.as_slice()) {
        Ok(cells) if puzzle.shape == Shape::NINE => Some(cells),
        _ => None,
    };
    let nines: Vec<[u8; 81]> = puzzles.iter().filter_map(nine).collect();
    let again = LEAST_BATCH.div_ceil(nines.len().max(1));
    let batch = nines.repeat(again);
    let (mut engine, mut answers) = (Engine::default(), Vec::new());
    // The first time it looks for its memory.
    engine.solve(&batch, limits.solutions, &mut answers);
    let (began, mut rounds) = (Instant::now(), 0);
    while rounds == 0 || began.elapsed() < LEAST_BATCH_TIME {
        engine.solve(&batch, limits.solutions, &mut answers);
        rounds += 1;
    }
    let share = began.elapsed() / rounds / u32::try_from(batch.len().max(1)).unwrap_or(u32::MAX);
    let mut answers = answers.iter();
    let runs = puzzles.iter().map(|puzzle| match nine(puzzle).and_then(|_| answers.next()) {
        Some(answer) => Run {
            solutions: answer.solutions.into(),
            finished: true,
            right: answer.solutions != 1 || is_solution(puzzle.shape, &puzzle.cells, &answer.solution),
            effort: None,
            time: share,
        },
        None => alone(puzzle, limits, stop),
    });
    runs.collect()
}

fn alone(puzzle: &Puzzle, limits: Limits, stop: &dyn Fn() -> bool) -> Run {
    let Puzzle { shape, cells, .. } = puzzle;
    let cap = limits.cap.unwrap_or(Method::Bitslice.usual_cap());
    let question = Question { shape: *shape, cells, candidates: None, limit: limits.solutions.into(), cap };
    let began = Instant::now();
    let answer = general::solve(&question, stop).unwrap_or_default();
    Run {
        solutions: answer.solutions,
        finished: answer.finished,
        right: answer.first.is_none_or(|grid| is_solution(puzzle.shape, &puzzle.cells, &grid)),
        effort: None,
        time: began.elapsed(),
    }
}
