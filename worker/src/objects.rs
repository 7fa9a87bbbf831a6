//! Objects named by their content: a folder, or an object store, that many write to and nobody has to trust.
//!
//! An object's name is the blake3 of its bytes, and what is read is held against it. So two who write the same write the
//! same object, nobody can put something else in its place without being found out, and a torn or rotten object is found by
//! whoever reads it. Objects lie in folders named by the first two digits of their names.
//!
//! All methods block: call them on threads that are not a runtime's own.

mod bucket;
mod folder;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use jobs::input;
use tokio::runtime::Handle;

use bucket::Bucket;
use folder::Folder;

/// The name of an object: the blake3 of its bytes.
pub type Name = blake3::Hash;

/// Why an object cannot be had or kept. Every text names the object.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// It is not there.
    #[error("{at}: there is no such object, or no such bucket")]
    Missing {
        /// Where it should be.
        at: String,
    },
    /// Something else is there.
    #[error("{at}: it is torn or rotten, its {bytes} bytes are not those that it is named by")]
    Rotten {
        /// Where it is.
        at: String,
        /// How long it is.
        bytes: u64,
    },
    /// It is longer than allowed.
    #[error("{at}: {bytes} bytes are too many, the limit is {most_bytes}")]
    TooLong {
        /// Where it is.
        at: String,
        /// How long it is.
        bytes: u64,
        /// How long it may be.
        most_bytes: u64,
    },
    /// What the disk or the store says.
    #[error("{0}")]
    Failed(String),
}

/// Where objects lie: keys are relative paths of letters, digits, `/` and `-`.
trait Place: Send + Sync {
    /// Where a key leads, for people.
    fn at(&self, key: &str) -> String;
    /// Writes all of it or nothing, in place of what is there. The bytes are durable; the name is after [`Self::sync`].
    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError>;
    /// Reads all of it.
    fn get(&self, key: &str, most_bytes: u64) -> Result<Vec<u8>, ObjectError>;
    /// Names below a key, in any order.
    fn names(&self, below: &str, most: usize) -> Result<Vec<String>, ObjectError>;
    /// Makes names directly below a key durable.
    fn sync(&self, below: &str) -> Result<(), ObjectError>;
    /// Objects that one thread of work had better write at a time.
    fn writers(&self) -> usize;
}

/// Objects below a folder or a URL.
#[derive(Clone)]
pub struct Objects {
    place: Arc<dyn Place>,
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Objects").field(&self.place.at("")).finish()
    }
}

impl Objects {
    /// Objects below a place as users name it: a folder, or a URL (`s3://`, `gs://`, `az://`, `file://`). Waits for
    /// stores on `runtime`. Nothing is created or asked before there is an object.
    ///
    /// # Errors
    ///
    /// When that is no such place, or the environment lacks what it takes to reach it.
    pub fn open(place: &str, runtime: &Handle) -> Result<Self, String> {
        let place = input::place(place)?;
        if !input::is_url(&place) {
            return Ok(Self::folder(place.into()));
        }
        Ok(Self { place: Arc::new(Bucket::open(&place, runtime.clone())?) })
    }

    /// Objects in files below a folder.
    #[must_use]
    pub fn folder(root: PathBuf) -> Self {
        Self { place: Arc::new(Folder::new(root)) }
    }

    /// Keeps an object, durably, and tells its name. One that is there is not written again.
    ///
    /// # Errors
    ///
    /// What keeps it from being written, and where. A store that is away for a moment is tried again for about a minute.
    pub fn put(&self, bytes: &[u8]) -> Result<Name, ObjectError> {
        let name = self.write(bytes)?;
        self.sync(&folder_of(&name))?;
        Ok(name)
    }

    /// The bytes of an object of at most `most_bytes`, held against its name.
    ///
    /// # Errors
    ///
    /// When it is not there, is longer, cannot be read, or is not what was put.
    pub fn get(&self, name: &Name, most_bytes: u64) -> Result<Vec<u8>, ObjectError> {
        let key = key_of(name);
        let bytes = self.place.get(&key, most_bytes)?;
        if blake3::hash(&bytes) == *name {
            return Ok(bytes);
        }
        Err(ObjectError::Rotten { at: self.place.at(&key), bytes: bytes.len() as u64 })
    }

    /// Where an object is, for people.
    #[must_use]
    pub fn at(&self, name: &Name) -> String {
        self.place.at(&key_of(name))
    }

    /// [`Self::put`], but for the durability of the name: [`Self::sync`] of [`folder_of`] sees to that.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<Name, ObjectError> {
        let name = blake3::hash(bytes);
        // One that is there is read, so that a rotten one is written anew. Why it cannot be read does not matter: whoever
        // may write need not be allowed to read.
        if self.get(&name, bytes.len() as u64).is_err() {
            self.place.put(&key_of(&name), bytes)?;
        }
        Ok(name)
    }

    /// Writes what is named by a key, not by its content.
    pub(crate) fn write_named(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        self.place.put(key, bytes)
    }

    /// The names below a key.
    pub(crate) fn names(&self, below: &str, most: usize) -> Result<Vec<String>, ObjectError> {
        self.place.names(below, most)
    }

    /// Makes names directly below a key durable.
    pub(crate) fn sync(&self, below: &str) -> Result<(), ObjectError> {
        self.place.sync(below)
    }

    /// Where a key leads, for people.
    pub(crate) fn place_of(&self, key: &str) -> String {
        self.place.at(key)
    }

    /// Objects that one thread of work had better write at a time.
    pub(crate) fn writers(&self) -> usize {
        self.place.writers()
    }
}

/// The key that an object's name is directly below.
pub(crate) fn folder_of(name: &Name) -> String {
    name.to_hex()[..2].to_owned()
}

fn key_of(name: &Name) -> String {
    let hex = name.to_hex();
    format!("{}/{hex}", &hex[..2])
}

/// An error about a file.
fn of_file(path: &Path, error: &std::io::Error) -> ObjectError {
    let at = path.display().to_string();
    if error.kind() == std::io::ErrorKind::NotFound {
        return ObjectError::Missing { at };
    }
    ObjectError::Failed(format!("{at}: {error}"))
}

#[cfg(test)]
mod tests;
