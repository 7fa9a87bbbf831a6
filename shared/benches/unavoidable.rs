//! Unavoidable sets of a grid and their largest packing, on one core. `NONET_BENCH_GRIDS=FILE` measures the grids of a
//! file (one a line) instead of three known ones.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shared::unavoidable::{
    CellSet, CompleteGrid, DEFAULT_SIZE, minimal_puzzles, most_disjoint, sample::Sampler, unavoidable_sets,
};

const GRIDS: [&str; 3] = [
    "123456789456789123798231564234675918815943276967812435379164852582397641641528397",
    "123456789457189263689237451275613948348975612961842537534798126712364895896521374",
    "123456789456789123789123456231564897564897231897231564312645978645978312978312645",
];

fn grids() -> Vec<CompleteGrid> {
    let text = match std::env::var("NONET_BENCH_GRIDS") {
        Ok(path) => std::fs::read_to_string(path).expect("NONET_BENCH_GRIDS names a file of grids"),
        Err(_) => GRIDS.join("\n"),
    };
    text.lines().map(|text| CompleteGrid::read(text).expect("a complete grid")).collect()
}

fn nine(c: &mut Criterion) {
    let grids = grids();
    let mut group = c.benchmark_group("unavoidable");
    group.throughput(Throughput::Elements(grids.len() as u64));
    for size in [8, 10, DEFAULT_SIZE] {
        group.bench_function(format!("up to {size}"), |b| {
            b.iter(|| grids.iter().map(|grid| unavoidable_sets(black_box(grid), size).len()).sum::<usize>());
        });
    }
    let sets: Vec<Vec<CellSet>> = grids.iter().map(|grid| unavoidable_sets(grid, DEFAULT_SIZE)).collect();
    group.bench_function("MCN", |b| {
        b.iter(|| sets.iter().map(|sets| most_disjoint(black_box(sets)).len()).sum::<usize>());
    });
    group.finish();
}

fn minimal(c: &mut Criterion) {
    let four = CompleteGrid::read("1234341223414123").expect("a complete grid");
    let mut group = c.benchmark_group("minimal puzzles");
    group.bench_function("4x4", |b| {
        b.iter(|| {
            let mut found = 0;
            minimal_puzzles(black_box(&four), &mut |_| found += 1);
            found
        });
    });
    let mut sampler = Sampler::default();
    let mut number = 0;
    group.bench_function("9x9, a population", |b| {
        b.iter(|| {
            number += 1;
            sampler.population(1, black_box(number), &|| false)
        });
    });
    group.finish();
}

fn settings() -> Criterion {
    Criterion::default().sample_size(10).measurement_time(Duration::from_secs(3))
}

criterion_group! { name = benches; config = settings(); targets = nine, minimal }
criterion_main!(benches);
