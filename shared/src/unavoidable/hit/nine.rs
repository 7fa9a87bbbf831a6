//! 9x9: which bands are searched first, and in which blocks.
//!
//! Every puzzle has a band with the most clues, and a stack with the most. So it is found by leaving out each of the
//! three bands in turn, and as well by leaving out each of the three stacks: the search takes what looks cheaper, judged
//! by the number of steps near the top of the six trees. Where two bands have equally many clues, ranks decide (see
//! `limits`): the rank that allows the fewest clues goes to the band whose tree is the largest.

use std::ops::RangeInclusive;

use super::{
    super::{CellSet, CompleteGrid, DEFAULT_SIZE, unavoidable_sets},
    HittingProgress, Unfinished, Watch,
    another::Another,
    frame::Frame,
    limits::Limits,
    lists::Word,
    pair::{BOTH, Pair, in_bands},
    plan::{Start, blocks},
    stop::Stop,
    third::{Third, parts},
};

/// Steps above a block.
fn depth(clues: u32, several: bool) -> usize {
    match clues {
        // Milliseconds for 16 clues; each block has its cost.
        ..=17 if !several => 3,
        // A fraction of a second for 17 clues of a hard grid.
        ..=18 => 5,
        // Hours altogether: no block should take minutes.
        _ => 6,
    }
}

/// Steps by which trees are compared.
const LOOK_AHEAD: usize = 5;

/// The search of a 9x9 grid.
pub(super) struct Nine {
    grid: CompleteGrid,
    sets: Vec<CellSet>,
    parts: Vec<Part>,
}

/// What is searched with one third band.
struct Part {
    frame: Frame,
    limits: Limits,
    blocks: Vec<Start>,
}

impl Nine {
    pub(super) fn new(grid: &CompleteGrid, clues: RangeInclusive<u32>, several: bool) -> Self {
        let sets = unavoidable_sets(grid, DEFAULT_SIZE);
        let parts = clues.flat_map(|number| parts_of(&sets, number, depth(number, several))).collect();
        Self { grid: grid.clone(), sets, parts }
    }

    /// Runs the blocks `unit`, `unit + units`, ...
    pub(super) fn run(
        &self,
        (unit, units): (u64, u64),
        progress: &mut HittingProgress,
        watch: &mut Watch<'_>,
    ) -> Result<(), Unfinished> {
        let mut first = 0;
        for part in &self.parts {
            let end = first + part.blocks.len() as u64;
            let mine = |number: u64| number >= progress.next && number % units == unit;
            if (first..end).any(mine) {
                let mut search = self.pair(part, &progress.learned, Stop::new(watch.stopped));
                for (number, &start) in (first..).zip(&part.blocks) {
                    if number < progress.next || number % units != unit {
                        continue;
                    }
                    search.third.stop.leave_room(progress.room());
                    search.third.tidy();
                    search.search(start);
                    watch.may_keep(progress, &search.third.stop, search.third.found.len())?;
                    keep(part.frame, &mut search, progress);
                    progress.next = number + 1;
                    watch.after_block(progress)?;
                }
            }
            first = end;
        }
        Ok(())
    }

    /// Everything that the blocks of a part need.
    fn pair<'a>(&self, part: &Part, learned: &[CellSet], stop: Stop<'a>) -> Pair<'a> {
        let frame = part.frame;
        let seen = self.sets.iter().chain(learned).map(|&set| parts(frame.see(set)));
        let (pair, cross): (Vec<_>, Vec<_>) = seen.partition(|set| set.1 == 0);
        let another = Another::of(self.grid.shape(), &frame.digits(self.grid.digits()));
        let third = Third::new(another, cross, stop);
        Pair::new(part.limits, pair.into_iter().map(|set| set.0).collect(), third)
    }
}

/// Takes what a block has found into the progress.
fn keep(frame: Frame, search: &mut Pair<'_>, progress: &mut HittingProgress) {
    let nodes = std::mem::take(&mut search.nodes) + std::mem::take(&mut search.third.nodes);
    progress.found.count(nodes, std::mem::take(&mut search.third.another.tested));
    progress.found.puzzles.extend(search.third.found.drain(..).map(|set| frame.back(set)));
    progress.learned.extend(search.third.learned.drain(..).map(|set| frame.back(set)));
}

/// The three parts of the search for puzzles of a number of clues.
fn parts_of(sets: &[CellSet], clues: u32, depth: usize) -> Vec<Part> {
    let all = [false, true].map(|transposed| [0, 1, 2].map(|third| Frame { transposed, third }));
    let sizes = all.map(|frames: [Frame; 3]| {
        frames.map(|frame| {
            let limits = Limits { clues, least: clues.div_ceil(3), strict: [0; 2] };
            blocks_of(sets, frame, limits, LOOK_AHEAD).len()
        })
    });
    // Trees that are larger near the top are larger still below.
    let cost = sizes.map(|sizes| sizes.iter().map(|size| size.pow(2)).sum::<usize>());
    let direction = usize::from(cost[1] < cost[0]);
    let (frames, sizes) = (all[direction], sizes[direction]);
    let mut ranks: [usize; 3] = [0, 1, 2];
    ranks.sort_by_key(|&third| sizes[third]);
    let rank = |third: usize| ranks.iter().position(|&other| other == third);
    let part = |&frame: &Frame| {
        let third = frame.third as usize;
        let strict = [1, 2].map(|turn| u32::from(rank((third + turn) % 3) < rank(third)));
        let limits = Limits { clues, least: clues.div_ceil(3), strict };
        Part { frame, limits, blocks: blocks_of(sets, frame, limits, depth) }
    };
    frames.iter().map(part).collect()
}

fn blocks_of(sets: &[CellSet], frame: Frame, limits: Limits, depth: usize) -> Vec<Start> {
    let seen = sets.iter().map(|&set| parts(frame.see(set)));
    let pair: Vec<Word> = seen.filter(|set| set.1 == 0).map(|set| set.0).collect();
    let left = |chosen: Word| {
        let [a, b] = in_bands(chosen);
        limits.most(a, b)?.checked_sub(a + b)
    };
    blocks(&pair, Start { chosen: 0, alive: BOTH }, depth, &left)
}
