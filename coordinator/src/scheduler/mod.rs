//! Who computes what: leases, commits, failures, fairness between jobs.
//!
//! [`Scheduler`] is a pure state machine: [`Scheduler::step`] takes the time and one [`Event`] and returns the
//! [`Command`]s that follow. It has no clock, network, disk, randomness or hash order, so a run is repeated by repeating
//! its events; `tests/simulation.rs` lives off that.
//!
//! Architecture invariants:
//! - A unit of a job is in exactly one place: one map holds them all (`partition.rs`).
//! - [`Verdict::Accepted`] follows [`Event::Persisted`], never the other way round.
//! - Nothing of a job with replicas counts before so many distinct workers agree on it (`contests.rs`).
//! - Two commits in flight never overlap each other or what is done; so the ledger cannot count twice.
//! - No event makes `step` panic. What makes no sense is ignored, or answered [`Verdict::Unknown`].
//! - Sizes and shares are whole numbers. There are no floats here.
//!
//! An event costs `O(log n)` of sessions, leases and pieces, plus what it grants or returns. The one scan over all
//! leases, for work to take from busy workers, runs at most every [`Policy::steal_interval_ms`], and only when a slot
//! is idle.

mod abilities;
mod check;
mod claims;
mod classes;
mod commits;
mod contests;
mod failures;
mod grants;
mod job;
mod liars;
mod partition;
mod policy;
mod range_set;
mod release;
mod requirement;
mod session;
mod sessions;
mod speed;
mod status;
mod steal;
mod totals;
mod types;
mod verify;
mod votes;
mod wanted;

use std::collections::{BTreeMap, BTreeSet};

pub use self::{
    abilities::{Abilities, Need},
    policy::Policy,
    range_set::RangeSet,
    requirement::{MAX_REQUIREMENTS, Requirement, parse_requirements},
    status::{JobStatus, SessionStatus},
    totals::Totals,
    types::{
        Checked, CloseReason, Command, Committed, Comparison, Digest, Event, JobId, JobSpec, LeaseId, Millis,
        SessionId, Token, Verdict, Vote, WorkerId, hex,
    },
};
use self::{
    classes::Classes,
    commits::{Offer, Purpose},
    job::Job,
    partition::Place,
    release::Release,
    session::{Lease, Session, Worker},
};

/// The state machine. See the module's introduction.
#[derive(Debug)]
pub struct Scheduler {
    policy: Policy,
    now: Millis,
    jobs: BTreeMap<JobId, Job>,
    sessions: BTreeMap<SessionId, Session>,
    workers: BTreeMap<WorkerId, Worker>,
    leases: BTreeMap<LeaseId, Lease>,
    /// Commits that wait for an answer.
    offers: BTreeMap<Token, Offer>,
    /// Workers whose results are not believed.
    quarantined: BTreeSet<WorkerId>,

    /// Who may compute what: sessions that should get leases, and jobs that have something to grant.
    classes: Classes,
    /// Pools that are to become smaller.
    releases: BTreeMap<String, Release>,
    /// Sessions that have asked for leases in this step, if there are such pools.
    asking: Vec<SessionId>,
    /// One entry a session, not later than the moment it counts as silent. Entries are not moved when a session is
    /// heard, but looked at again when they are due: a heartbeat costs no more than a lookup.
    expiry: BTreeSet<(Millis, SessionId)>,
    /// When sessions that rest are hungry again.
    resting: BTreeSet<(Millis, SessionId)>,
    /// Workers without a session, the longest absent first.
    absent: BTreeSet<(Millis, WorkerId)>,

    /// Pass of the job that was granted last: where jobs enter the queue.
    virtual_time: u128,
    last_lease: u64,
    next_steal: Millis,
    next_look_for_hopeless: Millis,
}

impl Scheduler {
    /// A scheduler that knows no job and no worker.
    pub const fn new(policy: Policy) -> Self {
        Self {
            policy,
            now: 0,
            jobs: BTreeMap::new(),
            sessions: BTreeMap::new(),
            workers: BTreeMap::new(),
            leases: BTreeMap::new(),
            offers: BTreeMap::new(),
            quarantined: BTreeSet::new(),
            classes: Classes::new(),
            releases: BTreeMap::new(),
            asking: Vec::new(),
            expiry: BTreeSet::new(),
            resting: BTreeSet::new(),
            absent: BTreeSet::new(),
            virtual_time: 0,
            last_lease: 0,
            next_steal: 0,
            next_look_for_hopeless: 0,
        }
    }

    /// What follows from `event` at `now`. A `now` before that of the last step is taken for that.
    pub fn step(&mut self, now: Millis, event: Event) -> Vec<Command> {
        self.now = self.now.max(now);
        let mut out = Vec::new();
        self.wake_rested();
        // Before the silent ones are looked for: an event of a session is a sign of life even at the last moment.
        self.apply(event, &mut out);
        self.expire(&mut out);
        for session in std::mem::take(&mut self.asking) {
            self.let_go_if_surplus(session, &mut out);
        }
        self.grant_all(&mut out);
        // Who has just got something to do did not have to leave.
        self.asking.clear();
        self.steal(&mut out);
        #[cfg(debug_assertions)]
        self.check_if_small();
        out
    }

    /// Looks at everything after each step, as long as that is cheap.
    #[cfg(debug_assertions)]
    fn check_if_small(&self) {
        let pieces: usize = self.jobs.values().map(Job::pieces).sum();
        if pieces + self.leases.len() + self.sessions.len() + self.offers.len() < 64 {
            assert_eq!(self.check(), Ok(()));
        }
    }

    fn apply(&mut self, event: Event, out: &mut Vec<Command>) {
        match event {
            Event::JobAdded { job, spec } => self.job_added(job, &spec, out),
            Event::JobPaused(job) => self.job_paused(job, out),
            Event::JobResumed(job) => self.with_job(job, out, |job| job.paused = false),
            Event::JobRemoved(job) => self.job_removed(job, out),
            Event::JobRetried(job) => self.with_job(job, out, Job::retry),
            Event::JobNeeds(job, need) => self.job_needs(job, need, out),
            Event::SessionOpened { session, worker, slots, prefetch, abilities } => {
                self.session_opened(session, worker, (slots, prefetch), abilities, out);
            }
            Event::SessionClosed(session) => self.close_session(session),
            Event::Heard(session) => self.heard(session),
            Event::Progress { session, lease, reached } => self.progress(session, lease, reached),
            Event::Commit { session, worker, token, job, range, digest, busy_us } => {
                self.heard(session);
                self.offered(token, Offer::new(session, worker, job, range, digest), busy_us, out);
            }
            Event::Persisted(token) => self.persisted(token, out),
            Event::NotWritten(token) => self.not_written(token, out),
            Event::Compared(token, comparison) => self.compared(token, comparison, out),
            Event::Failed { session, lease, unit, error } => self.failed(session, lease, unit, error, out),
            Event::Returned { session, lease } => self.returned(session, lease, out),
            Event::Shrunk { session, lease, end } => self.shrunk(session, lease, end),
            Event::Draining(session) => self.draining(session),
            Event::Release { pool, keep } => self.release(pool, keep, out),
            Event::Verify { job, ranges } => self.verify(job, ranges, out),
            Event::VerifyStopped(job) => self.verify_stopped(job, out),
            Event::Withdrawn { job, ranges } => self.withdrawn(job, &ranges, out),
            Event::WorkerQuarantined(worker) => self.expel(worker, out),
            Event::WorkerReadmitted(worker) => drop(self.quarantined.remove(&worker)),
            Event::Tick => self.look_for_hopeless(out),
        }
    }

    fn job_added(&mut self, id: JobId, spec: &JobSpec, out: &mut Vec<Command>) {
        if self.jobs.contains_key(&id) {
            return;
        }
        let need = self.classes.add_job(spec.need.clone());
        let (mut job, hopeless, void) = Job::new(&self.believed(spec), need, &self.policy);
        out.extend(void.into_iter().map(|range| Command::Withdraw { job: id, range }));
        out.extend(hopeless.into_iter().map(|unit| Command::Quarantine { job: id, unit }));
        // Commits may be on their way to the disk from before the job was removed. What of them is not in the spec will
        // be in the ledger when `Persisted` comes, and must not be computed or written again.
        for (&token, offer) in self.offers.iter().filter(|(_, offer)| offer.job == id && offer.is_in_flight())
        {
            if offer.purpose != Purpose::Commit {
                // A liar's claim is struck off by the time it is on the disk; what others confirm counts.
                if offer.purpose == Purpose::Confirm || !self.quarantined.contains(&offer.worker) {
                    job.adopt_vote(offer, token);
                }
                continue;
            }
            let fresh: Vec<_> = job.pieces_in(&offer.range).filter(|piece| piece.1 != Place::Done).collect();
            for (part, _) in fresh {
                job.adopt(&part, token);
            }
        }
        job.pass = self.virtual_time;
        self.jobs.insert(id, job);
        self.decide_recalled(id, out);
        self.job_changed(id, out);
    }

    /// What is known of a job without what liars say of it: the ledger may have been asked before they were found out.
    fn believed(&self, spec: &JobSpec) -> JobSpec {
        let mut spec = spec.clone();
        spec.claims.retain(|vote| !self.quarantined.contains(&vote.worker));
        for committed in &mut spec.disputed {
            committed.by.retain(|worker| !self.quarantined.contains(worker));
        }
        spec.disputed.retain(|committed| !committed.by.is_empty());
        spec
    }

    fn with_job(&mut self, id: JobId, out: &mut Vec<Command>, change: impl FnOnce(&mut Job)) {
        if let Some(job) = self.jobs.get_mut(&id) {
            change(job);
            self.job_changed(id, out);
        }
    }

    fn job_paused(&mut self, id: JobId, out: &mut Vec<Command>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.paused = true;
        for lease in self.leases_of(id) {
            self.revoke(lease, out);
        }
        self.queue_job(id);
    }

    fn job_needs(&mut self, id: JobId, need: Need, out: &mut Vec<Command>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let old = job.need;
        self.classes.queue_job(old, id, job.queued.take(), None);
        let need = self.classes.add_job(need);
        self.classes.remove_job(old);
        job.need = need;
        for lease in self.leases_of(id) {
            let held_by = self.leases.get(&lease).map(|lease| lease.session);
            let is_draining = |session| self.sessions.get(&session).is_some_and(|session| session.draining);
            if held_by.is_some_and(|session| !self.classes.fits(session, need) && !is_draining(session)) {
                self.revoke(lease, out);
            }
        }
        self.queue_job(id);
    }

    /// Asks for a lease back.
    fn revoke(&mut self, id: LeaseId, out: &mut Vec<Command>) {
        let Some(lease) = self.leases.get_mut(&id) else { return };
        if !std::mem::replace(&mut lease.revoked, true) {
            out.push(Command::Revoke { session: lease.session, lease: id });
        }
    }

    fn job_removed(&mut self, id: JobId, out: &mut Vec<Command>) {
        for lease in self.leases_of(id) {
            self.abandon(lease, out);
        }
        let Some(job) = self.jobs.remove(&id) else { return };
        self.classes.queue_job(job.need, id, job.queued, None);
        self.classes.remove_job(job.need);
        for worker in self.workers.values_mut() {
            worker.speeds.remove(&id);
        }
        self.refuse_parked(id, out);
    }

    /// Leases of a job, ascending.
    fn leases_of(&self, id: JobId) -> BTreeSet<LeaseId> {
        let Some(job) = self.jobs.get(&id) else { return BTreeSet::new() };
        let leased = job.pieces_in(&(0..job.units())).filter_map(|(_, place)| match place {
            Place::Leased(lease) => Some(lease),
            _ => None,
        });
        leased.chain(job.contest_leases()).collect()
    }

    /// To be called when units of a job have moved: tells of the end, and keeps the job's place in the queue.
    fn job_changed(&mut self, id: JobId, out: &mut Vec<Command>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.is_complete() && !job.finished {
            job.finished = true;
            out.push(Command::Finished(id));
        }
        self.queue_job(id);
    }

    fn queue_job(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let has_work = job.has_work(&self.policy);
        if has_work && job.queued.is_none() {
            // What was not taken while there was nothing to give is not owed.
            job.pass = job.pass.max(self.virtual_time);
        }
        let wanted = has_work.then_some(job.pass);
        if job.queued != wanted {
            self.classes.queue_job(job.need, id, job.queued, wanted);
            job.queued = wanted;
        }
    }
}
