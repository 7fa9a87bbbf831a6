//! Results too large for a partial: one part for each unit, in a folder that the workers share.
//!
//! A part is written whole before its unit counts as done, so that a finished job has all of them. They are put
//! together by the kind when someone asks for the output.

use std::io;

use serde::{Deserialize, Serialize};

/// Where units put their parts.
pub trait PartSink: Sync {
    /// Keeps the part of a unit: all of it or nothing, on disk when this returns. A second time it is replaced.
    ///
    /// # Errors
    ///
    /// What keeps it from being written, and where.
    fn put(&self, unit: u64, part: &[u8]) -> Result<(), String>;
}

/// Where parts are read from.
pub trait PartSource {
    /// The part of a unit.
    ///
    /// # Errors
    ///
    /// When it is not there, or cannot be read.
    fn get(&self, unit: u64) -> Result<Vec<u8>, OutputError>;
}

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A part is missing, torn, or of another run.
    #[error("{0}")]
    Part(String),
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// A digest of a set of parts that can be added up in any order: each part is hashed with its unit's number, and the
/// hashes are added as four numbers of 64 bits. It finds what is lost, torn or mixed up; it is no defence against someone
/// who makes up parts on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartsDigest([u64; 4]);

impl PartsDigest {
    /// The digest of one part.
    #[must_use]
    pub fn of(unit: u64, part: &[u8]) -> Self {
        let mut hash = blake3::Hasher::new_derive_key("nonet part v1");
        let hash = hash.update(&unit.to_be_bytes()).update(part).finalize();
        let (lanes, _) = hash.as_bytes().as_chunks::<8>();
        Self(std::array::from_fn(|lane| u64::from_le_bytes(lanes[lane])))
    }

    /// The digest of two sets together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane].wrapping_add(other.0[lane])))
    }

    /// 64 hexadecimal digits.
    #[must_use]
    pub fn hex(self) -> String {
        let [a, b, c, d] = self.0;
        format!("{a:016x}{b:016x}{c:016x}{d:016x}")
    }
}

/// Hands out the parts of all units in order, and at the end holds their digest against the one in the report
/// (`parts`, [`PartsDigest::hex`]).
///
/// # Errors
///
/// When a part is missing, `take` fails, or the parts are not those that the result was made from.
pub fn each_part(
    units: u64,
    report: &serde_json::Value,
    parts: &dyn PartSource,
    mut take: impl FnMut(Vec<u8>) -> Result<(), OutputError>,
) -> Result<(), OutputError> {
    let mut digest = PartsDigest::default();
    for unit in 0..units {
        let part = parts.get(unit)?;
        digest = digest.plus(PartsDigest::of(unit, &part));
        take(part)?;
    }
    if report["parts"] == digest.hex() {
        return Ok(());
    }
    Err(OutputError::Part(
        "the parts are not those that the result was made from; run it again with --fresh".into(),
    ))
}

/// Parts in memory.
#[cfg(test)]
pub(crate) mod memory {
    use std::{collections::BTreeMap, sync::Mutex};

    use super::{OutputError, PartSink, PartSource};

    #[derive(Default)]
    pub(crate) struct Parts(pub Mutex<BTreeMap<u64, Vec<u8>>>);

    impl PartSink for Parts {
        fn put(&self, unit: u64, part: &[u8]) -> Result<(), String> {
            self.0.lock().unwrap().insert(unit, part.to_vec());
            Ok(())
        }
    }

    impl PartSource for Parts {
        fn get(&self, unit: u64) -> Result<Vec<u8>, OutputError> {
            let part = self.0.lock().unwrap().get(&unit).cloned();
            part.ok_or_else(|| OutputError::Part(format!("part {unit} is not there")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_and_everything_else_does() {
        let parts: Vec<_> = (0..5u64).map(|unit| PartsDigest::of(unit, &[7; 9])).collect();
        let forward = parts.iter().fold(PartsDigest::default(), |sum, &part| sum.plus(part));
        let backward = parts.iter().rev().fold(PartsDigest::default(), |sum, &part| sum.plus(part));
        assert_eq!(forward, backward);
        assert_ne!(parts[0], parts[1], "the unit counts");
        assert_ne!(forward, forward.plus(parts[0]), "twice is not once");
        assert_ne!(PartsDigest::of(0, &[7; 8]), parts[0]);
        assert_eq!(forward.hex().len(), 64);
    }
}
