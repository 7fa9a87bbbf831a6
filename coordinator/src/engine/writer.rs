//! The thread that owns the ledger: disks are slow, and the engine must not wait for them.
//!
//! Appends are grouped: whatever arrived while the last group was being synced makes the next one. A quiet ledger
//! thus answers in the time of one sync, and a busy one amortises it.

use std::{
    sync::{Arc, mpsc},
    thread::JoinHandle,
};

use jobs::{Accumulator, ErasedJob};

use crate::{
    ledger::{CommitRecord, Entry, Ledger, LedgerError},
    scheduler::{JobId, RangeSet, Token},
};

/// What the engine wants to hear when an entry is durable.
#[derive(Debug)]
pub enum After {
    /// Nothing.
    Nothing,
    /// This commit is durable.
    Commit(Token),
    /// A ticket of the engine's own book-keeping.
    Ticket(u64),
}

/// What the engine asks of the ledger.
pub enum Request {
    /// Make an entry durable.
    Append(Entry, After),
    /// What is committed at the start of a range?
    Lookup(Token, JobId, u64),
    /// Add up all commits of a job.
    Fold(JobId, Arc<dyn ErasedJob>),
}

/// What the ledger answers.
pub enum Reply {
    /// These are durable.
    Durable(Vec<After>),
    /// The commit that starts there.
    Found(Token, Option<CommitRecord>),
    /// A job's past.
    Folded(JobId, Result<Folded, LedgerError>),
    /// The ledger takes nothing more.
    Failed(LedgerError),
}

/// A job's commits, added up.
pub struct Folded {
    /// Committed ranges.
    pub done: RangeSet,
    /// Their sum.
    pub sum: Box<dyn Accumulator>,
}

/// Entries in a group at most.
const GROUP: usize = 256;
/// Requests that wait before the engine does.
const QUEUE: usize = 16_384;

/// The engine's end.
pub struct Writer {
    requests: Option<mpsc::SyncSender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. `reply` is called on it.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn start(ledger: Box<dyn Ledger>, reply: impl Fn(Reply) + Send + 'static) -> std::io::Result<Self> {
        let (requests, queue) = mpsc::sync_channel(QUEUE);
        let thread =
            std::thread::Builder::new().name("ledger".into()).spawn(move || serve(ledger, &queue, &reply))?;
        Ok(Self { requests: Some(requests), thread: Some(thread) })
    }

    /// Queues a request. Returns false when the ledger has failed and takes nothing more.
    #[must_use]
    pub fn ask(&self, request: Request) -> bool {
        self.requests.as_ref().is_some_and(|requests| requests.send(request).is_ok())
    }
}

impl Drop for Writer {
    /// Waits until everything queued is durable.
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the ledger's thread panicked");
        }
    }
}

fn serve(mut ledger: Box<dyn Ledger>, queue: &mpsc::Receiver<Request>, reply: &dyn Fn(Reply)) {
    let mut next = queue.recv().ok();
    while let Some(request) = next.take() {
        match request {
            Request::Append(entry, after) => {
                let (mut group, mut afters) = (vec![entry], vec![after]);
                while group.len() < GROUP {
                    match queue.try_recv() {
                        Ok(Request::Append(entry, after)) => {
                            group.push(entry);
                            afters.push(after);
                        }
                        other => {
                            next = other.ok();
                            break;
                        }
                    }
                }
                if let Err(error) = ledger.append(&group) {
                    reply(Reply::Failed(error));
                    return;
                }
                reply(Reply::Durable(afters));
            }
            Request::Lookup(token, job, start) => match ledger.commit_at(job, start) {
                Ok(found) => reply(Reply::Found(token, found)),
                Err(error) => return reply(Reply::Failed(error)),
            },
            Request::Fold(id, job) => reply(Reply::Folded(id, fold(ledger.as_ref(), id, job))),
        }
        if next.is_none() {
            next = queue.recv().ok();
        }
    }
}

fn fold(ledger: &dyn Ledger, id: JobId, job: Arc<dyn ErasedJob>) -> Result<Folded, LedgerError> {
    let (mut done, mut sum) = (RangeSet::new(), job.accumulator());
    ledger.commits(id, &mut |commit| {
        let twice =
            || LedgerError::inconsistent(format!("{id:?}: range {:?} is committed twice", commit.range));
        if !done.insert(commit.range.clone()) {
            return Err(twice());
        }
        sum.absorb(&commit.partial)
            .map_err(|e| LedgerError::inconsistent(format!("{id:?}: range {:?}: {e}", commit.range)))
    })?;
    Ok(Folded { done, sum })
}
