//! Files that jobs read: on disk, packed, piped in, or in an object store.
//!
//! What a user names ([`Source`]) is looked up once, where the job is submitted ([`Source::look_up`]): a folder becomes
//! its files, and each [`File`] is recorded as it is then, with its length, a mark of its version, how it is packed and
//! how long it is unpacked. That record is part of the settings that name the job: a file that was touched makes another
//! job, and a worker that finds another file than the one submitted says so. Workers read ranges of unpacked bytes
//! ([`File::read`]), through whatever [`Storage`] their surroundings give them.

mod file;
mod look_up;
mod packing;
mod piped;
mod place;
mod pool;
mod storage;
mod stored;
mod tree;
mod unpack;
mod zstd_frames;

#[cfg(test)]
mod tests;

pub use file::{File, Packed};
pub use look_up::{Files, STANDARD_INPUT, Source, Surroundings};
pub use packing::Packing;
pub use place::{is_url, read as place};
pub use storage::{Local, Storage};
pub use tree::tree;
