//! Blocks: what template orbits cover, with weights.

use super::{mask::Mask, orbits::CellOrbits, templates::each_template_orbit};

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

/// All blocks of a symmetry.
pub(super) struct Blocks<M> {
    /// All orbits of cells.
    pub(super) all: M,
    pub(super) side: u32,
    /// For each orbit of cells its bit in a mask.
    pub(super) place: Vec<usize>,
    /// By the first orbit of cells they hold, then ascending.
    pub(super) list: List<M>,
    pub(super) weights: Weights<M>,
    /// The least period of a block.
    pub(super) least: u32,
}

impl<M: Mask> Blocks<M> {
    /// Finds them.
    pub(super) fn new(orbits: &CellOrbits) -> Self {
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
        Self {
            all: M::below(orbits.len()),
            side: small(orbits.shape().side()),
            place,
            list: List::new(blocks),
            weights,
            least,
        }
    }
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
        set.slot(self.slots.len())
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
