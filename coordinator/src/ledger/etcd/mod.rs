//! The ledger of a cluster, in etcd: it outlives any coordinator, and one of several coordinators writes to it.
//!
//! Only this module knows etcd. `layout.rs` says what is kept where, `election.rs` who may write, `office.rs` how.

mod address;
mod compact;
mod election;
#[cfg(feature = "fuzzing")]
pub mod fuzz;
mod layout;
mod office;
mod ops;
mod read;
mod reading;
mod tail;
mod wire;

use std::{collections::BTreeMap, sync::Arc};

use tokio::runtime::Handle;

pub use self::{
    address::Address,
    compact::{Adding, Bounds, Merging},
    election::{Leader, Term, campaign},
    office::Office,
    reading::EtcdReading,
    wire::Wire,
};
use self::{
    layout::{Base, Directory, HEAD, Head, Identity, Kept, LEDGER, LOG, PageRef},
    office::Step,
    read::{Contents, Reader, genesis},
    tail::{Late, Tail, merged},
};
use super::{
    Act, CommitRecord, EachCommit, Entry, JobSummary, Ledger, LedgerError, Quarantine, book::Book, frame,
};
use crate::scheduler::{JobId, RangeSet, Vote};

/// A group is written in parts of about this size. etcd refuses requests above 1.5 MiB.
const PART_BYTES: usize = 1 << 20;

/// A ledger in etcd, in the hands of the leader.
pub struct EtcdLedger {
    office: Arc<Office>,
    runtime: Handle,
    merging: Merging,
    id: [u8; 16],
    head: Head,
    base: Option<Base>,
    next_page: u64,
    directory: Directory,
    /// Size of all pages.
    pages_bytes: u64,
    book: Book,
    tail: Tail,
    bounds: Bounds,
    /// Jobs of which little could be added up, and the bytes of their pages from which on it is tried again.
    stubborn: BTreeMap<JobId, usize>,
    /// Up to where etcd forgets the past with the next base: readers may be at work with this one.
    past: i64,
    failed: Option<LedgerError>,
}

impl EtcdLedger {
    /// Opens the ledger for the leader, or creates it. Waits for etcd, so it must not be called on an async thread.
    ///
    /// Costs reading all but the finished jobs' commits once.
    ///
    /// # Errors
    ///
    /// When the term is over, when etcd does not answer, and when what it has is not what this program wrote.
    pub fn open(
        office: Arc<Office>,
        merging: Merging,
        bounds: Bounds,
        runtime: Handle,
    ) -> Result<Self, LedgerError> {
        // What was read while another one led may be torn, and says nothing about the ledger.
        let (asked, on) = (Arc::clone(&office), runtime.clone());
        Self::read(office, merging, bounds, runtime).map_err(|error| on.block_on(asked.explain(error)))
    }

    fn read(
        office: Arc<Office>,
        merging: Merging,
        bounds: Bounds,
        runtime: Handle,
    ) -> Result<Self, LedgerError> {
        let reader = Reader { wire: &office.wire, revision: 0 };
        let contents = match runtime.block_on(reader.contents())? {
            Some(contents) => contents,
            None => runtime.block_on(create(&office))?,
        };
        let Contents { id, head, base, next_page, directory, book, groups } = contents;
        let (tail, stubborn, past, failed) = (Tail::default(), BTreeMap::new(), 0, None);
        let mut ledger = Self {
            office,
            runtime,
            merging,
            id,
            head,
            base,
            next_page,
            pages_bytes: size(&directory),
            directory,
            book,
            tail,
            bounds,
            stubborn,
            past,
            failed,
        };
        for (entries, bytes) in groups {
            for entry in &entries {
                ledger.load_done(entry)?;
                ledger.book.enter_one(entry).map_err(|why| layout::damaged("log", &why))?;
                ledger.tail.add(entry);
            }
            ledger.tail.groups += 1;
            ledger.tail.bytes += bytes;
        }
        ledger.sweep()?;
        Ok(ledger)
    }

    fn reader(&self) -> Reader<'_> {
        Reader { wire: &self.office.wire, revision: 0 }
    }

    /// Loads the committed ranges that the book needs for `entry`, if it does not have them yet.
    fn load_done(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        let Some(job) = needs_done(entry, &self.book) else { return Ok(()) };
        let mut done = RangeSet::new();
        self.commits(job, &mut |commit, _| {
            let range = commit.range.clone();
            if !range.is_empty() && done.insert(range.clone()) {
                return Ok(());
            }
            Err(layout::damaged("a page", &format!("{range:?} of {job:?} is there twice")))
        })?;
        if let Some(account) = self.book.account_mut(job) {
            account.done = Some(done);
        }
        Ok(())
    }

    /// A result that differs from a part of what was added up can only be about the whole of it: refused, because whoever
    /// asked for it will ask again, for the sum. While a job has claims nothing of it is added up.
    fn is_exact(&self, entry: &Entry) -> Result<(), LedgerError> {
        let Entry::Claim(CommitRecord { job, range, .. }) = entry else { return Ok(()) };
        let done = self.book.account(*job).and_then(|account| account.done.as_ref());
        if done.is_none_or(|done| !done.contains(range)) {
            return Ok(());
        }
        if self.kept_at(*job, range.start)?.is_some_and(|kept| kept.commit.range == *range) {
            return Ok(());
        }
        Err(LedgerError::Refused(format!("{job:?}: {range:?} is no range that was committed")))
    }

    fn write(&mut self, group: &[Entry]) -> Result<(), LedgerError> {
        // All of it is encoded before the first byte leaves: what does not encode is refused whole.
        let mut parts = Vec::new();
        let mut head = self.head;
        for part in parts_of(group) {
            let mut bytes = Vec::new();
            let (_, chain) = frame::encode(part, &head.chain, 0, &mut bytes)?;
            let next = Head { seq: head.seq + 1, chain };
            parts.push((head, next, bytes));
            head = next;
        }
        for (from, to, bytes) in parts {
            let len = bytes.len();
            let address = &self.office.wire.address;
            let step =
                Step { key: address.key(HEAD), from: Some(layout::encode(&from)?), to: layout::encode(&to)? };
            let log = ops::put(address.key(&layout::numbered(LOG, to.seq)), bytes);
            self.runtime.block_on(self.office.step(&step, vec![log]))?;
            self.head = to;
            self.tail.groups += 1;
            self.tail.bytes += len;
        }
        group.iter().for_each(|entry| self.tail.add(entry));
        Ok(())
    }

    fn page(&self, job: JobId, page: &PageRef) -> Result<Vec<Kept>, LedgerError> {
        let read = async {
            match self.reader().page(job, page).await {
                Err(error) => Err(self.office.explain(error).await),
                read => read,
            }
        };
        self.runtime.block_on(read)
    }

    /// The commit that starts at `start`.
    fn kept_at(&self, job: JobId, start: u64) -> Result<Option<Kept>, LedgerError> {
        if self.book.account(job).is_none() {
            return Ok(None);
        }
        let late = self.tail.commits.get(&(job, start)).map(|late| (start, late));
        if let Some((_, Late::Made(kept))) = late {
            return Ok(Some(kept.clone()));
        }
        let page = self.pages(job).iter().rev().find(|page| page.start <= start);
        let mut page = page.map(|page| self.page(job, page)).transpose()?.unwrap_or_default();
        page.retain(|kept| kept.start() == start);
        Ok(merged(page, late.as_slice()).pop())
    }

    fn pages(&self, job: JobId) -> &[PageRef] {
        self.directory.get(&job).map_or(&[], Vec::as_slice)
    }
}

impl Ledger for EtcdLedger {
    fn append(&mut self, group: &[Entry]) -> Result<(), LedgerError> {
        if group.is_empty() {
            return Ok(());
        }
        if let Some(first) = &self.failed {
            return Err(LedgerError::Poisoned(first.to_string()));
        }
        for entry in group {
            self.load_done(entry)?;
            self.is_exact(entry)?;
        }
        let undo = self.book.enter(group)?;
        let written = self.write(group);
        let done = match written {
            Ok(()) => self.compact_if_due(),
            Err(error) => {
                self.book.take_back(undo);
                Err(error)
            }
        };
        if let Err(error) = &done
            && !error.is_refusal()
        {
            self.failed = Some(error.clone());
        }
        done
    }

    fn jobs(&self) -> Result<Vec<JobSummary>, LedgerError> {
        Ok(self.book.accounts().into_iter().map(|account| account.summary.clone()).collect())
    }

    fn commits(&self, job: JobId, each: &mut EachCommit<'_>) -> Result<(), LedgerError> {
        if self.book.account(job).is_none() {
            return Ok(());
        }
        self.tail.onto(job, self.pages(job), &|page| self.page(job, page), &mut |kept| {
            each(&kept.commit, &kept.by)
        })
    }

    fn commit_at(&self, job: JobId, start: u64) -> Result<Option<CommitRecord>, LedgerError> {
        Ok(self.kept_at(job, start)?.map(|kept| kept.commit))
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
        self.pages_bytes + self.tail.bytes as u64
    }

    fn ledger_id(&self) -> [u8; 16] {
        self.id
    }
}

/// Size of all pages.
fn size(directory: &Directory) -> u64 {
    directory.values().flatten().map(|page| u64::from(page.len_bytes)).sum()
}

/// The job whose committed ranges the book must have before it can judge `entry`, and has not.
fn needs_done(entry: &Entry, book: &Book) -> Option<JobId> {
    let (Entry::Commit(CommitRecord { job, .. })
    | Entry::Confirm { commit: CommitRecord { job, .. }, .. }
    | Entry::Claim(CommitRecord { job, .. })
    | Entry::Withdraw { job, .. }) = entry
    else {
        return None;
    };
    book.account(*job).is_some_and(|account| account.done.is_none()).then_some(*job)
}

/// Parts of a group, of about [`PART_BYTES`] each.
fn parts_of(group: &[Entry]) -> Vec<&[Entry]> {
    let mut parts = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (at, entry) in group.iter().enumerate() {
        let more = postcard::experimental::serialized_size(entry).unwrap_or(frame::MAX_ENTRY_BYTES);
        if bytes > 0 && bytes + more > PART_BYTES {
            parts.push(&group[from..at]);
            (from, bytes) = (at, 0);
        }
        bytes += more;
    }
    parts.push(&group[from..]);
    parts
}

/// Makes an empty ledger.
async fn create(office: &Office) -> Result<Contents, LedgerError> {
    let id = *uuid::Uuid::new_v4().as_bytes();
    let head = Head { seq: 0, chain: genesis(&id) };
    let identity = Identity { format: layout::FORMAT, id: uuid::Uuid::from_bytes(id).to_string() };
    let to = serde_json::to_vec(&identity).map_err(|e| LedgerError::inconsistent(e.to_string()))?;
    let address = &office.wire.address;
    let step = Step { key: address.key(LEDGER), from: None, to };
    let first = ops::put(address.key(HEAD), layout::encode(&head)?);
    office.step(&step, vec![first]).await?;
    tracing::info!("a new ledger in {address}");
    let (directory, book, groups) = (Directory::new(), Book::default(), Vec::new());
    Ok(Contents { id, head, base: None, next_page: 0, directory, book, groups })
}
