//! Where a search is cut into blocks: the first few steps of its tree.
//!
//! Only the sets that are known from the beginning take part, so that the blocks are the same whoever makes them and
//! whatever has been learned meanwhile. Below a block nothing of another block is searched again: every choice belongs
//! to the one block that has its clues and, dead cells taken into account, its living cells.

use super::lists::{Unhit, Word, by_degree};

/// Where a block begins: some clues chosen, and what may still be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub chosen: Word,
    pub alive: Word,
}

/// The blocks `depth` steps below a start, in the order of the search. `left` tells how many clues may be added to those
/// chosen, `None` if they are too many or too few. A block begins earlier where the known sets are hit, or where hardly
/// a clue is left.
pub(super) fn blocks(
    sets: &[Word],
    start: Start,
    depth: usize,
    left: &impl Fn(Word) -> Option<u32>,
) -> Vec<Start> {
    let mut steps = vec![Unhit::default(); depth + 1];
    let mut found = Vec::new();
    if steps[0].take(sets, start.chosen, start.alive) {
        expand(&mut steps, start.chosen, left, &mut found);
    }
    found
}

/// Steps at which a block is too small to be cut further.
const FEW: u32 = 3;

fn expand(steps: &mut [Unhit], chosen: Word, left: &impl Fn(Word) -> Option<u32>, found: &mut Vec<Start>) {
    let Some(clues) = left(chosen) else { return };
    let Some((step, below)) = steps.split_first_mut() else { return };
    if step.packing(clues).0 > clues {
        return;
    }
    if below.is_empty() || step.sets.is_empty() || clues <= FEW {
        found.push(Start { chosen, alive: step.alive });
        return;
    }
    let mut order = [0; 64];
    let number = by_degree(step.sets[0], &step.sets, &mut order);
    let mut alive = step.alive;
    for &cell in &order[..number] {
        let bit = 1 << cell;
        alive &= !bit;
        if below[0].take(&step.sets, bit, alive) {
            expand(below, chosen | bit, left, found);
        }
    }
}
