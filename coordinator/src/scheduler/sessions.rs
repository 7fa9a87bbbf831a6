//! Connections and what happens to the leases they hold, commits and failures apart.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    Abilities, CloseReason, Command, LeaseId, Place, Scheduler, SessionId, WorkerId, session::Session,
};

impl Scheduler {
    pub(super) fn session_opened(
        &mut self,
        id: SessionId,
        worker_id: WorkerId,
        (slots, prefetch): (u32, u32),
        abilities: Arc<Abilities>,
        out: &mut Vec<Command>,
    ) {
        if self.sessions.contains_key(&id) || self.quarantined.contains(&worker_id) {
            return;
        }
        if let Some(old) = self.workers.get(&worker_id).and_then(|worker| worker.session) {
            self.close_session(old);
            out.push(Command::Close(old, CloseReason::Superseded));
        }
        let worker = self.workers.entry(worker_id).or_default();
        self.absent.remove(&(worker.left, worker_id));
        worker.session = Some(id);
        let session = Session {
            worker: worker_id,
            abilities: Arc::clone(&abilities),
            slots: slots.min(self.policy.max_slots),
            prefetch: prefetch.min(self.policy.max_prefetch),
            draining: false,
            leases: BTreeSet::new(),
            heard: self.now,
            units_done: 0,
            trouble: worker.trouble,
        };
        if session.trouble.rests_until > self.now {
            self.resting.insert((session.trouble.rests_until, id));
        }
        self.classes.add_session(id, abilities, session.slots);
        self.sessions.insert(id, session);
        self.count_staying(id, true);
        self.expiry.insert((self.now.saturating_add(self.policy.silence_ms), id));
        self.queue_session(id);
    }

    /// Forgets a session. Its leases return to the pool; results may still come, by another session.
    pub(super) fn close_session(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        for lease in session.leases.clone() {
            self.end_lease(lease);
        }
        self.take_no_more(id);
        let Some(session) = self.sessions.remove(&id) else { return };
        if let Some(worker) = self.workers.get_mut(&session.worker) {
            worker.session = None;
            worker.trouble = session.trouble;
            worker.left = self.now;
            self.absent.insert((self.now, session.worker));
        }
        while self.absent.len() > self.policy.max_absent_workers {
            let Some((_, worker)) = self.absent.pop_first() else { break };
            self.workers.remove(&worker);
        }
    }

    pub(super) fn heard(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.heard = self.now;
        }
    }

    /// Closes sessions that were silent for too long.
    pub(super) fn expire(&mut self, out: &mut Vec<Command>) {
        while let Some(&(due, id)) = self.expiry.first()
            && due <= self.now
        {
            self.expiry.pop_first();
            let Some(session) = self.sessions.get(&id) else { continue };
            let due = session.heard.saturating_add(self.policy.silence_ms);
            if due > self.now {
                self.expiry.insert((due, id));
            } else {
                self.close_session(id);
                out.push(Command::Close(id, CloseReason::Silent));
            }
        }
    }

    pub(super) fn draining(&mut self, id: SessionId) {
        self.heard(id);
        self.take_no_more(id);
    }

    fn take_no_more(&mut self, id: SessionId) {
        if self.sessions.get(&id).is_none_or(|session| session.draining) {
            return;
        }
        self.count_staying(id, false);
        self.classes.remove_session(id);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.draining = true;
        }
    }

    pub(super) fn progress(&mut self, session: SessionId, id: LeaseId, reached: u64) {
        self.heard(session);
        let Some(lease) = self.leases.get_mut(&id).filter(|lease| lease.session == session) else { return };
        let reached = reached.min(lease.range.end);
        lease.started |= reached > lease.range.start;
        lease.reached = lease.reached.max(reached);
    }

    pub(super) fn returned(&mut self, session: SessionId, id: LeaseId, out: &mut Vec<Command>) {
        self.heard(session);
        let Some(lease) = self.leases.get(&id).filter(|lease| lease.session == session) else { return };
        // One that is to be committed whole and is not, is as good as untouched. One that leaves hands back what waits.
        let leaves = self.sessions.get(&session).is_some_and(|session| session.draining);
        let idle = (!lease.started || lease.whole) && !lease.revoked && !leaves;
        self.end_lease(id);
        if idle {
            // A worker that hands everything back untouched would otherwise play ball with us at full speed.
            self.strike(session, out);
        }
    }

    pub(super) fn shrunk(&mut self, session: SessionId, id: LeaseId, end: u64) {
        self.heard(session);
        let Some(lease) = self.leases.get_mut(&id).filter(|lease| lease.session == session && !lease.whole)
        else {
            return;
        };
        lease.asked = None;
        let end = end.max(lease.range.start);
        if end >= lease.range.end {
            return;
        }
        let tail = end..lease.range.end;
        lease.range.end = end;
        lease.reached = lease.reached.min(end);
        let (job_id, charged_ns) = (lease.job, lease.charged_ns);
        let Some(job) = self.jobs.get_mut(&job_id) else { return };
        let freed = job.release(&tail, Place::Leased(id));
        job.refund(u128::from(charged_ns) * u128::from(freed));
        self.shorten(id, freed);
        self.queue_job(job_id);
    }

    /// Takes `units` that have moved elsewhere off a lease's account; a lease without units is over.
    pub(super) fn shorten(&mut self, id: LeaseId, units: u64) {
        let Some(lease) = self.leases.get_mut(&id) else { return };
        lease.open = lease.open.saturating_sub(units);
        if lease.open == 0 {
            self.end_lease(id);
        }
    }

    /// Forgets a lease. What of it is still in the worker's hands returns to the pool.
    pub(super) fn end_lease(&mut self, id: LeaseId) {
        let Some(lease) = self.leases.remove(&id) else { return };
        if let Some(job) = self.jobs.get_mut(&lease.job)
            && lease.open > 0
        {
            if lease.whole {
                job.contest_returns(lease.range.start, id);
            } else {
                job.release(&lease.range, Place::Leased(id));
            }
            self.queue_job(lease.job);
        }
        if let Some(session) = self.sessions.get_mut(&lease.session) {
            session.leases.remove(&id);
            self.queue_session(lease.session);
        }
    }

    /// Ends a lease and tells the worker to drop it.
    pub(super) fn abandon(&mut self, id: LeaseId, out: &mut Vec<Command>) {
        if let Some(lease) = self.leases.get(&id) {
            out.push(Command::Abandon { session: lease.session, lease: id });
            self.end_lease(id);
        }
    }

    /// Counts a failure, or a lease returned untouched. From the fourth in a row a session rests between grants: one
    /// broken worker must not run through the plan at full speed. Nor does it help to connect again.
    pub(super) fn strike(&mut self, id: SessionId, out: &mut Vec<Command>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.trouble.strikes = session.trouble.strikes.saturating_add(1);
        let over = session.trouble.strikes.saturating_sub(self.policy.free_strikes);
        if over > 0 {
            let rest_ms =
                self.policy.rest_ms.saturating_mul(1 << (over - 1).min(20)).min(self.policy.max_rest_ms);
            session.trouble.rests_until = self.now.saturating_add(rest_ms);
            self.resting.insert((session.trouble.rests_until, id));
            out.push(Command::Rests(id, rest_ms));
            self.queue_session(id);
        }
    }

    pub(super) fn wake_rested(&mut self) {
        while let Some(&(until, id)) = self.resting.first()
            && until <= self.now
        {
            self.resting.pop_first();
            self.queue_session(id);
        }
    }

    /// Puts a session where it belongs in the queue for grants.
    pub(super) fn queue_session(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let wanted = session.appetite(self.now, &self.policy);
        self.classes.queue_session(id, wanted);
        if wanted.is_some() && !self.releases.is_empty() {
            self.asking.push(id);
        }
    }
}
