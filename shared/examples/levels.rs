use shared::{grid::line, solve::level::level};
use std::{collections::BTreeMap, time::Instant};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let most: usize = args[2].parse().unwrap();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let all: Vec<_> = text.lines().filter_map(|l| line::read(l).unwrap()).collect();
    let step = (all.len() / most).max(1);
    let mut map: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for p in all.iter().step_by(step).take(most) {
        let t = Instant::now();
        let l = level(p.shape, &p.cells, &|| false).map_or("none".into(), |l| l.to_string());
        map.entry(l).or_default().push(t.elapsed().as_secs_f64());
    }
    for (l, mut t) in map {
        t.sort_by(f64::total_cmp);
        println!(
            "{l:25} {:6} median {:.6} mean {:.6} max {:.4}",
            t.len(),
            t[t.len() / 2],
            t.iter().sum::<f64>() / t.len() as f64,
            t.last().unwrap()
        );
    }
}
