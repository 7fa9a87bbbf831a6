//! Units that fail: which of them are given up, and that broken machines cannot make the farm give up good ones.
//!
//! A unit is given up when it has failed on two distinct workers. Is it the unit, or are it the workers? A machine without
//! a library, an input or memory fails on everything. So the failures count at once if one of the workers has computed
//! something else of the job, or if there is nobody else to ask; otherwise others are asked, up to five in all.

use super::{Command, JobId, LeaseId, Millis, Place, Scheduler, SessionId, job::Enough};

/// Time between two looks for units that nobody is left to try.
const LOOK_EVERY_MS: Millis = 1_000;

impl Scheduler {
    /// A unit failed on a worker, which is neither the loss of the worker nor a preemption. It leaves the lease; the
    /// rest of the lease stays with the worker.
    pub(super) fn failed(
        &mut self,
        session_id: SessionId,
        lease_id: LeaseId,
        unit: u64,
        error: String,
        out: &mut Vec<Command>,
    ) {
        self.heard(session_id);
        let Some(session) = self.sessions.get(&session_id) else { return };
        let Some(lease) = self.leases.get_mut(&lease_id).filter(|lease| lease.session == session_id) else {
            return;
        };
        if lease.whole {
            return self.failed_again((session_id, lease_id), unit, error, out);
        }
        let Some(job) = self.jobs.get_mut(&lease.job) else { return };
        let at = unit..unit.saturating_add(1);
        if !job.pieces_in(&at).any(|(_, place)| place == Place::Leased(lease_id)) {
            return;
        }
        lease.started = true;
        let (worker, job_id) = (session.worker, lease.job);
        out.push(Command::RecordFailure { job: job_id, unit, worker, error });
        job.note_failure(unit, worker);
        self.count_failure(session_id);
        let hopeless = self.is_hopeless(job_id, unit);
        if let Some(job) = self.jobs.get_mut(&job_id) {
            if hopeless {
                job.quarantine(unit);
                out.push(Command::Quarantine { job: job_id, unit });
            } else {
                job.suspect(unit);
            }
        }
        self.shorten(lease_id, 1);
        self.job_changed(job_id, out);
        self.strike(session_id, out);
    }

    pub(super) fn count_failure(&mut self, session: SessionId) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.trouble.failures = session.trouble.failures.saturating_add(1);
        }
    }

    /// Whether a unit that has just failed is to be given up.
    pub(super) fn is_hopeless(&self, id: JobId, unit: u64) -> bool {
        let Some(job) = self.jobs.get(&id) else { return false };
        let (enough, failed_on) = job.failures_of(unit, &self.policy);
        let can_compute =
            |worker| self.workers.get(worker).is_some_and(|worker| worker.speeds.contains_key(&id));
        match enough {
            Enough::No => false,
            Enough::Yes => true,
            Enough::IfBelieved => failed_on.iter().any(can_compute) || self.nobody_but(failed_on, job.need),
        }
    }

    /// Gives up what failed on as many workers as it takes where nobody else has come for some time, who could try it.
    /// As long as nobody at all is connected, somebody may be on the way.
    pub(super) fn look_for_hopeless(&mut self, out: &mut Vec<Command>) {
        if self.now < self.next_look_for_hopeless || self.policy.sole_worker {
            return;
        }
        self.next_look_for_hopeless = self.now.saturating_add(LOOK_EVERY_MS);
        let suspected = self.jobs.iter().filter(|(_, job)| job.counts().suspects > 0 && !job.paused);
        for id in suspected.map(|(&id, _)| id).collect::<Vec<_>>() {
            self.give_up_hopeless(id, out);
        }
    }

    fn give_up_hopeless(&mut self, id: JobId, out: &mut Vec<Command>) {
        let Some(job) = self.jobs.get(&id) else { return };
        let least = usize::try_from(self.policy.failures_before_quarantine).unwrap_or(usize::MAX).max(1);
        let somebody = self.classes.count_for(job.need) > 0;
        let stuck =
            job.failed_on(least).filter(|(workers, _)| somebody && self.nobody_but(workers, job.need));
        let units: Vec<u64> = stuck.flat_map(|(_, units)| units.iter().copied()).collect();
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if units.is_empty() {
            job.hopeless_since = None;
            return;
        }
        let since = *job.hopeless_since.get_or_insert(self.now);
        if self.now.saturating_sub(since) < self.policy.silence_ms {
            return;
        }
        job.hopeless_since = None;
        for unit in units {
            job.quarantine(unit);
            out.push(Command::Quarantine { job: id, unit });
        }
        self.job_changed(id, out);
    }
}
