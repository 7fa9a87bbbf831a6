//! For `fuzz`: a ledger in memory, which refuses what every ledger refuses.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Act, CommitRecord, EachCommit, Entry, JobSummary, Ledger, LedgerError, Quarantine, book::Book};
use crate::scheduler::{JobId, WorkerId};

/// All that was entered. Clones are of the same ledger.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<Entered>>);

#[derive(Debug, Default)]
struct Entered {
    book: Book,
    /// Commits that count, and who stands behind them.
    kept: BTreeMap<(JobId, u64), (CommitRecord, Vec<WorkerId>)>,
    refused: Vec<Entry>,
}

impl Memory {
    fn entered(&self) -> MutexGuard<'_, Entered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was not taken. A group is refused whole, and its entries may have been offered again.
    pub fn refused(&self) -> Vec<Entry> {
        self.entered().refused.clone()
    }
}

impl Ledger for Memory {
    fn append(&mut self, group: &[Entry]) -> Result<(), LedgerError> {
        let Entered { book, kept, refused } = &mut *self.entered();
        if let Err(error) = book.enter(group) {
            if let [entry] = group {
                refused.push(entry.clone());
            }
            return Err(error);
        }
        for entry in group {
            match entry {
                Entry::Commit(commit) => {
                    let by = vec![commit.worker];
                    kept.insert((commit.job, commit.range.start), (commit.clone(), by));
                }
                Entry::Confirm { commit, by } => {
                    kept.insert((commit.job, commit.range.start), (commit.clone(), by.clone()));
                }
                Entry::Withdraw { job, range } => drop(kept.remove(&(*job, range.start))),
                _ => {}
            }
        }
        Ok(())
    }

    fn jobs(&self) -> Result<Vec<JobSummary>, LedgerError> {
        Ok(self.entered().book.accounts().into_iter().map(|account| account.summary.clone()).collect())
    }

    fn commits(&self, job: JobId, each: &mut EachCommit<'_>) -> Result<(), LedgerError> {
        // `each` may ask for more.
        let kept: Vec<_> = self.entered().kept.values().cloned().collect();
        kept.iter().filter(|(commit, _)| commit.job == job).try_for_each(|(commit, by)| each(commit, by))
    }

    fn commit_at(&self, job: JobId, start: u64) -> Result<Option<CommitRecord>, LedgerError> {
        Ok(self.entered().kept.get(&(job, start)).map(|(commit, _)| commit.clone()))
    }

    fn acts(&self) -> Result<Vec<Act>, LedgerError> {
        Ok(self.entered().book.acts())
    }

    fn quarantined(&self) -> Result<Vec<Quarantine>, LedgerError> {
        Ok(self.entered().book.workers.values().cloned().collect())
    }

    fn len_bytes(&self) -> u64 {
        0
    }

    fn ledger_id(&self) -> [u8; 16] {
        [1; 16]
    }
}
