use shared::{
    grid::line,
    solve::methods::{Method, Settings, solve},
};
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let most: usize = args[2].parse().unwrap();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let all: Vec<_> = text.lines().filter_map(|l| line::read(l).unwrap()).collect();
    let step = (all.len() / most).max(1);
    let puzzles: Vec<_> = all.iter().step_by(step).take(most).collect();
    for method in Method::ALL {
        if args.len() > 3 && !args[3..].contains(&method.name().to_string()) {
            continue;
        }
        let (mut solved, mut counts, mut times) = (0, vec![], vec![]);
        let cap = std::env::var("CAP").map_or(method.default_cap(), |s| s.parse().unwrap());
        for p in &puzzles {
            let t = Instant::now();
            let o = solve(method, p.shape, &p.cells, Settings { limit: 1, cap, seed: 1 }, &|| false).unwrap();
            times.push(t.elapsed().as_secs_f64());
            solved += o.solutions;
            counts.push(if o.solutions > 0 { o.effort.nodes + o.effort.iterations } else { u64::MAX });
        }
        counts.sort_unstable();
        times.sort_by(f64::total_cmp);
        println!(
            "{:20} {}/{} median {} (p90 {}) time median {:.6} mean {:.6} max {:.4}",
            method.name(),
            solved,
            puzzles.len(),
            counts[counts.len() / 2],
            counts[counts.len() * 9 / 10],
            times[times.len() / 2],
            times.iter().sum::<f64>() / times.len() as f64,
            times.last().unwrap()
        );
    }
}
