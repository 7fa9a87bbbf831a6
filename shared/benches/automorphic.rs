//! How fast the grids with symmetries of their own are found, on one core: all units, tables included. Takes a minute or
//! two.

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shared::{literature, symmetry::automorphic::AutomorphicGrids};

/// Essentially different grids a second; the whole is the time to look at.
fn list(c: &mut Criterion) {
    let mut group = c.benchmark_group("automorphic");
    let grids = literature::AUTOMORPHISMS_3X3.iter().map(|&(_, grids)| grids).sum();
    group.sample_size(10).warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_secs(60));
    group.throughput(Throughput::Elements(grids));
    group.bench_function("all grids", |b| {
        b.iter_custom(|times| {
            let start = Instant::now();
            for _ in 0..times {
                let all = AutomorphicGrids::new();
                for unit in 0..all.units() {
                    std::hint::black_box(all.run_unit(unit, &|| false));
                }
            }
            start.elapsed()
        });
    });
    group.finish();
}

criterion_group!(benches, list);
criterion_main!(benches);
