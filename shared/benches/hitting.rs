//! Searches for puzzles with few clues, on one core: seconds a grid, steps and sets tested. `NONET_BENCH_GRIDS=FILE`
//! measures the grids of a file (one a line) instead of known ones, `NONET_BENCH_CLUES=17` with so many clues instead of
//! 16.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shared::unavoidable::{
    CompleteGrid,
    hit::{Found, HittingProgress, HittingSearch, Watch},
};

/// Two grids without a 17-clue puzzle, one with fourteen of them and one with twenty.
const GRIDS: [&str; 4] = [
    "123456789456789123789123456231564897564897231897231564312645978645978312978312645",
    "123456789457893612986217354274538196531964827698721435342685971715349268869172543",
    "123456789457189263689237451275613948348975612961842537534798126712364895896521374",
    "594231786786945132123768954965173248378492561241856397432619875619587423857324619",
];

fn grids() -> Vec<CompleteGrid> {
    let text = match std::env::var("NONET_BENCH_GRIDS") {
        Ok(path) => std::fs::read_to_string(path).expect("NONET_BENCH_GRIDS names a file of grids"),
        Err(_) => GRIDS.join("\n"),
    };
    text.lines().map(|text| CompleteGrid::read(text).expect("a complete grid")).collect()
}

fn search(grid: &CompleteGrid, clues: u32) -> Found {
    let search = HittingSearch::new(grid, clues..=clues, 1).expect("9x9 is searched");
    let watch = Watch { stopped: &|| false, reached: &mut |_| {} };
    search.run_unit(0, HittingProgress::default(), watch).expect("never stopped")
}

fn clues(c: &mut Criterion) {
    let grids = grids();
    let clues = std::env::var("NONET_BENCH_CLUES").map_or(16, |text| text.parse().expect("a number"));
    let mut all = Found::default();
    for grid in &grids {
        let found = search(grid, clues);
        all.nodes += found.nodes;
        all.tested += found.tested;
        all.puzzles.extend(found.puzzles);
    }
    let (number, nodes, tested) = (grids.len() as u64, all.nodes, all.tested);
    println!(
        "a grid: {} nodes, {} sets tested; puzzles: {}",
        nodes / number,
        tested / number,
        all.puzzles.len()
    );
    let mut group = c.benchmark_group("hitting");
    group.throughput(Throughput::Elements(number));
    group.bench_function(format!("{clues} clues"), |b| {
        b.iter(|| grids.iter().map(|grid| search(black_box(grid), clues).nodes).sum::<u64>());
    });
    group.finish();
}

fn settings() -> Criterion {
    Criterion::default().sample_size(10).measurement_time(Duration::from_secs(5))
}

criterion_group! { name = benches; config = settings(); targets = clues }
criterion_main!(benches);
