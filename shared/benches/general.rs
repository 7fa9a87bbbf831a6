//! How long the general solver takes for a puzzle, by shape and share of clues, up to two solutions and on one core, and
//! how many puzzles it finishes under a cap of guesses.
//!
//! `NONET_BENCH_ONLY=4x4` measures one shape. Up to 9x9 the plain reference solver stands beside it.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use shared::{
    grid::Shape,
    solve::{
        general::{Question, solve},
        reference,
    },
};

#[path = "../src/solve/general/made.rs"]
mod made;

/// Puzzles of each kind.
const PUZZLES: usize = 20;

/// Guesses after which a puzzle counts as not finished.
const CAP: u64 = 20_000;

/// Shapes, and the share of clues in percent; 0 is a minimal puzzle, and costs much to make for the large shapes.
const KINDS: [(u8, u8, usize); 10] = [
    (2, 3, 0),
    (3, 3, 0),
    (3, 3, 30),
    (3, 4, 0),
    (3, 4, 40),
    (4, 4, 0),
    (4, 4, 40),
    (4, 5, 45),
    (5, 5, 45),
    (5, 5, 55),
];

fn puzzles(shape: Shape, percent: usize) -> Vec<Vec<u8>> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let clues = shape.side() * shape.side() * percent / 100;
    let one = |_| {
        let grid = made::grid(shape, &mut rng);
        made::minimal(shape, &grid, clues, &mut rng)
    };
    (0..PUZZLES).map(one).collect()
}

fn bench(c: &mut Criterion) {
    let only = std::env::var("NONET_BENCH_ONLY").ok();
    let mut group = c.benchmark_group("general");
    group.sample_size(10);
    for (rows, columns, percent) in KINDS {
        let shape = Shape::new(rows, columns).expect("a shape");
        if only.as_ref().is_some_and(|only| *only != shape.to_string()) {
            continue;
        }
        let puzzles = puzzles(shape, percent);
        let kind = if percent == 0 { "minimal".to_owned() } else { format!("{percent}% clues") };
        let ask = |cells| Question { shape, cells, candidates: None, limit: 2, cap: CAP };
        let answers = puzzles.iter().map(|cells| solve(&ask(cells), &|| false).expect("a puzzle"));
        let (finished, guesses) =
            answers.fold((0, 0), |(f, g), answer| (f + u32::from(answer.finished), g + answer.guesses));
        println!("{shape}, {kind}: {finished} of {PUZZLES} finished, {guesses} guesses in all");
        group.throughput(Throughput::Elements(PUZZLES as u64));
        let name = format!("{shape}, {kind}");
        group.bench_function(BenchmarkId::new("general", &name), |b| {
            b.iter(|| puzzles.iter().flat_map(|cells| solve(&ask(cells), &|| false)).count());
        });
        if shape.side() <= 9 {
            group.bench_function(BenchmarkId::new("reference", &name), |b| {
                b.iter(|| puzzles.iter().flat_map(|cells| reference::solve(shape, cells, 2)).count());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
