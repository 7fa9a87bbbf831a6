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
    SliceProgress, choices, mask::Mask, memo::Memo, orbits::CellOrbits, templates::each_template_orbit,
};
use crate::symmetry::Symmetry;

/// Blocks in a row that are looked at together, and groups of such.
const GROUP: usize = 16;

/// Blocks in lexicographic order of their members, with what the blocks of each group have in common: that is a lot in
/// this order, and most groups can be passed over at once when blocks inside a small set are looked for.
#[derive(Clone, Debug)]
pub(super) struct List<M> {
    pub(super) blocks: Vec<Block<M>>,
    /// Common to the blocks of each group of [`GROUP`].
    common: Vec<M>,
    /// Common to the blocks of each group of groups.
    wide: Vec<M>,
}

impl<M> Default for List<M> {
    fn default() -> Self {
        Self { blocks: Vec::new(), common: Vec::new(), wide: Vec::new() }
    }
}

impl<M: Mask> List<M> {
    fn new(blocks: Vec<Block<M>>) -> Self {
        let mut list = Self { blocks, ..Self::default() };
        list.index();
        list
    }

    fn index(&mut self) {
        self.common.clear();
        self.wide.clear();
        self.common.extend(
            self.blocks
                .chunks(GROUP)
                .map(|group| group.iter().fold(!M::EMPTY, |all, block| all & block.mask)),
        );
        self.wide.extend(
            self.common.chunks(GROUP).map(|group| group.iter().fold(!M::EMPTY, |all, &mask| all & mask)),
        );
    }

    /// The blocks whose least orbit is `first`.
    pub(super) fn starting(&self, first: usize) -> &[Block<M>] {
        let from = self.blocks.partition_point(|block| block.mask.first() < first);
        let count = self.blocks[from..].partition_point(|block| block.mask.first() == first);
        &self.blocks[from..from + count]
    }

    /// The second choices when a first one leaves `left`. One that covers all has nothing as its only second one.
    pub(super) fn seconds(&self, left: M) -> Vec<Block<M>> {
        if left == M::EMPTY {
            return vec![Block { mask: M::EMPTY, weight: 1, period: 0 }];
        }
        self.starting(left.first()).to_vec()
    }

    /// Makes this the list of those blocks of `list` that lie inside `open`.
    pub(super) fn fill(&mut self, list: &Self, open: M) {
        let barred = !open;
        self.blocks.clear();
        for (w, &wide) in list.wide.iter().enumerate() {
            if wide & barred != M::EMPTY {
                continue;
            }
            let groups = w * GROUP..((w + 1) * GROUP).min(list.common.len());
            for (&common, group) in list.common[groups.clone()].iter().zip(groups) {
                if common & barred != M::EMPTY {
                    continue;
                }
                let blocks = &list.blocks[group * GROUP..((group + 1) * GROUP).min(list.blocks.len())];
                self.blocks.extend(blocks.iter().filter(|block| block.mask & barred == M::EMPTY));
            }
        }
        self.index();
    }
}

/// A set of orbits of cells that templates cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Block<M> {
    pub(super) mask: M,
    /// Template orbits that cover just these.
    pub(super) weight: u32,
    /// Templates in each: the period.
    pub(super) period: u32,
}

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
    pub(super) all: M,
    pub(super) side: u32,
    /// For each orbit of cells its bit in a mask.
    pub(super) place: Vec<usize>,
    /// By the first orbit of cells they hold, then ascending.
    pub(super) blocks: List<M>,
    pub(super) weights: Weights<M>,
    /// The least period of a block.
    pub(super) least: u32,
    starts: Vec<Start<M>>,
}

impl<M: Mask> Cover<M> {
    /// Finds the blocks and the first choices. From `many_blocks` on the second choice is made up to the stabilizer of
    /// the first.
    pub(super) fn new(orbits: &CellOrbits, centralizer: &[Symmetry], many_blocks: usize) -> Self {
        let mut masks: Vec<(M, u32)> = Vec::new();
        each_template_orbit(orbits, &mut |mask, _, period| masks.push((mask, small(period))));
        let mut held = vec![0u32; orbits.len()];
        for (mask, _) in &masks {
            mask.members().for_each(|m| held[m] += 1);
        }
        let mut sorted: Vec<usize> = (0..orbits.len()).collect();
        // Orbits that few blocks hold come first: there is little choice for them.
        sorted.sort_by_key(|&orbit| (held[orbit], orbit));
        let mut place = vec![0; orbits.len()];
        for (new, &old) in sorted.iter().enumerate() {
            place[old] = new;
        }
        for mask in &mut masks {
            mask.0 = placed(mask.0, &place);
        }
        masks.sort_unstable_by_key(|(mask, _)| std::cmp::Reverse(mask.reversed()));
        let weigh =
            |same: &[(M, u32)]| Block { mask: same[0].0, weight: small(same.len()), period: same[0].1 };
        let blocks: Vec<Block<M>> = masks.chunk_by(|a, b| a.0 == b.0).map(weigh).collect();
        let least = blocks.iter().map(|block| block.period).min().unwrap_or(1);
        let weights = Weights::new(&blocks);
        let (all, blocks) = (M::below(orbits.len()), List::new(blocks));
        let actions = choices::actions(orbits, &place, centralizer);
        let starts = starts(&blocks, all, &actions, blocks.blocks.len() >= many_blocks);
        Self { all, side: small(orbits.shape().side()), place, blocks, weights, least, starts }
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
        let left = self.all ^ first.mask;
        if inside.of != Some(left) {
            inside.list.fill(&self.blocks, left);
            inside.of = Some(left);
        }
        let mut search = Search::new(self, memo, progress, pause);
        let rest = search.count(&inside.list, left ^ second.mask, self.side - first.period - second.period);
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
fn starts<M: Mask>(
    blocks: &List<M>,
    all: M,
    actions: &[choices::Action],
    with_stabilizers: bool,
) -> Vec<Start<M>> {
    let mut starts = Vec::new();
    let mut inside = List::default();
    for first in choices::up_to(actions, blocks.starting(0), with_stabilizers) {
        let left = all ^ first.block.mask;
        inside.fill(blocks, left);
        let seconds = choices::up_to(&first.stabilizer, &inside.seconds(left), false);
        starts.extend(seconds.into_iter().map(|second| Start {
            first: first.block,
            second: second.block,
            alike: first.alike * second.alike,
        }));
    }
    starts
}

/// A set of orbits with each in its place.
pub(super) fn placed<M: Mask>(orbits: M, place: &[usize]) -> M {
    orbits.members().fold(M::EMPTY, |image, member| image | M::bit(place[member]))
}

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("fewer templates than 2^32")
}

/// Weights by mask.
pub(super) struct Weights<M> {
    slots: Vec<(M, u32)>,
}

impl<M: Mask> Weights<M> {
    fn new(blocks: &[Block<M>]) -> Self {
        let mut table = Self { slots: vec![(M::EMPTY, 0); (2 * blocks.len()).next_power_of_two().max(2)] };
        for block in blocks {
            let mut slot = table.slot(block.mask);
            while table.slots[slot].0 != M::EMPTY {
                slot = (slot + 1) % table.slots.len();
            }
            table.slots[slot] = (block.mask, block.weight);
        }
        table
    }

    fn slot(&self, set: M) -> usize {
        let mixed = set.word().wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bits = self.slots.len().trailing_zeros();
        usize::try_from(mixed >> (64 - bits)).expect("fewer slots than addresses")
    }

    pub(super) fn get(&self, set: M) -> u32 {
        let mut slot = self.slot(set);
        loop {
            let (known, weight) = self.slots[slot];
            if known == set || known == M::EMPTY {
                return weight;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }
}

/// Nodes between two questions whether to stop. A node takes from 1 to some 100 us.
const NODES_BETWEEN_PAUSES: u32 = 32;

struct Search<'a, M> {
    cover: &'a Cover<M>,
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
        cover: &'a Cover<M>,
        memo: &'a mut Memo<M>,
        progress: SliceProgress,
        pause: &'a mut dyn FnMut(SliceProgress) -> bool,
    ) -> Self {
        Self { cover, memo, spare: Vec::new(), progress, pause, nodes: 0, stopped: false }
    }

    /// Covers of `open`, which takes `size` templates, by blocks of `list`, among which are all inside it.
    fn count(&mut self, list: &List<M>, open: M, size: u32) -> u128 {
        if open == M::EMPTY {
            return 1;
        }
        if size < 2 * self.cover.least {
            return self.cover.weights.get(open).into();
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
            if size < 3 * self.cover.least { self.two(list, open) } else { self.many(list, open, size) };
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
                let rest = if left == M::EMPTY { 1 } else { self.cover.weights.get(left) };
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
