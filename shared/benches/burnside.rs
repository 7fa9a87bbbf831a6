//! How fast fixed grids are counted, on one core: all classes of a shape but the identity, tables included.

use std::{hint::black_box, time::Duration};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use shared::{
    count::{FixedGrids, SliceProgress},
    grid::Shape,
    symmetry::conjugacy_classes,
};

/// Classes a second; the whole is the time to look at.
fn classes(c: &mut Criterion) {
    let mut group = c.benchmark_group("burnside");
    group.sample_size(20).measurement_time(Duration::from_secs(8));
    for shape in [Shape::SIX, Shape::new(2, 4).unwrap(), Shape::NINE] {
        let count = conjugacy_classes(shape, true).len() as u64 - 1;
        group.throughput(Throughput::Elements(count));
        group.bench_function(BenchmarkId::new("all classes", shape), |b| {
            b.iter(|| {
                let grids = FixedGrids::new(shape, true).unwrap();
                let run = |unit| grids.run_unit(unit, SliceProgress::default(), &mut |_| false);
                (0..grids.units()).map(|unit| black_box(run(unit)).expect("never stopped")).sum::<u128>()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, classes);
criterion_main!(benches);
