//! Sets of work units, kept as disjoint ranges.

use std::{collections::BTreeMap, fmt, ops::Range};

/// A set of `u64`s below `u64::MAX`, as disjoint half-open ranges that do not touch each other.
///
/// Costs memory for every gap, not for every member: a finished job of `10^10` units is one range. All operations
/// take `O(log n)` of the number of ranges, plus the ranges they return or swallow. Empty and inverted ranges are
/// taken for empty everywhere.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct RangeSet {
    /// Start to end. Invariant: `start < end < next start`.
    ranges: BTreeMap<u64, u64>,
    units: u64,
}

impl RangeSet {
    /// The empty set.
    pub const fn new() -> Self {
        Self { ranges: BTreeMap::new(), units: 0 }
    }

    /// Adds a range of which nothing is in the set. Returns `false`, and adds nothing, if any of it is.
    #[must_use]
    pub fn insert(&mut self, range: Range<u64>) -> bool {
        let fresh = !self.intersects(&range);
        if fresh {
            self.insert_merged(range);
        }
        fresh
    }

    /// Adds a range, some of which may be in the set already. Returns how many units are new.
    pub fn insert_merged(&mut self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let Range { mut start, mut end } = range;
        let before = self.units;
        // The one range that begins further left can touch or cover ours; all others that do begin inside.
        if let Some((&left, &left_end)) = self.ranges.range(..start).next_back()
            && left_end >= start
        {
            start = left;
        }
        while let Some((&next, &next_end)) = self.ranges.range(start..=end).next() {
            self.ranges.remove(&next);
            self.units -= next_end - next;
            end = end.max(next_end);
        }
        self.ranges.insert(start, end);
        self.units += end - start;
        self.units - before
    }

    /// Takes a range out. Returns how many units were in the set.
    pub fn remove(&mut self, range: &Range<u64>) -> u64 {
        let before = self.units;
        while let Some(hit) = self.first_overlapping(range) {
            self.ranges.remove(&hit.start);
            self.units -= hit.end - hit.start;
            for rest in [hit.start..range.start, range.end..hit.end] {
                if !rest.is_empty() {
                    self.units += rest.end - rest.start;
                    self.ranges.insert(rest.start, rest.end);
                }
            }
        }
        before - self.units
    }

    /// Whether all of `range` is in the set (true of an empty one).
    pub fn contains(&self, range: &Range<u64>) -> bool {
        range.is_empty()
            || self
                .first_overlapping(range)
                .is_some_and(|hit| hit.start <= range.start && range.end <= hit.end)
    }

    /// Whether any of `range` is in the set.
    pub fn intersects(&self, range: &Range<u64>) -> bool {
        self.first_overlapping(range).is_some()
    }

    /// The parts of `range` that are in the set, ascending.
    pub fn intersection(&self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let range = range.clone();
        let first = self.first_overlapping(&range);
        let from = first.map_or(range.start..range.start, |hit| hit.start..range.end);
        self.ranges.range(from).map(move |(&start, &end)| start.max(range.start)..end.min(range.end))
    }

    /// The ranges, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u64>> + '_ {
        self.ranges.iter().map(|(&start, &end)| start..end)
    }

    /// Number of units in the set.
    pub const fn units(&self) -> u64 {
        self.units
    }

    /// Number of ranges: what the set costs.
    pub fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there is nothing in the set.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Takes the lowest range out, or its first `max_units`. `None` if there is nothing to take.
    pub fn take_first(&mut self, max_units: u64) -> Option<Range<u64>> {
        let (&start, &end) = self.ranges.first_key_value()?;
        let taken = start..end.min(start.saturating_add(max_units));
        (self.remove(&taken) > 0).then_some(taken)
    }

    fn first_overlapping(&self, range: &Range<u64>) -> Option<Range<u64>> {
        if range.is_empty() {
            return None;
        }
        let left = self.ranges.range(..=range.start).next_back().filter(|&(_, &end)| end > range.start);
        left.or_else(|| self.ranges.range(range.clone()).next()).map(|(&start, &end)| start..end)
    }
}

impl Extend<Range<u64>> for RangeSet {
    fn extend<T: IntoIterator<Item = Range<u64>>>(&mut self, ranges: T) {
        for range in ranges {
            self.insert_merged(range);
        }
    }
}

impl FromIterator<Range<u64>> for RangeSet {
    fn from_iter<T: IntoIterator<Item = Range<u64>>>(ranges: T) -> Self {
        let mut set = Self::new();
        set.extend(ranges);
        set
    }
}

impl fmt::Debug for RangeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Op {
        Insert(Range<u64>),
        Merge(Range<u64>),
        Remove(Range<u64>),
        Take(u64),
    }

    fn range() -> impl Strategy<Value = Range<u64>> {
        // Wide enough to leave gaps, narrow enough to hit; some are empty or inverted.
        (0u64..60, 0u64..14).prop_map(|(start, len)| start..(start + len).saturating_sub(2))
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            range().prop_map(Op::Insert),
            range().prop_map(Op::Merge),
            range().prop_map(Op::Remove),
            (0u64..9).prop_map(Op::Take),
        ]
    }

    fn count(units: impl Iterator) -> u64 {
        u64::try_from(units.count()).expect("small")
    }

    fn apply(op: Op, set: &mut RangeSet, model: &mut BTreeSet<u64>) {
        match op {
            Op::Insert(range) => {
                let fresh = range.clone().all(|unit| !model.contains(&unit));
                assert_eq!(set.insert(range.clone()), fresh);
                if fresh {
                    model.extend(range);
                }
            }
            Op::Merge(range) => {
                let new = count(range.clone().filter(|unit| !model.contains(unit)));
                assert_eq!(set.insert_merged(range.clone()), new);
                model.extend(range);
            }
            Op::Remove(range) => {
                let removed = count(range.clone().filter(|unit| model.remove(unit)));
                assert_eq!(set.remove(&range), removed);
            }
            Op::Take(max) => {
                let first = model.first().copied().unwrap_or(0);
                let expected: Vec<_> = (first..first + max).take_while(|unit| model.contains(unit)).collect();
                model.retain(|unit| !expected.contains(unit));
                assert_eq!(set.take_first(max).map_or(vec![], Iterator::collect), expected);
            }
        }
    }

    proptest! {
        #[test]
        fn behaves_like_a_plain_set(ops in prop::collection::vec(op(), 0..60), probe in range()) {
            let (mut set, mut model) = (RangeSet::new(), BTreeSet::new());
            for op in ops {
                apply(op, &mut set, &mut model);
                prop_assert!(set.iter().zip(set.iter().skip(1)).all(|(a, b)| a.end < b.start));
                prop_assert_eq!(set.iter().flatten().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
                prop_assert_eq!(set.units(), count(model.iter()));
                prop_assert_eq!(set.is_empty(), model.is_empty());
                prop_assert_eq!(set.contains(&probe), probe.clone().all(|unit| model.contains(&unit)));
                prop_assert_eq!(set.intersects(&probe), probe.clone().any(|unit| model.contains(&unit)));
                let expected: Vec<_> = probe.clone().filter(|unit| model.contains(unit)).collect();
                prop_assert_eq!(set.intersection(&probe).flatten().collect::<Vec<_>>(), expected);
                prop_assert_eq!(&set.iter().collect::<RangeSet>(), &set);
            }
        }
    }

    #[test]
    fn the_whole_of_u64_fits() {
        let mut set = RangeSet::new();
        assert!(set.insert(0..u64::MAX));
        assert_eq!(set.units(), u64::MAX);
        assert_eq!(set.remove(&(5..6)), 1);
        assert_eq!(set.ranges(), 2);
        assert_eq!(set.take_first(u64::MAX), Some(0..5));
        assert_eq!(set.take_first(u64::MAX), Some(6..u64::MAX));
        assert_eq!(set.take_first(1), None);
    }
}
