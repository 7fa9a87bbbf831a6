//! What can go wrong with a ledger, in words that say where and what to do.

use std::{
    io,
    path::{Path, PathBuf},
};

use worker::store::{StoreError, is_full};

/// Why the ledger could not be opened, read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The group contradicts what is recorded. Nothing of it was written, and the ledger goes on.
    #[error("refused by the ledger: {0}")]
    Refused(String),
    /// The index, or a folder.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The medium is full. Nothing of the group counts, and the ledger takes nothing more.
    #[error(
        "no space left on the disk of {}; everything acknowledged is safe. Free some space and run the same command \
         again, it resumes",
        .dir.display()
    )]
    Full {
        /// The state folder.
        dir: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {doing} {}: {reason}", .path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// In the system's words.
        reason: String,
    },
    /// The journal does not read, and not because of an interrupted write at its end.
    #[error("the journal {} is damaged at byte {offset}: {what}. {cure}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damage begins; everything before it is intact.
        offset: u64,
        /// What was found.
        what: String,
        /// What to do.
        cure: String,
    },
    /// Not a journal, or one of another format.
    #[error("{} is no journal that this program reads: {what}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// Store and journal contradict each other.
    #[error("store and journal in {} do not belong together: {what}. {cure}", .dir.display())]
    Apart {
        /// The state folder.
        dir: PathBuf,
        /// In which way.
        what: String,
        /// What to do.
        cure: String,
    },
    /// Another coordinator leads now. Nothing of the group counts, unless it was written before.
    #[error("this coordinator does not lead any more")]
    Deposed,
    /// The ledger is elsewhere, and does not answer or does not do what it is asked.
    #[error("the ledger in {etcd}: {reason}")]
    Remote {
        /// Its address.
        etcd: String,
        /// In its words.
        reason: String,
    },
    /// An earlier error left the end of the ledger unknown; opening it again tells.
    #[error("the ledger takes nothing more since an earlier error: {0}")]
    Poisoned(String),
    /// What is recorded makes no sense to whoever reads it; also for closures passed to [`super::Ledger::commits`].
    #[error("{0}")]
    Inconsistent(String),
}

impl LedgerError {
    /// Whether freeing space and running the same command again helps.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. }) || matches!(self, Self::Store(e) if e.is_full())
    }

    /// Whether another process holds the ledger.
    pub fn is_in_use(&self) -> bool {
        matches!(self, Self::Store(e) if e.is_in_use())
    }

    /// Whether the ledger goes on as if nothing had been asked.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// What is recorded makes no sense to the caller, in its words.
    pub fn inconsistent(what: impl Into<String>) -> Self {
        Self::Inconsistent(what.into())
    }

    pub(super) fn io(doing: &'static str, path: &Path, error: &io::Error) -> Self {
        if is_full(error) {
            return Self::Full { dir: path.parent().unwrap_or(path).into() };
        }
        Self::Io { doing, path: path.into(), reason: error.to_string() }
    }
}
