//! The thread that writes progress, about once a second.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{
    SpoolError,
    changes::Changes,
    record::{PROGRESS, StoredProgress, encode, now_unix_s, progress_key},
};
use crate::store::{Batch, Store};

/// How often progress is written.
const WRITE_EVERY: Duration = Duration::from_secs(1);
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) store: Store,
    pub(super) state: Mutex<State>,
    pub(super) wake: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) results: u64,
    pub(super) bytes: u64,
    pub(super) fresh: Changes,
    /// What the thread is just writing: still the truth for readers.
    pub(super) writing: Arc<Changes>,
    /// Something was removed that need not be durable at once.
    pub(super) unflushed: bool,
    pub(super) closing: bool,
}

impl Inner {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: takes what is new about once a second, and writes it.
    pub(super) fn write_progress(&self) {
        let mut written: Option<Instant> = None;
        let mut failing = false;
        loop {
            let mut state = self.lock();
            loop {
                let idle = state.fresh.is_empty() && !state.unflushed;
                if state.closing {
                    if idle {
                        return;
                    }
                    break;
                }
                let left = written.map_or(Duration::ZERO, |w| WRITE_EVERY.saturating_sub(w.elapsed()));
                if idle {
                    state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                } else if left.is_zero() {
                    break;
                } else {
                    (state, _) = self.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
                }
            }
            let closing = state.closing;
            state.unflushed = false;
            state.writing = Arc::new(std::mem::take(&mut state.fresh));
            let changes = Arc::clone(&state.writing);
            drop(state);

            let result = self.write(&changes);
            written = Some(Instant::now());
            let mut state = self.lock();
            state.writing = Arc::default();
            match result {
                Ok(()) => failing = false,
                Err(error) => {
                    // Once, not once a second.
                    if !failing {
                        tracing::warn!(%error, "progress inside units is kept in memory only");
                    }
                    failing = true;
                    // What was not written stays readable, unless something newer came.
                    let newer = std::mem::replace(&mut state.fresh, Changes::clone(&changes));
                    for job in newer.dropped {
                        state.fresh.drop_job(job);
                    }
                    for (unit, bytes) in newer.units {
                        state.fresh.set(unit, bytes);
                    }
                    if closing {
                        return;
                    }
                }
            }
        }
    }

    fn write(&self, changes: &Changes) -> Result<(), SpoolError> {
        for job in &changes.dropped {
            self.store.remove_prefix(&[&[PROGRESS], &job[..]].concat())?;
        }
        let mut batch = Batch::default();
        for ((job, unit), bytes) in &changes.units {
            let key = progress_key(*job, *unit);
            match bytes {
                Some(bytes) => {
                    let stored = StoredProgress { saved_unix_s: now_unix_s(), bytes };
                    batch.put(key, encode(&self.store, &stored)?);
                }
                None => batch.remove(key),
            }
        }
        self.store.apply(batch)?;
        Ok(self.store.flush_durable()?)
    }
}
