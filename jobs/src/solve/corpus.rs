//! What is to be solved: files, cut into ranges of bytes.
//!
//! A job is named by its settings, and these hold the length and the time of change of every file: a corpus that was
//! touched is another job, and a worker that finds another file than the one submitted says so.

use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use serde::{Deserialize, Serialize};

/// Bytes of a unit at least: some ten thousand puzzles, so that the lanes of the solver are full.
const LEAST_UNIT_BYTES: u64 = 1 << 20;

/// Units of a job at most: what is known of each line by line fits into a partial.
const MOST_UNITS: u64 = 4096;

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
    fn find(path: PathBuf) -> io::Result<Self> {
        let metadata = fs::metadata(&path)?;
        let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed_ns = u64::try_from(changed.as_nanos()).unwrap_or(u64::MAX);
        Ok(Self { path, len_bytes: metadata.len(), changed_ns })
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

/// The files of a job and their units.
pub struct Corpus {
    files: Vec<File>,
    /// The first unit of each file, and one past the last.
    starts: Vec<u64>,
    unit_bytes: u64,
}

/// A range of bytes of a file. The lines that begin in it belong to it.
pub struct Piece<'a> {
    /// Where it is.
    pub file: &'a File,
    /// Never empty, but for an empty file.
    pub bytes: Range<u64>,
}

impl Corpus {
    /// Cuts files into units: ranges of the same number of bytes, but for the last of each file.
    pub fn new(sources: Vec<Source>) -> Self {
        let files: Vec<File> = sources.into_iter().flat_map(|source| source.files).collect();
        let total = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.len_bytes));
        // Each file may have a last unit of its own.
        let room = MOST_UNITS.saturating_sub(files.len() as u64).max(1);
        let unit_bytes = total.div_ceil(room).max(LEAST_UNIT_BYTES);
        let mut starts = vec![0];
        for file in &files {
            starts.push(starts[starts.len() - 1] + file.len_bytes.div_ceil(unit_bytes).max(1));
        }
        Self { files, starts, unit_bytes }
    }

    /// Number of units.
    pub fn units(&self) -> u64 {
        self.starts[self.files.len()]
    }

    /// The bytes of a unit.
    pub fn piece(&self, unit: u64) -> Piece<'_> {
        let (file, first) = self.file_of(unit);
        let start = (unit - first) * self.unit_bytes;
        Piece { file, bytes: start..start.saturating_add(self.unit_bytes).min(file.len_bytes) }
    }

    /// The file of a unit, and the file's first unit.
    pub fn file_of(&self, unit: u64) -> (&File, u64) {
        let number = self.starts.partition_point(|&start| start <= unit) - 1;
        (&self.files[number], self.starts[number])
    }

    /// Whether a job may have these files: few enough, each named by an absolute path.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        if self.files.is_empty() || self.files.len() as u64 > MOST_UNITS / 2 {
            return Err(format!("{} files: a job takes from 1 to {}", self.files.len(), MOST_UNITS / 2));
        }
        let relative = self.files.iter().find(|file| !Path::new(&file.path).is_absolute());
        relative.map_or(Ok(()), |file| Err(format!("{}: an absolute path is needed", file.path.display())))
    }
}
