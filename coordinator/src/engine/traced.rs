//! Spans of leases, where somebody collects them.

use proto::v1::lease_event;

use super::core::Core;
use crate::{
    scheduler::{LeaseId, SessionId, hex},
    traces::OpenLease,
};

impl Core {
    /// A worker tells something of a lease.
    pub(super) fn trace_event(
        &mut self,
        session: SessionId,
        lease: LeaseId,
        event: Option<&lease_event::Event>,
    ) {
        match event {
            Some(lease_event::Event::Shrunk(end)) => self.traced.shrunk(session, lease, *end),
            Some(lease_event::Event::Returned(_)) => self.trace_end(session, lease, "returned"),
            _ => {}
        }
    }

    /// A lease is over.
    pub(super) fn trace_end(&mut self, session: SessionId, lease: LeaseId, outcome: &'static str) {
        let Some(open) = self.traced.over(session, lease) else { return };
        let worker = self.sessions.peek(session).map_or("", |session| session.name.as_str());
        self.tell(lease, &open, worker, outcome);
    }

    /// All leases of a session are.
    pub(super) fn trace_end_of_all(&mut self, session: SessionId, worker: &str, outcome: &'static str) {
        for (lease, open) in self.traced.all_of(session) {
            self.tell(lease, &open, worker, outcome);
        }
    }

    fn tell(&self, lease: LeaseId, open: &OpenLease, worker: &str, outcome: &'static str) {
        let Some(entry) = self.jobs.get(&open.job) else { return };
        let (name, run) = (hex(&entry.record.name), hex(&entry.record.id.0));
        self.traced.tell((lease, open), [&name, &entry.record.kind, &run], worker, outcome);
    }
}
