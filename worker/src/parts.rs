//! The parts of a run (see [`jobs::parts`]): objects named by their content ([`Objects`]), and an index that tells which
//! unit has which.
//!
//! The index is made of names alone: for the part NAME of unit UNIT that WORKER has made there is `runs/RUN/UNIT-NAME-WORKER`.
//! So two workers that compute the same unit write the same part, one that computed something else cannot overwrite what others
//! wrote, and an entry cannot be torn. Reading is in [`crate::part_index`].

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use crate::objects::{Name, ObjectError, Objects, folder_of};

/// Parts larger than this are not read: no unit makes such.
pub(crate) const MAX_PART_BYTES: u64 = 1 << 30;

/// The worker that has made a part: as much of its id as people are shown. Some stores make file names of keys.
pub(crate) type Maker = [u8; 6];

/// The parts of one run, to be written.
#[derive(Debug)]
pub struct Parts {
    objects: Objects,
    index: String,
    by: Maker,
    /// Where there are names that are not durable yet.
    unsynced: Mutex<BTreeSet<String>>,
}

impl Parts {
    /// The parts of run `run` that worker `by` makes. Nothing is created before there is a part.
    #[must_use]
    pub fn new(objects: Objects, run: [u8; 16], by: [u8; 16]) -> Self {
        let by = std::array::from_fn(|place| by[place]);
        Self { objects, index: index_of(run), by, unsynced: Mutex::default() }
    }

    /// Parts that had better be written at a time.
    pub(crate) fn writers(&self) -> usize {
        self.objects.writers()
    }

    /// Writes a part; it counts as there after [`Self::sync`].
    pub(crate) fn write(&self, unit: u64, part: &[u8]) -> Result<(), String> {
        let name = self.objects.write(part).map_err(|error| failed(&error))?;
        // For people: nobody else reads what is in there.
        let note = format!("{} bytes\n", part.len());
        let entry = format!("{}/{}", self.index, Entry { unit, name, by: self.by }.text());
        self.objects.write_named(&entry, note.as_bytes()).map_err(|error| failed(&error))?;
        let mut unsynced = self.unsynced.lock().unwrap_or_else(PoisonError::into_inner);
        unsynced.extend([folder_of(&name), self.index.clone()]);
        Ok(())
    }

    /// Makes the names of all parts durable.
    pub(crate) fn sync(&self) -> Result<(), String> {
        let unsynced = std::mem::take(&mut *self.unsynced.lock().unwrap_or_else(PoisonError::into_inner));
        unsynced.iter().try_for_each(|below| self.objects.sync(below)).map_err(|error| failed(&error))
    }
}

fn failed(error: &ObjectError) -> String {
    format!(
        "cannot keep its part of the output: {error}; let the worker write there (see --parts), then `nonet retry`"
    )
}

/// The key of a run's index.
pub(crate) fn index_of(run: [u8; 16]) -> String {
    format!("runs/{:032x}", u128::from_be_bytes(run))
}

/// What an entry of the index tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub unit: u64,
    pub name: Name,
    pub by: Maker,
}

impl Entry {
    /// Its name.
    fn text(&self) -> String {
        let by = self.by.iter().fold(0, |by, &byte| by << 8 | u64::from(byte));
        format!("{:020}-{}-{by:012x}", self.unit, self.name)
    }

    /// `None` where it is none.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (unit, rest) = text.split_once('-')?;
        let (name, by) = rest.split_once('-')?;
        let [0, 0, by @ ..] = u64::from_str_radix(by, 16).ok()?.to_be_bytes() else { return None };
        let read = Self { unit: unit.parse().ok()?, name: Name::from_hex(name).ok()?, by };
        // One way to write each.
        (read.text() == text).then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use jobs::{PartSink, PartSource};

    use super::*;
    use crate::{part_index::Output, part_writer::PartWriter};

    const RUN: [u8; 16] = [7; 16];

    fn put(root: &Path, run: [u8; 16], unit: u64, part: &[u8]) -> Result<(), String> {
        let writer = PartWriter::new(Parts::new(Objects::folder(root.to_owned()), run, [1; 16]));
        writer.put(unit, part.to_vec())?;
        writer.settle().map_err(|(failed, error)| {
            assert_eq!(failed, unit);
            error
        })
    }

    fn get(root: &Path, run: [u8; 16], unit: u64) -> Result<Vec<u8>, String> {
        let output = Output::new(Objects::folder(root.to_owned()), run, 10, None);
        output.get(unit).map_err(|error| error.to_string())
    }

    #[test]
    fn a_part_is_whole_or_absent() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        assert!(get(root, RUN, 3).expect_err("absent").contains("--fresh"));
        put(root, RUN, 3, b"part").expect("written");
        put(root, RUN, 3, b"part").expect("the same again");
        assert_eq!(get(root, RUN, 3).expect("there"), b"part");
        let names = std::fs::read_dir(root.join("runs").join("07".repeat(16))).expect("a folder");
        assert_eq!(names.count(), 1, "one entry, and no drafts are left");
        assert!(get(root, [8; 16], 3).is_err(), "other runs have their own");
        put(root, [8; 16], 4, b"part").expect("the same part of another run");
        assert_eq!(get(root, [8; 16], 4).expect("there"), b"part");
    }

    #[test]
    fn all_parts_are_there_when_the_writer_has_settled() {
        let root = tempfile::tempdir().expect("a folder");
        let writer = PartWriter::new(Parts::new(Objects::folder(root.path().to_owned()), RUN, [1; 16]));
        for unit in 0..10 {
            writer.put(unit, vec![b'a'; usize::try_from(unit).expect("small")]).expect("taken");
        }
        writer.settle().expect("written");
        for unit in 0..10 {
            assert_eq!(get(root.path(), RUN, unit).expect("there").len() as u64, unit);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let root = tempfile::NamedTempFile::new().expect("a file");
        let error = put(root.path(), RUN, 0, b"part").expect_err("a file is no folder");
        assert!(
            error.contains(&root.path().display().to_string()) && error.contains("nonet retry"),
            "{error}"
        );
    }

    #[test]
    fn entries_are_read_as_they_are_written_and_no_other_way() {
        let known = Entry { unit: 7, name: blake3::hash(b"part"), by: [9; 6] };
        let entry = known.text();
        assert_eq!(Entry::read(&entry), Some(known));
        for wrong in [&entry[1..], &entry.to_uppercase(), ".draft-1", "-", "", &format!("+{}", &entry[1..])] {
            assert_eq!(Entry::read(wrong), None, "{wrong}");
        }
    }
}
