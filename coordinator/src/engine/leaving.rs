//! Workers that are asked to leave: one by name, or as many of a pool as are too many.

use proto::v1::ReleaseReply;

use super::{Answer, Refusal, admin::Ticket, core::Core, sessions::Session};
use crate::{
    ledger::{Action, Actor},
    scheduler::{Event, SessionId, hex},
};

impl Core {
    /// Has a worker finish what it computes, and leave.
    pub(super) fn drain(&mut self, wanted: &str, by: &Actor, answer: Answer<String>) {
        let id = match self.find_worker(wanted) {
            Ok(id) => id,
            Err(refusal) => return drop(answer.send(Err(refusal))),
        };
        let Some(session) = self.sessions.peek(id) else { return };
        let (name, worker, known) = (session.name.clone(), session.worker, session.leaving);
        if !known {
            self.record(by, Action::Drain, None, format!("worker {name} {}", hex(&worker.0)));
            self.feed(Event::Draining(id));
            self.tell_to_leave(id);
        }
        let ticket = self.ticket(Ticket::Drained(name, answer));
        self.when_durable(ticket);
    }

    /// Has the workers of a pool leave that are more than are to stay, whoever is free first.
    pub(super) fn release(&mut self, pool: String, keep: u32, by: &Actor, answer: Answer<ReleaseReply>) {
        if !pool.is_empty()
            && let Err(error) = proto::labels::check_value(&pool)
        {
            return drop(answer.send(Err(Refusal::Invalid(format!("--pool: {error}")))));
        }
        let connected = u32::try_from(self.scheduler.staying(&pool)).unwrap_or(u32::MAX);
        let reply = ReleaseReply { connected, leaving: connected.saturating_sub(keep) };
        let which = if pool.is_empty() { "all workers".into() } else { format!("pool {pool}") };
        self.record(by, Action::Release, None, format!("{which}: keep {keep} of {connected}"));
        self.feed(Event::Release { pool, keep });
        let ticket = self.ticket(Ticket::Released(reply, answer));
        self.when_durable(ticket);
    }

    /// Tells a worker that takes no more leases to leave. One of the first versions cannot be told: it stays, without work.
    pub(super) fn tell_to_leave(&mut self, id: SessionId) {
        let Some(session) = self.sessions.writing(id) else { return };
        (session.draining, session.leaving) = (true, true);
        if session.protocol >= proto::LEAVE_PROTOCOL {
            tracing::info!(worker = session.name, "worker is told to finish what it computes, and to leave");
            session.outbox().leave = true;
        } else {
            tracing::warn!(
                worker = session.name,
                "worker gets nothing more; it is too old to be told to leave"
            );
        }
    }

    /// Finds the worker that a user means: its name, or the start of its id.
    fn find_worker(&self, wanted: &str) -> Result<SessionId, Refusal> {
        let is_meant = |s: &Session| s.name == wanted || hex(&s.worker.0).starts_with(wanted);
        let mut meant = self.sessions.iter().filter(|(_, s)| !wanted.is_empty() && is_meant(s));
        match (meant.next(), meant.next()) {
            (Some((id, _)), None) => Ok(id),
            (None, _) => Err(Refusal::NotFound(format!("no worker {wanted:?}: `nonet workers` lists all"))),
            _ => Err(Refusal::Invalid(format!("{wanted:?} means several workers: give more of the id"))),
        }
    }
}
