//! How long the cells of a sudoku take to classify, on one core.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shared::{
    photo::classify::{Classifier, Patch},
    random::Random,
};

/// Patches of noise: the time does not depend on what they show.
fn patches(number: usize) -> Vec<Patch> {
    let mut random = Random::new(1);
    let mut level = || u8::try_from(random.below(256)).expect("below 256");
    (0..number).map(|_| std::array::from_fn(|_| level())).collect()
}

fn classify(c: &mut Criterion) {
    let classifier = Classifier::new();
    let mut group = c.benchmark_group("classify");
    for number in [81, 1024] {
        let patches = patches(number);
        group.throughput(Throughput::Elements(number as u64));
        group.bench_function(format!("{number} patches"), |b| {
            b.iter(|| classifier.classify(black_box(&patches)));
        });
    }
    group.finish();
}

criterion_group!(benches, classify);
criterion_main!(benches);
