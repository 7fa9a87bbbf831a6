//! Exact covers of the cells by template orbits, counted.
//!
//! Template orbits that cover the same cells can stand for each other: a *block* is a set of orbits of cells together
//! with its weight, the number of template orbits that cover just them. The grids that a symmetry fixes (up to
//! relabelling) are the exact covers by blocks, each counted with the product of its weights.
//!
//! `N(U)`, the weighted number of covers of U, is the sum over the blocks b inside U that hold the first orbit of U of
//! `weight(b) N(U - b)`. It depends on U alone and is remembered.
//!
//! The first two choices are made up to the centralizer of the symmetry (`choices`): what commutes with g permutes
//! blocks, keeps weights, and so `N(all - b)` is the same for all b in one orbit of the centralizer. One of them is
//! counted, times the number of those that hold the first orbit of cells. (It is nothing to the argument that the
//! centralizer moves that orbit too.)

use super::{
    SliceProgress,
    blocks::{Block, Blocks, List},
    choices,
    mask::Mask,
    memo::Memo,
    orbits::CellOrbits,
};
use crate::symmetry::Symmetry;

/// A first and a second choice.
#[derive(Clone, Copy, Debug)]
struct Start<M> {
    first: Block<M>,
    /// Empty when the first choice covers all.
    second: Block<M>,
    /// Pairs of choices that leave as many covers, this one included.
    alike: u64,
}

/// All there is to know about a class to count.
pub(super) struct Cover<M> {
    blocks: Blocks<M>,
    starts: Vec<Start<M>>,
}

impl<M: Mask> Cover<M> {
    /// Finds the blocks and the first choices. From `many_blocks` on the second choice is made up to the stabilizer of
    /// the first.
    pub(super) fn new(orbits: &CellOrbits, centralizer: &[Symmetry], many_blocks: usize) -> Self {
        let blocks = Blocks::new(orbits);
        let actions = choices::actions(orbits, &blocks.place, centralizer);
        let starts = starts(&blocks, &actions, blocks.list.blocks.len() >= many_blocks);
        Self { blocks, starts }
    }

    /// Number of pairs of a first and a second choice.
    pub(super) fn starts(&self) -> u64 {
        self.starts.len() as u64
    }

    /// The covers of one slice: of all pairs of a first and a second choice, numbered as they come, those whose number
    /// is `slice` modulo `slices`. Those of all slices together are the fixed grids.
    ///
    /// Takes up where `progress` says. `pause` is asked now and then, with what has been made; when it says true, the
    /// slice ends with `None`.
    pub(super) fn count_slice(
        &self,
        (slice, slices): (u64, u64),
        mut progress: SliceProgress,
        memo: &mut Memo<M>,
        pause: &mut dyn FnMut(SliceProgress) -> bool,
    ) -> Option<u128> {
        let mut inside = Inside::default();
        for number in 0..self.starts() {
            if number % slices != slice || number < progress.next {
                continue;
            }
            let ways = self.count_start(number, &mut inside, memo, progress, pause)?;
            let sum = progress.sum.checked_add(ways).expect("fewer covers than grids");
            progress = SliceProgress { next: number + 1, sum };
            if pause(progress) {
                return None;
            }
        }
        Some(progress.sum)
    }

    /// Counts the covers of up to `wanted` pairs of choices, from all over the class from the beginning on: each is a
    /// golden section of all further than the last. Returns how many were counted before `pause` said true.
    pub(super) fn sample(&self, wanted: u64, memo: &mut Memo<M>, pause: &mut dyn FnMut() -> bool) -> u64 {
        let pairs = self.starts();
        let coprime = |step: &u64| gcd(*step, pairs) == 1;
        let step = (pairs * 618 / 1000 + 1..=2 * pairs + 1).find(coprime).unwrap_or(1);
        let mut inside = Inside::default();
        let mut number = 0;
        for counted in 0..wanted.min(pairs) {
            number = (number + step) % pairs;
            let mut ask = |_| pause();
            let ways = self.count_start(number, &mut inside, memo, SliceProgress::default(), &mut ask);
            if ways.is_none() || pause() {
                return counted + u64::from(ways.is_some());
            }
        }
        wanted.min(pairs)
    }

    /// The covers with a pair of choices, times the number of pairs that are alike. `None` when `pause` said true.
    fn count_start(
        &self,
        number: u64,
        inside: &mut Inside<M>,
        memo: &mut Memo<M>,
        progress: SliceProgress,
        pause: &mut dyn FnMut(SliceProgress) -> bool,
    ) -> Option<u128> {
        let Start { first, second, alike } = self.starts[usize::try_from(number).expect("an index")];
        let Blocks { all, side, list, .. } = &self.blocks;
        let left = *all ^ first.mask;
        if inside.of != Some(left) {
            inside.list.fill(list, left);
            inside.of = Some(left);
        }
        let mut search = Search::new(&self.blocks, memo, progress, pause);
        let rest = search.count(&inside.list, left ^ second.mask, side - first.period - second.period);
        if search.stopped {
            return None;
        }
        let ways = u128::from(first.weight) * u128::from(second.weight);
        let ways = ways.checked_mul(alike.into()).and_then(|ways| ways.checked_mul(rest));
        Some(ways.expect("fewer covers than grids"))
    }
}

/// The blocks inside a set.
struct Inside<M> {
    list: List<M>,
    of: Option<M>,
}

impl<M> Default for Inside<M> {
    fn default() -> Self {
        Self { list: List::default(), of: None }
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// From how many blocks on it pays to make the second choice up to the stabilizer of the first: counting takes seconds
/// then, and finding the stabilizer a tenth of one.
pub(super) const MANY_BLOCKS: usize = 1 << 14;

/// Pairs of a first and a second choice, up to the centralizer, whose generators act like `actions`.
fn starts<M: Mask>(blocks: &Blocks<M>, actions: &[choices::Action], with_stabilizers: bool) -> Vec<Start<M>> {
    let mut starts = Vec::new();
    let mut inside = List::default();
    for first in choices::up_to(actions, blocks.list.starting(0), with_stabilizers) {
        let left = blocks.all ^ first.block.mask;
        inside.fill(&blocks.list, left);
        let seconds = choices::up_to(&first.stabilizer, &inside.seconds(left), false);
        starts.extend(seconds.into_iter().map(|second| Start {
            first: first.block,
            second: second.block,
            alike: first.alike * second.alike,
        }));
    }
    starts
}

/// Nodes between two questions whether to stop. A node takes from 1 to some 100 us.
const NODES_BETWEEN_PAUSES: u32 = 32;

struct Search<'a, M> {
    blocks: &'a Blocks<M>,
    memo: &'a mut Memo<M>,
    /// Emptied lists, to be filled again.
    spare: Vec<List<M>>,
    progress: SliceProgress,
    pause: &'a mut dyn FnMut(SliceProgress) -> bool,
    nodes: u32,
    /// Whether the search was told to stop: its counts are void then.
    stopped: bool,
}

impl<'a, M: Mask> Search<'a, M> {
    fn new(
        blocks: &'a Blocks<M>,
        memo: &'a mut Memo<M>,
        progress: SliceProgress,
        pause: &'a mut dyn FnMut(SliceProgress) -> bool,
    ) -> Self {
        Self { blocks, memo, spare: Vec::new(), progress, pause, nodes: 0, stopped: false }
    }

    /// Covers of `open`, which takes `size` templates, by blocks of `list`, among which are all inside it.
    fn count(&mut self, list: &List<M>, open: M, size: u32) -> u128 {
        if open == M::EMPTY {
            return 1;
        }
        if size < 2 * self.blocks.least {
            return self.blocks.weights.get(open).into();
        }
        if let Some(known) = self.memo.get(open) {
            return known;
        }
        self.nodes += 1;
        if self.nodes.is_multiple_of(NODES_BETWEEN_PAUSES) {
            self.stopped |= (self.pause)(self.progress);
        }
        if self.stopped {
            return 0;
        }
        let sum =
            if size < 3 * self.blocks.least { self.two(list, open) } else { self.many(list, open, size) };
        if !self.stopped {
            self.memo.put(open, sum);
        }
        sum
    }

    /// Covers by one or two blocks.
    fn two(&self, list: &List<M>, open: M) -> u128 {
        let mut sum = 0;
        for block in list.starting(open.first()) {
            if block.mask & !open == M::EMPTY {
                let left = open ^ block.mask;
                let rest = if left == M::EMPTY { 1 } else { self.blocks.weights.get(left) };
                sum += u128::from(u64::from(block.weight) * u64::from(rest));
            }
        }
        sum
    }

    fn many(&mut self, list: &List<M>, open: M, size: u32) -> u128 {
        let mut inside = self.spare.pop().unwrap_or_default();
        inside.fill(list, open);
        let mut sum = 0u128;
        for block in inside.starting(open.first()) {
            let rest = self.count(&inside, open ^ block.mask, size - block.period);
            let ways = u128::from(block.weight).checked_mul(rest);
            sum = ways.and_then(|ways| sum.checked_add(ways)).expect("fewer covers than grids");
        }
        self.spare.push(inside);
        sum
    }
}
