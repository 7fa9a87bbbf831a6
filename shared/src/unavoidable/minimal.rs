//! All minimal puzzles of a grid: its minimal hitting sets.
//!
//! A puzzle with one solution hits every unavoidable set; it is minimal when each clue is the only one in some of them
//! (a *witness*: without the clue that set would be missed). The tree is that of all hitting sets - a set that is not
//! hit yet, its cells in turn, those tried before dead - and a branch ends when a clue has lost its last witness, for
//! more clues never give one back. So exactly the minimal hitting sets remain, each once (K. Murakami & T. Uno,
//! "Efficient algorithms for dualizing large-scale hypergraphs", Discrete Applied Mathematics 170, 2014).
//!
//! The witnesses of a clue are among the sets that were unhit when it was chosen, and the further the branch, the fewer:
//! so each step remembers where the first one stands that is left, and goes on from there. No list is made of them.
//!
//! All minimal unavoidable sets are needed, whatever their size, so this is for small shapes: microseconds for 4x4
//! (26 or 14 sets), a second for 6x6 (a million puzzles); see `sample` for what can be said of 9x9.

use super::CellSet;

/// Calls `found` with every minimal choice of cells of `alive` that hits all `sets`, each once. The cells are numbers
/// below 64.
///
/// ```
/// use shared::unavoidable::{CellSet, CompleteGrid, minimal_hitting_sets, unavoidable_sets};
///
/// let grid = CompleteGrid::read("1234341223414123").unwrap();
/// let mut by_clues = [0; 17];
/// minimal_hitting_sets(&unavoidable_sets(&grid, 16), CellSet::below(16), &mut |clues| by_clues[clues.len()] += 1);
/// assert_eq!(by_clues[4..7], [128, 176, 0]);
/// ```
pub fn minimal_hitting_sets(sets: &[CellSet], alive: CellSet, found: &mut dyn FnMut(CellSet)) {
    let words: Vec<u64> = sets.iter().copied().map(word).collect();
    if words.is_empty() {
        found(CellSet::EMPTY);
        return;
    }
    let mut search = Search { steps: vec![Step::default()], found };
    let alive = word(alive);
    if search.steps[0].take(&words, 0, alive) {
        search.grow(0, 0, alive);
    }
}

#[allow(clippy::cast_possible_truncation, reason = "cells are below 64")]
fn word(set: CellSet) -> u64 {
    set.0 as u64
}

struct Search<'a> {
    steps: Vec<Step>,
    found: &'a mut dyn FnMut(CellSet),
}

/// One clue more at each step.
#[derive(Default)]
struct Step {
    /// The sets that the clues before this step miss.
    unhit: Vec<u64>,
    /// Of these the one with the fewest cells that may still be chosen: these cells.
    smallest: u64,
    /// The cell that is chosen here, and the sets among `unhit` that it hits.
    chosen: u64,
    hit: Vec<u64>,
    /// For the clue of this step and each before it, where its first witness stands in the `hit` of its step.
    witnesses: Vec<usize>,
}

impl Step {
    /// Takes the sets that `hit` does not hit. False when one of them has no cell that is alive.
    fn take(&mut self, sets: &[u64], hit: u64, alive: u64) -> bool {
        let mut least = u32::MAX;
        self.unhit.clear();
        for &set in sets {
            if set & hit == 0 {
                let cells = (set & alive).count_ones();
                if cells < least {
                    least = cells;
                    self.smallest = set & alive;
                    if cells == 0 {
                        return false;
                    }
                }
                self.unhit.push(set);
            }
        }
        true
    }

    /// Chooses a cell.
    fn choose(&mut self, cell: u64) {
        self.chosen = cell;
        self.hit.clear();
        self.hit.extend(self.unhit.iter().filter(|&set| set & cell != 0));
    }
}

impl Search<'_> {
    /// Tries the cells of the smallest unhit set of a step; there is one.
    fn grow(&mut self, depth: usize, chosen: u64, mut alive: u64) {
        if self.steps.len() == depth + 1 {
            self.steps.push(Step::default());
        }
        let mut cells = self.steps[depth].smallest;
        while cells != 0 {
            let cell = cells & cells.wrapping_neg();
            cells &= !cell;
            alive &= !cell;
            if !self.keeps_witnesses(depth, chosen | cell) {
                continue;
            }
            let (open, below) = self.steps.split_at_mut(depth + 1);
            if !below[0].take(&open[depth].unhit, cell, alive) {
                continue;
            }
            if below[0].unhit.is_empty() {
                (self.found)(CellSet((chosen | cell).into()));
                continue;
            }
            self.steps[depth].choose(cell);
            self.grow(depth + 1, chosen | cell, alive);
        }
    }

    /// Whether every clue before `depth` has a witness left when these are all clues, and which is the first.
    fn keeps_witnesses(&mut self, depth: usize, chosen: u64) -> bool {
        let (before, here) = self.steps.split_at_mut(depth);
        let here = &mut here[0].witnesses;
        here.clear();
        for (number, step) in before.iter().enumerate() {
            // The step before knows the witnesses of the clues before its own; its own clue begins with the first.
            let from = before[depth - 1].witnesses.get(number).copied().unwrap_or(0);
            let is_witness = |set: &u64| set & chosen == step.chosen;
            let Some(further) = step.hit[from..].iter().position(is_witness) else { return false };
            here.push(from + further);
        }
        true
    }
}
