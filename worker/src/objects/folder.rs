//! Objects in files.
//!
//! A file is written under another name, synced, and renamed: whoever sees it sees all of it. What a killed process leaves
//! behind are drafts, whose names begin with a point.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::PathBuf,
};

use super::{ObjectError, Place, of_file};

/// What is below a folder.
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }
}

impl Place for Folder {
    fn at(&self, key: &str) -> String {
        self.root.join(key).display().to_string()
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        let path = self.root.join(key);
        let failed =
            |error: io::Error| ObjectError::Failed(format!("cannot write {}: {error}", path.display()));
        let folder = path.parent().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        fs::create_dir_all(folder).map_err(failed)?;
        let draft = folder.join(format!(".draft-{}", uuid::Uuid::new_v4().simple()));
        let written = File::create_new(&draft).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&draft, &path)
        });
        if written.is_err() {
            // On a full disk the draft would be in the way of those that still fit.
            drop(fs::remove_file(&draft));
        }
        written.map_err(failed)
    }

    fn get(&self, key: &str, most_bytes: u64) -> Result<Vec<u8>, ObjectError> {
        let path = self.root.join(key);
        let failed = |error: io::Error| of_file(&path, &error);
        let file = File::open(&path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        if bytes > most_bytes {
            return Err(ObjectError::TooLong { at: path.display().to_string(), bytes, most_bytes });
        }
        let mut all = Vec::new();
        // Should it grow meanwhile, it is not what it is named by.
        file.take(most_bytes).read_to_end(&mut all).map_err(failed)?;
        Ok(all)
    }

    fn names(&self, below: &str, most: usize) -> Result<Vec<String>, ObjectError> {
        let path = self.root.join(below);
        let failed = |error: io::Error| of_file(&path, &error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&path).map_err(failed)? {
            if names.len() >= most {
                return Err(ObjectError::Failed(format!("{}: more than {most} files", path.display())));
            }
            // Names that are not UTF-8 are not ours.
            names.extend(entry.map_err(failed)?.file_name().into_string());
        }
        Ok(names)
    }

    fn sync(&self, below: &str) -> Result<(), ObjectError> {
        let path = self.root.join(below);
        // The folders on the way may be new too.
        let ways = path.ancestors().take_while(|folder| folder.starts_with(&self.root));
        for folder in ways.chain(self.root.parent().filter(|parent| !parent.as_os_str().is_empty())) {
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(|error| of_file(folder, &error))?;
        }
        Ok(())
    }

    /// A disk writes no faster for being asked twice.
    fn writers(&self) -> usize {
        1
    }
}
