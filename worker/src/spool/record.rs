//! What the spool keeps, as it is stored: results by ledger, run and range, progress by run and unit.

use std::{
    ops::Range,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use super::{Job, SpoolError};
use crate::store::Store;

pub(super) const RESULT: u8 = b'r';
pub(super) const PROGRESS: u8 = b'p';

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

    pub(super) fn size(&self) -> u64 {
        size_of_result(self.partial.len())
    }

    /// From key and value.
    pub(super) fn read(store: &Store, key: &[u8], value: &[u8]) -> Result<Self, SpoolError> {
        let field = |at: usize| key.get(at..at + 16).and_then(|k| <[u8; 16]>::try_from(k).ok());
        let number = |at: usize| key.get(at..at + 8).and_then(|k| k.try_into().ok()).map(u64::from_be_bytes);
        let (Some(ledger), Some(job), Some(start), Some(end)) = (field(1), field(17), number(33), number(41))
        else {
            return Err(unreadable(store, "the key of a result", &"it is too short"));
        };
        let Stored { digest, partial, busy_us } = decode(store, "a result", value)?;
        Ok(Self { ledger, job, range: start..end, digest, partial: partial.to_vec(), busy_us })
    }
}

/// As it is stored; the rest is in the key.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored<'a> {
    pub(super) digest: [u8; 32],
    #[serde(borrow)]
    pub(super) partial: &'a [u8],
    pub(super) busy_us: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredProgress<'a> {
    pub(super) saved_unix_s: u64,
    #[serde(borrow)]
    pub(super) bytes: &'a [u8],
}

pub(super) fn result_key(ledger: [u8; 16], job: Job, start: u64, end: u64) -> Vec<u8> {
    [&[RESULT], &ledger[..], &job[..], &start.to_be_bytes(), &end.to_be_bytes()].concat()
}

pub(super) fn progress_key(job: Job, unit: u64) -> Vec<u8> {
    [&[PROGRESS], &job[..], &unit.to_be_bytes()].concat()
}

/// With what key and record around it take.
pub(super) fn size_of_result(partial: usize) -> u64 {
    partial as u64 + 128
}

pub(super) fn now_unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

pub(super) fn encode(store: &Store, value: &impl Serialize) -> Result<Vec<u8>, SpoolError> {
    postcard::to_stdvec(value).map_err(|e| unreadable(store, "a value", &e))
}

pub(super) fn decode<'a, T: Deserialize<'a>>(
    store: &Store,
    what: &'static str,
    bytes: &'a [u8],
) -> Result<T, SpoolError> {
    postcard::from_bytes(bytes).map_err(|e| unreadable(store, what, &e))
}

pub(super) fn unreadable(store: &Store, what: &'static str, why: &dyn std::fmt::Display) -> SpoolError {
    SpoolError::Unreadable { what, dir: store.dir().display().to_string(), why: why.to_string() }
}
