//! The worker's checkpoint: results that nobody has acknowledged yet, progress inside units, and who the worker is.
//!
//! Results are durable when [`Spool::put_all`] returns. Progress is worth less: the newest is kept in memory at once, and
//! a thread of its own writes it about once a second. Everything here blocks; async callers go through their runtime's
//! blocking pool.
//!
//! A spool that fails costs work, never correctness: what it held is computed again.

mod changes;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Range,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use self::changes::{Changes, Known};
use crate::store::{Batch, MAX_VALUE_BYTES, Purpose, Store, StoreError};

/// Bytes of results that are kept at most.
pub const MAX_PENDING_BYTES: u64 = 256 << 20;
/// Number of results that are kept at most.
pub const MAX_PENDING: u64 = 1_000_000;
/// Upper bound of the progress of one unit.
pub const MAX_PROGRESS_BYTES: usize = MAX_VALUE_BYTES - 64;
/// Bytes of progress that wait in memory at most.
const MAX_UNWRITTEN_BYTES: usize = 64 << 20;
/// How often progress is written.
const WRITE_EVERY: Duration = Duration::from_secs(1);
/// Progress of units that nobody asked for again.
const STALE_SECONDS: u64 = 30 * 24 * 3600;
const FORMAT: u32 = 1;

const RESULT: u8 = b'r';
const PROGRESS: u8 = b'p';
const IDENTITY: &[u8] = b"i";

/// A job's id.
pub type Job = [u8; 16];
type UnitKey = (Job, u64);

/// Why the spool did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpoolError {
    /// The store beneath.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Too much is waiting for a coordinator.
    #[error(
        "{results} results of {bytes} bytes wait for a coordinator in {dir}; no more are kept until some are delivered"
    )]
    Full {
        /// Results that wait.
        results: u64,
        /// Their size.
        bytes: u64,
        /// The folder.
        dir: String,
    },
    /// What was read is not what this program writes.
    #[error(
        "{what} in the worker's store {dir} does not read: {why}. Stop the worker and move the folder aside: the coordinator hands out again what was in it"
    )]
    Unreadable {
        /// What it is.
        what: &'static str,
        /// The folder.
        dir: String,
        /// In words.
        why: String,
    },
    /// More progress than is kept.
    #[error("progress of {bytes} bytes exceeds the limit of {limit}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
}

/// A result that is computed and not yet acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpooledCommit {
    /// The ledger whose coordinator handed the work out.
    pub ledger: [u8; 16],
    /// The run.
    pub job: Job,
    /// What is covered.
    pub range: Range<u64>,
    /// blake3 of the partial.
    pub digest: [u8; 32],
    /// The partial, encoded by the kind.
    pub partial: Vec<u8>,
    /// Computing time in microseconds.
    pub busy_us: u64,
}

/// Names a [`SpooledCommit`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpoolKey {
    /// The ledger.
    pub ledger: [u8; 16],
    /// The run.
    pub job: Job,
    /// What is covered.
    pub range: Range<u64>,
}

impl SpooledCommit {
    /// Its name.
    pub fn key(&self) -> SpoolKey {
        SpoolKey { ledger: self.ledger, job: self.job, range: self.range.clone() }
    }

    fn size(&self) -> u64 {
        size_of_result(self.partial.len())
    }
}

/// As it is stored; the rest is in the key.
#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    digest: [u8; 32],
    #[serde(borrow)]
    partial: &'a [u8],
    busy_us: u64,
}

#[derive(Serialize, Deserialize)]
struct StoredProgress<'a> {
    saved_unix_s: u64,
    #[serde(borrow)]
    bytes: &'a [u8],
}

/// The worker's checkpoint in a folder.
#[derive(Debug)]
pub struct Spool {
    inner: Arc<Inner>,
    worker: [u8; 16],
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Inner {
    store: Store,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct State {
    results: u64,
    bytes: u64,
    fresh: Changes,
    /// What the thread is just writing: still the truth for readers.
    writing: Arc<Changes>,
    /// Something was removed that need not be durable at once.
    unflushed: bool,
    closing: bool,
}

impl Spool {
    /// Opens the spool in `dir`, or creates it with a new identity.
    ///
    /// # Errors
    ///
    /// When another process has it, or it cannot be read; says what to do.
    pub fn open(dir: &Path) -> Result<Self, SpoolError> {
        let cure = format!(
            "The worker can do without it: stop the worker and move {} aside; the coordinator hands out again what was in it",
            dir.display()
        );
        let store = Store::open(dir, Purpose { name: "worker checkpoint", format: FORMAT, cure })?;
        let worker = identity(&store)?;
        forget_stale(&store)?;
        let mut state = State::default();
        for item in store.scan_prefix(&[RESULT]) {
            let stored = item?.1;
            state.results += 1;
            state.bytes += size_of_result(decode::<Stored<'_>>(&store, "a result", &stored)?.partial.len());
        }
        let inner = Arc::new(Inner { store, state: Mutex::new(state), wake: Condvar::new() });
        let own = Arc::clone(&inner);
        let thread = std::thread::Builder::new()
            .name("spool".into())
            .spawn(move || own.write_progress())
            .map_err(|e: io::Error| StoreError::io("start a thread for", dir, &e))?;
        Ok(Self { inner, worker, thread: Some(thread) })
    }

    /// The worker's id: random, the same as long as the folder lives.
    pub fn worker_id(&self) -> [u8; 16] {
        self.worker
    }

    /// Number of results that wait, for all ledgers, and their bytes.
    pub fn waiting(&self) -> (u64, u64) {
        let state = self.inner.lock();
        (state.results, state.bytes)
    }

    /// Keeps results, all or none; returns when they survive a power cut. Keeping one a second time replaces it.
    ///
    /// # Errors
    ///
    /// When too many wait, or the disk is full or fails. The caller still has them in memory.
    pub fn put_all(&self, commits: &[SpooledCommit]) -> Result<(), SpoolError> {
        let store = &self.inner.store;
        let mut batch = Batch::default();
        let mut new = BTreeMap::new();
        for commit in commits {
            let Range { start, end } = commit.range;
            let key = result_key(commit.ledger, commit.job, start, end);
            let stored = Stored { digest: commit.digest, partial: &commit.partial, busy_us: commit.busy_us };
            new.insert(key.clone(), commit.size());
            batch.put(key, encode(store, &stored)?);
        }
        {
            // Held while writing: replaced and removed results must not be counted twice.
            let mut state = self.inner.lock();
            let (mut results, mut bytes) = (state.results, state.bytes);
            for (key, size) in &new {
                match store.get(key)? {
                    None => results += 1,
                    Some(old) => bytes -= self.result_size(&old)?.min(bytes),
                }
                bytes += size;
            }
            if bytes > MAX_PENDING_BYTES || results > MAX_PENDING {
                let dir = store.dir().display().to_string();
                return Err(SpoolError::Full { results: state.results, bytes: state.bytes, dir });
            }
            store.apply(batch)?;
            (state.results, state.bytes) = (results, bytes);
        }
        Ok(store.flush_durable()?)
    }

    /// Forgets results that were acknowledged, or that nobody wants. Becomes durable a little later: one that comes back
    /// after a power cut is delivered again and recognised.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn remove(&self, keys: &[SpoolKey]) -> Result<(), SpoolError> {
        let keys = keys.iter().map(|k| result_key(k.ledger, k.job, k.range.start, k.range.end));
        self.remove_results(keys.collect())
    }

    /// The results for a ledger, ascending by job and range. What is put or removed meanwhile may show or not.
    pub fn pending(&self, ledger: [u8; 16]) -> impl Iterator<Item = Result<SpooledCommit, SpoolError>> + '_ {
        self.inner.store.scan_prefix(&[&[RESULT], &ledger[..]].concat()).map(|item| {
            let (key, value) = item?;
            self.result(&key, &value)
        })
    }

    /// The ledgers for which results wait, and how many.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn ledgers(&self) -> Result<BTreeMap<[u8; 16], u64>, SpoolError> {
        let mut ledgers = BTreeMap::new();
        for item in self.inner.store.scan_prefix(&[RESULT]) {
            let (key, value) = item?;
            *ledgers.entry(self.result(&key, &value)?.ledger).or_default() += 1;
        }
        Ok(ledgers)
    }

    /// Forgets all results for a ledger. Returns how many.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn forget_ledger(&self, ledger: [u8; 16]) -> Result<u64, SpoolError> {
        let mut keys = Vec::new();
        for item in self.inner.store.scan_prefix(&[&[RESULT], &ledger[..]].concat()) {
            keys.push(item?.0);
        }
        let count = keys.len() as u64;
        self.remove_results(keys)?;
        Ok(count)
    }

    /// Keeps the newest progress inside a unit: readable at once, on disk within about a second.
    ///
    /// # Errors
    ///
    /// When it is larger than [`MAX_PROGRESS_BYTES`], or too much waits to be written because the disk is full or fails.
    pub fn save(&self, job: Job, unit: u64, progress: Vec<u8>) -> Result<(), SpoolError> {
        let bytes = progress.len();
        if bytes > MAX_PROGRESS_BYTES {
            return Err(SpoolError::TooLarge { bytes, limit: MAX_PROGRESS_BYTES });
        }
        let mut state = self.inner.lock();
        if state.fresh.bytes + bytes > MAX_UNWRITTEN_BYTES {
            return Err(SpoolError::TooLarge {
                bytes: state.fresh.bytes + bytes,
                limit: MAX_UNWRITTEN_BYTES,
            });
        }
        state.fresh.set((job, unit), Some(progress.into()));
        drop(state);
        self.inner.wake.notify_one();
        Ok(())
    }

    /// The newest progress of a unit.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn load(&self, job: Job, unit: u64) -> Result<Option<Vec<u8>>, SpoolError> {
        let key = (job, unit);
        {
            let state = self.inner.lock();
            for changes in [&state.fresh, &*state.writing] {
                match changes.get(&key) {
                    Known::Saved(bytes) => return Ok(Some(bytes.to_vec())),
                    Known::Dropped => return Ok(None),
                    Known::Nothing => {}
                }
            }
        }
        let store = &self.inner.store;
        let Some(stored) = store.get(&progress_key(job, unit))? else { return Ok(None) };
        Ok(Some(decode::<StoredProgress<'_>>(store, "progress", &stored)?.bytes.to_vec()))
    }

    /// Forgets the progress of a unit: it is finished.
    pub fn drop_unit(&self, job: Job, unit: u64) {
        self.inner.lock().fresh.set((job, unit), None);
        self.inner.wake.notify_one();
    }

    /// Forgets the progress of all units of a job. Its results stay: they are removed when they are answered.
    pub fn drop_job(&self, job: Job) {
        self.inner.lock().fresh.drop_job(job);
        self.inner.wake.notify_one();
    }

    fn remove_results(&self, keys: Vec<Vec<u8>>) -> Result<(), SpoolError> {
        let store = &self.inner.store;
        let mut state = self.inner.lock();
        let mut batch = Batch::default();
        let (mut results, mut bytes) = (state.results, state.bytes);
        for key in keys.into_iter().collect::<BTreeSet<_>>() {
            if let Some(old) = store.get(&key)? {
                results = results.saturating_sub(1);
                bytes = bytes.saturating_sub(self.result_size(&old)?);
                batch.remove(key);
            }
        }
        store.apply(batch)?;
        (state.results, state.bytes, state.unflushed) = (results, bytes, true);
        drop(state);
        self.inner.wake.notify_one();
        Ok(())
    }

    fn result_size(&self, stored: &[u8]) -> Result<u64, SpoolError> {
        let stored: Stored<'_> = decode(&self.inner.store, "a result", stored)?;
        Ok(size_of_result(stored.partial.len()))
    }

    fn result(&self, key: &[u8], value: &[u8]) -> Result<SpooledCommit, SpoolError> {
        let store = &self.inner.store;
        let field = |at: usize| key.get(at..at + 16).and_then(|k| <[u8; 16]>::try_from(k).ok());
        let number = |at: usize| key.get(at..at + 8).and_then(|k| k.try_into().ok()).map(u64::from_be_bytes);
        let (Some(ledger), Some(job), Some(start), Some(end)) = (field(1), field(17), number(33), number(41))
        else {
            return Err(unreadable(store, "the key of a result", &"it is too short"));
        };
        let Stored { digest, partial, busy_us } = decode(store, "a result", value)?;
        Ok(SpooledCommit { ledger, job, range: start..end, digest, partial: partial.to_vec(), busy_us })
    }
}

impl Drop for Spool {
    /// Writes what is left to write.
    fn drop(&mut self) {
        self.inner.lock().closing = true;
        self.inner.wake.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the spool's thread panicked");
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: takes what is new about once a second, and writes it.
    fn write_progress(&self) {
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

fn identity(store: &Store) -> Result<[u8; 16], SpoolError> {
    if let Some(found) = store.get(IDENTITY)? {
        return found.try_into().map_err(|_| unreadable(store, "the worker's id", &"it has not 16 bytes"));
    }
    let id = uuid::Uuid::new_v4().into_bytes();
    let mut batch = Batch::default();
    batch.put(IDENTITY, id);
    store.apply(batch)?;
    store.flush_durable()?;
    Ok(id)
}

/// Progress of jobs that were removed while this worker was away would stay for ever.
fn forget_stale(store: &Store) -> Result<(), SpoolError> {
    let mut batch = Batch::default();
    let now = now_unix_s();
    for item in store.scan_prefix(&[PROGRESS]) {
        let (key, value) = item?;
        let saved = decode::<StoredProgress<'_>>(store, "progress", &value)?.saved_unix_s;
        if now.saturating_sub(saved) > STALE_SECONDS {
            batch.remove(key);
        }
    }
    Ok(store.apply(batch)?)
}

fn result_key(ledger: [u8; 16], job: Job, start: u64, end: u64) -> Vec<u8> {
    [&[RESULT], &ledger[..], &job[..], &start.to_be_bytes(), &end.to_be_bytes()].concat()
}

fn progress_key(job: Job, unit: u64) -> Vec<u8> {
    [&[PROGRESS], &job[..], &unit.to_be_bytes()].concat()
}

/// With what key and record around it take.
fn size_of_result(partial: usize) -> u64 {
    partial as u64 + 128
}

fn now_unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

fn encode(store: &Store, value: &impl Serialize) -> Result<Vec<u8>, SpoolError> {
    postcard::to_stdvec(value).map_err(|e| unreadable(store, "a value", &e))
}

fn decode<'a, T: Deserialize<'a>>(
    store: &Store,
    what: &'static str,
    bytes: &'a [u8],
) -> Result<T, SpoolError> {
    postcard::from_bytes(bytes).map_err(|e| unreadable(store, what, &e))
}

fn unreadable(store: &Store, what: &'static str, why: &dyn std::fmt::Display) -> SpoolError {
    SpoolError::Unreadable { what, dir: store.dir().display().to_string(), why: why.to_string() }
}

#[cfg(test)]
mod tests;
