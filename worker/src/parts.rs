//! The folder that parts go to (see [`jobs::parts`]): one folder for each run, one file for each unit.
//!
//! A file is written under another name, synced, and renamed: whoever sees it sees all of it. Two workers that compute
//! the same unit write the same bytes, so it does not matter whose file stays.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use jobs::{OutputError, PartSource};

/// Parts larger than this are not read: no unit makes such.
const MAX_PART_BYTES: u64 = 1 << 30;

/// The parts of one run.
#[derive(Clone, Debug)]
pub struct Parts {
    dir: PathBuf,
}

impl Parts {
    /// The parts of run `run` below `root`. Nothing is created before there is a part.
    #[must_use]
    pub fn new(root: &Path, run: [u8; 16]) -> Self {
        let run = u128::from_be_bytes(run);
        Self { dir: root.join(format!("{run:032x}")) }
    }

    fn path(&self, unit: u64) -> PathBuf {
        self.dir.join(format!("{unit:020}.part"))
    }

    /// Writes a part; its name is on disk after [`Self::sync`].
    pub(crate) fn write(&self, unit: u64, part: &[u8]) -> Result<(), String> {
        self.write_file(unit, part).map_err(|e| self.failed(&e))
    }

    fn failed(&self, error: &io::Error) -> String {
        format!("cannot write its part of the output into {}: {error}", self.dir.display())
    }

    /// Makes the names of all parts durable.
    pub(crate) fn sync(&self) -> Result<(), String> {
        File::open(&self.dir).and_then(|dir| dir.sync_all()).map_err(|e| self.failed(&e))
    }

    fn write_file(&self, unit: u64, part: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let draft = self.dir.join(format!("{unit:020}.{}", uuid::Uuid::new_v4().simple()));
        let written = File::create_new(&draft).and_then(|mut file| {
            file.write_all(part)?;
            file.sync_all()?;
            fs::rename(&draft, self.path(unit))
        });
        if written.is_err() {
            // On a full disk the draft would be in the way of those that still fit.
            drop(fs::remove_file(&draft));
        }
        written
    }
}

impl PartSource for Parts {
    fn get(&self, unit: u64) -> Result<Vec<u8>, OutputError> {
        let path = self.path(unit);
        let failed = |why: &dyn std::fmt::Display| {
            OutputError::Part(format!("part {}: {why}; --fresh computes all parts anew", path.display()))
        };
        let len = fs::metadata(&path).map_err(|e| failed(&e))?.len();
        if len > MAX_PART_BYTES {
            return Err(failed(&format_args!("{len} bytes are too many")));
        }
        fs::read(&path).map_err(|e| failed(&e))
    }
}

#[cfg(test)]
mod tests {
    use jobs::PartSink;

    use super::*;
    use crate::part_writer::PartWriter;

    fn put(parts: &Parts, unit: u64, part: &[u8]) -> Result<(), String> {
        let writer = PartWriter::new(parts.clone());
        writer.put(unit, part.to_vec())?;
        writer.settle().map_err(|(failed, error)| {
            assert_eq!(failed, unit);
            error
        })
    }

    #[test]
    fn a_part_is_whole_or_absent() {
        let root = tempfile::tempdir().expect("a folder");
        let parts = Parts::new(root.path(), [7; 16]);
        assert!(parts.get(3).expect_err("absent").to_string().contains("--fresh"));
        put(&parts, 3, b"first").expect("written");
        put(&parts, 3, b"again").expect("replaced");
        assert_eq!(parts.get(3).expect("there"), b"again");
        let names = fs::read_dir(root.path().join("07".repeat(16))).expect("a folder");
        assert_eq!(names.count(), 1, "no drafts are left");
        assert!(Parts::new(root.path(), [8; 16]).get(3).is_err(), "other runs have their own");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let root = tempfile::NamedTempFile::new().expect("a file");
        let error = put(&Parts::new(root.path(), [7; 16]), 0, b"part").expect_err("a file is no folder");
        assert!(error.contains(&root.path().display().to_string()), "{error}");
    }
}
