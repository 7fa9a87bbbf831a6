//! The thread that owns the ledger: disks are slow, and the engine must not wait for them.
//!
//! Appends are grouped: whatever arrived while the last group was being synced makes the next one. A quiet ledger
//! thus answers in the time of one sync, and a busy one amortises it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread::JoinHandle,
    time::Instant,
};

use jobs::ErasedJob;
use worker::bridge::guarded;

use super::{folded::Folded, recall};
use crate::{
    ledger::{CommitRecord, Entry, Ledger, LedgerError},
    scheduler::{Committed, JobId, Token, WorkerId},
    telemetry::Telemetry,
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
    /// Say so when everything asked before is durable.
    Barrier(After),
    /// What is committed at the start of a range?
    Lookup(Token, JobId, u64),
    /// Add up all commits of a job.
    Fold(JobId, Arc<dyn ErasedJob>),
    /// Withdraw what quarantined workers alone stand behind; the last one is this.
    Sweep(WorkerId),
    /// Choose commits at random.
    Sample(JobId, Sample),
}

/// How commits are chosen.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Share of the work units, in millionths.
    pub share_ppm: u32,
    /// Where the choice begins.
    pub seed: u64,
}

/// What the ledger answers.
pub enum Reply {
    /// These are durable.
    Durable(Vec<After>),
    /// The commit that starts there.
    Found(Token, Option<CommitRecord>),
    /// A job's past.
    Folded(JobId, Result<Folded, FoldError>),
    /// What was withdrawn, after a sweep.
    Swept(WorkerId, Vec<recall::Lost>),
    /// Commits of a job.
    Sampled(JobId, Vec<Committed>),
    /// The ledger does not take this entry, and goes on.
    Refused(After, LedgerError),
    /// The ledger takes nothing more.
    Failed(LedgerError),
}

/// Why a job's commits could not be added up.
pub enum FoldError {
    /// They cannot be read: nothing can be.
    Ledger(LedgerError),
    /// They make no sum: the job's own trouble.
    Job(String),
}

impl From<LedgerError> for FoldError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

/// Entries in a group at most.
const GROUP: usize = 256;
/// So many requests may wait: with results of the largest size they take 128 MiB, and what one batch of inputs asks for comes
/// on top. The engine then takes no more inputs, and goes on with answers. It must not be kept in a call meanwhile: a ledger in
/// etcd needs the runtime that the engine is part of.
const QUEUE: usize = 2048;

/// The engine's end.
pub struct Writer {
    requests: Option<mpsc::Sender<Request>>,
    waiting: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

/// The ledger's end.
struct Queue {
    requests: mpsc::Receiver<Request>,
    waiting: Arc<AtomicUsize>,
}

impl Queue {
    /// The next request, when there is one; none at the end.
    fn next(&self) -> Option<Request> {
        self.taken(self.requests.recv().ok())
    }

    /// The next request, if there is one now.
    fn next_now(&self) -> Option<Request> {
        self.taken(self.requests.try_recv().ok())
    }

    fn taken(&self, request: Option<Request>) -> Option<Request> {
        request.inspect(|_| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        })
    }
}

impl Writer {
    /// Starts the thread. `reply` is called on it.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn start(
        ledger: Box<dyn Ledger>,
        telemetry: Telemetry,
        reply: impl Fn(Reply) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (requests, queue) = mpsc::channel();
        let waiting = Arc::<AtomicUsize>::default();
        let queue = Queue { requests: queue, waiting: Arc::clone(&waiting) };
        let thread = std::thread::Builder::new().name("ledger".into()).spawn(move || {
            if let Err(panic) = guarded(|| serve(ledger, &queue, &telemetry, &reply)) {
                reply(Reply::Failed(LedgerError::inconsistent(format!("the ledger's thread {panic}"))));
            }
        })?;
        Ok(Self { requests: Some(requests), waiting, thread: Some(thread) })
    }

    /// Whether more may be asked for. Where there is no room now, an answer comes when there is some.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < QUEUE
    }

    /// Queues a request. Returns false when the ledger has failed and takes nothing more.
    #[must_use]
    pub fn ask(&self, request: Request) -> bool {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.requests.as_ref().is_some_and(|requests| requests.send(request).is_ok())
    }

    /// Ends: what it gives waits until everything queued is durable, and blocks for it.
    pub fn end(&mut self) -> impl FnOnce() + Send + use<> {
        self.requests = None;
        let thread = self.thread.take();
        move || {
            if thread.is_some_and(|thread| thread.join().is_err()) {
                tracing::error!("the ledger's thread panicked");
            }
        }
    }
}

impl Drop for Writer {
    /// Waits until everything queued is durable.
    fn drop(&mut self) {
        self.end()();
    }
}

fn serve(mut ledger: Box<dyn Ledger>, queue: &Queue, telemetry: &Telemetry, reply: &dyn Fn(Reply)) {
    telemetry.counted.ledger_bytes.set(ledger.len_bytes());
    let mut next = queue.next();
    while let Some(request) = next.take() {
        let done = match request {
            Request::Append(entry, after) => {
                let mut group = vec![(entry, after)];
                while group.len() < GROUP {
                    match queue.next_now() {
                        Some(Request::Append(entry, after)) => group.push((entry, after)),
                        other => {
                            next = other;
                            break;
                        }
                    }
                }
                append(ledger.as_mut(), group, telemetry, reply)
            }
            Request::Barrier(after) => {
                reply(Reply::Durable(vec![after]));
                Ok(())
            }
            Request::Lookup(token, job, start) => {
                ledger.commit_at(job, start).map(|found| reply(Reply::Found(token, found)))
            }
            Request::Fold(id, job) => {
                reply(Reply::Folded(id, recall::fold(ledger.as_ref(), id, job)));
                Ok(())
            }
            Request::Sweep(worker) => {
                recall::sweep(ledger.as_mut(), worker).map(|lost| reply(Reply::Swept(worker, lost)))
            }
            Request::Sample(job, sample) => {
                recall::sample(ledger.as_ref(), job, sample).map(|chosen| reply(Reply::Sampled(job, chosen)))
            }
        };
        if let Err(error) = done {
            return reply(Reply::Failed(error));
        }
        if next.is_none() {
            next = queue.next();
        }
    }
}

fn append(
    ledger: &mut dyn Ledger,
    group: Vec<(Entry, After)>,
    telemetry: &Telemetry,
    reply: &dyn Fn(Reply),
) -> Result<(), LedgerError> {
    let (entries, afters): (Vec<_>, Vec<_>) = group.into_iter().unzip();
    match observed(ledger, &entries, telemetry) {
        Ok(()) => reply(Reply::Durable(afters)),
        Err(error) if error.is_refusal() => {
            // One of them contradicts what is recorded; the others must not suffer for it.
            for (entry, after) in entries.into_iter().zip(afters) {
                match observed(ledger, &[entry], telemetry) {
                    Ok(()) => reply(Reply::Durable(vec![after])),
                    Err(error) if error.is_refusal() => reply(Reply::Refused(after, error)),
                    Err(error) => return Err(error),
                }
            }
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Appends a group, and tells how that went.
fn observed(ledger: &mut dyn Ledger, group: &[Entry], telemetry: &Telemetry) -> Result<(), LedgerError> {
    let (began, began_at) = (Instant::now(), telemetry.traces.now());
    let done = ledger.append(group);
    let counted = &telemetry.counted;
    counted.ledger_append_s.observe(began.elapsed().as_secs_f64());
    #[allow(clippy::cast_precision_loss, reason = "a group is small")]
    counted.ledger_group.observe(group.len() as f64);
    counted.ledger_bytes.set(ledger.len_bytes());
    telemetry.traces.group(began_at, group.len(), done.is_ok());
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::EmbeddedLedger;

    /// With a ledger that waits for whoever asks, asking must not wait for the ledger.
    #[test]
    fn asking_never_waits_and_an_answer_comes_when_there_is_room() {
        let dir = tempfile::tempdir().expect("a folder");
        let ledger = EmbeddedLedger::open(dir.path()).expect("a ledger");
        let (go, gate) = mpsc::channel::<()>();
        let (answered, answers) = mpsc::channel();
        let reply = move |_| {
            // The end of `go` lets everything through.
            let _ = gate.recv();
            answered.send(()).expect("somebody listens");
        };
        let writer = Writer::start(Box::new(ledger), Telemetry::default(), reply).expect("a thread");
        assert!(writer.has_room());
        let asked = QUEUE + 10;
        for i in 0..asked {
            assert!(writer.ask(Request::Barrier(After::Ticket(i as u64))));
        }
        assert!(!writer.has_room());
        let mut heard = 0;
        while !writer.has_room() {
            go.send(()).expect("the ledger lives");
            answers.recv().expect("an answer");
            heard += 1;
        }
        assert!((1..=11).contains(&heard), "{heard}");
        drop(go);
        drop(writer);
        assert_eq!(heard + answers.iter().count(), asked, "what was queued is done at the end");
    }
}
