//! The jobs of a ledger that another process may have open.

use std::path::Path;

use super::{JobSummary, LedgerError, book::Book, journal::Frames};

/// The jobs of a ledger that are not removed, in the order of submission, as its journal has them. Needs no lock.
///
/// # Errors
///
/// When the journal does not read, or contradicts itself.
pub fn summaries(dir: &Path) -> Result<Vec<JobSummary>, LedgerError> {
    let mut frames = Frames::open(dir)?;
    let mut book = Book::default();
    while let Some(frame) = frames.next_frame()? {
        for (_, entry) in &frame.entries {
            book.enter_one(entry).map_err(LedgerError::Inconsistent)?;
        }
    }
    Ok(book.accounts().into_iter().map(|account| account.summary.clone()).collect())
}
