//! The worker's checkpoint: results that nobody has acknowledged yet, progress inside units, and who the worker is.
//!
//! Results are durable when [`Spool::put_all`] returns. Progress is worth less: the newest is kept in memory at once, and
//! a thread of its own writes it about once a second. Everything here blocks; async callers go through their runtime's
//! blocking pool.
//!
//! A spool that fails costs work, never correctness: what it held is computed again.

mod changes;
#[cfg(feature = "fuzzing")]
pub mod fuzz;
mod record;
mod writer;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Range,
    path::Path,
    sync::{Arc, Condvar, Mutex},
    thread::JoinHandle,
};

pub use self::record::{SpoolKey, SpooledCommit};
use self::{
    changes::Known,
    record::{
        PROGRESS, RESULT, Stored, StoredProgress, decode, encode, now_unix_s, progress_key, result_key,
        size_of_result, unreadable,
    },
    writer::{Inner, State},
};
use crate::store::{Batch, MAX_VALUE_BYTES, Purpose, Store, StoreError};

/// Bytes of results that are kept at most.
pub const MAX_PENDING_BYTES: u64 = 256 << 20;
/// Number of results that are kept at most.
pub const MAX_PENDING: u64 = 1_000_000;
/// Upper bound of the progress of one unit.
pub const MAX_PROGRESS_BYTES: usize = MAX_VALUE_BYTES - 64;
/// Bytes of progress that wait in memory at most.
const MAX_UNWRITTEN_BYTES: usize = 64 << 20;
/// Progress of units that nobody asked for again.
const STALE_SECONDS: u64 = 30 * 24 * 3600;
const FORMAT: u32 = 1;

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

/// The worker's checkpoint in a folder.
#[derive(Debug)]
pub struct Spool {
    inner: Arc<Inner>,
    worker: [u8; 16],
    thread: Option<JoinHandle<()>>,
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
            SpooledCommit::read(&self.inner.store, &key, &value)
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
            *ledgers.entry(SpooledCommit::read(&self.inner.store, &key, &value)?.ledger).or_default() += 1;
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

#[cfg(test)]
mod tests;
