//! One job as the scheduler sees it.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{
    JobSpec, LeaseId, Millis, Policy, RangeSet, Token, WorkerId,
    classes::NeedId,
    contests::Contests,
    partition::{Counts, Partition, Place},
    speed::{self, Meter},
};

/// Who failed on a unit.
#[derive(Clone, Debug, Default)]
struct Failures {
    /// Distinct workers, ascending.
    workers: Vec<WorkerId>,
    attempts: u32,
}

impl Failures {
    fn add(&mut self, worker: WorkerId) {
        if let Err(at) = self.workers.binary_search(&worker) {
            self.workers.insert(at, worker);
        }
        self.attempts = self.attempts.saturating_add(1);
    }

    fn are(&self, policy: &Policy) -> Enough {
        let least = policy.failures_before_quarantine.max(1);
        let workers = u32::try_from(self.workers.len()).unwrap_or(u32::MAX);
        match policy.sole_worker {
            true if self.attempts >= least => Enough::Yes,
            false if workers >= least.max(policy.failures_beyond_doubt) => Enough::Yes,
            false if workers >= least => Enough::IfBelieved,
            _ => Enough::No,
        }
    }
}

/// Whether failures are enough to give a unit up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enough {
    No,
    /// If it is not the workers that are broken.
    IfBelieved,
    Yes,
}

/// A job: where its units are, who failed on which, and its place in the queue of jobs.
#[derive(Debug)]
pub(super) struct Job {
    parts: Partition,
    /// Units with failures on record that are neither done nor given up.
    failures: BTreeMap<u64, Failures>,
    /// The suspect units, by the workers that failed on them: two, as a rule, or up to four of which none has shown that it
    /// can compute anything. So few groups are looked at to find a unit for a worker.
    waiting: BTreeMap<Vec<WorkerId>, BTreeSet<u64>>,
    /// Ranges of which several workers' results are compared.
    pub contests: Contests,
    /// Workers that have to agree on a result before it counts.
    pub replicas: u32,
    pub weight: u32,
    /// What its workers must have.
    pub need: NeedId,
    pub paused: bool,
    /// Since when there are units that failed on as many workers as it takes, and nobody who could try them.
    pub hopeless_since: Option<Millis>,
    /// [`super::Command::Finished`] was sent.
    pub finished: bool,
    /// Virtual time of stride scheduling: computing time granted, divided by the weight.
    pub pass: u128,
    /// Key under which the job stands in the queue of jobs with something to grant.
    pub queued: Option<u128>,
    /// Mean cost of a unit over all workers, for workers without measurements of their own.
    pub ns_per_unit: Option<u64>,
    pub meter: Meter,
}

impl Job {
    /// A job with its past. Also returns what the last coordinator died over: the units that failed often enough but were
    /// not given up yet, and the claimed ranges that hold them.
    pub(super) fn new(spec: &JobSpec, need: NeedId, policy: &Policy) -> (Self, Vec<u64>, Vec<Range<u64>>) {
        let mut job = Self {
            parts: Partition::new(spec.units),
            failures: BTreeMap::new(),
            waiting: BTreeMap::new(),
            contests: Contests::default(),
            replicas: spec.replicas.max(1),
            weight: spec.weight.max(1),
            need,
            paused: spec.paused,
            hopeless_since: None,
            finished: false,
            pass: 0,
            queued: None,
            ns_per_unit: None,
            meter: Meter::default(),
        };
        for range in spec.quarantined.iter() {
            job.parts.set(&range, Place::Quarantined);
        }
        // After the quarantined: a unit that was given up and came in later all the same is done.
        for range in spec.done.iter() {
            job.parts.set(&range, Place::Done);
        }
        job.recall(spec);
        for (unit, worker, _) in &spec.failures {
            let contested = job.contests.within(&(*unit..unit.saturating_add(1)));
            if let Some(&start) = contested.first().filter(|_| job.place(*unit) == Some(Place::Claimed)) {
                job.contests.change(start, |contest| {
                    if !contest.failed.contains(worker) {
                        contest.failed.push(*worker);
                    }
                });
            }
            if matches!(job.place(*unit), Some(Place::Pending | Place::Claimed)) {
                job.failures.entry(*unit).or_default().add(*worker);
            }
        }
        let hopeless: Vec<_> = job
            .failures
            .iter()
            .filter(|(_, failures)| failures.are(policy) == Enough::Yes)
            .map(|(&unit, _)| unit)
            .collect();
        let mut void = Vec::new();
        let spoilt = job.contests.iter().filter(|contest| contest.failed.len() > 1);
        for start in spoilt.map(|contest| contest.range.start).collect::<Vec<_>>() {
            void.extend(job.dissolve(start).map(|contest| contest.range));
        }
        for &unit in &hopeless {
            for start in job.contests.within(&(unit..unit + 1)) {
                void.extend(job.dissolve(start).map(|contest| contest.range));
            }
            job.quarantine(unit);
        }
        job.release(&(0..spec.units), Place::Pending);
        (job, hopeless, void)
    }

    pub(super) const fn units(&self) -> u64 {
        self.parts.units()
    }

    pub(super) const fn counts(&self) -> &Counts {
        self.parts.counts()
    }

    pub(super) fn pieces(&self) -> usize {
        self.parts.pieces()
    }

    pub(super) fn pieces_in(&self, range: &Range<u64>) -> impl Iterator<Item = (Range<u64>, Place)> + '_ {
        self.parts.pieces_in(range)
    }

    pub(super) fn leased_to(
        &self,
        lease: LeaseId,
        bounds: &Range<u64>,
    ) -> impl Iterator<Item = Range<u64>> + '_ {
        self.parts.leased_to(lease, bounds)
    }

    /// All units in a place.
    pub(super) fn all_in(&self, place: Place) -> RangeSet {
        self.parts
            .pieces_in(&(0..self.units()))
            .filter(|piece| piece.1 == place)
            .map(|piece| piece.0)
            .collect()
    }

    fn place(&self, unit: u64) -> Option<Place> {
        self.parts.pieces_in(&(unit..unit.saturating_add(1))).next().map(|piece| piece.1)
    }

    /// Whether every unit is done or given up.
    pub(super) const fn is_complete(&self) -> bool {
        let counts = self.parts.counts();
        counts.done + counts.quarantined == self.parts.units()
    }

    /// Whether there may be something to grant.
    pub(super) fn has_work(&self, policy: &Policy) -> bool {
        let counts = self.parts.counts();
        let fresh = counts.pending > 0 && self.takes_fresh(policy);
        !self.paused && (counts.suspects > 0 || self.contests.any_waits() || fresh)
    }

    /// Whether fresh units are granted: not while too many failed, or wait for a second worker.
    const fn takes_fresh(&self, policy: &Policy) -> bool {
        self.parts.counts().suspects < policy.max_suspect_units && self.contests.claims() < policy.max_claims
    }

    /// A suspect unit that `worker` has not failed on (any, if there is but one worker).
    pub(super) fn suspect_for(&self, worker: WorkerId, policy: &Policy) -> Option<u64> {
        let mut groups = self.waiting.iter();
        let (_, units) =
            groups.find(|(failed, _)| policy.sole_worker || failed.binary_search(&worker).is_err())?;
        units.first().copied()
    }

    /// The first fresh range of at most `max_units`.
    pub(super) fn fresh(&self, max_units: u64, policy: &Policy) -> Option<Range<u64>> {
        if self.takes_fresh(policy) { self.parts.first_pending(max_units) } else { None }
    }

    /// Moves a range to a place. Returns where its parts were.
    pub(super) fn set(&mut self, range: &Range<u64>, place: Place) -> Vec<(Range<u64>, Place)> {
        let displaced = self.parts.set(range, place);
        for (part, was) in &displaced {
            if *was == Place::Suspect {
                self.forget_waiting(part);
            }
        }
        displaced
    }

    /// Puts a range into flight that is already on its way to the disk.
    pub(super) fn adopt(&mut self, range: &Range<u64>, token: Token) {
        self.set(range, Place::Flight(token));
    }

    /// Takes what is in `from` within `range` back into the pool, where units that failed before wait apart.
    pub(super) fn release(&mut self, range: &Range<u64>, from: Place) -> u64 {
        let mine: Vec<_> =
            self.parts.pieces_in(range).filter(|piece| piece.1 == from).map(|piece| piece.0).collect();
        let mut units = 0;
        for part in mine {
            units += part.end - part.start;
            self.set(&part, Place::Pending);
            let failed: Vec<_> = self.failures.range(part).map(|(&unit, _)| unit).collect();
            for unit in failed {
                self.suspect(unit);
            }
        }
        units
    }

    /// Puts a unit with failures on record among the suspects.
    pub(super) fn suspect(&mut self, unit: u64) {
        let Some(failures) = self.failures.get(&unit) else { return };
        self.waiting.entry(failures.workers.clone()).or_default().insert(unit);
        self.parts.set(&(unit..unit + 1), Place::Suspect);
    }

    fn forget_waiting(&mut self, range: &Range<u64>) {
        for (&unit, failures) in self.failures.range(range.clone()) {
            if let Some(group) = self.waiting.get_mut(&failures.workers) {
                group.remove(&unit);
                if group.is_empty() {
                    self.waiting.remove(&failures.workers);
                }
            }
        }
    }

    /// Writes a failure down.
    pub(super) fn note_failure(&mut self, unit: u64, worker: WorkerId) {
        self.failures.entry(unit).or_default().add(worker);
    }

    /// Whether the failures of a unit are enough to give it up, and the workers that it failed on, ascending.
    pub(super) fn failures_of(&self, unit: u64, policy: &Policy) -> (Enough, &[WorkerId]) {
        self.failures
            .get(&unit)
            .map_or((Enough::No, &[]), |failures| (failures.are(policy), &failures.workers))
    }

    /// Suspect units that failed on at least so many workers, by these.
    pub(super) fn failed_on(&self, workers: usize) -> impl Iterator<Item = (&[WorkerId], &BTreeSet<u64>)> {
        self.waiting
            .iter()
            .filter(move |(failed, _)| failed.len() >= workers)
            .map(|(f, units)| (&f[..], units))
    }

    pub(super) fn quarantine(&mut self, unit: u64) {
        self.set(&(unit..unit + 1), Place::Quarantined);
        self.failures.remove(&unit);
    }

    /// The ledger has taken what of `range` is in `from`. Returns the units that are new in it.
    pub(super) fn done(&mut self, range: &Range<u64>, from: Place, now: Millis) -> u64 {
        let parts: Vec<_> =
            self.parts.pieces_in(range).filter(|piece| piece.1 == from).map(|piece| piece.0).collect();
        let mut units = 0;
        for part in parts {
            units += part.end - part.start;
            self.parts.set(&part, Place::Done);
            while let Some((&unit, _)) = self.failures.range(part.clone()).next() {
                self.failures.remove(&unit);
            }
        }
        self.meter.add(now, units);
        units
    }

    /// The ledger has lost a committed range: its units return to the pool.
    pub(super) fn withdrawn(&mut self, range: &Range<u64>) {
        self.release(range, Place::Done);
        self.finished &= self.is_complete();
    }

    /// Forgets failures, and takes what was given up or waited for another worker back into the pool.
    pub(super) fn retry(&mut self) {
        self.failures.clear();
        self.waiting.clear();
        for start in self.contests.within(&(0..self.units())) {
            self.contests.change(start, |contest| contest.failed.clear());
        }
        for place in [Place::Suspect, Place::Quarantined] {
            for range in self.all_in(place).iter() {
                self.parts.set(&range, Place::Pending);
            }
        }
        self.finished = false;
    }

    /// Takes a measurement into the mean. Slow to change: it speaks for workers that have not been seen yet.
    pub(super) fn measure(&mut self, ns_per_unit: u64) {
        self.ns_per_unit =
            Some(self.ns_per_unit.map_or(ns_per_unit, |mean| speed::average(mean, ns_per_unit, 7)));
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.parts.check()?;
        self.check_contests()?;
        let waiting: usize = self.waiting.values().map(BTreeSet::len).sum();
        if usize::try_from(self.counts().suspects) != Ok(waiting) {
            return Err(format!("{} suspects, {waiting} in the index", self.counts().suspects));
        }
        for (workers, units) in &self.waiting {
            for unit in units {
                if self.place(*unit) != Some(Place::Suspect)
                    || self.failures.get(unit).is_none_or(|failures| failures.workers != *workers)
                {
                    return Err(format!("unit {unit} should be a suspect of {workers:?}"));
                }
            }
        }
        for unit in self.failures.keys() {
            if matches!(self.place(*unit), None | Some(Place::Pending | Place::Done | Place::Quarantined)) {
                return Err(format!("unit {unit} has failures and is {:?}", self.place(*unit)));
            }
        }
        Ok(())
    }
}
