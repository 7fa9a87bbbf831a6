//! A bounded memory of what has been counted.

use super::mask::Mask;

/// Entries at the beginning, and at most.
const LEAST: usize = 1 << 10;

/// Counts by uncovered set. Every set has one slot, and the last that came keeps it: a lookup may miss what was once
/// known, and then it is counted again, so that nothing depends on what is remembered. Nearly all counts fit in a word;
/// those that do not are rare and large, and not remembered: looking up is what takes the time, and small slots are
/// sooner at hand.
pub(super) struct Memo<M> {
    slots: Vec<(M, u64)>,
    stored: usize,
    most: usize,
}

impl<M: Mask> Memo<M> {
    /// Nothing known; room for at most `most` entries, a power of two.
    pub(super) fn new(most: usize) -> Self {
        Self { slots: vec![(M::EMPTY, 0); LEAST.min(most)], stored: 0, most }
    }

    /// The count of a set that is not empty, if it is remembered.
    pub(super) fn get(&self, set: M) -> Option<u128> {
        let (known, count) = self.slots[set.slot(self.slots.len())];
        (known == set).then_some(count.into())
    }

    /// Remembers the count of a set that is not empty.
    pub(super) fn put(&mut self, set: M, count: u128) {
        let Ok(count) = u64::try_from(count) else { return };
        self.stored += 1;
        if self.stored > self.slots.len() / 2 && self.slots.len() < self.most {
            let larger = vec![(M::EMPTY, 0); 4 * self.slots.len()];
            let old = std::mem::replace(&mut self.slots, larger);
            self.stored = 0;
            for (set, count) in old.into_iter().filter(|(set, _)| *set != M::EMPTY) {
                let slot = set.slot(self.slots.len());
                self.slots[slot] = (set, count);
                self.stored += 1;
            }
        }
        let slot = set.slot(self.slots.len());
        self.slots[slot] = (set, count);
    }
}
