//! For `fuzz`: values as they lie in etcd, from any bytes.

use super::layout::{self, Body, PageRef};
use crate::{
    ledger::{
        Chain, CommitRecord, Entry, LedgerError,
        book::{Account, Book},
        frame,
    },
    scheduler::JobId,
};

/// The commits of a page whose digest is known.
///
/// # Errors
///
/// When it does not read.
pub fn page(job: JobId, packed: &[u8]) -> Result<Vec<CommitRecord>, LedgerError> {
    let digest = *blake3::hash(packed).as_bytes();
    let reference = PageRef { id: 0, start: 0, len_bytes: 0, commits: 0, digest };
    layout::decode_page(job, &reference, packed)
}

/// A page of commits.
///
/// # Errors
///
/// When they do not ascend.
pub fn page_of(commits: &[CommitRecord]) -> Result<Vec<u8>, LedgerError> {
    layout::encode_page(commits)
}

/// The state of a base, encoded again, and the book that it makes entered with `entries`.
///
/// # Errors
///
/// When it does not read, or the entries contradict it.
pub fn base(packed: &[u8], entries: &[Entry]) -> Result<Vec<u8>, LedgerError> {
    let body = layout::decode_body(packed, blake3::hash(packed).as_bytes())?;
    let again = layout::encode(&body)?;
    let Body { next_order, removed, jobs, .. } = body;
    let mut book = Book::default();
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
