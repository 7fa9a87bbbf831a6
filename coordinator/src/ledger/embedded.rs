//! The ledger of one machine: a journal, and an index over it in sled.
//!
//! ```text
//! DIR/lock              held by the process that has the ledger open
//! DIR/journal           the truth
//! DIR/journal.torn-N    what an interrupted write had left at byte N, cut off and kept
//! DIR/store/            the index; can be made anew from the journal at any time
//! DIR/store.bad-TIME/   an index that a rebuild replaced
//! ```

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use worker::store::{FolderLock, Purpose, Store, StoreError};

use super::{
    Act, CommitRecord, EachCommit, Entry, JobSummary, Ledger, LedgerError, Position,
    book::{Book, Undo},
    doubts::Quarantine,
    index::{self, Change, Watermark},
    indexer::Indexer,
    journal::{self, Frames, JOURNAL, Journal, Nearby},
    pages::{self, CommitEntry},
};
use crate::scheduler::{JobId, Vote, WorkerId};

/// Name of the lock file in the state folder.
pub(super) const LOCK: &str = "lock";
/// Name of the index in the state folder.
pub(super) const STORE: &str = "store";

/// Journals up to this size are read whole at every opening, so that rot is met early; of longer ones, the part that
/// the index does not know yet. `nonet ledger check` reads all of any.
const READ_WHOLE_BYTES: u64 = 128 << 20;
/// Changes that are made together while the journal is read.
const REPLAY_AT_ONCE: usize = 4096;
/// Changes after which reading makes the index durable, so that an interrupted one goes on from there.
const REPLAY_FLUSH: usize = 1 << 18;

/// A journal and its index in a folder.
#[derive(Debug)]
pub struct EmbeddedLedger {
    dir: PathBuf,
    // Before the store: its thread ends first.
    indexer: Indexer,
    journal: Journal,
    store: Arc<Store>,
    book: Book,
    failed: Option<LedgerError>,
    _lock: FolderLock,
}

impl EmbeddedLedger {
    /// Opens the ledger in `dir`, or creates it. Brings an index that is behind the journal, or missing, up to date.
    ///
    /// # Errors
    ///
    /// When another process has it, when journal or index are damaged or do not belong together, and whatever the
    /// system says; each says what to do.
    pub fn open(dir: &Path) -> Result<Self, LedgerError> {
        let lock = FolderLock::take(dir, LOCK)?;
        Self::open_locked(dir, lock, &mut |_, _| {})
    }

    /// `progress` is told how many bytes of the journal are read, and of how many.
    pub(super) fn open_locked(
        dir: &Path,
        lock: FolderLock,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, LedgerError> {
        let has_journal = exists(&dir.join(JOURNAL))?;
        let has_store = exists(&dir.join(STORE).join("db"))?;
        if has_store && !has_journal {
            return Err(LedgerError::Apart {
                dir: dir.into(),
                what: "there is a store and no journal, and the journal is what counts".into(),
                cure: format!(
                    "Put `{JOURNAL}` back where it was; or, to begin with an empty ledger, remove {}",
                    dir.join(STORE).display()
                ),
            });
        }
        if !has_journal {
            Journal::create(dir)?;
        } else if !has_store {
            tracing::warn!(dir = %dir.display(), "the ledger's index is missing: making it anew from the journal");
        }
        let store = Store::open(&dir.join(STORE), purpose(dir))?;
        let mut frames = Frames::open(dir)?;
        let watermark = index::watermark(&store)?;
        catch_up(&mut frames, watermark.as_ref(), dir)?;
        if watermark.is_none() {
            // Whatever is there is no index yet.
            store.clear()?;
        }
        let from = frames.position();
        let mut book = index::load(&store, &|place| frames.read(place))?;
        let mut replay = Replay { store: &store, ledger: frames.id(), changes: Vec::new(), unflushed: 0 };
        while let Some(frame) = frames.next_frame()? {
            for (place, entry) in &frame.entries {
                index::load_done(&store, &mut book, entry)?;
                let undo = book
                    .enter_one(entry)
                    .map_err(|why| journal::damaged(&dir.join(JOURNAL), place.offset, why))?;
                index::changes(&mut book, (entry, &undo), *place, &mut replay.changes)?;
            }
            progress(frame.position.end, frames.size());
            replay.step(frame.position)?;
        }
        let end = frames.position();
        if end != from || watermark.is_none() {
            tracing::info!(bytes = end.end - from.end, "read the end of the journal into the index");
            replay.finish(end)?;
        }
        let journal = Journal::open(frames)?;
        let store = Arc::new(store);
        let indexer =
            Indexer::start(Arc::clone(&store)).map_err(|e| LedgerError::io("start a thread for", dir, &e))?;
        Ok(Self { dir: dir.into(), indexer, journal, store, book, failed: None, _lock: lock })
    }

    /// Where the ledger lives.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Reads a commit that the index has found, and who stands behind it.
    fn commit(
        journal: &mut Nearby<'_>,
        job: JobId,
        found: CommitEntry,
    ) -> Result<(CommitRecord, Vec<WorkerId>), LedgerError> {
        let (commit, by) = match journal.read(found.place)? {
            Entry::Commit(commit) => {
                let by = vec![commit.worker];
                (commit, by)
            }
            Entry::Confirm { commit, by } => (commit, by),
            _ => return Err(index::astray(job, found.place)),
        };
        if commit.job == job && commit.range == (found.start..found.end) {
            Ok((commit, by))
        } else {
            Err(index::astray(job, found.place))
        }
    }

    fn write(&mut self, group: &[Entry], undo: &[Undo]) -> Result<(), LedgerError> {
        let places = self.journal.append(group)?;
        let mut changes = Vec::with_capacity(group.len());
        for (step, place) in group.iter().zip(undo).zip(places) {
            index::changes(&mut self.book, step, place, &mut changes)?;
        }
        let watermark = Watermark { ledger: self.journal.id(), position: self.journal.position() };
        self.indexer.push(changes, watermark)
    }
}

impl Ledger for EmbeddedLedger {
    fn append(&mut self, group: &[Entry]) -> Result<(), LedgerError> {
        if group.is_empty() {
            return Ok(());
        }
        if let Some(first) = &self.failed {
            // A full disk keeps its own words: they say what to do.
            let first = first.clone();
            return Err(if first.is_full() { first } else { LedgerError::Poisoned(first.to_string()) });
        }
        if let Some(error) = self.indexer.error() {
            self.failed = Some(error.clone());
            return Err(error);
        }
        for entry in group {
            index::load_done(&self.store, &mut self.book, entry)?;
        }
        let undo = self.book.enter(group)?;
        let written = self.write(group, &undo);
        if let Err(error) = &written {
            self.book.take_back(undo);
            if !error.is_refusal() {
                self.failed = Some(error.clone());
            }
        }
        written
    }

    fn jobs(&self) -> Result<Vec<JobSummary>, LedgerError> {
        Ok(self.book.accounts().into_iter().map(|a| a.summary.clone()).collect())
    }

    fn commits(&self, job: JobId, each: &mut EachCommit<'_>) -> Result<(), LedgerError> {
        self.indexer.settle()?;
        let mut journal = self.journal.nearby();
        for found in pages::commits(&self.store, job) {
            let (commit, by) = Self::commit(&mut journal, job, found?)?;
            each(&commit, &by)?;
        }
        Ok(())
    }

    fn commit_at(&self, job: JobId, start: u64) -> Result<Option<CommitRecord>, LedgerError> {
        self.indexer.settle()?;
        let found = pages::commit_at(&self.store, job, start)?;
        found.map(|found| Ok(Self::commit(&mut self.journal.nearby(), job, found)?.0)).transpose()
    }

    fn claims(&self, job: JobId) -> Result<Vec<Vote>, LedgerError> {
        Ok(self.book.account(job).map_or(Vec::new(), |account| account.summary.claims.clone()))
    }

    fn quarantined(&self) -> Result<Vec<Quarantine>, LedgerError> {
        Ok(self.book.workers.values().cloned().collect())
    }

    fn acts(&self) -> Result<Vec<Act>, LedgerError> {
        Ok(self.book.acts())
    }

    fn len_bytes(&self) -> u64 {
        self.journal.position().end
    }

    fn ledger_id(&self) -> [u8; 16] {
        self.journal.id()
    }
}

/// Brings what is read of the journal into the index.
struct Replay<'a> {
    store: &'a Store,
    ledger: [u8; 16],
    changes: Vec<Change>,
    unflushed: usize,
}

impl Replay<'_> {
    /// Called behind every frame.
    fn step(&mut self, position: Position) -> Result<(), LedgerError> {
        if self.changes.len() >= REPLAY_AT_ONCE {
            self.apply(position)?;
        }
        if self.unflushed >= REPLAY_FLUSH {
            self.store.flush_durable()?;
            self.unflushed = 0;
        }
        Ok(())
    }

    fn finish(&mut self, position: Position) -> Result<(), LedgerError> {
        self.apply(position)?;
        Ok(self.store.flush_durable()?)
    }

    fn apply(&mut self, position: Position) -> Result<(), LedgerError> {
        self.unflushed += self.changes.len() + 1;
        let watermark = Watermark { ledger: self.ledger, position };
        index::apply(self.store, std::mem::take(&mut self.changes), &watermark)
    }
}

/// Moves `frames` to the end of what the index knows, or tells that this index is not of this journal.
pub(super) fn catch_up(
    frames: &mut Frames,
    watermark: Option<&Watermark>,
    dir: &Path,
) -> Result<(), LedgerError> {
    let Some(Watermark { ledger, position }) = watermark else { return Ok(()) };
    let apart = |what: String| {
        let cure = format!(
            "If the journal is the right one, run `nonet ledger rebuild --state {}`, which makes the store from it; \
             if it was cut or replaced, put the right one back",
            dir.display()
        );
        Err(LedgerError::Apart { dir: dir.into(), what, cure })
    };
    if *ledger != frames.id() {
        return apart("they carry different ledger ids".into());
    }
    if position.end > frames.size() {
        let size = frames.size();
        return apart(format!("the store knows {} bytes of the journal, which has {size}", position.end));
    }
    let agree = if frames.size() <= READ_WHOLE_BYTES {
        while frames.position().end < position.end && frames.next_frame()?.is_some() {}
        frames.position() == *position
    } else {
        frames.skip_to(*position)?
    };
    if agree {
        return Ok(());
    }
    let tail = frames.tail().map(|t| format!(": {} at byte {}", t.why, t.offset)).unwrap_or_default();
    apart(format!("at byte {} the journal is not what the store was made from{tail}", position.end))
}

pub(super) fn purpose(dir: &Path) -> Purpose {
    Purpose {
        name: "ledger index",
        format: index::FORMAT,
        cure: format!(
            "It is only an index, and the journal beside it has everything: run `nonet ledger rebuild --state {}`",
            dir.display()
        ),
    }
}

fn exists(path: &Path) -> Result<bool, LedgerError> {
    path.try_exists().map_err(|e| StoreError::io("look for", path, &e).into())
}
