//! Results too large for a partial: one part for each unit, in a folder or an object store that the workers share.
//!
//! A part is written whole before its unit counts as done, so that a finished job has all of them. They are put
//! together by the kind when someone asks for the output.

use std::{
    io,
    num::NonZero,
    path::Path,
    sync::mpsc::{Receiver, sync_channel},
};

use serde::{Deserialize, Serialize};

/// Where units put their parts.
pub trait PartSink: Sync {
    /// Keeps the part of a unit: all of it or nothing, durable before the unit counts as done.
    ///
    /// # Errors
    ///
    /// What keeps it, or one before, from being written, and where.
    fn put(&self, unit: u64, part: Vec<u8>) -> Result<(), String>;
}

/// Where parts are read from.
pub trait PartSource: Sync {
    /// The part of a unit.
    ///
    /// # Errors
    ///
    /// When it is not there, or cannot be read.
    fn get(&self, unit: u64) -> Result<Vec<u8>, OutputError>;
}

/// The form of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines of text, or a table with a line of names.
    Csv,
    /// A JSON object a line.
    JsonLines,
    /// Columns, for programs that analyse tables.
    Parquet,
    /// Grids with borders.
    Drawn,
}

impl Form {
    /// What the end of a file's name asks for: JSON Lines for `.jsonl` and `.ndjson`, Parquet for `.parquet`, drawn
    /// grids for `.txt` where they are among the `forms`, else text.
    #[must_use]
    pub fn of_name(path: &Path, forms: &[Self]) -> Self {
        match path.extension() {
            Some(end) if end.eq_ignore_ascii_case("txt") && forms.contains(&Self::Drawn) => Self::Drawn,
            Some(end) if end.eq_ignore_ascii_case("jsonl") || end.eq_ignore_ascii_case("ndjson") => {
                Self::JsonLines
            }
            Some(end) if end.eq_ignore_ascii_case("parquet") => Self::Parquet,
            _ => Self::Csv,
        }
    }
}

/// What an output is made of.
pub struct Finished<'a> {
    /// [`Report::json`](crate::Report::json) of the finished job.
    pub report: &'a serde_json::Value,
    /// The parts of its units.
    pub parts: &'a dyn PartSource,
    /// The form that is asked for, one of [`JobKind::FORMS`](crate::kind::JobKind::FORMS).
    pub form: Form,
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

/// A digest of a set of parts that can be added up in any order: the blake3 of each part is hashed with its unit's number,
/// and the hashes are added as four numbers of 64 bits. So it follows from the names of parts that are named by their
/// content. It finds what is lost, torn or mixed up; it is no defence against someone
/// who makes up parts on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartsDigest([u64; 4]);

impl PartsDigest {
    /// The digest of one part.
    #[must_use]
    pub fn of(unit: u64, part: &[u8]) -> Self {
        Self::of_name(unit, &blake3::hash(part))
    }

    /// The digest of one part, by the blake3 of its bytes.
    #[must_use]
    pub fn of_name(unit: u64, name: &blake3::Hash) -> Self {
        let mut hash = blake3::Hasher::new_derive_key("nonet part v2");
        let hash = hash.update(&unit.to_be_bytes()).update(name.as_bytes()).finalize();
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

    /// What [`Self::hex`] gives, read again; `None` if it is something else.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut lanes = [0; 4];
        for (at, lane) in lanes.iter_mut().enumerate() {
            *lane = u64::from_str_radix(text.get(16 * at..16 * (at + 1))?, 16).ok()?;
        }
        Some(Self(lanes)).filter(|digest| digest.hex() == text)
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
    finished: &Finished<'_>,
    take: impl FnMut(Vec<u8>) -> Result<(), OutputError>,
) -> Result<(), OutputError> {
    each_rendered(units, finished, |_, part| Ok(part), take)
}

/// The same with every part turned into something else first, on all cores: what is large is read, checked and turned
/// into text beside what is written.
///
/// # Errors
///
/// As [`each_part`], or when `render` fails.
pub fn each_rendered<T: Send>(
    units: u64,
    finished: &Finished<'_>,
    render: impl Fn(u64, Vec<u8>) -> Result<T, OutputError> + Sync,
    mut take: impl FnMut(T) -> Result<(), OutputError>,
) -> Result<(), OutputError> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let one = |unit| {
        let part = finished.parts.get(unit)?;
        let digest = PartsDigest::of(unit, &part);
        Ok((digest, render(unit, part)?))
    };
    let mut digest = PartsDigest::default();
    std::thread::scope(|scope| {
        // Thread k has units k, k + cores, ...; it stops when no one takes what it sends.
        let thread = |first: u64| {
            let (send, receive) = sync_channel(1);
            let one = &one;
            scope.spawn(move || {
                let mut units = (first..units).step_by(usize::try_from(cores).unwrap_or(1));
                units.try_for_each(|unit| send.send(one(unit)))
            });
            receive
        };
        let lanes: Vec<Receiver<Result<(PartsDigest, T), OutputError>>> =
            (0..cores.min(units)).map(thread).collect();
        for lane in lanes.iter().cycle().take(usize::try_from(units).unwrap_or(usize::MAX)) {
            let died = |_| OutputError::Part("a thread that reads parts failed".into());
            let (part, rendered) = lane.recv().map_err(died)??;
            digest = digest.plus(part);
            take(rendered)?;
        }
        Ok::<(), OutputError>(())
    })?;
    if finished.report["parts"] == digest.hex() {
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
        fn put(&self, unit: u64, part: Vec<u8>) -> Result<(), String> {
            self.0.lock().unwrap().insert(unit, part);
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
        assert_eq!(PartsDigest::from_hex(&forward.hex()), Some(forward));
        for wrong in ["", "0", &forward.hex()[1..], &(forward.hex() + "0"), &"+".repeat(64), &"é".repeat(32)]
        {
            assert_eq!(PartsDigest::from_hex(wrong), None, "{wrong}");
        }
    }
}
