//! A file as it was when the job was submitted.

use std::{ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    packing::Packing, place, pool::POOL, storage::Storage, unpack::Unpacker, zstd_frames::MOST_WINDOW_BYTES,
};
use crate::kind::{UnitContext, UnitError};

/// A file as it was when the job was submitted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Where it is: a path, absolute for workers that started elsewhere, or a URL.
    pub at: String,
    /// Its length as it is stored.
    pub stored_bytes: u64,
    /// What is another one when the file is another one: the time of change, or an entity tag.
    pub version: String,
    /// How it is packed, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<Packed>,
}

/// How a file is packed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packed {
    /// By what.
    pub by: Packing,
    /// Its length unpacked.
    pub len_bytes: u64,
    /// What unpacking keeps of the text, at most: it is a bound of memory.
    pub window_bytes: u64,
}

/// Stored bytes that are read at a time.
const PIECE_BYTES: u64 = 4 << 20;

impl File {
    /// Its length, unpacked.
    pub fn len_bytes(&self) -> u64 {
        self.packed.as_ref().map_or(self.stored_bytes, |packed| packed.len_bytes)
    }

    /// Whether a job may have this file: settings may come from anywhere.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        place::check(&self.at)?;
        if self.packed.as_ref().is_some_and(|packed| packed.window_bytes > MOST_WINDOW_BYTES) {
            return Err(format!("{}: it takes too much memory to unpack", self.at));
        }
        Ok(())
    }

    /// Reads a range of the unpacked bytes, as far as there are such. Takes memory for what there is of it.
    ///
    /// # Errors
    ///
    /// [`UnitError::Failed`] when the file is not there, is not the one that was submitted, or cannot be read.
    pub fn read(&self, bytes: Range<u64>, context: &UnitContext<'_>) -> Result<Vec<u8>, UnitError> {
        let bytes = bytes.start.min(self.len_bytes())..bytes.end.min(self.len_bytes());
        let stopped = || context.stopped();
        let read = match &self.packed {
            Some(packed) => POOL.read(self, packed, bytes, context.storage(), &stopped),
            None => self.read_stored(bytes, context.storage().as_ref(), &stopped),
        };
        read.map_err(UnitError::Failed)?.ok_or(UnitError::Stopped)
    }

    /// Reads all of it, unpacked.
    ///
    /// # Errors
    ///
    /// When it has more than `most_bytes`, is not the file that was submitted, or cannot be read.
    pub fn read_whole(&self, most_bytes: u64, storage: &Arc<dyn Storage>) -> Result<Vec<u8>, String> {
        let bytes = self.len_bytes();
        if bytes > most_bytes {
            return Err(format!("{}: {bytes} bytes are too many, the limit is {most_bytes}", self.at));
        }
        let whole = match &self.packed {
            Some(packed) => Unpacker::new(self, packed, storage)?.read(0..bytes, &|| false),
            None => self.read_stored(0..bytes, storage.as_ref(), &|| false),
        };
        // It is never stopped.
        whole.map(Option::unwrap_or_default)
    }

    /// Reads a range of the bytes as they are stored; nothing when it is stopped.
    fn read_stored(
        &self,
        bytes: Range<u64>,
        storage: &dyn Storage,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<u8>>, String> {
        let mut all = Vec::new();
        let mut from = bytes.start;
        // Also for no bytes at all: the file has to be the one that was submitted.
        loop {
            let to = bytes.end.min(from.saturating_add(PIECE_BYTES));
            storage.read(self, from..to, &mut all)?;
            from = to;
            if from >= bytes.end {
                return Ok(Some(all));
            }
            if stopped() {
                return Ok(None);
            }
        }
    }
}
