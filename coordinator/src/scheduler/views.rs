//! What a picture of the farm is drawn from: where the units of a job are, and what workers have in hand.

use std::ops::Range;

use super::{JobId, Place, RangeSet, Scheduler, SessionId};

/// How many of some units are where. They add up to the units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// In the ledger.
    pub done: u64,
    /// In workers' hands, or on their way to the ledger.
    pub running: u64,
    /// Computed, but not by enough workers.
    pub claimed: u64,
    /// Failed before and wait for another worker.
    pub suspects: u64,
    /// Given up.
    pub quarantined: u64,
    /// Wait.
    pub pending: u64,
}

/// A job cut into equal stretches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Units in the plan.
    pub units: u64,
    /// Stretch `i` of `n` has the units from `units * i / n` to `units * (i + 1) / n`.
    pub stretches: Vec<Shares>,
}

/// A lease in a worker's hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The run.
    pub job: JobId,
    /// As granted, or as shortened since.
    pub range: Range<u64>,
    /// First unit that the worker has not reported computed.
    pub reached: u64,
    /// Its result is to be compared with another worker's.
    pub whole: bool,
}

impl Picture {
    /// Nothing in it yet; as many stretches as there are units, but not more than `most`.
    fn blank(units: u64, most: usize) -> Self {
        let len = usize::try_from(units).unwrap_or(usize::MAX).min(most.max(1));
        Self { units, stretches: vec![Shares::default(); len] }
    }

    /// A job of which only what is done and what was given up is known; the rest waits.
    pub fn of_rest(units: u64, done: &RangeSet, quarantined: &RangeSet, most: usize) -> Self {
        let mut picture = Self::blank(units, most);
        picture.paint(&(0..units), |shares| &mut shares.pending);
        for (set, place) in [(done, Place::Done), (quarantined, Place::Quarantined)] {
            for range in set.iter().filter(|range| range.end <= units) {
                picture.paint(&range, |shares| shares.at(place));
                picture.wipe(&range);
            }
        }
        picture
    }

    /// First unit of a stretch.
    fn start(&self, at: usize) -> u64 {
        let (at, len) = (at as u128, self.stretches.len().max(1) as u128);
        u64::try_from(u128::from(self.units) * at / len).unwrap_or(self.units)
    }

    /// The stretch that a unit is in.
    fn stretch(&self, unit: u64) -> usize {
        let (len, units) = (self.stretches.len() as u128, u128::from(self.units.max(1)));
        // The last stretch that does not begin behind it.
        let at = ((u128::from(unit) + 1) * len).div_ceil(units).saturating_sub(1);
        usize::try_from(at).unwrap_or(0).min(self.stretches.len().saturating_sub(1))
    }

    /// The parts of `range` by stretches.
    fn parts(&self, range: &Range<u64>) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (first, last) = (self.stretch(range.start), self.stretch(range.end.max(1) - 1));
        let range = range.clone();
        let bounds: Vec<_> = (first..=last).map(|at| (at, self.start(at)..self.start(at + 1))).collect();
        bounds.into_iter().map(move |(at, bounds)| {
            (at, range.end.min(bounds.end).saturating_sub(range.start.max(bounds.start)))
        })
    }

    fn paint(&mut self, range: &Range<u64>, share: impl Fn(&mut Shares) -> &mut u64) {
        if range.is_empty() {
            return;
        }
        for (at, units) in self.parts(range) {
            *share(&mut self.stretches[at]) += units;
        }
    }

    fn wipe(&mut self, range: &Range<u64>) {
        for (at, units) in self.parts(range) {
            let pending = &mut self.stretches[at].pending;
            *pending = pending.saturating_sub(units);
        }
    }
}

impl Shares {
    fn at(&mut self, place: Place) -> &mut u64 {
        match place {
            Place::Pending => &mut self.pending,
            Place::Suspect => &mut self.suspects,
            Place::Leased(_) | Place::Flight(_) => &mut self.running,
            Place::Claimed => &mut self.claimed,
            Place::Done => &mut self.done,
            Place::Quarantined => &mut self.quarantined,
        }
    }
}

impl Scheduler {
    /// Where the units of a job are, in at most `most` stretches. Costs a walk over the ranges that it is kept in.
    pub fn picture(&self, job: JobId, most: usize) -> Option<Picture> {
        let job = self.jobs.get(&job)?;
        let mut picture = Picture::blank(job.units(), most);
        for (range, place) in job.pieces_in(&(0..job.units())) {
            picture.paint(&range, |shares| shares.at(place));
        }
        Some(picture)
    }

    /// What a session computes: the oldest of its leases, at most one for each slot and `most` in all.
    pub fn held(&self, session: SessionId, most: usize) -> Vec<Held> {
        let Some(session) = self.sessions.get(&session) else { return Vec::new() };
        let slots = usize::try_from(session.slots).unwrap_or(usize::MAX);
        let leases = session.leases.iter().take(slots.min(most)).filter_map(|id| self.leases.get(id));
        leases
            .map(|lease| Held {
                job: lease.job,
                range: lease.range.clone(),
                reached: lease.reached,
                whole: lease.whole,
            })
            .collect()
    }

    /// All sessions, in the order of their connection.
    pub fn session_ids(&self) -> impl Iterator<Item = SessionId> + '_ {
        self.sessions.keys().copied()
    }

    /// Whether a worker is connected.
    pub fn is_connected(&self, worker: super::WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|worker| worker.session.is_some())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count(ranges: &[Range<u64>], bounds: &Range<u64>) -> u64 {
        bounds.clone().filter(|unit| ranges.iter().any(|range| range.contains(unit))).count() as u64
    }

    proptest! {
        #[test]
        fn every_unit_is_in_one_stretch(
            units in 1u64..200,
            most in 1usize..60,
            cuts in prop::collection::vec((0u64..200, 1u64..20), 0..12),
        ) {
            let mut done = RangeSet::new();
            for (start, len) in cuts {
                done.insert_merged(start.min(units)..(start + len).min(units));
            }
            let ranges: Vec<_> = done.iter().collect();
            let picture = Picture::of_rest(units, &done, &RangeSet::new(), most);
            prop_assert_eq!(picture.stretches.len() as u64, units.min(most as u64));
            for at in 0..picture.stretches.len() {
                let bounds = picture.start(at)..picture.start(at + 1);
                prop_assert!(bounds.clone().all(|unit| picture.stretch(unit) == at), "{:?}", bounds);
                let shares = picture.stretches[at];
                prop_assert_eq!(shares.done, count(&ranges, &bounds));
                prop_assert_eq!(shares.done + shares.pending, bounds.end - bounds.start);
            }
        }
    }

    #[test]
    fn the_largest_plan_has_a_picture() {
        let units = u64::MAX - 1;
        let done: RangeSet = std::iter::once(0..units).collect();
        let picture = Picture::of_rest(units, &done, &RangeSet::new(), 400);
        assert_eq!(
            picture.stretches.iter().map(|shares| u128::from(shares.done)).sum::<u128>(),
            units.into()
        );
        assert!(picture.stretches.iter().all(|shares| shares.pending == 0));
        assert!(Picture::of_rest(0, &RangeSet::new(), &RangeSet::new(), 400).stretches.is_empty());
    }
}
