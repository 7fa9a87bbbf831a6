//! The thread that keeps the index up.
//!
//! A group counts as soon as the journal holds it. The index follows a moment later: sled takes two to three times as
//! long as the journal, and now and then stalls. What the index has not yet, or not durably, is read again from the
//! journal at the next opening, from the index's watermark on.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use worker::store::Store;

use super::{
    LedgerError,
    index::{self, Change, Watermark},
};

/// Changes that wait before appending does: what keeps memory bounded when the index cannot follow.
const WAITING_MAX: usize = 1 << 16;
/// Changes that are made together.
const AT_ONCE: usize = 4096;
/// How far the durable index may be behind: what the next opening reads again.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
const FLUSH_CHANGES: usize = 1 << 16;
/// How long a few changes wait for more: many small groups then cost the index as little as one large one.
const GATHER: Duration = Duration::from_millis(50);
/// How long the index may take for one step before it is given up. sled can wait for ever for a thread that died.
const STUCK: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(super) struct Indexer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Something to do.
    work: Condvar,
    /// Something done.
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<(Vec<Change>, Watermark)>,
    /// Changes in the queue and in work.
    waiting: usize,
    /// Steps done, to tell slow from stuck.
    steps: u64,
    error: Option<LedgerError>,
    /// Somebody waits for the index.
    urgent: bool,
    closing: bool,
    ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Indexer {
    pub fn start(store: Arc<Store>) -> io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), work: Condvar::new(), done: Condvar::new() });
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("ledger-index".into()).spawn(move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&own, &store)));
            let mut state = own.lock();
            match result {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::error!(%error, "the ledger's index failed; the journal has everything acknowledged");
                    state.error = Some(error);
                }
                Err(_) => state.error = Some(LedgerError::inconsistent("the thread of the index panicked")),
            }
            state.ended = true;
            own.done.notify_all();
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// The error that ended the index, if one did.
    pub fn error(&self) -> Option<LedgerError> {
        self.shared.lock().error.clone()
    }

    /// Queues changes; waits while too many do.
    pub fn push(&self, changes: Vec<Change>, watermark: Watermark) -> Result<(), LedgerError> {
        let mut state = self.wait(|s| s.waiting < WAITING_MAX)?;
        // A group without changes still moves the watermark.
        state.waiting += changes.len() + 1;
        state.queue.push_back((changes, watermark));
        drop(state);
        self.shared.work.notify_one();
        Ok(())
    }

    /// Waits until the index has everything that was pushed. Not necessarily durably.
    pub fn settle(&self) -> Result<(), LedgerError> {
        let mut state = self.shared.lock();
        state.urgent = state.waiting > 0;
        drop(state);
        self.shared.work.notify_one();
        self.wait(|s| s.waiting == 0).map(drop)
    }

    fn wait(&self, ready: impl Fn(&State) -> bool) -> Result<MutexGuard<'_, State>, LedgerError> {
        let mut state = self.shared.lock();
        let mut seen = (state.steps, Instant::now());
        loop {
            if let Some(error) = &state.error {
                return Err(error.clone());
            }
            if ready(&state) {
                return Ok(state);
            }
            if state.steps != seen.0 {
                seen = (state.steps, Instant::now());
            } else if seen.1.elapsed() > STUCK {
                let error = LedgerError::inconsistent(
                    "the ledger's index does not answer; the journal has everything acknowledged: start again",
                );
                state.error = Some(error.clone());
                return Err(error);
            }
            let (next, _) =
                self.shared.done.wait_timeout(state, STUCK / 8).unwrap_or_else(PoisonError::into_inner);
            state = next;
        }
    }
}

impl Drop for Indexer {
    /// Finishes the queue and makes it durable, unless the index is stuck: then the next opening does it.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closing = true;
        self.shared.work.notify_one();
        let mut seen = (state.steps, Instant::now());
        while !state.ended && seen.1.elapsed() < STUCK {
            let (next, _) =
                self.shared.done.wait_timeout(state, STUCK / 8).unwrap_or_else(PoisonError::into_inner);
            state = next;
            if state.steps != seen.0 {
                seen = (state.steps, Instant::now());
            }
        }
        let ended = state.ended;
        drop(state);
        if let Some(thread) = self.thread.take().filter(|_| ended) {
            // Its panics were caught.
            let _ = thread.join();
        }
    }
}

fn run(shared: &Shared, store: &Store) -> Result<(), LedgerError> {
    let mut unflushed = 0;
    let mut flushed = Instant::now();
    loop {
        let mut state = shared.lock();
        while state.queue.is_empty() && !state.closing {
            if unflushed == 0 {
                state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                flushed = Instant::now();
            } else {
                let Some(left) = FLUSH_EVERY.checked_sub(flushed.elapsed()).filter(|l| !l.is_zero()) else {
                    break;
                };
                (state, _) = shared.work.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let gathered = Instant::now() + GATHER;
        while !state.queue.is_empty() && state.waiting < AT_ONCE && !state.closing && !state.urgent {
            let left = gathered.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (state, _) = shared.work.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        let closing = state.closing && state.queue.is_empty();
        let (mut changes, mut last, mut taken) = (Vec::new(), None, 0);
        while taken < AT_ONCE
            && let Some((more, watermark)) = state.queue.pop_front()
        {
            taken += more.len() + 1;
            changes.extend(more);
            last = Some(watermark);
        }
        drop(state);

        if let Some(watermark) = last {
            index::apply(store, changes, &watermark)?;
            unflushed += taken;
        }
        if unflushed > 0 && (closing || unflushed >= FLUSH_CHANGES || flushed.elapsed() >= FLUSH_EVERY) {
            store.flush_durable()?;
            unflushed = 0;
            flushed = Instant::now();
        }
        let mut state = shared.lock();
        state.waiting -= taken;
        state.urgent &= state.waiting > 0;
        state.steps += 1;
        drop(state);
        shared.done.notify_all();
        if closing {
            return Ok(());
        }
    }
}
