//! What was computed: on its way to the coordinator, and in the spool as long as it is not acknowledged.

use std::collections::HashSet;

use proto::v1::{Failure, LeaseEvent, Verdict, lease_event::Event};

use super::Agent;
use crate::{
    lease::{Lease, Report},
    spool::SpooledCommit,
};

/// Results that took less than this to compute are not worth a write to disk while the coordinator is connected.
const SPOOL_FROM_BUSY_US: u64 = 50_000;

impl Agent {
    /// Hands in what the spool has and nobody else will.
    pub(super) fn hand_in(&mut self, pending: Vec<SpooledCommit>) {
        pending.iter().for_each(|kept| self.writer.found(kept));
        let in_care = self.outbox.unacknowledged();
        let mut in_care: HashSet<_> = in_care.map(|output| (output.job, output.range.start)).collect();
        // The longest of several checkpoints of one stretch comes last, and is the one to hand in.
        for kept in pending.into_iter().rev() {
            let growing = self.leases.values().any(|lease| lease.grows(&kept));
            if !growing && in_care.insert((kept.job, kept.range.start)) {
                self.outbox.commit(kept);
            }
        }
    }

    pub(super) fn reported(&mut self, report: Report) {
        match report {
            Report::Commit { key, output } => {
                self.kept.remove(&key);
                self.commit(output);
            }
            Report::Keep { key, output } => {
                if self.leases.contains_key(&key) {
                    self.kept.insert(key, output.clone());
                }
                self.writer.put(output);
            }
            Report::Ended { key, last, failed } => {
                self.kept.remove(&key);
                if let Some(output) = last {
                    self.commit(output);
                }
                if let Some((unit, error)) = failed {
                    tracing::error!("unit {unit}: {error}");
                    let error = proto::bounded_text(error);
                    self.say(key, Event::Failed(Failure { unit, error }));
                }
                self.say(key, Event::Returned(true));
                if let Some(lease) = self.leases.remove(&key) {
                    self.forget(&lease);
                }
            }
        }
    }

    pub(super) fn commit(&mut self, output: SpooledCommit) {
        if self.link.is_none() || output.busy_us >= SPOOL_FROM_BUSY_US {
            self.writer.put(output.clone());
        }
        self.outbox.commit(output);
    }

    pub(super) fn answered(&mut self, sequence: u64, verdict: Verdict) {
        let Some(output) = self.outbox.answered(sequence) else { return };
        let range = &output.range;
        match verdict {
            Verdict::Accepted | Verdict::Duplicate => {}
            Verdict::Overlap | Verdict::UnknownJob => {
                tracing::debug!(?range, "a result came too late and was not needed");
            }
            Verdict::Later => return self.writer.put(output),
            Verdict::Conflict => tracing::error!(?range, "another worker's result for this range differs"),
            Verdict::Malformed | Verdict::Unspecified => {
                tracing::error!(?range, "a result was refused as malformed");
            }
        }
        self.writer.remove(&output);
    }

    /// Queues an event of a lease, if the coordinator still knows the lease.
    pub(super) fn say(&mut self, key: u64, event: Event) {
        let Some(lease) = self.leases.get(&key) else { return };
        if self.is_current(lease) {
            self.outbox.event(LeaseEvent { lease: lease.id, event: Some(event) });
        }
    }

    pub(super) fn is_current(&self, lease: &Lease) -> bool {
        self.current.get(&lease.id).is_some_and(|current| current.key == lease.key)
    }

    pub(super) fn forget(&mut self, lease: &Lease) {
        if self.is_current(lease) {
            self.current.remove(&lease.id);
        }
    }
}
