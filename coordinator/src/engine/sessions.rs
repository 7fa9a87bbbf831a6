//! Connected workers: what they are told, and what they may say.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use proto::v1::{Hello, Label, ToWorker, WorkerStatus};
use tokio::sync::mpsc::error::TrySendError;

use super::{Outgoing, Refusal, hello::Introduced};
use crate::scheduler::{Abilities, JobId, Millis, SessionId, SessionStatus, WorkerId, hex};

/// A connected worker.
pub(crate) struct Session {
    pub worker: WorkerId,
    pub name: String,
    pub version: String,
    pub slots: u32,
    pub connected_unix_ms: u64,
    pub units_done: u64,
    pub draining: bool,
    /// It is to leave.
    pub leaving: bool,
    /// The protocol that is spoken with it.
    pub protocol: u32,
    pub abilities: Arc<Abilities>,
    /// Results that were malformed.
    pub malformed: u32,
    prefetch: u32,
    opened: bool,
    /// Jobs that were defined on this stream.
    pub told: HashSet<JobId>,
    outgoing: Outgoing,
    outbox: ToWorker,
    outbox_len: usize,
}

/// Orders and answers that a worker leaves unread before it is cut off.
const MAX_OUTBOX: usize = 32_768;

impl Session {
    pub fn new(introduced: Introduced, hello: Hello, outgoing: Outgoing, now_unix_ms: u64) -> Self {
        let Introduced { worker, protocol, abilities, differs: _ } = introduced;
        Self {
            worker,
            name: hello.name,
            version: hello.version,
            slots: hello.slots,
            connected_unix_ms: now_unix_ms,
            units_done: 0,
            draining: false,
            leaving: false,
            protocol,
            abilities,
            malformed: 0,
            prefetch: hello.prefetch,
            opened: false,
            told: HashSet::new(),
            outgoing,
            outbox: ToWorker::default(),
            outbox_len: 0,
        }
    }

    /// With its first message a worker is ready for leases: slots and prefetch, once.
    pub fn opens(&mut self) -> Option<(u32, u32)> {
        (!std::mem::replace(&mut self.opened, true)).then_some((self.slots, self.prefetch))
    }

    /// Where the next message is put together.
    pub fn outbox(&mut self) -> &mut ToWorker {
        self.outbox_len += 1;
        &mut self.outbox
    }

    /// Sends what is ready, as far as the worker takes it. False when the worker is gone or does not read.
    pub fn flush(&mut self) -> bool {
        while self.outbox_len > 0 {
            match self.outgoing.try_reserve() {
                Ok(permit) => {
                    permit.send(Ok(next_message(&mut self.outbox)));
                    let ToWorker { jobs, orders, answers, leave, .. } = &self.outbox;
                    self.outbox_len = jobs.len() + orders.len() + answers.len() + usize::from(*leave);
                }
                Err(TrySendError::Full(())) => return self.outbox_len <= MAX_OUTBOX,
                Err(TrySendError::Closed(())) => return false,
            }
        }
        true
    }

    /// The last word to a worker, if it still listens.
    pub fn dismiss(self, reason: Refusal) {
        drop(self.outgoing.try_send(Err(reason)));
    }

    pub fn status(&self, view: &SessionStatus, now: Millis) -> WorkerStatus {
        let labels = self.abilities.labels.iter();
        WorkerStatus {
            id: hex(&self.worker.0),
            name: self.name.clone(),
            version: self.version.clone(),
            slots: self.slots,
            leases: view.leases,
            units_done: self.units_done,
            silent_ms: now.saturating_sub(view.heard_ms),
            connected_unix_ms: self.connected_unix_ms,
            draining: self.draining,
            labels: labels.map(|(name, value)| Label { name: name.clone(), value: value.clone() }).collect(),
            resting_ms: view.resting_ms,
            failures: view.failures,
            leaving: self.leaving,
            protocol: self.protocol,
        }
    }
}

/// Cuts a message within the bounds of the protocol off the front of `outbox`.
///
/// Job definitions go first and one a message, since settings may be long; a grant must not overtake its job.
fn next_message(outbox: &mut ToWorker) -> ToWorker {
    if outbox.jobs.len() > 1 {
        return ToWorker { jobs: vec![outbox.jobs.remove(0)], ..ToWorker::default() };
    }
    let orders = outbox.orders.len().min(proto::MAX_BATCH);
    let answers = outbox.answers.len().min(proto::MAX_BATCH);
    ToWorker {
        welcome: outbox.welcome.take(),
        jobs: std::mem::take(&mut outbox.jobs),
        orders: outbox.orders.drain(..orders).collect(),
        answers: outbox.answers.drain(..answers).collect(),
        leave: std::mem::take(&mut outbox.leave),
    }
}

/// All connected workers.
#[derive(Default)]
pub(crate) struct Sessions {
    by_id: HashMap<SessionId, Session>,
    dirty: HashSet<SessionId>,
    last: u64,
    /// Connected, oldest first, and perhaps without a word yet.
    mute: VecDeque<(u64, SessionId)>,
}

impl Sessions {
    pub fn open(&mut self, session: Session) -> SessionId {
        self.last += 1;
        self.mute.push_back((session.connected_unix_ms, SessionId(self.last)));
        self.by_id.insert(SessionId(self.last), session);
        SessionId(self.last)
    }

    pub fn close(&mut self, id: SessionId) -> Option<Session> {
        self.dirty.remove(&id);
        self.by_id.remove(&id)
    }

    /// Workers that connected before, and have not said a word since.
    pub fn mute_since(&mut self, unix_ms: u64) -> Vec<SessionId> {
        let mut found = Vec::new();
        while let Some(&(connected, id)) = self.mute.front()
            && connected < unix_ms
        {
            self.mute.pop_front();
            found.extend(self.by_id.get(&id).filter(|session| !session.opened).map(|_| id));
        }
        found
    }

    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn get(&mut self, id: SessionId) -> Option<&mut Session> {
        self.by_id.get_mut(&id)
    }

    pub fn peek(&self, id: SessionId) -> Option<&Session> {
        self.by_id.get(&id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (SessionId, &Session)> {
        self.by_id.iter().map(|(&id, session)| (id, session))
    }

    /// Where the next message to a worker is put together.
    pub fn writing(&mut self, id: SessionId) -> Option<&mut Session> {
        let session = self.by_id.get_mut(&id)?;
        self.dirty.insert(id);
        Some(session)
    }

    /// Sends what is ready to everyone, and returns those who are gone or do not read.
    pub fn flush(&mut self) -> Vec<SessionId> {
        let mut lost = Vec::new();
        self.dirty.retain(|&id| {
            let Some(session) = self.by_id.get_mut(&id) else { return false };
            if !session.flush() {
                lost.push(id);
                return false;
            }
            session.outbox_len > 0
        });
        lost
    }
}
