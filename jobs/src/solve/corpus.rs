//! What is to be solved: files, cut into ranges of bytes.

use std::ops::Range;

use shared::grid::notation::Layout;

use crate::input::File;

/// Bytes of a unit at least: some ten thousand puzzles, so that the lanes of the solver are full.
const LEAST_UNIT_BYTES: u64 = 1 << 20;

/// Bytes of a unit if the corpus has enough of them: each part is a file that has to reach the disk.
const GOOD_UNIT_BYTES: u64 = 4 << 20;

/// Units that a corpus is to have before they become larger than the least.
const GOOD_UNITS: u64 = 32;

/// Units of a job at most: what is known of each line by line fits into a partial.
const MOST_UNITS: u64 = 4096;

/// Bytes of a file at most whose puzzles take several lines: it cannot be cut, and is held in memory.
const MOST_DOCUMENT_BYTES: u64 = 64 << 20;

/// The files of a job and their units.
pub struct Corpus {
    files: Vec<File>,
    layouts: Vec<Layout>,
    /// The first unit of each file, and one past the last.
    starts: Vec<u64>,
    unit_bytes: u64,
}

/// A range of bytes of a file. The lines that begin in it belong to it.
pub struct Piece<'a> {
    /// Where it is.
    pub file: &'a File,
    /// How it holds its puzzles.
    pub layout: &'a Layout,
    /// Never empty, but for an empty file.
    pub bytes: Range<u64>,
}

impl Corpus {
    /// Cuts files into units: ranges of the same number of bytes, but for the last of each file. A file whose puzzles
    /// take several lines is one unit. There is a layout for each file.
    pub fn new(files: Vec<File>, layouts: Vec<Layout>) -> Self {
        let total = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.len_bytes()));
        // Each file may have a last unit of its own.
        let room = MOST_UNITS.saturating_sub(files.len() as u64).max(1);
        let good = (total / GOOD_UNITS).clamp(LEAST_UNIT_BYTES, GOOD_UNIT_BYTES);
        let unit_bytes = total.div_ceil(room).max(good);
        let mut starts = vec![0];
        for (file, layout) in files.iter().zip(&layouts) {
            let units = if is_cut(layout) { file.len_bytes().div_ceil(unit_bytes).max(1) } else { 1 };
            starts.push(starts[starts.len() - 1] + units);
        }
        Self { files, layouts, starts, unit_bytes }
    }

    /// Number of units.
    pub fn units(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    /// The bytes of a unit.
    pub fn piece(&self, unit: u64) -> Piece<'_> {
        let number = self.number_of(unit);
        let (file, layout) = (&self.files[number], &self.layouts[number]);
        let start = (unit - self.starts[number]) * self.unit_bytes;
        let end = if is_cut(layout) { start.saturating_add(self.unit_bytes) } else { u64::MAX };
        Piece { file, layout, bytes: start..end.min(file.len_bytes()) }
    }

    /// The file of a unit, and the file's first unit.
    pub fn file_of(&self, unit: u64) -> (&File, u64) {
        let number = self.number_of(unit);
        (&self.files[number], self.starts[number])
    }

    fn number_of(&self, unit: u64) -> usize {
        self.starts.partition_point(|&start| start <= unit) - 1
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
        if self.layouts.len() != self.files.len() {
            return Err(format!("{} layouts for {} files", self.layouts.len(), self.files.len()));
        }
        let documents = self.files.iter().zip(&self.layouts).filter(|(_, layout)| !is_cut(layout));
        if let Some((file, _)) = documents.clone().find(|(file, _)| file.len_bytes() > MOST_DOCUMENT_BYTES) {
            return Err(format!(
                "{}: {} MiB of puzzles that take several lines each, and at most {} MiB can be read; split the file, or \
                 write a puzzle a line",
                file.at,
                file.len_bytes() >> 20,
                MOST_DOCUMENT_BYTES >> 20
            ));
        }
        self.files.iter().try_for_each(File::check)
    }
}

/// Whether puzzles are in lines, so that a file can be cut anywhere.
fn is_cut(layout: &Layout) -> bool {
    matches!(layout, Layout::Lines(_))
}
