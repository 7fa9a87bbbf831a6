//! Files that jobs read.
//!
//! A job is named by its settings, and these hold the length and the time of change of every file: a file that was
//! touched makes another job, and a worker that finds another file than the one submitted says so.

use std::{
    fs,
    io::{self, Read},
    path::PathBuf,
    time::UNIX_EPOCH,
};

use serde::{Deserialize, Serialize};

/// A file, or the files of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The files, by name.
    pub files: Vec<File>,
}

/// A file as it was when the job was submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Where it is; absolute, for workers that started elsewhere.
    pub path: PathBuf,
    /// Its length.
    pub len_bytes: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub changed_ns: u64,
}

impl Source {
    /// Looks a path up.
    ///
    /// # Errors
    ///
    /// When there is no such file, or a folder has none.
    pub fn find(path: &str) -> Result<Self, String> {
        let path = std::path::absolute(path).map_err(|error| format!("{path}: {error}"))?;
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        if !fs::metadata(&path).map_err(failed)?.is_dir() {
            return Ok(Self { files: vec![File::find(path.clone()).map_err(failed)?] });
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !hidden && entry.metadata().map_err(failed)?.is_file() {
                files.push(File::find(entry.path()).map_err(failed)?);
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        if files.is_empty() {
            return Err(format!("{}: the folder has no files", path.display()));
        }
        Ok(Self { files })
    }
}

impl File {
    /// Looks a file up.
    ///
    /// # Errors
    ///
    /// When it is not there.
    pub fn find(path: PathBuf) -> io::Result<Self> {
        let metadata = fs::metadata(&path)?;
        let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed_ns = u64::try_from(changed.as_nanos()).unwrap_or(u64::MAX);
        Ok(Self { path, len_bytes: metadata.len(), changed_ns })
    }

    /// Its first bytes.
    ///
    /// # Errors
    ///
    /// As [`File::open`], and when it cannot be read.
    pub fn head(&self, most_bytes: usize) -> Result<Vec<u8>, String> {
        let mut head = Vec::new();
        let read = io::Read::take(self.open()?, most_bytes as u64).read_to_end(&mut head);
        read.map_err(|error| format!("{}: {error}", self.path.display()))?;
        Ok(head)
    }

    /// Opens it.
    ///
    /// # Errors
    ///
    /// When it is not there, or not the file that was submitted.
    pub fn open(&self) -> Result<fs::File, String> {
        let failed = |error: io::Error| format!("{}: {error}", self.path.display());
        let now = Self::find(self.path.clone()).map_err(failed)?;
        if now != *self {
            return Err(format!(
                "{}: the file has changed since the job was submitted; submit it again",
                self.path.display()
            ));
        }
        fs::File::open(&self.path).map_err(failed)
    }
}
