//! The stored bytes of a file, one after the other.

use std::{
    io::{self, BufRead, Read},
    sync::Arc,
};

use super::{file::File, place, storage::Storage};

/// Bytes read at a time from a disk.
const DISK_CHUNK_BYTES: u64 = 128 << 10;

/// Bytes read at a time from elsewhere, where each request takes its time.
const REMOTE_CHUNK_BYTES: u64 = 1 << 20;

/// Reads a file from its beginning. Errors of the storage have the kind [`io::ErrorKind::Other`] and name the file.
pub struct Stored {
    file: File,
    storage: Arc<dyn Storage>,
    /// Bytes read so far, with those in `chunk`.
    read: u64,
    chunk: Vec<u8>,
    used: usize,
}

impl Stored {
    /// From the beginning of a file.
    pub fn new(file: &File, storage: &Arc<dyn Storage>) -> Self {
        Self { file: file.clone(), storage: Arc::clone(storage), read: 0, chunk: Vec::new(), used: 0 }
    }

    /// Bytes of memory that it takes.
    pub fn memory_bytes(file: &File) -> u64 {
        chunk_bytes(file)
    }

    /// What comes next: at least `least` bytes, a few, or all that there are.
    pub fn peek(&mut self, least: usize) -> io::Result<&[u8]> {
        if self.chunk.len() - self.used < least && self.read < self.file.stored_bytes {
            self.chunk.drain(..self.used);
            self.used = 0;
            let to = self.file.stored_bytes.min(self.read + chunk_bytes(&self.file));
            self.storage.read(&self.file, self.read..to, &mut self.chunk).map_err(io::Error::other)?;
            self.read = to;
        }
        Ok(&self.chunk[self.used..])
    }
}

fn chunk_bytes(file: &File) -> u64 {
    if place::is_url(&file.at) { REMOTE_CHUNK_BYTES } else { DISK_CHUNK_BYTES }
}

impl BufRead for Stored {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.peek(1)
    }

    fn consume(&mut self, bytes: usize) {
        self.used += bytes;
    }
}

impl Read for Stored {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?.read(into)?;
        self.consume(bytes);
        Ok(bytes)
    }
}
