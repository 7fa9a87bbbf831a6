//! A small durable key-value store. The only module of the workspace that knows sled.
//!
//! sled 0.34.7 is quick and keeps batches whole, and has traps that users have met; each is answered here:
//!
//! - It takes a snapshot that was left half-written (`*.generating`) for the newest one and then refuses to open
//!   (spacejam/sled#1527): such files go before it opens, under a lock of our own, so that they are nobody's.
//! - It panics on some damaged files: every call is caught, and an error poisons the store.
//! - Damage can also pass unnoticed: every value carries a checksum that includes its key.
//! - Its flush does not always reach the disk (`sync_file_range`): we sync the file ourselves.
//! - What is larger than 128 KiB, a leaf of up to 17 values included, goes to files of its own that are never removed:
//!   larger values are cut into parts of 4 KiB, so that no leaf gets there.
//! - Its lock outlives the last handle by a moment, and does not say who holds it: ours does, and we wait for sled's.

mod error;
mod folder;
#[cfg(feature = "fuzzing")]
pub mod fuzz;
mod layout;
mod scan;

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File},
    io,
    ops::Bound,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        RwLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use self::layout::{PART_BYTES, checksum, head, head_key, part_count, part_key, raw_head, space, split_head};
pub use self::{
    error::{StoreError, is_full},
    folder::{FolderLock, make_folder, sync_folder},
    scan::Scan,
};

/// Upper bound of a key.
pub const MAX_KEY_BYTES: usize = 256;
/// Upper bound of a value.
pub const MAX_VALUE_BYTES: usize = 1 << 20;

/// How long sled may take to let go of a folder that was closed in this process.
const LINGER: Duration = Duration::from_secs(20);
/// Removals that go into one batch.
const REMOVE_AT_ONCE: usize = 4096;

const FINGERPRINT_KEY: &[u8] = &[space::META, b'f'];

/// What a store is for. A store of another purpose or format is refused.
#[derive(Clone, Debug)]
pub struct Purpose {
    /// In words, such as `ledger index`.
    pub name: &'static str,
    /// Version of keys and values.
    pub format: u32,
    /// What a user should do when the store is corrupt or foreign: a sentence or two.
    pub cure: String,
}

impl Purpose {
    fn fingerprint(&self) -> String {
        format!("{}, format {}", self.name, self.format)
    }
}

/// A key and its value.
pub type KeyValue = (Vec<u8>, Vec<u8>);

/// Changes that are made together or not at all. The last change of a key counts.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Batch {
    /// Sets `key` to `value`.
    pub fn put(&mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.changes.push((key.into(), Some(value.into())));
    }

    /// Removes `key`, if it is there.
    pub fn remove(&mut self, key: impl Into<Vec<u8>>) {
        self.changes.push((key.into(), None));
    }

    /// Number of changes.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// An open store. One process at a time has it; threads share it by reference.
pub struct Store {
    dir: PathBuf,
    purpose: Purpose,
    /// `None` only while being dropped.
    db: Option<sled::Db>,
    /// The file that sled writes, to be synced by us.
    log: File,
    /// Whether any value has parts: as long as none has, writing need not look at what it replaces.
    parts: AtomicBool,
    /// Keeps readers from seeing a head and the parts of another one.
    gate: RwLock<()>,
    /// The first error that leaves the state of sled unknown.
    first_error: RwLock<Option<StoreError>>,
    _lock: FolderLock,
}

impl Store {
    /// Name of the lock file in the folder.
    pub const LOCK: &'static str = "nonet.lock";

    /// Opens the store in `dir`, or creates it.
    ///
    /// # Errors
    ///
    /// When another process has it, when the folder cannot be used, when the store is corrupt (with the purpose's cure),
    /// and when it was made for something else.
    pub fn open(dir: &Path, purpose: Purpose) -> Result<Self, StoreError> {
        let lock = FolderLock::take(dir, Self::LOCK)?;
        remove_unfinished_snapshots(dir)?;
        let fresh = !dir.join("db").exists();
        let db = open_sled(dir, &purpose)?;
        let path = dir.join("db");
        let log = File::open(&path).map_err(|e| StoreError::io("open", &path, &e))?;
        let store = Self {
            dir: dir.into(),
            purpose,
            db: Some(db),
            log,
            parts: AtomicBool::new(true),
            gate: RwLock::new(()),
            first_error: RwLock::new(None),
            _lock: lock,
        };
        store.check_fingerprint(fresh)?;
        let any = store.sled(|db| db.scan_prefix([space::PART]).next().transpose())?.is_some();
        store.parts.store(any, Ordering::Relaxed);
        Ok(store)
    }

    /// Where the store lives.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The value of a key.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is not what was written.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let _gate = self.read_gate();
        self.get_ungated(key)
    }

    /// Makes all changes of a batch, or none. Not durable before [`flush_durable`](Self::flush_durable).
    ///
    /// # Errors
    ///
    /// When a key or value is too large (then the store goes on), or sled fails (then it takes nothing more).
    pub fn apply(&self, batch: Batch) -> Result<(), StoreError> {
        let mut large = false;
        for (key, value) in &batch.changes {
            bounded("key", key.len(), MAX_KEY_BYTES)?;
            let bytes = value.as_ref().map_or(0, Vec::len);
            bounded("value", bytes, MAX_VALUE_BYTES)?;
            large |= bytes > PART_BYTES;
        }
        let _gate = self.gate.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut changes = sled::Batch::default();
        if large || self.parts.load(Ordering::Relaxed) {
            // Replaced values may leave parts behind, so look; and look once a key, at what is stored.
            let last: BTreeMap<_, _> = batch.changes.into_iter().collect();
            for (key, value) in last {
                self.stage_with_parts(&mut changes, &key, value.as_deref())?;
            }
            self.parts.store(true, Ordering::Relaxed);
        } else {
            for (key, value) in batch.changes {
                match value {
                    Some(value) => changes.insert(head_key(&key), head(&key, &value)),
                    None => changes.remove(head_key(&key)),
                }
            }
        }
        self.sled(|db| db.apply_batch(changes))
    }

    /// Returns when every change made so far survives a power cut.
    ///
    /// # Errors
    ///
    /// When the medium fails or is full. What is durable is then unknown, and the store takes nothing more.
    pub fn flush_durable(&self) -> Result<(), StoreError> {
        self.sled(|db| db.flush().map(drop))?;
        self.log.sync_data().map_err(|e| self.poison(StoreError::io("sync", self.dir.join("db"), &e)))
    }

    /// All keys that start with `prefix`, ascending, with their values. Sees changes made meanwhile or not.
    pub fn scan_prefix(&self, prefix: &[u8]) -> Scan<'_> {
        self.scan(prefix, prefix)
    }

    /// The keys that start with `prefix` from `from` on, ascending.
    pub fn scan(&self, prefix: &[u8], from: &[u8]) -> Scan<'_> {
        let next = Bound::Included(head_key(from.max(prefix)));
        Scan { store: self, prefix: head_key(prefix), next, page: Vec::new().into_iter(), ended: false }
    }

    /// The largest key that starts with `prefix` and is `key` or less, with its value.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn last_up_to(&self, prefix: &[u8], key: &[u8]) -> Result<Option<KeyValue>, StoreError> {
        let _gate = self.read_gate();
        let range = head_key(prefix)..=head_key(key.max(prefix));
        let Some((found, _)) = self.sled(|db| db.range(range).next_back().transpose())? else {
            return Ok(None);
        };
        let found = found[1..].to_vec();
        let value = self.get_ungated(&found)?;
        Ok(value.map(|value| (found, value)))
    }

    /// The smallest key that starts with `prefix` and is more than `key`.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn first_key_after(&self, prefix: &[u8], key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let range = (Bound::Excluded(head_key(key.max(prefix))), Bound::Unbounded);
        let found = self.sled(|db| db.range::<Vec<u8>, _>(range).keys().next().transpose())?;
        Ok(found.map(|k| k[1..].to_vec()).filter(|k| k.starts_with(prefix)))
    }

    /// Removes all keys that start with `prefix`, in several steps. An interrupted removal is finished by repeating it.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
    pub fn remove_prefix(&self, prefix: &[u8]) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let keys = self.sled(|db| {
                db.scan_prefix(head_key(prefix)).keys().take(REMOVE_AT_ONCE).collect::<sled::Result<Vec<_>>>()
            })?;
            let mut batch = Batch::default();
            for key in &keys {
                batch.remove(&key[1..]);
            }
            if batch.is_empty() {
                return Ok(removed);
            }
            removed += batch.len() as u64;
            self.apply(batch)?;
        }
    }

    /// Removes everything.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
    pub fn clear(&self) -> Result<(), StoreError> {
        self.remove_prefix(&[]).map(drop)
    }

    /// Makes every later call fail.
    #[cfg(test)]
    pub(crate) fn fail_for_test(&self) {
        self.poison(StoreError::Full { dir: self.dir.clone() });
    }

    fn check_fingerprint(&self, fresh: bool) -> Result<(), StoreError> {
        let wanted = self.purpose.fingerprint();
        match self.sled(|db| db.get(FINGERPRINT_KEY))? {
            Some(found) if found == head(FINGERPRINT_KEY, wanted.as_bytes()) => Ok(()),
            Some(found) => {
                let Some((_, found)) = split_head(FINGERPRINT_KEY, &found) else {
                    return Err(self.corrupt("its fingerprint does not read".into()));
                };
                Err(StoreError::Mismatch {
                    dir: self.dir.clone(),
                    found: String::from_utf8_lossy(found).into_owned(),
                    wanted,
                    cure: self.purpose.cure.clone(),
                })
            }
            None if !fresh && self.sled(|db| db.iter().next().transpose())?.is_some() => Err(self.corrupt(
                "it holds data but does not say for what, so nonet did not make it or lost its head".into(),
            )),
            None => {
                let value = head(FINGERPRINT_KEY, wanted.as_bytes());
                self.sled(|db| db.insert(FINGERPRINT_KEY, value).map(drop))?;
                self.flush_durable()?;
                sync_folder(&self.dir)
            }
        }
    }

    fn get_ungated(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(found) = self.sled(|db| db.get(head_key(key)))? else { return Ok(None) };
        let rotten = || self.corrupt(format!("the value of key {} does not match its checksum", hex(key)));
        let (length, first) = raw_head(&found).ok_or_else(rotten)?;
        let mut value = Vec::with_capacity(length);
        value.extend_from_slice(first);
        for part in 0..part_count(length) {
            let bytes = self.sled(|db| db.get(part_key(key, part)))?.ok_or_else(rotten)?;
            value.extend_from_slice(&bytes);
        }
        let intact = value.len() == length && found[1..5] == checksum(key, &value);
        if intact { Ok(Some(value)) } else { Err(rotten()) }
    }

    fn stage_with_parts(
        &self,
        changes: &mut sled::Batch,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        // A head that does not read is replaced like any other; parts it may have had are then left behind.
        let old = self.sled(|db| db.get(head_key(key)))?;
        let old = old.and_then(|h| raw_head(&h).map(|(length, _)| part_count(length))).unwrap_or(0);
        let new = value.map_or(0, |v| part_count(v.len()));
        for part in new..old {
            changes.remove(part_key(key, part));
        }
        match value {
            None => changes.remove(head_key(key)),
            Some(value) => {
                changes.insert(head_key(key), head(key, value));
                for (part, bytes) in (0..).zip(value.chunks(PART_BYTES).skip(1)) {
                    changes.insert(part_key(key, part), bytes);
                }
            }
        }
        Ok(())
    }

    fn read_gate(&self) -> std::sync::RwLockReadGuard<'_, ()> {
        self.gate.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Calls sled; errors and panics poison the store.
    fn sled<T>(&self, work: impl FnOnce(&sled::Db) -> sled::Result<T>) -> Result<T, StoreError> {
        if let Some(first) = &*self.first_error.read().unwrap_or_else(std::sync::PoisonError::into_inner) {
            // A full disk stays a full disk, so that callers need not look into texts.
            let first = first.clone();
            return Err(if first.is_full() {
                first
            } else {
                StoreError::Poisoned { dir: self.dir.clone(), first: first.to_string() }
            });
        }
        let Some(db) = &self.db else { unreachable!("the store is being dropped") };
        caught(&self.dir, &self.purpose, || work(db)).map_err(|e| self.poison(e))
    }

    fn poison(&self, error: StoreError) -> StoreError {
        let mut first = self.first_error.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        first.get_or_insert_with(|| error.clone());
        error
    }

    fn corrupt(&self, what: String) -> StoreError {
        StoreError::Corrupt { dir: self.dir.clone(), what, cure: self.purpose.cure.clone() }
    }
}

impl fmt::Debug for Store {
    /// Without its contents, which is what sled would print.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("dir", &self.dir)
            .field("purpose", &self.purpose)
            .finish_non_exhaustive()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let db = self.db.take();
        // sled flushes when it goes, and may panic on what it could not write; that was reported before.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(db)));
    }
}

/// Removes what a killed process left of a snapshot. Nothing refers to such a file: sled renames it into place when it
/// is complete. Complete snapshots stay, whatever they look like: without one, sled may lose the newest records silently.
fn remove_unfinished_snapshots(dir: &Path) -> Result<(), StoreError> {
    let entries = fs::read_dir(dir).map_err(|e| StoreError::io("read the folder", dir, &e))?;
    for entry in entries {
        let entry = entry.map_err(|e| StoreError::io("read the folder", dir, &e))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && (name.ends_with(".generating") || name.ends_with(".in___motion")) {
            tracing::warn!(file = %entry.path().display(), "removing an unfinished snapshot of a killed process");
            fs::remove_file(entry.path()).map_err(|e| StoreError::io("remove", entry.path(), &e))?;
        }
    }
    Ok(())
}

fn open_sled(dir: &Path, purpose: &Purpose) -> Result<sled::Db, StoreError> {
    let config = sled::Config::new().path(dir).flush_every_ms(None).cache_capacity(64 << 20);
    let deadline = Instant::now() + LINGER;
    loop {
        let mut locked = false;
        let opened = caught(dir, purpose, || {
            config.open().inspect_err(|e| locked = e.to_string().contains("could not acquire lock"))
        });
        // Our own lock is free, so sled's belongs to a handle of this process that is about to go.
        if !locked {
            return opened;
        }
        if Instant::now() > deadline {
            return Err(StoreError::InUse { dir: dir.into(), holder: String::new() });
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Runs something of sled and words what it says, even when it says it by panicking.
fn caught<T>(dir: &Path, purpose: &Purpose, work: impl FnOnce() -> sled::Result<T>) -> Result<T, StoreError> {
    let corrupt = |what| StoreError::Corrupt { dir: dir.into(), what, cure: purpose.cure.clone() };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(sled::Error::Io(e))) if is_damage(&e) => Err(corrupt(e.to_string())),
        Ok(Err(sled::Error::Io(e))) => Err(StoreError::io("use the store in", dir, &e)),
        Ok(Err(e)) => Err(corrupt(e.to_string())),
        Err(panic) => {
            let said = panic.downcast_ref::<&str>().map(ToString::to_string);
            let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            // sled unwraps I/O errors in places; a full disk is no damage.
            if said.contains("StorageFull") || said.contains("No space left") {
                return Err(StoreError::Full { dir: dir.into() });
            }
            Err(corrupt(format!("sled panicked: {said}")))
        }
    }
}

fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof, WriteZero};
    matches!(error.kind(), InvalidData | InvalidInput | Other | UnexpectedEof | WriteZero)
}

fn bounded(what: &'static str, bytes: usize, limit: usize) -> Result<(), StoreError> {
    if bytes > limit { Err(StoreError::TooLarge { what, bytes, limit }) } else { Ok(()) }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |s, b| s + &format!("{b:02x}"))
}

#[cfg(test)]
mod tests;
