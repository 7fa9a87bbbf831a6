//! What can go wrong with a folder that keeps something, in words that say where and what to do.

use std::{io, path::PathBuf};

/// Why a store could not be opened, read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Something that is no folder stands where the folder should be.
    #[error("{} is a file where a folder is needed; move it away or name another folder", .path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// A live process holds the folder.
    #[error("another nonet process{holder} uses this folder: {} (--state names another)", .dir.display())]
    InUse {
        /// The folder.
        dir: PathBuf,
        /// ` (pid N on HOST)`, or empty when it did not say.
        holder: String,
    },
    /// The medium is full.
    #[error(
        "no space left on the disk of {}; nothing that was acknowledged is lost. Free some space and run the same \
         command again, it resumes",
        .dir.display()
    )]
    Full {
        /// The folder.
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
    /// The bytes on disk are not what was written.
    #[error("the store in {} is corrupt ({what}). {cure}", .dir.display())]
    Corrupt {
        /// The folder.
        dir: PathBuf,
        /// What was found.
        what: String,
        /// What to do about it.
        cure: String,
    },
    /// A store of another purpose or format.
    #[error("the store in {} was made for {found}, this program needs {wanted}. {cure}", .dir.display())]
    Mismatch {
        /// The folder.
        dir: PathBuf,
        /// Purpose and format on disk.
        found: String,
        /// Purpose and format asked for.
        wanted: String,
        /// What to do about it.
        cure: String,
    },
    /// A key or value beyond the bounds.
    #[error("a {what} of {bytes} bytes exceeds the limit of {limit}")]
    TooLarge {
        /// `key` or `value`.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// An earlier error left the store in an unknown state. Opening it again tells.
    #[error("the store in {} takes nothing more since an earlier error: {first}", .dir.display())]
    Poisoned {
        /// The folder.
        dir: PathBuf,
        /// The earlier error.
        first: String,
    },
}

impl StoreError {
    /// Wraps an I/O error on a file or folder inside `dir`; a full disk keeps its own name.
    pub fn io(doing: &'static str, path: impl Into<PathBuf>, error: &io::Error) -> Self {
        let path = path.into();
        if is_full(error) {
            let dir = if path.is_dir() { path } else { path.parent().map(Into::into).unwrap_or(path) };
            return Self::Full { dir };
        }
        Self::Io { doing, path, reason: error.to_string() }
    }

    /// Whether freeing space and trying again helps.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. })
    }

    /// Whether another process holds the folder.
    pub fn is_in_use(&self) -> bool {
        matches!(self, Self::InUse { .. })
    }
}

/// Whether an I/O error means that there is no room: disk, quota or file size limit.
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}
