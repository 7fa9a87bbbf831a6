//! The index over the journal: what of it lives in the store, under which keys.
//!
//! ```text
//! w                      the end of the journal up to which the index is complete, and whose journal it is
//! j job                  order of submission, place of the record, state
//! c job start            a page of commits: those from `start` on, up to the next page; see `pages.rs`
//! f job offset           place of the failure          offsets are those of the entry: they keep the journal's order
//! q job offset           unit given up
//! x job offset           place of the refused second result
//! a offset               place of the act
//! v job start worker     a claim
//! r job                  replicas, and how many units were withdrawn; missing for most jobs
//! b worker               a quarantined worker
//! n job                  what the job's workers must have; missing for most jobs
//! ```
//!
//! All numbers in keys are big-endian, so that keys sort by them. Values are small: what they point to stays in the
//! journal, so a commit is written once, and nothing of the index ever outgrows a leaf of the store.

use std::ops::Range;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use worker::store::{Batch, Store};

use super::{
    ACTS_KEPT, Act, CommitRecord, Entry, JobState, LedgerError, Place, Position,
    book::{Account, Book, Undo},
    doubts::Quarantine,
    pages::{self, CommitEntry, PageChange},
};
use crate::scheduler::{JobId, RangeSet, Vote, WorkerId};

pub(super) const FORMAT: u32 = 1;

const WATERMARK: &[u8] = b"w";
const JOB: u8 = b'j';
pub(super) const COMMIT: u8 = b'c';
const FAILURE: u8 = b'f';
const QUARANTINE: u8 = b'q';
const CONFLICT: u8 = b'x';
const ACT: u8 = b'a';
const VOTE: u8 = b'v';
const DOUBTS: u8 = b'r';
const WORKER: u8 = b'b';
const REQUIREMENTS: u8 = b'n';

/// Up to where the index is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Watermark {
    pub ledger: [u8; 16],
    pub position: Position,
}

/// A job in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JobEntry {
    pub order: u64,
    pub place: Place,
    pub state: JobState,
    pub state_unix_ms: u64,
}

/// A change of the index.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Put(Vec<u8>, Vec<u8>),
    Commit(JobId, PageChange),
    /// Remove all keys with a prefix; few.
    Forget(Vec<u8>),
    /// Remove all that belongs to a removed job.
    Gone(JobId),
}

/// What an entry that was just entered into `book`, and can be undone by `undo`, changes in the index.
pub(super) fn changes(
    book: &mut Book,
    (entry, undo): (&Entry, &Undo),
    place: Place,
    into: &mut Vec<Change>,
) -> Result<(), LedgerError> {
    votes(undo, into)?;
    match entry {
        Entry::Job(record) => {
            // It is gone when the same group removes it; the removal then writes its tombstone.
            if let Some(account) = book.account_mut(record.id) {
                account.place = Some(place);
                into.push(put_job(account)?);
            } else {
                let state = JobState::Removed;
                let gone = JobEntry { order: 0, place, state, state_unix_ms: record.created_unix_ms };
                into.push(Change::Put(key(JOB, record.id), encode(&gone)?));
            }
        }
        Entry::Commit(commit) | Entry::Confirm { commit, .. } => {
            let Range { start, end } = commit.range;
            into.push(Change::Commit(commit.job, PageChange::Add(CommitEntry { start, end, place })));
        }
        Entry::Replicas { job, .. } | Entry::Withdraw { job, .. } => into.extend(put_doubts(book, *job)?),
        Entry::Requirements { job, requirements } => {
            into.push(Change::Put(key(REQUIREMENTS, *job), encode(requirements)?));
        }
        Entry::Claim(_) => {}
        Entry::WorkerQuarantined(Quarantine { worker, .. })
        | Entry::WorkerSwept { worker }
        | Entry::WorkerReadmitted { worker, .. } => into.push(match book.workers.get(worker) {
            Some(quarantine) => Change::Put(worker_key(*worker), encode(quarantine)?),
            None => Change::Forget(worker_key(*worker)),
        }),
        Entry::State { job, state: JobState::Removed, at_unix_ms } => {
            into.push(Change::Gone(*job));
            let state = JobState::Removed;
            let gone = JobEntry { order: 0, place, state, state_unix_ms: *at_unix_ms };
            into.push(Change::Put(key(JOB, *job), encode(&gone)?));
        }
        Entry::State { job, .. } => {
            if let Some(account) = book.account(*job) {
                into.push(put_job(account)?);
            }
        }
        Entry::Failure { job, .. } => {
            into.push(Change::Put(numbered(FAILURE, *job, place.offset), encode(&place)?));
        }
        Entry::Quarantine { job, unit } => {
            into.push(Change::Put(numbered(QUARANTINE, *job, place.offset), encode(unit)?));
        }
        Entry::Retry { job } => {
            into.extend([FAILURE, QUARANTINE].map(|space| Change::Forget(key(space, *job))));
        }
        Entry::Conflict(commit) => {
            into.push(Change::Put(numbered(CONFLICT, commit.job, place.offset), encode(&place)?));
        }
        Entry::Act(_) => into.push(Change::Put(act_key(place.offset), encode(&place)?)),
    }
    Ok(())
}

/// The claims that an entry has added and displaced, and the commits that it has withdrawn.
fn votes(undo: &Undo, into: &mut Vec<Change>) -> Result<(), LedgerError> {
    match undo {
        Undo::All(steps) => steps.iter().try_for_each(|step| votes(step, into))?,
        Undo::Votes(job, displaced, added) => {
            into.extend(displaced.iter().map(|vote| Change::Forget(vote_key(*job, vote))));
            if let Some(vote) = added {
                into.push(Change::Put(vote_key(*job, vote), encode(vote)?));
            }
        }
        Undo::Withdrawn((job, range)) => {
            into.push(Change::Commit(*job, PageChange::Remove(range.start)));
        }
        _ => {}
    }
    Ok(())
}

/// Makes changes, in order and together with the watermark: the index is never ahead of it, so reading the journal from
/// there on repeats nothing.
pub(super) fn apply(store: &Store, changes: Vec<Change>, watermark: &Watermark) -> Result<(), LedgerError> {
    let mut gone = Vec::new();
    let mut staged = Vec::with_capacity(changes.len());
    let mut commits = Vec::with_capacity(changes.len());
    for change in changes {
        match change {
            Change::Put(key, value) => staged.push((key, Some(value))),
            Change::Forget(prefix) => {
                staged.iter_mut().filter(|(key, _)| key.starts_with(&prefix)).for_each(|(_, v)| *v = None);
                for item in store.scan_prefix(&prefix) {
                    staged.push((item?.0, None));
                }
            }
            Change::Commit(job, commit) => commits.push((job, commit)),
            Change::Gone(job) => gone.push(job),
        }
    }
    pages::stage(store, commits, &mut staged)?;
    let mut batch = Batch::default();
    for (key, value) in staged {
        match value {
            Some(value) => batch.put(key, value),
            None => batch.remove(key),
        }
    }
    batch.put(WATERMARK, encode(watermark)?);
    store.apply(batch)?;
    // Millions of keys perhaps, so not in one batch. Nobody asks for them any more, and ids are not used twice: what an
    // interruption leaves is swept at the next opening.
    gone.into_iter().try_for_each(|job| sweep(store, job))
}

/// Removes what belonged to a removed job.
fn sweep(store: &Store, job: JobId) -> Result<(), LedgerError> {
    for space in [COMMIT, FAILURE, QUARANTINE, CONFLICT, VOTE, DOUBTS, REQUIREMENTS] {
        store.remove_prefix(&key(space, job))?;
    }
    Ok(())
}

/// The watermark, if the index has one.
pub(super) fn watermark(store: &Store) -> Result<Option<Watermark>, LedgerError> {
    store.get(WATERMARK)?.map(|v| decode(&v)).transpose()
}

/// The book as the index has it. Committed ranges are not loaded.
pub(super) fn load(store: &Store, read: Read<'_>) -> Result<Book, LedgerError> {
    let mut book = Book::default();
    for item in store.scan_prefix(&[JOB]) {
        let (key, value) = item?;
        let job = key.get(1..).and_then(|k| k.try_into().ok()).map(JobId);
        let job = job.ok_or_else(|| LedgerError::inconsistent("the index holds a key that is no job"))?;
        let JobEntry { order, place, state, state_unix_ms } = decode(&value)?;
        if state == JobState::Removed {
            book.load_removed(job, order);
            sweep(store, job)?;
            continue;
        }
        let Entry::Job(record) = read(place)? else { return Err(astray(job, place)) };
        if record.id != job {
            return Err(astray(job, place));
        }
        let summary = super::JobSummary { state, state_unix_ms, ..super::JobSummary::submitted(record) };
        let mut account = Account { order, place: Some(place), summary, done: None };
        load_marks(store, read, &mut account)?;
        book.load(account);
    }
    book.load_acts(acts(store, read)?);
    for item in store.scan_prefix(&[WORKER]) {
        let quarantine: Quarantine = decode(&item?.1)?;
        book.workers.insert(quarantine.worker, quarantine);
    }
    Ok(book)
}

fn load_marks(store: &Store, read: Read<'_>, account: &mut Account) -> Result<(), LedgerError> {
    let summary = &mut account.summary;
    let id = summary.record.id;
    for item in store.scan_prefix(&key(FAILURE, id)) {
        let place = decode(&item?.1)?;
        match read(place)? {
            Entry::Failure { job, unit, worker, error } if job == id => {
                summary.failures.push((unit, worker, error));
            }
            _ => return Err(astray(id, place)),
        }
    }
    for item in store.scan_prefix(&key(QUARANTINE, id)) {
        let unit = decode(&item?.1)?;
        // The journal may say it twice.
        if !summary.quarantined.contains(&unit) {
            summary.quarantined.push(unit);
        }
    }
    if let Some(doubts) = store.get(&key(DOUBTS, id))? {
        (summary.replicas, summary.withdrawn_units) = decode(&doubts)?;
    }
    if let Some(requirements) = store.get(&key(REQUIREMENTS, id))? {
        summary.requirements = decode(&requirements)?;
    }
    for item in store.scan_prefix(&key(VOTE, id)) {
        summary.claims.push(decode(&item?.1)?);
    }
    for item in store.scan_prefix(&key(CONFLICT, id)) {
        let place = decode(&item?.1)?;
        match read(place)? {
            Entry::Conflict(commit) if commit.job == id => summary.conflicts.push(commit),
            _ => return Err(astray(id, place)),
        }
    }
    Ok(())
}

/// The last acts, oldest first.
fn acts(store: &Store, read: Read<'_>) -> Result<Vec<Act>, LedgerError> {
    let (mut acts, mut up_to) = (Vec::new(), act_key(u64::MAX));
    while acts.len() < ACTS_KEPT
        && let Some((_, value)) = store.last_up_to(&[ACT], &up_to)?
    {
        let place: Place = decode(&value)?;
        let Entry::Act(act) = read(place)? else {
            return Err(LedgerError::inconsistent(format!(
                "the index points to byte {} of the journal for an act, where something else stands; run `nonet ledger \
                 rebuild`",
                place.offset
            )));
        };
        acts.push(act);
        up_to = act_key(place.offset.saturating_sub(1));
    }
    acts.reverse();
    Ok(acts)
}

fn act_key(offset: u64) -> Vec<u8> {
    [&[ACT], &offset.to_be_bytes()[..]].concat()
}

/// Reads one entry of the journal.
pub(super) type Read<'a> = &'a dyn Fn(Place) -> Result<Entry, LedgerError>;

/// Loads the committed ranges of the job that `entry` commits to, if the book does not have them yet. The index is
/// complete for such a job: nothing was committed to it since the book was loaded.
pub(super) fn load_done(store: &Store, book: &mut Book, entry: &Entry) -> Result<(), LedgerError> {
    let (Entry::Commit(CommitRecord { job, .. })
    | Entry::Confirm { commit: CommitRecord { job, .. }, .. }
    | Entry::Withdraw { job, .. }) = entry
    else {
        return Ok(());
    };
    let Some(account) = book.account_mut(*job).filter(|a| a.done.is_none()) else { return Ok(()) };
    let mut done = RangeSet::new();
    for item in pages::commits(store, *job) {
        let found = item?;
        let fits = found.start < found.end && done.insert(found.start..found.end);
        if !fits {
            return Err(astray(*job, found.place));
        }
    }
    account.done = Some(done);
    Ok(())
}

/// An entry of the journal is not what the index says.
pub(super) fn astray(job: JobId, place: Place) -> LedgerError {
    LedgerError::inconsistent(format!(
        "the index points to byte {} of the journal for {job:?}, where something else stands; run `nonet ledger rebuild`",
        place.offset
    ))
}

fn put_job(account: &Account) -> Result<Change, LedgerError> {
    let (order, summary) = (account.order, &account.summary);
    let place = account.place.ok_or_else(|| LedgerError::inconsistent("a job without a place"))?;
    let entry = JobEntry { order, place, state: summary.state, state_unix_ms: summary.state_unix_ms };
    Ok(Change::Put(key(JOB, summary.record.id), encode(&entry)?))
}

fn put_doubts(book: &Book, job: JobId) -> Result<Option<Change>, LedgerError> {
    let Some(account) = book.account(job) else { return Ok(None) };
    let doubts = (account.summary.replicas, account.summary.withdrawn_units);
    Ok(Some(Change::Put(key(DOUBTS, job), encode(&doubts)?)))
}

fn vote_key(job: JobId, vote: &Vote) -> Vec<u8> {
    [&numbered(VOTE, job, vote.range.start)[..], &vote.worker.0].concat()
}

fn worker_key(worker: WorkerId) -> Vec<u8> {
    [&[WORKER], &worker.0[..]].concat()
}

pub(super) fn key(space: u8, job: JobId) -> Vec<u8> {
    [&[space], &job.0[..]].concat()
}

pub(super) fn numbered(space: u8, job: JobId, number: u64) -> Vec<u8> {
    [&[space], &job.0[..], &number.to_be_bytes()].concat()
}

pub(super) fn encode(value: &impl Serialize) -> Result<Vec<u8>, LedgerError> {
    postcard::to_stdvec(value)
        .map_err(|e| LedgerError::inconsistent(format!("an index value does not encode: {e}")))
}

pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, LedgerError> {
    postcard::from_bytes(bytes).map_err(|e| {
        LedgerError::inconsistent(format!("an index value does not decode: {e}; run `nonet ledger rebuild`"))
    })
}
