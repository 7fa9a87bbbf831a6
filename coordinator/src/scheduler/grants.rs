//! Which session gets how much of which job.
//!
//! Jobs share the workers by stride scheduling (Waldspurger & Weihl 1995) on computing time: a grant moves its job's
//! `pass` forward by the estimated time over the weight, and the job with the least pass is next. A commit replaces the
//! estimate by what the range took.
//!
//! Leases are sized by guided self-scheduling (Polychronopoulos & Kuck 1987), `remaining / (2 * slots)`, between a floor
//! and a ceiling in computing time: long while there is plenty of work, short when it ends.

use std::ops::Range;

use super::{
    Command, Job, JobId, LeaseId, Policy, Scheduler, SessionId, classes::ClassId, contests::Stage,
    partition::Place, session::Lease,
};

/// Scale of `pass`, so that weights up to millions divide a nanosecond.
const PASS_SCALE: u128 = 1 << 20;

impl Job {
    fn charge(&mut self, ns: u128) {
        self.pass = self.pass.saturating_add(ns.max(1).saturating_mul(PASS_SCALE) / u128::from(self.weight));
    }

    /// Takes a charge back for units that were not computed.
    pub(super) fn refund(&mut self, ns: u128) {
        self.pass = self.pass.saturating_sub(ns.saturating_mul(PASS_SCALE) / u128::from(self.weight));
    }

    /// Replaces an estimate by what it came to.
    pub(super) fn recharge(&mut self, estimate_ns: u128, actual_ns: u128) {
        if actual_ns >= estimate_ns {
            self.charge(actual_ns - estimate_ns);
        } else {
            self.refund(estimate_ns - actual_ns);
        }
    }
}

/// Units of the next lease and what each is reckoned to cost.
struct Size {
    units: u64,
    ns_per_unit: u64,
}

/// The next lease.
struct Choice {
    job: JobId,
    range: Range<u64>,
    whole: bool,
    ns_per_unit: u64,
}

impl Scheduler {
    /// Hands out work as long as somebody wants and can have some.
    pub(super) fn grant_all(&mut self, out: &mut Vec<Command>) {
        // Sessions for which there is nothing but units that they failed on themselves, or results of their own: fewer
        // than `failures_before_quarantine` or the replicas, because these are good for all other workers.
        let mut refused = Vec::new();
        while let Some((class, appetite, id)) = self.classes.pop_neediest() {
            if !self.grant_one(id, class, out) {
                refused.push((appetite, id));
            }
        }
        for (appetite, id) in refused {
            self.classes.queue_session(id, Some(appetite));
        }
    }

    /// Grants one lease to a session that has just been taken out of the queue.
    fn grant_one(&mut self, session_id: SessionId, class: ClassId, out: &mut Vec<Command>) -> bool {
        let Some(session) = self.sessions.get(&session_id) else { return false };
        let worker = session.worker;
        let choice = self.classes.ready_for(class).find_map(|id| {
            let job = self.jobs.get(&id)?;
            let size = self.size(job, id, session_id);
            let choice = |range, whole| Choice { job: id, range, whole, ns_per_unit: size.ns_per_unit };
            if let Some(unit) = job.suspect_for(worker, &self.policy) {
                return Some(choice(unit..unit + 1, false));
            }
            // Before fresh units: a liar is found out early, and little waits.
            if let Some(range) = job.contests.for_worker(worker) {
                return Some(choice(range, true));
            }
            job.fresh(size.units, &self.policy).map(|range| choice(range, false))
        });
        let Some(choice) = choice else { return false };
        self.grant(session_id, choice, out);
        true
    }

    fn grant(&mut self, to: SessionId, choice: Choice, out: &mut Vec<Command>) {
        let Choice { job: of, range, whole, ns_per_unit } = choice;
        let (Some(job), Some(session)) = (self.jobs.get_mut(&of), self.sessions.get_mut(&to)) else { return };
        self.last_lease += 1;
        let id = LeaseId(self.last_lease);
        let units = range.end - range.start;
        if whole {
            job.contests.change(range.start, |contest| contest.stage = Stage::Leased(id));
        } else {
            job.set(&range, Place::Leased(id));
        }
        self.virtual_time = self.virtual_time.max(job.pass);
        job.charge(u128::from(units) * u128::from(ns_per_unit));
        session.leases.insert(id);
        let lease = Lease {
            session: to,
            job: of,
            range: range.clone(),
            whole,
            reached: range.start,
            open: units,
            granted: self.now,
            started: false,
            asked: None,
            revoked: false,
            charged_ns: ns_per_unit,
        };
        self.leases.insert(id, lease);
        self.queue_session(to);
        self.queue_job(of);
        out.push(Command::Grant { session: to, lease: id, job: of, range, whole });
    }

    fn size(&self, job: &Job, job_id: JobId, session: SessionId) -> Size {
        let policy = &self.policy;
        let target_ns = policy.target_ns();
        let own = self
            .sessions
            .get(&session)
            .and_then(|session| self.workers.get(&session.worker))
            .and_then(|worker| worker.speeds.get(&job_id));
        // A worker without measurements here is taken for an average one, but gets a quarter of the usual at first.
        let known = own
            .map(|speed| (speed.ns_per_unit, speed.cap_units))
            .or_else(|| job.ns_per_unit.map(|ns| (ns, target_ns / 4 / ns)));
        let (ns_per_unit, units) = match known {
            None => (target_ns / 4, policy.first_lease_units),
            Some((ns, cap)) => {
                let slots = self.classes.slots(job.need);
                let guided = job.counts().pending / slots.saturating_mul(2).max(1);
                let floor = policy.min_lease_ms.saturating_mul(1_000_000) / ns;
                (ns, guided.max(floor).min(target_ns / ns).min(cap))
            }
        };
        let units = policy.fixed_lease_units.unwrap_or(units.min(policy.max_lease_units)).max(1);
        Size { units, ns_per_unit }
    }
}

impl Policy {
    const fn target_ns(&self) -> u64 {
        self.target_lease_ms.saturating_mul(1_000_000)
    }
}
