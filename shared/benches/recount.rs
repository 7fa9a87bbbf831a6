//! How fast grids are counted, on one core, in the units a reader would use.

use std::{hint::black_box, time::Duration};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use shared::{
    count::{
        Audit, AuditOf, Gangster, Search, UnitProgress, gangster::two, nine::NineClasses, two::two_classes,
    },
    grid::Shape,
};

/// Classes a second, all classes of a shape, tables and classes included where the process does not keep them.
fn gangster(c: &mut Criterion) {
    let mut group = c.benchmark_group("gangster");
    for shape in [Shape::COUNTED[1], Shape::COUNTED[2], Shape::NINE] {
        let classes = Gangster::new(shape).unwrap().units();
        group.throughput(Throughput::Elements(classes));
        group.bench_function(BenchmarkId::new("all classes", shape), |b| {
            b.iter(|| {
                let gangster = Gangster::new(shape).unwrap();
                (0..classes).map(|unit| black_box(gangster.run_unit(unit)).completions).sum::<u128>()
            });
        });
    }
    group.bench_function("3x3 enumeration of the 44 classes", |b| b.iter(NineClasses::new));
    group.sample_size(10).measurement_time(Duration::from_secs(10)).throughput(Throughput::Elements(1));
    let class = &two_classes(5)[200];
    group.bench_function("2x5 one class", |b| b.iter(|| two::bands(black_box(&class.vectors))));
    group.finish();
}

/// Classes a second by search; what the last three rows yield is remembered across iterations.
fn search(c: &mut Criterion) {
    let mut group = c.benchmark_group("search");
    group.sample_size(10).throughput(Throughput::Elements(1));
    let search = Search::new(Shape::NINE).unwrap();
    for class in [0, 24] {
        group.bench_function(BenchmarkId::new("3x3 one class", class + 1), |b| {
            b.iter(|| {
                let units = class * search.choices()..(class + 1) * search.choices();
                let run = |unit| search.run_unit(unit, UnitProgress::default(), &mut |_| false);
                units.map(|unit| run(unit).expect("never stopped").completions).sum::<u128>()
            });
        });
    }
    group.throughput(Throughput::Elements(44)).measurement_time(Duration::from_secs(20));
    group.bench_function("3x3 all classes", |b| {
        b.iter(|| {
            let search = Search::new(Shape::NINE).unwrap();
            let run = |unit| search.run_unit(unit, UnitProgress::default(), &mut |_| false);
            (0..search.units()).map(|unit| run(unit).expect("never stopped").completions).sum::<u128>()
        });
    });
    group.finish();
}

/// Pairs of column sets a second.
fn audit(c: &mut Criterion) {
    let mut group = c.benchmark_group("audit");
    let audit = Audit::new(Shape::NINE, AuditOf::ColumnSets).unwrap();
    group.sample_size(20).throughput(Throughput::Elements(audit.choices_per_unit()));
    group.bench_function("3x3 pairs of column sets", |b| {
        b.iter(|| audit.run_unit(black_box(100), UnitProgress::default(), &mut |_| false));
    });
    group.finish();
}

criterion_group!(benches, gangster, search, audit);
criterion_main!(benches);
