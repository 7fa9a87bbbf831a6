//! Units that fail.

use super::{Command, LeaseId, Place, Scheduler, SessionId};

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
        if job.fail(unit, worker, &self.policy) {
            out.push(Command::Quarantine { job: job_id, unit });
        }
        self.shorten(lease_id, 1);
        self.job_changed(job_id, out);
        self.strike(session_id);
    }
}
