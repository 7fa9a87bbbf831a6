//! For `fuzz`: values as they lie in etcd, from any bytes.

use super::layout::{self, Body, Kept, PageRef};
use crate::{
    ledger::{
        Chain, CommitRecord, Entry, LedgerError,
        book::{Account, Book},
        frame,
    },
    scheduler::{JobId, WorkerId},
};

/// A commit, and the workers that stand behind it.
pub type Backed = (CommitRecord, Vec<WorkerId>);

/// The commits of a page whose digest is known.
///
/// # Errors
///
/// When it does not read.
pub fn page(job: JobId, packed: &[u8]) -> Result<Vec<Backed>, LedgerError> {
    let digest = *blake3::hash(packed).as_bytes();
    let reference = PageRef { id: 0, start: 0, len_bytes: 0, commits: 0, digest };
    let kept = layout::decode_page(job, &reference, packed)?;
    Ok(kept.into_iter().map(|Kept { commit, by }| (commit, by)).collect())
}

/// A page of commits.
///
/// # Errors
///
/// When they do not ascend.
pub fn page_of(commits: &[Backed]) -> Result<Vec<u8>, LedgerError> {
    let kept: Vec<_> = commits.iter().cloned().map(|(commit, by)| Kept { commit, by }).collect();
    layout::encode_page(&kept)
}

/// The state of a base, encoded again, and the book that it makes entered with `entries`.
///
/// # Errors
///
/// When it does not read, or the entries contradict it.
pub fn base(packed: &[u8], entries: &[Entry]) -> Result<Vec<u8>, LedgerError> {
    let body = layout::decode_body(packed, blake3::hash(packed).as_bytes())?;
    let again = layout::encode(&body)?;
    let Body { next_order, removed, jobs, workers, acts, .. } = body;
    let mut book = Book::default();
    book.workers = workers.into_iter().map(|known| (known.worker, known)).collect();
    book.load_acts(acts);
    removed.into_iter().for_each(|job| book.load_removed(job, 0));
    for job in jobs {
        book.load(Account { order: job.order, place: None, summary: job.summary, done: None });
    }
    book.skip_orders(next_order);
    book.enter(entries)?;
    Ok(again)
}

/// The entries of a group that follows `previous`, and the chain up to it.
///
/// # Errors
///
/// What is wrong with it.
pub fn group(bytes: &[u8], previous: &Chain) -> Result<(Vec<Entry>, Chain), String> {
    frame::decode_whole(bytes, previous)
}

/// A group that follows `previous`.
///
/// # Errors
///
/// When it is too large.
pub fn group_of(entries: &[Entry], previous: &Chain) -> Result<Vec<u8>, LedgerError> {
    let mut bytes = Vec::new();
    frame::encode(entries, previous, 0, &mut bytes)?;
    Ok(bytes)
}
