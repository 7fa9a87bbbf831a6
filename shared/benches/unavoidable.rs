//! Unavoidable sets of a grid and their largest packing, on one core. `NONET_BENCH_GRIDS=FILE` measures the grids of a
//! file (one a line) instead of three known ones.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shared::{
    catalogue::small::SmallGrids,
    grid::Shape,
    unavoidable::{
        CellSet, CompleteGrid, DEFAULT_SIZE, all_unavoidable_sets, minimal_hitting_sets, most_disjoint,
        sample::Sampler, unavoidable_sets,
    },
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
    let mut group = c.benchmark_group("minimal puzzles");
    for (name, shape) in [("4x4", Shape::FOUR), ("6x6", Shape::SIX)] {
        let every = SmallGrids::new(shape).expect("a small shape");
        let grid = every.grid(0);
        let sets = all_unavoidable_sets(&grid, &every);
        let all = CellSet::below(grid.cells());
        let count = || {
            let mut found = 0;
            minimal_hitting_sets(black_box(&sets), all, &mut |_| found += 1);
            found
        };
        println!("{name}: {} unavoidable sets, {} minimal puzzles of a grid", sets.len(), count());
        group.throughput(Throughput::Elements(count()));
        group.bench_function(format!("{name}, a grid"), |b| b.iter(count));
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("{name}, all unavoidable sets of a grid"), |b| {
            b.iter(|| all_unavoidable_sets(black_box(&grid), &every).len());
        });
    }
    group.throughput(Throughput::Elements(1));
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
