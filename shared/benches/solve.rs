//! How many puzzles a second the bulk solver takes, on one core and up to two solutions, beside the crate `sudoku`.
//!
//! `NONET_BENCH_PUZZLES=FILE[,FILE]` measures the puzzles of files (one a line) instead of made ones. The last lines
//! give the ratio of both solvers, taking turns so that both meet the same machine.

use std::{
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use shared::{
    grid::notation::nine,
    solve::bitslice::{Answer, Engine, Level},
};
use sudoku::Sudoku;

type Cells = [u8; 81];

/// Puzzles that are made, and those of a small batch.
const PUZZLES: usize = 20_000;
const SMALL: usize = 1000;

/// Rounds for the ratio.
const ROUNDS: usize = 7;

/// Puzzles with one solution.
fn made(seed: u64) -> Vec<Cells> {
    // Minimal puzzles take long to make: a few, each seen through many symmetries.
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let text = include_str!("../testdata/solve.txt");
    let known = text.lines().filter_map(|line| line.strip_suffix(":1"));
    let bases: Vec<Cells> = known.filter_map(|line| nine(line.as_bytes())).collect();
    let lines = |rng: &mut ChaCha8Rng| {
        let mut chutes = [[0usize, 1, 2], [3, 4, 5], [6, 7, 8]];
        chutes.shuffle(rng);
        chutes.iter_mut().for_each(|chute| chute.shuffle(rng));
        chutes
    };
    let seen = |i: usize| {
        let mut digits = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        digits.shuffle(&mut rng);
        let (rows, columns) = (lines(&mut rng), lines(&mut rng));
        std::array::from_fn(|cell| {
            let from = 9 * rows.as_flattened()[cell / 9] + columns.as_flattened()[cell % 9];
            match bases[i % bases.len()][from] {
                0 => 0,
                clue => digits[usize::from(clue) - 1],
            }
        })
    };
    (0..PUZZLES).map(seen).collect()
}

/// Names and puzzles.
fn corpora() -> Vec<(String, Vec<Cells>)> {
    let Ok(paths) = std::env::var("NONET_BENCH_PUZZLES") else {
        return vec![("made".to_owned(), made(1))];
    };
    let corpus = |path: &str| {
        let text = std::fs::read_to_string(path).expect("NONET_BENCH_PUZZLES names files of puzzles");
        let puzzles = text.lines().filter_map(|line| nine(line.as_bytes())).collect();
        let name = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        (name.unwrap_or_default(), puzzles)
    };
    paths.split(',').map(corpus).collect()
}

fn count_with_sudoku(puzzles: &[Cells]) -> usize {
    let sudokus = puzzles.iter().filter_map(|puzzle| Sudoku::from_bytes(*puzzle).ok());
    sudokus.map(|sudoku| sudoku.solutions_count_up_to(2)).sum()
}

fn count(engine: &mut Engine, puzzles: &[Cells], answers: &mut Vec<Answer>) -> usize {
    engine.solve(puzzles, 2, answers);
    answers.iter().map(|answer| answer.solutions as usize).sum()
}

fn solve(c: &mut Criterion) {
    let mut answers = Vec::new();
    for (name, puzzles) in corpora() {
        let mut group = c.benchmark_group(format!("solve/{name}"));
        group.sample_size(10).measurement_time(Duration::from_secs(5));
        group.throughput(Throughput::Elements(puzzles.len() as u64));
        for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
            let mut engine = Engine::new(level);
            group.bench_function(format!("{level:?}"), |b| {
                b.iter(|| count(&mut engine, &puzzles, &mut answers));
            });
            group.bench_function(format!("{level:?} in batches of {SMALL}"), |b| {
                b.iter(|| {
                    for batch in puzzles.chunks(SMALL) {
                        black_box(count(&mut engine, batch, &mut answers));
                    }
                });
            });
        }
        let few = &puzzles[..puzzles.len().min(SMALL)];
        group.throughput(Throughput::Elements(few.len() as u64));
        group.bench_function("sudoku crate", |b| b.iter(|| count_with_sudoku(few)));
        group.finish();
        ratio(&name, &puzzles, &mut answers);
    }
}

/// Prints the medians of both solvers and of their ratio.
fn ratio(name: &str, puzzles: &[Cells], answers: &mut Vec<Answer>) {
    let mut engine = Engine::default();
    let few = &puzzles[..puzzles.len().div_ceil(4)];
    assert_eq!(count(&mut engine, few, answers), count_with_sudoku(few), "{name}: both count the same");
    #[allow(clippy::cast_precision_loss)] // A rate to print.
    let rate = |puzzles: &[Cells], start: Instant| puzzles.len() as f64 / start.elapsed().as_secs_f64();
    let mut rounds: Vec<[f64; 3]> = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        black_box(count_with_sudoku(few));
        let theirs = rate(few, start);
        let start = Instant::now();
        black_box(count(&mut engine, puzzles, answers));
        let ours = rate(puzzles, start);
        rounds.push([ours, theirs, ours / theirs]);
    }
    let median = |i: usize| {
        let mut values: Vec<f64> = rounds.iter().map(|round| round[i]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    println!(
        "{name}: {:?} {:.0} puzzles/s, sudoku crate {:.0} puzzles/s, ratio {:.1}\n",
        engine.level(),
        median(0),
        median(1),
        median(2)
    );
}

criterion_group!(benches, solve);
criterion_main!(benches);
