//! What status pages show.

use super::{
    Job, JobId, LeaseId, Millis, RangeSet, Scheduler, Session, SessionId, WorkerId, classes::NeedId,
    partition::Place,
};

/// Where a job stands. The seven counts add up to `units`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobStatus {
    /// The run.
    pub job: JobId,
    /// Units in the plan.
    pub units: u64,
    /// Units in the ledger.
    pub done: u64,
    /// Units in commits on their way to the ledger.
    pub in_flight: u64,
    /// Units that wait for others to agree on their result, whether somebody is at it or not.
    pub claimed: u64,
    /// Ranges of which two results differ.
    pub disputes: usize,
    /// What waits for another worker has to wait for one that is not connected.
    pub short_of_workers: bool,
    /// Workers that have to agree on a result.
    pub replicas: u32,
    /// Connected workers that take leases and have what the job needs.
    pub fitting: usize,
    /// Computing slots that could be put to use now.
    pub wanted_slots: u64,
    /// Units in workers' hands.
    pub leased: u64,
    /// Units that wait.
    pub pending: u64,
    /// Units that failed and wait for another worker.
    pub suspects: u64,
    /// Units given up.
    pub quarantined: u64,
    /// Share of the workers.
    pub weight: u32,
    /// Grants wait for [`super::Event::JobResumed`].
    pub paused: bool,
    /// Every unit is done or given up, and the engine was told.
    pub finished: bool,
    /// Units committed in a thousand seconds, by the last minute; 0: none.
    pub units_per_1000s: u64,
    /// Time to the end at this rate.
    pub eta_ms: Option<Millis>,
    /// Mean computing time of a unit over all workers.
    pub ns_per_unit: Option<u64>,
    /// Ranges that the job is kept in: its cost in memory.
    pub pieces: usize,
}

/// Where a connection stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionStatus {
    /// The connection.
    pub session: SessionId,
    /// Who it is.
    pub worker: WorkerId,
    /// Leases that it computes at a time.
    pub slots: u32,
    /// Further leases that it wants in stock.
    pub prefetch: u32,
    /// Leases that it holds.
    pub leases: u32,
    /// It takes no more.
    pub draining: bool,
    /// When it was heard last.
    pub heard_ms: Millis,
    /// Until it gets work again; 0: it does not rest.
    pub resting_ms: Millis,
    /// Units that failed on the worker, as long as it is known.
    pub failures: u64,
    /// Units committed by this session.
    pub units_done: u64,
}

impl Scheduler {
    /// Where a job stands.
    pub fn job(&self, job: JobId) -> Option<JobStatus> {
        self.jobs.get(&job).map(|state| self.job_status(job, state))
    }

    /// Where all jobs stand, by id.
    pub fn jobs(&self) -> impl Iterator<Item = JobStatus> + '_ {
        self.jobs.iter().map(|(&id, job)| self.job_status(id, job))
    }

    /// Where a connection stands.
    pub fn session(&self, session: SessionId) -> Option<SessionStatus> {
        self.sessions.get(&session).map(|state| self.session_status(session, state))
    }

    /// Where all connections stand, by id.
    pub fn sessions(&self) -> impl Iterator<Item = SessionStatus> + '_ {
        self.sessions.iter().map(|(&id, session)| self.session_status(id, session))
    }

    /// The units of a job that were given up.
    pub fn quarantined(&self, job: JobId) -> Option<RangeSet> {
        self.jobs.get(&job).map(|job| job.all_in(Place::Quarantined))
    }

    /// The units of a job that failed and wait for another worker.
    pub fn suspects(&self, job: JobId) -> Option<RangeSet> {
        self.jobs.get(&job).map(|job| job.all_in(Place::Suspect))
    }

    /// The units of a job that are in the ledger.
    pub fn done(&self, job: JobId) -> Option<RangeSet> {
        self.jobs.get(&job).map(|job| job.all_in(Place::Done))
    }

    /// The job of a lease and the session that holds it; `None` when the lease is over.
    pub fn lease(&self, lease: LeaseId) -> Option<(JobId, SessionId)> {
        self.leases.get(&lease).map(|lease| (lease.job, lease.session))
    }

    /// The numbers that the scheduler goes by.
    pub const fn policy(&self) -> &super::Policy {
        &self.policy
    }

    fn job_status(&self, id: JobId, job: &Job) -> JobStatus {
        let counts = job.counts();
        let rate = job.meter.units_per_1000s(self.now);
        let left = job.units() - counts.done - counts.quarantined;
        let eta = u128::from(left) * 1_000_000 / u128::from(rate.max(1));
        JobStatus {
            job: id,
            units: job.units(),
            done: counts.done,
            in_flight: counts.flight,
            claimed: counts.claimed,
            disputes: job.contests.iter().filter(|contest| contest.is_disputed()).count(),
            short_of_workers: job
                .contests
                .first_spent()
                .is_some_and(|spent| self.nobody_but(spent, job.need)),
            replicas: job.replicas,
            fitting: self.classes.count_for(job.need),
            wanted_slots: self.wanted_slots_of(job),
            leased: counts.leased,
            pending: counts.pending,
            suspects: counts.suspects,
            quarantined: counts.quarantined,
            weight: job.weight,
            paused: job.paused,
            finished: job.finished,
            units_per_1000s: rate,
            eta_ms: if rate > 0 { u64::try_from(eta).ok() } else { None },
            ns_per_unit: job.ns_per_unit,
            pieces: job.pieces(),
        }
    }

    /// Whether no other workers than these (ascending) take leases and have what is needed.
    pub(super) fn nobody_but(&self, spent: &[WorkerId], need: NeedId) -> bool {
        let is_spent =
            |id| self.sessions.get(&id).is_none_or(|session| spent.binary_search(&session.worker).is_ok());
        self.classes.sessions_for(need).all(is_spent)
    }

    fn session_status(&self, id: SessionId, session: &Session) -> SessionStatus {
        SessionStatus {
            session: id,
            worker: session.worker,
            slots: session.slots,
            prefetch: session.prefetch,
            leases: session.held(),
            draining: session.draining,
            heard_ms: session.heard,
            resting_ms: session.trouble.rests_until.saturating_sub(self.now),
            failures: session.trouble.failures,
            units_done: session.units_done,
        }
    }
}
