//! Reading a ledger that another process may have open.

use std::path::{Path, PathBuf};

use super::{Act, CommitRecord, Entry, JobSummary, LedgerError, book::Book, journal::Frames};
use crate::scheduler::JobId;

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

    /// Calls `each` with every commit of a job, in whatever order they are kept.
    ///
    /// # Errors
    ///
    /// When the ledger does not read, or `each` fails.
    fn commits(
        &self,
        job: JobId,
        each: &mut dyn FnMut(CommitRecord) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError>;
}

/// A journal. Each question reads it once.
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

    fn commits(
        &self,
        job: JobId,
        each: &mut dyn FnMut(CommitRecord) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let mut frames = Frames::open(&self.dir)?;
        while let Some(frame) = frames.next_frame()? {
            for (_, entry) in frame.entries {
                if let Entry::Commit(commit) = entry
                    && commit.job == job
                {
                    each(commit)?;
                }
            }
        }
        Ok(())
    }
}
