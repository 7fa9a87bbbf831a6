//! Exact covers of the cells by template orbits, counted.
//!
//! Template orbits that cover the same cells can stand for each other: a *block* is a set of orbits of cells together
//! with its weight, the number of template orbits that cover just them. The grids that a symmetry fixes (up to
//! relabelling) are the exact covers by blocks, each counted with the product of its weights.
//!
//! `N(U)`, the weighted number of covers of U, is the sum over the blocks b inside U that hold the first orbit of U of
//! `weight(b) N(U - b)`. It depends on U alone and is remembered.
//!
//! The very first choice is made up to the centralizer of the symmetry: what commutes with g permutes blocks, keeps
//! weights, and so `N(all - b)` is the same for all b in one orbit of the centralizer. One of them is counted, times
//! the number of those that hold the first orbit of cells. (It is nothing to the argument that the centralizer moves
//! that orbit too.)

use std::collections::HashMap;

use super::{mask::Mask, memo::Memo, orbits::CellOrbits, templates::each_template_orbit};
use crate::symmetry::Symmetry;

/// A set of orbits of cells that templates cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Block<M> {
    pub(super) mask: M,
    /// Template orbits that cover just these.
    pub(super) weight: u64,
}

/// A first choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct First<M> {
    pub(super) block: Block<M>,
    /// How many template orbits hold the first orbit of cells and leave as many covers: the weight of the block
    /// times the blocks that the centralizer takes it to.
    pub(super) alike: u128,
}

/// All there is to know about a class to count.
pub(super) struct Cover<M> {
    all: M,
    /// By the first orbit of cells they hold, then ascending.
    pub(super) blocks: Vec<Block<M>>,
    pub(super) firsts: Vec<First<M>>,
}

impl<M: Mask> Cover<M> {
    /// Finds the blocks and the first choices.
    pub(super) fn new(orbits: &CellOrbits, centralizer: &[Symmetry]) -> Self {
        let mut masks: Vec<M> = Vec::new();
        each_template_orbit(orbits, &mut |mask, _, _| masks.push(mask));
        masks.sort_unstable_by_key(|mask| (mask.first(), *mask));
        let weigh = |same: &[M]| Block { mask: same[0], weight: same.len() as u64 };
        let blocks: Vec<Block<M>> = masks.chunk_by(|a, b| a == b).map(weigh).collect();
        let firsts = first_choices(orbits, &blocks, centralizer);
        Self { all: M::below(orbits.len()), blocks, firsts }
    }

    /// Covers with the first choice `number`, all alike counted.
    pub(super) fn count_first(&self, number: usize, memo: &mut Memo<M>) -> u128 {
        let first = &self.firsts[number];
        let blocks: Vec<Block<M>> = disjoint(&self.blocks, first.block.mask).collect();
        let mut search = Search { memo, stack: blocks, nodes: 0 };
        let rest = search.count(self.all ^ first.block.mask, 0);
        first.alike.checked_mul(rest).expect("fewer than all grids")
    }
}

fn disjoint<M: Mask>(blocks: &[Block<M>], mask: M) -> impl Iterator<Item = Block<M>> {
    blocks.iter().copied().filter(move |block| block.mask & mask == M::EMPTY)
}

struct Search<'a, M> {
    memo: &'a mut Memo<M>,
    /// Blocks left at each level, one level after the other.
    stack: Vec<Block<M>>,
    nodes: u64,
}

impl<M: Mask> Search<'_, M> {
    /// Covers of `open` by the blocks from `from` on, which are those inside it.
    fn count(&mut self, open: M, from: usize) -> u128 {
        if open == M::EMPTY {
            return 1;
        }
        if let Some(known) = self.memo.get(open) {
            return known;
        }
        self.nodes += 1;
        let first = open.first();
        let end = self.stack.len();
        let mut sum = 0u128;
        let choices = from + self.stack[from..].partition_point(|block| block.mask.first() <= first);
        for choice in from..choices {
            let Block { mask, weight } = self.stack[choice];
            let left = open ^ mask;
            let rest = if left == M::EMPTY {
                1
            } else if let Some(known) = self.memo.get(left) {
                known
            } else {
                for other in choices..end {
                    let block = self.stack[other];
                    if block.mask & mask == M::EMPTY {
                        self.stack.push(block);
                    }
                }
                let rest = self.count(left, end);
                self.stack.truncate(end);
                rest
            };
            sum = u128::from(weight)
                .checked_mul(rest)
                .and_then(|ways| sum.checked_add(ways))
                .expect("fewer than all grids");
        }
        self.memo.put(open, sum);
        sum
    }
}

/// The first choices: blocks that hold orbit 0 up to the centralizer.
fn first_choices<M: Mask>(
    orbits: &CellOrbits,
    blocks: &[Block<M>],
    centralizer: &[Symmetry],
) -> Vec<First<M>> {
    let number: HashMap<M, usize> = blocks.iter().enumerate().map(|(i, block)| (block.mask, i)).collect();
    let actions: Vec<Vec<M>> = centralizer
        .iter()
        .map(|by| {
            orbits
                .cycles
                .iter()
                .map(|cycle| M::bit(usize::from(orbits.place[by.source(usize::from(cycle[0]))].0)))
                .collect()
        })
        .collect();
    let mut seen = vec![false; blocks.len()];
    let mut firsts = Vec::new();
    let mut open = Vec::new();
    for (start, block) in blocks.iter().enumerate().take_while(|(_, block)| block.mask.first() == 0) {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut with_first = 0u64;
        open.push(block.mask);
        while let Some(mask) = open.pop() {
            with_first += u64::from(mask.first() == 0);
            for action in &actions {
                let image = mask.members().fold(M::EMPTY, |image, member| image | action[member]);
                if !std::mem::replace(&mut seen[number[&image]], true) {
                    open.push(image);
                }
            }
        }
        let alike = u128::from(with_first) * u128::from(block.weight);
        firsts.push(First { block: *block, alike });
    }
    firsts
}
