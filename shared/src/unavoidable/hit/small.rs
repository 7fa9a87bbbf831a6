//! Shapes of at most 64 cells: the whole grid is one region.

use std::ops::RangeInclusive;

use super::{
    super::{CellSet, CompleteGrid, DEFAULT_SIZE, unavoidable_sets},
    HittingProgress, Unfinished, Watch,
    another::Another,
    lists::Word,
    plan::{Start, blocks},
    region::{Judge, Region, Verdict},
    stop::Stop,
};

/// Steps of the tree above a block, up to 6x6 and beyond.
const DEPTH: [usize; 2] = [2, 4];

/// The search of a small grid.
pub(super) struct Small {
    grid: CompleteGrid,
    sets: Vec<Word>,
    /// Numbers of clues with the blocks of each.
    blocks: Vec<(u32, Start)>,
}

impl Small {
    pub(super) fn new(grid: &CompleteGrid, clues: RangeInclusive<u32>) -> Self {
        let sets: Vec<Word> = unavoidable_sets(grid, DEFAULT_SIZE).into_iter().map(word).collect();
        let start = Start { chosen: 0, alive: word(CellSet::below(grid.cells())) };
        let depth = DEPTH[usize::from(grid.cells() > 36)];
        let mut all = Vec::new();
        for number in clues {
            let left = |chosen: Word| number.checked_sub(chosen.count_ones());
            all.extend(blocks(&sets, start, depth, &left).into_iter().map(|start| (number, start)));
        }
        Self { grid: grid.clone(), sets, blocks: all }
    }

    /// Runs the blocks `unit`, `unit + units`, ...
    pub(super) fn run(
        &self,
        (unit, units): (u64, u64),
        progress: &mut HittingProgress,
        watch: &mut Watch<'_>,
    ) -> Result<(), Unfinished> {
        let mut whole = Whole {
            another: Another::new(&self.grid),
            learned: self.sets.clone(),
            found: Vec::new(),
            stop: Stop::new(watch.stopped),
        };
        whole.learned.extend(progress.learned.iter().copied().map(word));
        let mut region = Region::default();
        for (number, &(clues, start)) in (0..).zip(&self.blocks) {
            if number < progress.next || number % units != unit {
                continue;
            }
            let before = (region.nodes, whole.another.tested, whole.learned.len());
            let sets = whole.learned.clone();
            whole.stop.leave_room(progress.room());
            region.search(&sets, start, clues - start.chosen.count_ones(), &mut whole);
            watch.may_keep(progress, &whole.stop, whole.found.len())?;
            progress.next = number + 1;
            progress.found.count(region.nodes - before.0, whole.another.tested - before.1);
            progress.found.puzzles.extend(whole.found.drain(..).map(|set| CellSet(set.into())));
            progress.learned.extend(whole.learned[before.2..].iter().map(|&set| CellSet(set.into())));
            watch.after_block(progress)?;
        }
        Ok(())
    }
}

/// The bits of a set of at most 64 cells.
#[allow(clippy::cast_possible_truncation, reason = "there are at most 64 cells")]
fn word(set: CellSet) -> Word {
    set.0 as Word
}

/// Tests puzzles.
struct Whole<'a> {
    another: Another,
    /// All sets that are known.
    learned: Vec<Word>,
    found: Vec<Word>,
    stop: Stop<'a>,
}

impl Judge for Whole<'_> {
    fn judge(&mut self, chosen: Word) -> Verdict {
        let Some(set) = self.another.unhit::<true>(chosen.into()) else { return Verdict::Good };
        let set = word(CellSet(set));
        self.learned.push(set);
        Verdict::Misses(set)
    }

    fn found(&mut self, chosen: Word) {
        self.found.push(chosen);
    }

    fn ends(&mut self) -> bool {
        self.stop.at_step(self.found.len())
    }
}
