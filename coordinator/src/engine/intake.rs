//! What workers say, checked before it is believed.

use std::{sync::Arc, time::Instant};

use jobs::MAX_PARTIAL_BYTES;
use proto::v1::{Commit, FromWorker, Hello, LeaseEvent, Verdict, lease_event};
use worker::bridge::guarded;

use super::{
    Answer, Outgoing, Refusal, Welcomed,
    core::{Core, Offer, unix_ms},
    departed::How,
    doubts::refusal,
    hello::check_hello,
    job_entry::Past,
    sessions::Session,
};
use crate::{
    ledger::{CommitRecord, JobState},
    scheduler::{Event, JobId, LeaseId, SessionId, Token, WorkerId},
};

/// Malformed results of one connection before it is cut off.
const MAX_MALFORMED: u32 = 16;
/// Computing time claimed for a commit beyond which it is cut: a year.
const MAX_BUSY_US: u64 = 366 * 24 * 3600 * 1_000_000;

impl Core {
    pub(super) fn welcome(&mut self, hello: Hello, outgoing: Outgoing, answer: Answer<Welcomed>) {
        let introduced = match check_hello(&hello, self.sessions.len()) {
            Ok(introduced) => introduced,
            Err(refusal) => {
                self.telemetry.counted.workers_refused.inc();
                tracing::warn!(worker = proto::bounded_text(hello.name), "worker refused: {refusal}");
                drop(answer.send(Err(refusal)));
                return;
            }
        };
        if let Some(known) = self.quarantined.get(&introduced.worker) {
            self.telemetry.counted.workers_refused.inc();
            tracing::warn!(worker = proto::bounded_text(hello.name), "quarantined worker refused");
            drop(answer.send(Err(refusal(known))));
            return;
        }
        tracing::info!(worker = hello.name, slots = hello.slots, "worker connected");
        if !introduced.differs.is_empty() {
            let (version, differs) = (&hello.version, introduced.differs.join(", "));
            tracing::warn!(worker = hello.name, version, "it gets only jobs that it knows; it has {differs}");
        }
        let protocol = introduced.protocol;
        let session = self.sessions.open(Session::new(introduced, hello, outgoing, unix_ms()));
        let (ledger_id, heartbeat_ms) = (self.ledger_id, self.config.heartbeat_ms);
        let welcomed = Welcomed { session, ledger_id, heartbeat_ms, protocol };
        self.telemetry.counted.sessions_opened.inc();
        if answer.send(Ok(welcomed)).is_err() {
            self.close_session(session, How::Lost);
        }
        // The scheduler hears of it with its first message: what it has from earlier must count before it is given the
        // same work again.
    }

    pub(super) fn heard(&mut self, id: SessionId, message: FromWorker) {
        let Some(session) = self.sessions.get(id) else { return };
        let worker = session.worker;
        let starts_draining = message.draining && !std::mem::replace(&mut session.draining, message.draining);
        if let Some(nonsense) = nonsense(&message) {
            return self.cut_off(id, nonsense);
        }
        // One that begins by leaving, or was told to leave before its first word, only hands in what it has.
        let opens = session.opens().filter(|_| !session.draining);
        let opens = opens.map(|(slots, prefetch)| (slots, prefetch, Arc::clone(&session.abilities)));
        self.feed(Event::Heard(id));
        if starts_draining {
            self.feed(Event::Draining(id));
        }
        for commit in message.commits {
            self.offered(id, worker, commit);
        }
        if let Some((slots, prefetch, abilities)) = opens {
            self.feed(Event::SessionOpened { session: id, worker, slots, prefetch, abilities });
        }
        for event in message.events {
            self.lease_event(id, event);
        }
    }

    fn offered(&mut self, session: SessionId, worker: WorkerId, commit: Commit) {
        let sequence = commit.sequence;
        let record = match self.examine(worker, commit) {
            Ok(record) => record,
            Err(verdict) => {
                self.answer_wire(session, sequence, verdict);
                if verdict == Verdict::Malformed {
                    self.count_malformed(session);
                }
                return;
            }
        };
        self.last_token += 1;
        let token = Token(self.last_token);
        let CommitRecord { job, digest, busy_us, .. } = record;
        let range = record.range.clone();
        self.offers.insert(token, Offer { session, sequence, record, counts: true, arrived: Instant::now() });
        self.feed(Event::Commit { session, worker, token, job, range, digest, busy_us });
    }

    /// A worker whose results are malformed again and again is broken: others had better do its work.
    fn count_malformed(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get(id) else { return };
        session.malformed += 1;
        if session.malformed >= MAX_MALFORMED {
            self.cut_off(id, format!("{MAX_MALFORMED} of its results were malformed"));
        }
    }

    fn cut_off(&mut self, id: SessionId, reason: String) {
        let Some(session) = self.close_session(id, How::Nonsense) else { return };
        tracing::error!(worker = session.name, "worker cut off: {reason}");
        session.dismiss(Refusal::Invalid(reason));
        self.feed(Event::SessionClosed(id));
    }

    /// Closes workers that were welcomed and then never said a word.
    pub(super) fn close_the_mute(&mut self) {
        let not_before = unix_ms().saturating_sub(self.config.policy.silence_ms);
        for id in self.sessions.mute_since(not_before) {
            self.close(id, How::Mute);
        }
    }

    fn examine(&mut self, worker: WorkerId, commit: Commit) -> Result<CommitRecord, Verdict> {
        let Commit { job, start, end, digest, partial, busy_us, .. } = commit;
        let job = JobId(job.as_ref().try_into().map_err(|_| Verdict::Malformed)?);
        let entry = self.jobs.get(&job).ok_or(Verdict::UnknownJob)?;
        if entry.is_scheduled() && !matches!(entry.past, Past::Known(_)) {
            // A finished job's past is read for this: a result that differs must not go unnoticed.
            if entry.state == JobState::Finished {
                self.read_past(job);
            }
            return Err(Verdict::Later);
        }
        let open = entry.job.as_ref().map_err(|_| Verdict::UnknownJob)?;
        let range = start..end;
        if range.is_empty() || end > entry.record.units || partial.len() > MAX_PARTIAL_BYTES {
            return Err(Verdict::Malformed);
        }
        let malformed = |why: &dyn std::fmt::Display| {
            tracing::error!(?worker, ?job, ?range, "a malformed result: {why}");
            Verdict::Malformed
        };
        if digest.as_ref() != blake3::hash(&partial).as_bytes() {
            return Err(malformed(&"its digest is not that of its bytes"));
        }
        let checked = guarded(|| open.check(range.clone(), &partial));
        checked.map_err(|e| malformed(&e))?.map_err(|e| malformed(&e))?;
        let digest = digest.as_ref().try_into().map_err(|_| Verdict::Malformed)?;
        let busy_us = busy_us.min(MAX_BUSY_US);
        Ok(CommitRecord {
            job,
            range,
            digest,
            partial: partial.into(),
            worker,
            busy_us,
            at_unix_ms: unix_ms(),
        })
    }

    fn lease_event(&mut self, session: SessionId, event: LeaseEvent) {
        let lease = LeaseId(event.lease);
        self.trace_event(session, lease, event.event.as_ref());
        let event = match event.event {
            Some(lease_event::Event::Reached(reached)) => Event::Progress { session, lease, reached },
            Some(lease_event::Event::Shrunk(end)) => Event::Shrunk { session, lease, end },
            Some(lease_event::Event::Failed(failure)) => {
                let (unit, error) = (failure.unit, proto::bounded_text(failure.error));
                Event::Failed { session, lease, unit, error }
            }
            Some(lease_event::Event::Returned(_)) => Event::Returned { session, lease },
            None => return,
        };
        self.feed(event);
    }
}

/// Why a message cannot come from a worker of this protocol.
fn nonsense(message: &FromWorker) -> Option<String> {
    let (commits, events) = (message.commits.len(), message.events.len());
    if message.hello.is_some() {
        return Some("a second hello on one stream".into());
    }
    if commits > proto::MAX_BATCH || events > proto::MAX_BATCH {
        let most = proto::MAX_BATCH;
        return Some(format!("a message of {commits} commits and {events} events: at most {most} of each"));
    }
    None
}
