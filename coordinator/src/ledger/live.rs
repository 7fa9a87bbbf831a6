//! Which commits of a journal count: those that were not withdrawn later.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{CommitRecord, Entry, Frames, LedgerError};
use crate::scheduler::{JobId, WorkerId};

/// Where in the journal ranges were withdrawn.
#[derive(Debug, Default)]
pub struct Withdrawals(BTreeMap<(JobId, u64), BTreeSet<u64>>);

impl Withdrawals {
    /// Reads the journal of the ledger in `dir`. Needs no lock.
    ///
    /// # Errors
    ///
    /// When the journal does not read.
    pub fn read(dir: &Path) -> Result<Self, LedgerError> {
        let (mut frames, mut withdrawals) = (Frames::open(dir)?, Self::default());
        while let Some(frame) = frames.next_frame()? {
            for (place, entry) in &frame.entries {
                withdrawals.note(place.offset, entry);
            }
        }
        Ok(withdrawals)
    }

    /// Takes an entry in.
    pub(super) fn note(&mut self, offset: u64, entry: &Entry) {
        if let Entry::Withdraw { job, range } = entry {
            self.0.entry((*job, range.start)).or_default().insert(offset);
        }
    }

    /// The commit that an entry at `offset` of the journal makes, and who stands behind it, if it counts. Two commits of
    /// the same start have a withdrawal between them, so one that has any behind it does not.
    pub fn counts<'a>(&self, offset: u64, entry: &'a Entry) -> Option<(&'a CommitRecord, &'a [WorkerId])> {
        let (commit, by) = match entry {
            Entry::Commit(commit) => (commit, std::slice::from_ref(&commit.worker)),
            Entry::Confirm { commit, by } => (commit, by.as_slice()),
            _ => return None,
        };
        let later = self.0.get(&(commit.job, commit.range.start));
        let withdrawn = later.is_some_and(|offsets| offsets.range(offset..).next().is_some());
        (!withdrawn).then_some((commit, by))
    }
}
