//! Reading a ledger that another process may have open.

use std::path::{Path, PathBuf};

use super::{
    Act, CommitRecord, JobSummary, LedgerError, Quarantine, book::Book, journal::Frames, live::Withdrawals,
};
use crate::scheduler::{Committed, JobId, WorkerId};

/// What can be read of a ledger without having it.
pub trait Reading {
    /// The number that names the ledger.
    fn ledger_id(&self) -> [u8; 16];

    /// Every job that is not removed, in the order of submission.
    ///
    /// # Errors
    ///
    /// When the ledger does not read, or contradicts itself.
    fn jobs(&self) -> Result<Vec<JobSummary>, LedgerError>;

    /// The newest acts, oldest first.
    ///
    /// # Errors
    ///
    /// As [`Reading::jobs`].
    fn acts(&self) -> Result<Vec<Act>, LedgerError>;

    /// Workers whose results are not believed, ascending.
    ///
    /// # Errors
    ///
    /// As [`Reading::jobs`].
    fn quarantined(&self) -> Result<Vec<Quarantine>, LedgerError>;

    /// Calls `each` with every commit of a job that counts and the workers that stand behind it, in whatever order they are
    /// kept.
    ///
    /// # Errors
    ///
    /// When the ledger does not read, or `each` fails.
    fn commits(&self, job: JobId, each: &mut EachCommit<'_>) -> Result<(), LedgerError>;
}

/// What is done with a commit and the workers that stand behind it.
pub type EachCommit<'a> = dyn FnMut(&CommitRecord, &[WorkerId]) -> Result<(), LedgerError> + 'a;

/// The commits of a job that count. Some 100 bytes of memory each.
///
/// # Errors
///
/// As [`Reading::commits`].
pub fn committed(ledger: &dyn Reading, job: JobId) -> Result<Vec<Committed>, LedgerError> {
    let mut all = Vec::new();
    ledger.commits(job, &mut |commit, by| {
        all.push(Committed { range: commit.range.clone(), digest: commit.digest, by: by.to_vec() });
        Ok(())
    })?;
    Ok(all)
}

/// A journal. Each question reads it once, that for commits twice.
#[derive(Debug)]
pub struct JournalReading {
    dir: PathBuf,
    id: [u8; 16],
}

impl JournalReading {
    /// The journal in `dir`.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn open(dir: &Path) -> Result<Self, LedgerError> {
        Ok(Self { dir: dir.into(), id: Frames::open(dir)?.id() })
    }

    fn book(&self) -> Result<Book, LedgerError> {
        let mut frames = Frames::open(&self.dir)?;
        let mut book = Book::default();
        while let Some(frame) = frames.next_frame()? {
            for (_, entry) in &frame.entries {
                book.enter_one(entry).map_err(LedgerError::Inconsistent)?;
            }
        }
        Ok(book)
    }
}

impl Reading for JournalReading {
    fn ledger_id(&self) -> [u8; 16] {
        self.id
    }

    fn jobs(&self) -> Result<Vec<JobSummary>, LedgerError> {
        Ok(self.book()?.accounts().into_iter().map(|account| account.summary.clone()).collect())
    }

    fn acts(&self) -> Result<Vec<Act>, LedgerError> {
        Ok(self.book()?.acts())
    }

    fn quarantined(&self) -> Result<Vec<Quarantine>, LedgerError> {
        Ok(self.book()?.workers.into_values().collect())
    }

    fn commits(&self, job: JobId, each: &mut EachCommit<'_>) -> Result<(), LedgerError> {
        let withdrawals = Withdrawals::read(&self.dir)?;
        let mut frames = Frames::open(&self.dir)?;
        while let Some(frame) = frames.next_frame()? {
            for (place, entry) in &frame.entries {
                if let Some((commit, by)) = withdrawals.counts(place.offset, entry)
                    && commit.job == job
                {
                    each(commit, by)?;
                }
            }
        }
        Ok(())
    }
}
