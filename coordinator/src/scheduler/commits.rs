//! Commits: every offered result gets one verdict, and no unit is counted twice.
//!
//! ```text
//! offered --- fresh -----------------> in flight --Persisted--> Accepted
//!    |------- overlaps what is done -> comparing --Compared---> Duplicate | Conflict | Overlap
//!    '------- overlaps one in flight > parked until that one is persisted, then judged again
//! ```
//! Where several workers have to agree, an offer is a vote instead: see `votes.rs`.
//!
//! The scheduler knows which units are done, not by which commits. Only the ledger can tell a repeated commit from one
//! that cuts across others, so it is asked.

use std::ops::Range;

use super::{
    Command, Committed, Comparison, Digest, JobId, LeaseId, Place, Scheduler, SessionId, Token, Verdict,
    WorkerId, contests::Meeting, speed::Speed,
};

/// A commit that waits for its verdict.
#[derive(Debug)]
pub(super) struct Offer {
    pub session: SessionId,
    pub worker: WorkerId,
    pub job: JobId,
    pub range: Range<u64>,
    pub digest: Digest,
    pub stage: Stage,
    /// What it is written down as.
    pub purpose: Purpose,
    /// What counts already of the range, if it is about that.
    pub over: Option<Committed>,
    /// Offers that are judged after this one is persisted.
    pub(super) parked_here: Vec<Token>,
}

/// What an offer is written down as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It counts.
    Commit,
    /// It does not count, and waits for others.
    Claim,
    /// It counts, as others agree with it.
    Confirm,
}

/// How far an offer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Parked,
    Comparing,
    InFlight,
}

impl Offer {
    pub(super) const fn new(
        session: SessionId,
        worker: WorkerId,
        job: JobId,
        range: Range<u64>,
        digest: Digest,
    ) -> Self {
        let (stage, purpose) = (Stage::Parked, Purpose::Commit);
        Self { session, worker, job, range, digest, stage, purpose, over: None, parked_here: Vec::new() }
    }

    pub(super) fn is_in_flight(&self) -> bool {
        self.stage == Stage::InFlight
    }
}

impl Scheduler {
    pub(super) fn offered(&mut self, token: Token, offer: Offer, busy_us: u64, out: &mut Vec<Command>) {
        if self.offers.contains_key(&token) {
            return;
        }
        let Some(job) = self.jobs.get(&offer.job) else {
            out.push(Command::Answer(token, Verdict::Unknown));
            return;
        };
        if offer.range.is_empty() || offer.range.end > job.units() {
            self.take_back(&offer);
            out.push(Command::Answer(token, Verdict::Unknown));
            return;
        }
        self.judge(token, offer, busy_us, out);
    }

    /// Decides what becomes of an offer whose job exists and whose range lies inside of it. `busy_us` is 0 when a
    /// parked offer comes here again: it is not measured.
    fn judge(&mut self, token: Token, mut offer: Offer, busy_us: u64, out: &mut Vec<Command>) {
        if self.quarantined.contains(&offer.worker) {
            out.push(Command::Answer(token, Verdict::Refused));
            return;
        }
        let Some(job) = self.jobs.get(&offer.job) else { return };
        match job.contests.meeting(&offer.range) {
            Meeting::Nowhere => {}
            Meeting::Exactly => return self.vote(token, offer, busy_us, out),
            Meeting::Across => return self.not_taken(token, &offer, Verdict::Overlap, out),
        }
        let obstacle = job.pieces_in(&offer.range).find_map(|(_, place)| match place {
            Place::Done => Some(None),
            Place::Flight(before) => Some(Some(before)),
            _ => None,
        });
        match obstacle {
            // Twice as many as leases make: whoever sends them was not asked to.
            None if job.replicas > 1 && job.contests.claims() / 2 >= self.policy.max_claims => {
                return self.not_taken(token, &offer, Verdict::Overlap, out);
            }
            None if job.replicas > 1 => return self.first_vote(token, offer, busy_us, out),
            None => {
                offer.stage = Stage::InFlight;
                self.take_in(token, &offer, busy_us, out);
                out.push(Command::Persist(token));
            }
            Some(None) => {
                offer.stage = Stage::Comparing;
                out.push(Command::Compare(token));
            }
            Some(Some(before)) => {
                return self.park(token, offer, before);
            }
        }
        self.offers.insert(token, offer);
    }

    /// Has an offer judged when another one is on the disk.
    pub(super) fn park(&mut self, token: Token, offer: Offer, before: Token) {
        if let Some(before) = self.offers.get_mut(&before) {
            before.parked_here.push(token);
        }
        self.offers.insert(token, offer);
    }

    /// Answers an offer that is not taken.
    pub(super) fn not_taken(
        &mut self,
        token: Token,
        offer: &Offer,
        verdict: Verdict,
        out: &mut Vec<Command>,
    ) {
        self.take_back(offer);
        out.push(Command::Answer(token, verdict));
    }

    /// Moves a fresh range into flight, or into a contest, out of the pool and out of whatever leases it was in.
    pub(super) fn take_in(&mut self, token: Token, offer: &Offer, busy_us: u64, out: &mut Vec<Command>) {
        let Some(job) = self.jobs.get_mut(&offer.job) else { return };
        let displaced = match offer.purpose {
            Purpose::Commit => job.set(&offer.range, Place::Flight(token)),
            Purpose::Claim | Purpose::Confirm => job.claim(&offer.range, token),
        };
        for (part, place) in displaced {
            let Place::Leased(lease_id) = place else { continue };
            let Some(lease) = self.leases.get_mut(&lease_id) else { continue };
            let units = part.end - part.start;
            // The wire does not say which lease a result is of. A range inside a lease of the same session is taken for
            // a part of it, any other for one from an earlier session.
            let own = lease.session == offer.session
                && lease.range.start <= offer.range.start
                && offer.range.end <= lease.range.end;
            if own {
                if part == offer.range {
                    self.measure(lease_id, units, busy_us);
                }
                self.shorten(lease_id, units);
            } else {
                lease.open = lease.open.saturating_sub(units);
                // The other worker's result would cut across this one, so what it has computed is lost either way.
                self.abandon(lease_id, out);
            }
        }
        self.queue_job(offer.job);
    }

    /// Learns the cost of units from a commit of a lease's own, and charges its job what it really took.
    pub(super) fn measure(&mut self, lease_id: LeaseId, units: u64, busy_us: u64) {
        let Some(lease) = self.leases.get_mut(&lease_id) else { return };
        let Some(job) = self.jobs.get_mut(&lease.job) else { return };
        let Some(session) = self.sessions.get_mut(&lease.session) else { return };
        lease.started = true;
        let works_again = std::mem::take(&mut session.trouble.strikes) > 0;
        let session_id = lease.session;
        // No lease can have been computed for longer than it exists; a second for the clocks.
        let longest_us = (self.now - lease.granted).saturating_add(1_000).saturating_mul(1_000);
        let spent_ns = busy_us.min(longest_us).saturating_mul(1_000);
        let ns_per_unit = (spent_ns / units.max(1)).max(1);
        job.measure(ns_per_unit);
        job.recharge(u128::from(lease.charged_ns) * u128::from(units), u128::from(spent_ns));
        if let Some(worker) = self.workers.get_mut(&session.worker) {
            let before = worker.speeds.get(&lease.job).copied();
            let speed = Speed::measured(before, units, spent_ns, self.policy.growth_factor);
            worker.speeds.insert(lease.job, speed);
        }
        if works_again {
            self.queue_session(session_id);
        }
    }

    pub(super) fn persisted(&mut self, token: Token, out: &mut Vec<Command>) {
        let Some(offer) = self.offers.get(&token) else { return };
        if !offer.is_in_flight() {
            return;
        }
        let Some(offer) = self.offers.remove(&token) else { return };
        // True whatever became of the job meanwhile: the result is on the disk.
        out.push(Command::Answer(token, Verdict::Accepted));
        if let Some(job) = self.jobs.get_mut(&offer.job) {
            let units = match offer.purpose {
                Purpose::Commit => job.done(&offer.range, Place::Flight(token), self.now),
                Purpose::Claim | Purpose::Confirm => offer.range.end - offer.range.start,
            };
            if let Some(session) = self.sessions.get_mut(&offer.session) {
                session.units_done = session.units_done.saturating_add(units);
            }
            if offer.purpose != Purpose::Commit {
                self.vote_persisted(token, &offer, out);
            }
            self.job_changed(offer.job, out);
        }
        self.judge_parked(offer.parked_here, out);
    }

    /// What the ledger has refused does not count. Of a vote it means that the ledger knows the range in other pieces by
    /// now; of a commit, that the job was replaced meanwhile.
    pub(super) fn not_written(&mut self, token: Token, out: &mut Vec<Command>) {
        if self.offers.get(&token).is_none_or(|offer| !offer.is_in_flight()) {
            return;
        }
        let Some(offer) = self.offers.remove(&token) else { return };
        if offer.purpose == Purpose::Commit || !self.jobs.contains_key(&offer.job) {
            out.push(Command::Answer(token, Verdict::Unknown));
        } else {
            out.push(Command::Answer(token, Verdict::Overlap));
            self.vote_lost(token, &offer, out);
        }
        self.judge_parked(offer.parked_here, out);
    }

    fn judge_parked(&mut self, parked: Vec<Token>, out: &mut Vec<Command>) {
        for token in parked {
            if let Some(offer) = self.offers.remove(&token) {
                self.judge(token, offer, 0, out);
            }
        }
    }

    pub(super) fn compared(&mut self, token: Token, comparison: Comparison, out: &mut Vec<Command>) {
        if self.offers.get(&token).is_none_or(|offer| offer.stage != Stage::Comparing) {
            return;
        }
        let Some(offer) = self.offers.remove(&token) else { return };
        let agreed_on = self.jobs.get(&offer.job).is_some_and(|job| job.replicas > 1);
        let verdict = match comparison {
            _ if self.quarantined.contains(&offer.worker) => Verdict::Refused,
            Comparison::Same => Verdict::Duplicate,
            Comparison::Different(against) if agreed_on => return self.outvoted(token, offer, against, out),
            Comparison::Different(_) => Verdict::Conflict,
            Comparison::Overlap => Verdict::Overlap,
        };
        self.not_taken(token, &offer, verdict, out);
    }

    /// A result was not taken. The worker considers the range delivered and drops it; so what of it is still leased to
    /// the worker must go to the pool.
    pub(super) fn take_back(&mut self, offer: &Offer) {
        let Some(job) = self.jobs.get_mut(&offer.job) else { return };
        let held: Vec<_> = job.pieces_in(&offer.range).collect();
        for (part, place) in held {
            let Place::Leased(lease) = place else { continue };
            if self.leases.get(&lease).is_some_and(|lease| lease.session == offer.session)
                && let Some(job) = self.jobs.get_mut(&offer.job)
            {
                let freed = job.release(&part, place);
                self.shorten(lease, freed);
            }
        }
        self.queue_job(offer.job);
    }

    /// Answers the offers of a removed job that no event will answer.
    pub(super) fn refuse_parked(&mut self, job: JobId, out: &mut Vec<Command>) {
        let parked: Vec<_> = self
            .offers
            .iter()
            .filter(|(_, offer)| offer.job == job && offer.stage == Stage::Parked)
            .map(|(&token, _)| token)
            .collect();
        for token in parked {
            self.offers.remove(&token);
            out.push(Command::Answer(token, Verdict::Unknown));
        }
    }
}
