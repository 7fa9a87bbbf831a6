//! How fast minlex forms are found, on one core. `NONET_BENCH_PUZZLES=FILE` measures the puzzles of a file (one a line)
//! instead of random ones of 17 to 24 clues.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use shared::{
    grid::notation::nine,
    symmetry::minlex::{self, Cells},
};

const GRIDS: usize = 2000;
const PUZZLES: usize = 20_000;

/// A random grid, not uniformly: rows of digits in random order, with backtracking.
fn grid(random: &mut ChaCha8Rng) -> Cells {
    fn fill(cells: &mut Cells, cell: usize, order: &[[u8; 9]; 9], steps: &mut u32) -> Option<bool> {
        if cell == 81 {
            return Some(true);
        }
        *steps = steps.checked_sub(1)?;
        let (r, c) = (cell / 9, cell % 9);
        for &digit in &order[r] {
            let clash = |other: usize| {
                let (s, d) = (other / 9, other % 9);
                cells[other] == digit && (s == r || d == c || (s / 3 == r / 3 && d / 3 == c / 3))
            };
            if !(0..cell).any(clash) {
                cells[cell] = digit;
                if fill(cells, cell + 1, order, steps)? {
                    return Some(true);
                }
                cells[cell] = 0;
            }
        }
        Some(false)
    }
    loop {
        let order = std::array::from_fn(|_| {
            let mut digits = [1, 2, 3, 4, 5, 6, 7, 8, 9];
            digits.shuffle(random);
            digits
        });
        let mut cells = [0; 81];
        // An unlucky start is given up: another one is quicker.
        if fill(&mut cells, 0, &order, &mut 100_000) == Some(true) {
            return cells;
        }
    }
}

fn puzzles(grids: &[Cells], random: &mut ChaCha8Rng) -> Vec<Cells> {
    if let Ok(path) = std::env::var("NONET_BENCH_PUZZLES") {
        let text = std::fs::read_to_string(path).expect("NONET_BENCH_PUZZLES names a file of puzzles");
        return text.lines().filter_map(|line| nine(line.as_bytes())).collect();
    }
    let mut places: Vec<usize> = (0..81).collect();
    let puzzle = |i: usize| {
        places.shuffle(random);
        let mut cells = [0; 81];
        for &place in &places[..random.random_range(17..=24)] {
            cells[place] = grids[i % grids.len()][place];
        }
        cells
    };
    (0..PUZZLES).map(puzzle).collect()
}

fn forms(c: &mut Criterion) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let grids: Vec<Cells> = (0..GRIDS).map(|_| grid(&mut random)).collect();
    let puzzles = puzzles(&grids, &mut random);
    let mut group = c.benchmark_group("minlex");
    group.sample_size(20).measurement_time(Duration::from_secs(8));
    group.throughput(Throughput::Elements(grids.len() as u64));
    group.bench_function("grids", |b| {
        b.iter(|| grids.iter().map(|grid| u64::from(minlex::grid(grid).unwrap().automorphisms)).sum::<u64>());
    });
    group.throughput(Throughput::Elements(puzzles.len() as u64));
    group.bench_function("puzzles", |b| {
        b.iter(|| {
            for puzzle in &puzzles {
                black_box(minlex::puzzle(puzzle));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, forms);
criterion_main!(benches);
