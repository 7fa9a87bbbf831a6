//! What a job kind is: the one trait that a new kind implements.
//!
//! A job is `0..units()` work units that can be run in any order, on any machine, any number of times. A kind says
//! how many units its settings make, runs one of them, adds results up, and words the report. It knows nothing of
//! leases, networks, stores or processes; the machinery knows nothing of what a partial means. [`crate::erased`]
//! is the seam between the two.

use std::{io, ops::Range, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};

use crate::input::{Local, Storage, Surroundings};
use crate::page::Picture;
use crate::parts::{Finished, Form, OutputError, PartSink, each_part};
use crate::plot::Plot;

/// A job kind.
///
/// # Contract
///
/// - The plan ([`units`](Self::units), and what each unit means) depends on the arguments alone.
/// - [`run_unit`](Self::run_unit) is a pure function of the arguments and the unit: same bytes on every machine,
///   thread count and instruction set.
/// - [`merge`](Self::merge) is associative and commutative, and [`empty`](Self::empty) is its neutral element, so
///   that any split of a range and any order of arrival give the same bytes.
/// - Raise [`REVISION`](Self::REVISION) whenever the plan or the bytes of a partial change: old ledgers are then
///   refused instead of being mixed with new results.
pub trait JobKind: Sized + Send + Sync + 'static {
    /// Name on the command line, in ledgers and on the wire.
    const NAME: &'static str;
    /// One line for `nonet run --help`.
    const ABOUT: &'static str;
    /// Examples shown under the kind's own `--help`.
    const EXAMPLES: &'static str;
    /// Version of plan and partials.
    const REVISION: u32;
    /// Whether `nonet run --help` leaves the kind out (kinds that serve measuring and testing only).
    const HIDDEN: bool = false;

    /// What the file holds that `--output` writes, for kinds whose units have parts.
    const OUTPUT: Option<&'static str> = None;
    /// The forms it can have.
    const FORMS: &'static [Form] = &[Form::Csv];

    /// The settings of a job, which are also its command-line arguments. Serialised as JSON they name the job, so
    /// use `#[serde(deny_unknown_fields)]` and leave nothing in that does not change the result, or that
    /// [`prepare`](Self::prepare) has still to look up.
    type Args: clap::Args + Serialize + DeserializeOwned;
    /// What a range of units yields. Encoded with postcard it must stay below [`MAX_PARTIAL_BYTES`].
    type Partial: Serialize + DeserializeOwned + Send;

    /// Turns what was typed into settings, once, where the job is submitted: what a name stands for there and then is
    /// looked up here. May take long.
    ///
    /// # Errors
    ///
    /// Says which argument is wrong and what would be right.
    fn prepare(args: Self::Args, around: &Surroundings<'_>) -> Result<Self::Args, BadSettings> {
        let _ = around;
        Ok(args)
    }

    /// Checks the arguments and prepares what the plan needs. Called on the coordinator for every submission and on
    /// each worker once a job, so keep it cheap; build tables lazily in [`run_unit`](Self::run_unit).
    ///
    /// # Errors
    ///
    /// Says which argument is wrong and what would be right.
    fn new(args: Self::Args) -> Result<Self, BadSettings>;

    /// Jobs whose reports this one's report needs (see [`Progress::needed`]); none unless a kind says otherwise. The
    /// coordinator runs those that are missing, reuses those that are there, and calls this job finished only when they
    /// are. Depends on the arguments alone.
    fn needs(&self) -> Vec<Needed> {
        Vec::new()
    }

    /// Number of work units. Nothing is materialised: 10^10 is as good as ten.
    fn units(&self) -> u64;

    /// What a unit is, in words, for error messages and lists of quarantined units.
    fn unit_name(&self, unit: u64) -> String;

    /// The partial of no units at all.
    fn empty(&self) -> Self::Partial;

    /// Computes one unit, `unit < units()`.
    ///
    /// # Errors
    ///
    /// [`UnitError::Stopped`] soon (aim for 10 ms) after [`UnitContext::stopped`] turns true, and
    /// [`UnitError::Failed`] when this unit cannot be computed. A panic counts as `Failed`.
    fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Self::Partial, UnitError>;

    /// Whether `partial` can be the result of `range`, as far as that can be told cheaply: a broken worker should be
    /// refused before its result is counted.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn check(&self, range: Range<u64>, partial: &Self::Partial) -> Result<(), BadPartial>;

    /// Adds `from` to `into`. Partials come from other machines: check every index and use checked arithmetic.
    ///
    /// # Errors
    ///
    /// Says what is wrong with `from`; `into` must then be unchanged.
    fn merge(&self, into: &mut Self::Partial, from: Self::Partial) -> Result<(), BadPartial>;

    /// Writes the output of a finished job from the parts of its units. The default strings them together, and holds
    /// their digest against the report's: see [`each_part`].
    ///
    /// # Errors
    ///
    /// When a part is missing or does not fit the report ([`Report::json`]), or `out` fails.
    fn assemble(&self, finished: &Finished<'_>, out: &mut (dyn io::Write + Send)) -> Result<(), OutputError> {
        each_part(self.units(), finished, |part| Ok(out.write_all(&part)?))
    }

    /// Pictures for the page of a report, from the parts of some units; the report tells which. `finished` need not be
    /// finished: a part may be missing, and is then left out.
    ///
    /// # Errors
    ///
    /// When a part is there but does not fit the job.
    fn pictures(&self, finished: &Finished<'_>) -> Result<Vec<Picture>, OutputError> {
        let _ = finished;
        Ok(Vec::new())
    }

    /// Words the report of a finished or unfinished job.
    ///
    /// # Errors
    ///
    /// When the partial contradicts itself.
    fn report(&self, partial: &Self::Partial, progress: &Progress) -> Result<Report, BadPartial>;
}

/// Upper bound of an encoded partial. Larger results go to part files.
///
/// sled keeps values above 128 KiB in files that it never removes, so this bound is also what keeps the ledger small.
pub const MAX_PARTIAL_BYTES: usize = 64 << 10;

/// Upper bound of a job's settings as JSON.
pub const MAX_SETTINGS_BYTES: usize = 64 << 10;

/// Arguments that no job can be made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadSettings(pub String);

/// A partial that does not decode, or does not belong to this job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadPartial(pub String);

/// Why a unit gave no partial.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The machinery asked the unit to stop; another attempt will do.
    #[error("stopped")]
    Stopped,
    /// The unit cannot be computed. The same attempt elsewhere decides whether the unit or the machine is to blame.
    #[error("{0}")]
    Failed(String),
}

/// Where a unit keeps its progress, so that a long unit survives the death of its worker.
pub trait UnitCheckpoint: Sync {
    /// The last saved progress of this unit, if any.
    fn load(&self) -> Option<Vec<u8>>;
    /// Saves progress. Cheap to call often: the store keeps the newest and writes at its own pace.
    fn save(&self, progress: Vec<u8>);
}

/// What a running unit may ask of its surroundings.
pub struct UnitContext<'a> {
    stop: &'a (dyn Fn() -> bool + Sync),
    checkpoint: Option<&'a dyn UnitCheckpoint>,
    parts: Option<&'a dyn PartSink>,
    storage: &'a Arc<dyn Storage>,
}

impl<'a> UnitContext<'a> {
    /// A context that stops when `stop` says so, keeps progress in `checkpoint`, and reads files on disk.
    pub fn new(stop: &'a (dyn Fn() -> bool + Sync), checkpoint: Option<&'a dyn UnitCheckpoint>) -> Self {
        Self { stop, checkpoint, parts: None, storage: Local::shared() }
    }

    /// The same with a place for parts.
    #[must_use]
    pub fn with_parts(self, parts: Option<&'a dyn PartSink>) -> Self {
        Self { parts, ..self }
    }

    /// The same with another way to read files.
    #[must_use]
    pub fn with_storage(self, storage: &'a Arc<dyn Storage>) -> Self {
        Self { storage, ..self }
    }

    /// A context that never stops and keeps nothing: for tests and benchmarks.
    pub fn free() -> UnitContext<'static> {
        UnitContext::new(&|| false, None)
    }

    /// Reads the job's files: see [`File::read`](crate::input::File::read).
    pub fn storage(&self) -> &Arc<dyn Storage> {
        self.storage
    }

    /// Whether the unit should give up now. Costs a few nanoseconds.
    pub fn stopped(&self) -> bool {
        (self.stop)()
    }

    /// Progress saved by an earlier attempt at this unit on this worker. Treat it like any input: check it.
    pub fn resume(&self) -> Option<Vec<u8>> {
        self.checkpoint.and_then(UnitCheckpoint::load)
    }

    /// Keeps the part of unit `unit` where there is a place for parts. The unit's result must not depend on that.
    ///
    /// # Errors
    ///
    /// [`UnitError::Failed`] when it cannot be written: the unit must not count as done.
    pub fn put_part(&self, unit: u64, part: Vec<u8>) -> Result<(), UnitError> {
        self.parts.map_or(Ok(()), |parts| parts.put(unit, part)).map_err(UnitError::Failed)
    }

    /// Saves progress inside the unit.
    pub fn save(&self, progress: impl FnOnce() -> Vec<u8>) {
        if let Some(checkpoint) = self.checkpoint {
            checkpoint.save(progress());
        }
    }
}

/// A job that another one needs. It must not need that one in turn, be it by others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needed {
    /// [`JobKind::NAME`] of its kind.
    pub kind: &'static str,
    /// Its settings as JSON.
    pub settings: String,
}

/// What is known of a needed job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededReport {
    /// Whether all its units are done, and nothing is wrong with their sum.
    pub complete: bool,
    /// [`Report::json`].
    pub json: serde_json::Value,
}

/// How far a job is when its report is worded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Units in the plan.
    pub units: u64,
    /// Units counted in the partial.
    pub done: u64,
    /// Computing time of those units in microseconds, of all threads together; 0 if it was not measured. It is no part of
    /// the result: another run takes another time.
    pub busy_us: u64,
    /// Units given up, as ranges in ascending order.
    pub quarantined: Vec<Range<u64>>,
    /// For each of [`JobKind::needs`] what it has yielded, unless it cannot be had.
    pub needed: Vec<Option<NeededReport>>,
}

impl Progress {
    /// Whether every unit of the plan is in the partial.
    pub fn complete(&self) -> bool {
        self.done == self.units
    }
}

/// A report in the forms that users ask for.
#[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize)]
pub struct Report {
    /// For scripts. An object; exact counts are strings.
    pub json: serde_json::Value,
    /// For people.
    pub table: String,
    /// The main table of the report, with a header line.
    pub csv: String,
    /// A complete result that contradicts a published value or itself, in words. Makes the exit code 1.
    pub alarm: Option<String>,
    /// What there is to look at, for a page; together below [`MAX_PLOTS_BYTES`](crate::plot::MAX_PLOTS_BYTES).
    #[serde(default)]
    pub plots: Vec<Plot>,
}
