//! What is to be solved: files, cut into ranges of bytes.

use std::ops::Range;

use crate::input::File;

/// Bytes of a unit at least: some ten thousand puzzles, so that the lanes of the solver are full.
const LEAST_UNIT_BYTES: u64 = 1 << 20;

/// Bytes of a unit if the corpus has enough of them: each part is a file that has to reach the disk.
const GOOD_UNIT_BYTES: u64 = 4 << 20;

/// Units that a corpus is to have before they become larger than the least.
const GOOD_UNITS: u64 = 32;

/// Units of a job at most: what is known of each line by line fits into a partial.
const MOST_UNITS: u64 = 4096;

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
    pub fn new(files: Vec<File>) -> Self {
        let total = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.len_bytes()));
        // Each file may have a last unit of its own.
        let room = MOST_UNITS.saturating_sub(files.len() as u64).max(1);
        let good = (total / GOOD_UNITS).clamp(LEAST_UNIT_BYTES, GOOD_UNIT_BYTES);
        let unit_bytes = total.div_ceil(room).max(good);
        let mut starts = vec![0];
        for file in &files {
            starts.push(starts[starts.len() - 1] + file.len_bytes().div_ceil(unit_bytes).max(1));
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
        Piece { file, bytes: start..start.saturating_add(self.unit_bytes).min(file.len_bytes()) }
    }

    /// The file of a unit, and the file's first unit.
    pub fn file_of(&self, unit: u64) -> (&File, u64) {
        let number = self.starts.partition_point(|&start| start <= unit) - 1;
        (&self.files[number], self.starts[number])
    }

    /// Whether a job may have these files: few enough, each in a place that can be.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        if self.files.is_empty() || self.files.len() as u64 > MOST_UNITS / 2 {
            return Err(format!("{} files: a job takes from 1 to {}", self.files.len(), MOST_UNITS / 2));
        }
        self.files.iter().try_for_each(File::check)
    }
}
