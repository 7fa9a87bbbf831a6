//! tmp
use shared::unavoidable::{
    CompleteGrid,
    hit::{HittingProgress, HittingSearch},
};

#[test]
#[ignore = "measures"]
fn measure() {
    let file = std::env::var("GRIDS").unwrap();
    let clues = std::env::var("CLUES").unwrap().parse().unwrap();
    let most: usize = std::env::var("MOST").map_or(100, |text| text.parse().unwrap());
    let mut total = 0.0;
    for line in std::fs::read_to_string(file).unwrap().lines().take(most) {
        let grid = CompleteGrid::read(line).unwrap();
        let start = cpu();
        let search = HittingSearch::new(&grid, clues..=clues, 1).unwrap();
        let ready = cpu() - start;
        let found = search.run_unit(0, HittingProgress::default(), &mut |_| false).unwrap();
        let time = cpu() - start;
        total += time;
        println!(
            "{time:.3} {ready:.3} found {} nodes {} tested {}",
            found.puzzles.len(),
            found.nodes,
            found.tested
        );
    }
    println!("total {total:.3}");
}

/// Seconds that this thread has run.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}
