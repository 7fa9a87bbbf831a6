//! tmp
use shared::unavoidable::{CompleteGrid, hit::quick};

#[test]
#[ignore = "measures"]
fn measure() {
    let file = std::env::var("GRIDS").unwrap();
    let clues = std::env::var("CLUES").unwrap().parse().unwrap();
    let most: usize = std::env::var("MOST").map_or(100, |text| text.parse().unwrap());
    let mut total = 0.0;
    for line in std::fs::read_to_string(file).unwrap().lines().take(most) {
        let grid = CompleteGrid::read(line).unwrap();
        let transposed = std::env::var("TRANSPOSED").is_ok();
        let start = std::time::Instant::now();
        let counters = quick(&grid, clues, transposed);
        let time = start.elapsed().as_secs_f64();
        total += time;
        println!("{time:.3} found {} nodes {} third {} tested {} learned {}", counters.found.len(), counters.nodes, counters.third_nodes, counters.tested, counters.learned);
    }
    println!("total {total:.3}");
}
