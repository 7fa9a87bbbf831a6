//! 9x9: work in progress.
use super::{
    another::Another,
    frame::Frame,
    limits::Limits,
    pair::{BOTH, Pair, Start},
    third::{Third, parts},
};
use crate::unavoidable::{CellSet, CompleteGrid, unavoidable_sets};

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Puzzles.
    pub found: Vec<CellSet>,
    /// Nodes.
    pub nodes: u64,
    /// Nodes of the third.
    pub third_nodes: u64,
    /// Tests.
    pub tested: u64,
    /// Learned.
    pub learned: usize,
}

/// Searches a grid.
pub fn quick(grid: &CompleteGrid, clues: u32, transposed: bool) -> Counters {
    let base: Vec<CellSet> = unavoidable_sets(grid, 12);
    let mut all = base;
    let mut counters = Counters::default();
    let start = std::time::Instant::now();
    for third in 0..3 {
        let frame = Frame { transposed, third };
        let sets: Vec<u128> = all.iter().map(|&set| frame.see(set)).collect();
        let seen = CompleteGrid::new(grid.shape(), &frame.digits(grid.digits())).expect("a grid");
        let (pair, cross): (Vec<_>, Vec<_>) = sets.iter().map(|&set| parts(set)).partition(|set| set.1 == 0);
        let strict = [(third + 1) % 3, (third + 2) % 3].map(|other| u32::from(other < third));
        let limits = Limits { clues, least: [0, 0, clues.div_ceil(3)], strict };
        let search = Third::new(Another::new(&seen), cross);
        let mut search = Pair::new(limits, pair.iter().map(|set| set.0).collect(), search);
        search.search(Start { chosen: 0, alive: BOTH });
        counters.nodes += search.nodes;
        counters.third_nodes += search.third.region.nodes;
        counters.tested += search.third.another.tested;
        counters.learned += search.third.learned.len();
        counters.found.extend(search.third.found.iter().map(|&set| frame.back(set)));
        all.extend(search.third.learned.iter().map(|&set| frame.back(set)));
        if std::env::var("HIT_VERBOSE").is_ok() {
            eprintln!("  third {third}: {:?} nodes {} third {} tested {} learned {} asked {} fails {} hist {:?} lens {:?}", start.elapsed(), search.nodes, search.third.region.nodes, search.third.another.tested, search.third.learned.len(), search.third.asked, search.fails, search.hist, (0..20).map(|i| search.lens[i] / search.hist[i].max(1)).collect::<Vec<_>>());
        }
    }
    counters
}
