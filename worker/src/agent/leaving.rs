//! The end of a worker: at once, when it is told to stop or its machine goes, or when it has finished what it computes.

use proto::v1::lease_event::Event;
use tokio::time::Instant;

use super::Agent;

impl Agent {
    /// Whether it takes nothing more.
    pub(super) fn leaves(&self) -> bool {
        self.leaves_when_done || self.leave_at.is_some()
    }

    /// The coordinator wants fewer workers: what runs is computed to its end, what waits is handed back.
    pub(super) fn finish_and_leave(&mut self) {
        if self.leaves() {
            return;
        }
        tracing::info!("the coordinator lets this worker go: finishing what is being computed, then ending");
        self.leaves_when_done = true;
        self.hand_back_what_waits();
        self.outbox.drain();
    }

    /// Commits the prefix of what runs, hands back what waits, and asks for nothing more.
    pub(super) fn begin_to_leave(&mut self) {
        let now = Instant::now();
        self.leave_at = Some(now + self.config.drain);
        self.let_go_at = Some(now + self.config.drain / 2);
        self.hand_back_what_waits();
        for lease in self.leases.values() {
            lease.revoke();
        }
        self.outbox.drain();
    }

    fn hand_back_what_waits(&mut self) {
        for lease in self.crew.take_back_all() {
            self.say(lease.key, Event::Returned(true));
            self.forget(&lease);
            self.leases.remove(&lease.key);
        }
    }

    /// A unit that does not stop when it is told to must not keep the rest: what was computed before it is handed in from the
    /// worker's own checkpoint, and the others need not wait until this worker is missed.
    pub(super) fn let_go_of_what_runs(&mut self) {
        self.let_go_at = None;
        for (key, lease) in std::mem::take(&mut self.leases) {
            tracing::warn!("a unit does not stop: handing in what was computed before it");
            lease.abandon();
            if let Some(output) = self.kept.remove(&key) {
                self.commit(output);
            }
            if self.is_current(&lease) {
                let event = Some(Event::Returned(true));
                self.outbox.event(proto::v1::LeaseEvent { lease: lease.id, event });
            }
            self.forget(&lease);
        }
    }

    /// Whether there is nothing left to wait for.
    pub(super) fn may_leave(&mut self) -> bool {
        if let Some(at) = self.leave_at {
            let handed_in = self.outbox.settled() || self.link.is_none();
            return (self.leases.is_empty() && handed_in) || Instant::now() >= at;
        }
        if !self.leaves_when_done || !self.leases.is_empty() {
            return false;
        }
        if self.link.is_some() {
            return self.outbox.settled();
        }
        // Whoever let it go may be gone as well: what is in the spool is as safe as it can be here.
        let give_up_at = *self.give_up_at.get_or_insert(Instant::now() + self.config.drain);
        self.outbox.unacknowledged().next().is_none() || Instant::now() >= give_up_at
    }
}
