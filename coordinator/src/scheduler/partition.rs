//! Where every unit of a job is. One map holds all of them, so a unit cannot be in two places or in none.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{LeaseId, Token};

/// Where a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Waits to be leased.
    Pending,
    /// Failed before and waits for another worker.
    Suspect,
    /// In a worker's hands, not committed.
    Leased(LeaseId),
    /// In a commit on its way to the disk.
    Flight(Token),
    /// Computed, but not by enough workers; `contests.rs` knows what they say.
    Claimed,
    /// In the ledger.
    Done,
    /// Given up.
    Quarantined,
}

/// How many units are where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub pending: u64,
    pub suspects: u64,
    pub leased: u64,
    pub flight: u64,
    pub claimed: u64,
    pub done: u64,
    pub quarantined: u64,
}

impl Counts {
    pub(super) fn of(&mut self, place: Place) -> &mut u64 {
        match place {
            Place::Pending => &mut self.pending,
            Place::Suspect => &mut self.suspects,
            Place::Leased(_) => &mut self.leased,
            Place::Flight(_) => &mut self.flight,
            Place::Claimed => &mut self.claimed,
            Place::Done => &mut self.done,
            Place::Quarantined => &mut self.quarantined,
        }
    }
}

/// The units `0..units`, cut into pieces that are in one place each.
///
/// ```text
/// 0          40      52   60                         10^10
/// |   Done   | Flight | L7 |          Pending           |      four pieces, whatever the size of the plan
/// ```
/// Invariant: pieces follow each other without gap, and neighbours differ. So memory goes with what is going on (leases,
/// holes), never with the number of units.
#[derive(Debug)]
pub(super) struct Partition {
    units: u64,
    /// Start to end and place.
    pieces: BTreeMap<u64, (u64, Place)>,
    /// Starts of the pending pieces: the next lease is found without a search.
    pending: BTreeSet<u64>,
    counts: Counts,
}

impl Partition {
    pub(super) fn new(units: u64) -> Self {
        let mut new =
            Self { units, pieces: BTreeMap::new(), pending: BTreeSet::new(), counts: Counts::default() };
        if units > 0 {
            new.put(0, units, Place::Pending);
            new.counts.pending = units;
        }
        new
    }

    pub(super) const fn units(&self) -> u64 {
        self.units
    }

    pub(super) const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Number of pieces: what the job costs.
    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// The lowest pending range, cut after `max_units`.
    pub(super) fn first_pending(&self, max_units: u64) -> Option<Range<u64>> {
        let &start = self.pending.first()?;
        let &(end, _) = self.pieces.get(&start)?;
        Some(start..end.min(start.saturating_add(max_units)))
    }

    /// The pieces of `range`, clipped to it, ascending.
    pub(super) fn pieces_in(&self, range: &Range<u64>) -> impl Iterator<Item = (Range<u64>, Place)> + '_ {
        let range = range.start..range.end.min(self.units).max(range.start);
        let first = self.pieces.range(..=range.start).next_back().map_or(0, |(&start, _)| start);
        let from = if range.is_empty() { range.clone() } else { first..range.end };
        self.pieces
            .range(from)
            .map(move |(&start, &(end, place))| (start.max(range.start)..end.min(range.end), place))
    }

    /// The parts of a lease (given its bounds) that are still in the worker's hands.
    pub(super) fn leased_to(
        &self,
        lease: LeaseId,
        bounds: &Range<u64>,
    ) -> impl Iterator<Item = Range<u64>> + '_ {
        self.pieces_in(bounds)
            .filter(move |&(_, place)| place == Place::Leased(lease))
            .map(|(range, _)| range)
    }

    /// Moves a range to a place. Returns where its parts were.
    pub(super) fn set(&mut self, range: &Range<u64>, place: Place) -> Vec<(Range<u64>, Place)> {
        let range = range.start..range.end.min(self.units);
        if range.is_empty() {
            return Vec::new();
        }
        // One walk leftwards finds all that matters: the neighbour on the right, what is hit, the neighbour on the left.
        let (mut left, mut right, mut hit) = (None, None, Vec::new());
        for (&start, &(end, was)) in self.pieces.range(..=range.end).rev() {
            if start == range.end {
                right = Some((start..end, was));
            } else if end > range.start {
                hit.push((start..end, was));
            } else {
                left = Some((start..end, was));
                break;
            }
        }
        hit.reverse();
        for (piece, was) in &hit {
            self.take(piece.start, *was);
        }
        let Range { mut start, mut end } = range;
        if let Some((piece, was)) = hit.first_mut() {
            // What sticks out stays what it was, or is merged with the new piece; so is a neighbour.
            match &left {
                _ if piece.start < start && *was == place => start = piece.start,
                _ if piece.start < start => self.put(piece.start, start, *was),
                Some((left, kind)) if *kind == place => start = left.start,
                _ => {}
            }
            piece.start = range.start;
        }
        if let Some((piece, was)) = hit.last_mut() {
            match &right {
                _ if piece.end > end && *was == place => end = piece.end,
                _ if piece.end > end => self.put(end, piece.end, *was),
                Some((right, kind)) if *kind == place => {
                    self.take(right.start, *kind);
                    end = right.end;
                }
                _ => {}
            }
            piece.end = range.end;
        }
        self.put(start, end, place);

        for (part, was) in &hit {
            *self.counts.of(*was) -= part.end - part.start;
        }
        *self.counts.of(place) += range.end - range.start;
        hit
    }

    fn put(&mut self, start: u64, end: u64, place: Place) {
        self.pieces.insert(start, (end, place));
        if place == Place::Pending {
            self.pending.insert(start);
        }
    }

    fn take(&mut self, start: u64, was: Place) {
        self.pieces.remove(&start);
        if was == Place::Pending {
            self.pending.remove(&start);
        }
    }

    /// Recounts everything.
    pub(super) fn check(&self) -> Result<(), String> {
        let (mut at, mut before, mut counts) = (0, None, Counts::default());
        for (&start, &(end, place)) in &self.pieces {
            if start != at || end <= start || end > self.units {
                return Err(format!("piece {start}..{end} {place:?} follows {at}"));
            }
            if before == Some(place) {
                return Err(format!("piece {start}..{end} {place:?} is not merged with its neighbour"));
            }
            if self.pending.contains(&start) != (place == Place::Pending) {
                return Err(format!("index of pending pieces is wrong at {start}"));
            }
            *counts.of(place) += end - start;
            (at, before) = (end, Some(place));
        }
        if at != self.units || counts != self.counts {
            return Err(format!(
                "counts {:?} over {at} of {}, recounted {counts:?}",
                self.counts, self.units
            ));
        }
        let pending = self.pieces.values().filter(|piece| piece.1 == Place::Pending).count();
        if pending != self.pending.len() {
            return Err(format!("{} starts of pending pieces for {pending} pieces", self.pending.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place() -> impl Strategy<Value = Place> {
        prop_oneof![
            Just(Place::Pending),
            Just(Place::Done),
            Just(Place::Suspect),
            (0u64..3).prop_map(|id| Place::Leased(LeaseId(id))),
            (0u64..3).prop_map(|id| Place::Flight(Token(id))),
        ]
    }

    proptest! {
        #[test]
        fn behaves_like_a_plain_array(moves in prop::collection::vec((0u64..50, 0u64..20, place()), 0..40)) {
            let mut partition = Partition::new(40);
            let mut model = vec![Place::Pending; 40];
            for (start, len, place) in moves {
                let range = start..start + len;
                for (part, was) in partition.set(&range, place) {
                    for unit in part {
                        let slot = usize::try_from(unit).unwrap();
                        prop_assert_eq!(model[slot], was);
                        model[slot] = place;
                    }
                }
                prop_assert_eq!(partition.check(), Ok(()));
                let all: Vec<_> = partition.pieces_in(&(0..99)).flat_map(|(range, place)| range.map(move |_| place)).collect();
                prop_assert_eq!(&all, &model);
                let first = model.iter().position(|&place| place == Place::Pending);
                prop_assert_eq!(partition.first_pending(3).map(|range| range.start), first.map(|at| at as u64));
            }
        }
    }
}
