//! The coordinator's durable record: jobs, committed ranges, partials.
//!
//! The journal (an append-only file) is the truth; the store (sled) is an index over it. Entries are appended in
//! groups; when [`Ledger::append`] returns, the group survives a power cut.

mod acts;
mod audit;
mod book;
mod doubts;
mod embedded;
mod error;
pub mod etcd;
mod export;
mod frame;
#[cfg(feature = "fuzzing")]
pub mod fuzz;
mod index;
mod indexer;
mod journal;
mod live;
mod pages;
mod reading;
mod rebuild;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub(crate) use self::frame::chain;
pub use self::{
    acts::{ACTS_KEPT, Act, Action, Actor},
    audit::{CheckReport, JobCheck, check},
    book::MAX_ERROR_BYTES,
    doubts::{MAX_REPLICAS, Quarantine},
    embedded::EmbeddedLedger,
    error::LedgerError,
    export::{Exported, export, export_known},
    frame::{Chain, MAX_ENTRY_BYTES, MAX_FRAME_BYTES, Place, Position},
    journal::{Frame, Frames, JOURNAL, Journal, Tail},
    live::Withdrawals,
    reading::{EachCommit, JournalReading, Reading, committed},
    rebuild::{RebuildReport, rebuild},
};
use crate::scheduler::{JobId, Vote, WorkerId};

/// A job as submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// This run of the job.
    pub id: JobId,
    /// Hash of what determines its result (`jobs::job_name`); at most one run of a name is live.
    pub name: [u8; 16],
    /// Kind in the registry.
    pub kind: String,
    /// Revision of the kind.
    pub revision: u32,
    /// Settings, as JSON.
    pub settings: String,
    /// Units in the plan.
    pub units: u64,
    /// Share of the workers.
    pub weight: u32,
    /// When it was submitted, in milliseconds since 1970.
    pub created_unix_ms: u64,
}

/// A committed range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitRecord {
    /// The run.
    pub job: JobId,
    /// What is covered.
    pub range: Range<u64>,
    /// blake3 of the partial.
    pub digest: [u8; 32],
    /// The partial, encoded by the kind.
    pub partial: Vec<u8>,
    /// Who computed it.
    pub worker: WorkerId,
    /// Computing time in microseconds.
    pub busy_us: u64,
    /// When it was accepted, in milliseconds since 1970.
    pub at_unix_ms: u64,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobState {
    /// Units are handed out.
    Running,
    /// Waits for `resume`.
    Paused,
    /// Stopped by a user; `retry` takes it up again.
    Cancelled,
    /// Stopped because two results for one range differ. Both are kept.
    Conflicted,
    /// Every unit is committed or quarantined.
    Finished,
    /// Replaced by a fresh run; kept in the journal only.
    Removed,
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// A job was submitted.
    Job(JobRecord),
    /// A range was committed.
    Commit(CommitRecord),
    /// A job changed its state.
    State {
        /// The run.
        job: JobId,
        /// What it is now.
        state: JobState,
        /// When, in milliseconds since 1970.
        at_unix_ms: u64,
    },
    /// A unit failed on a worker.
    Failure {
        /// The run.
        job: JobId,
        /// The unit.
        unit: u64,
        /// Where.
        worker: WorkerId,
        /// Why, in the worker's words.
        error: String,
    },
    /// A unit was given up.
    Quarantine {
        /// The run.
        job: JobId,
        /// The unit.
        unit: u64,
    },
    /// Failures and quarantine of a job were forgotten.
    Retry {
        /// The run.
        job: JobId,
    },
    /// A second result that differs from the committed one; the first stays where it is.
    Conflict(CommitRecord),
    /// Somebody did something.
    Act(Act),
    /// So many distinct workers have to agree on a result of a job before it counts.
    Replicas {
        /// The run.
        job: JobId,
        /// From 1, which is what every job begins with, to [`MAX_REPLICAS`].
        replicas: u32,
    },
    /// A result that does not count: it waits for other workers, or differs from what is committed. A range has at most
    /// one of a worker; one that cuts across others displaces them.
    Claim(CommitRecord),
    /// A range was committed: workers agree on its result. Settles all claims to its units.
    Confirm {
        /// The last of the results; the others are the same.
        commit: CommitRecord,
        /// All workers that got it.
        by: Vec<WorkerId>,
    },
    /// Nothing said of a range counts any more, be it committed or claimed.
    Withdraw {
        /// The run.
        job: JobId,
        /// Exactly as it was committed or claimed.
        range: Range<u64>,
    },
    /// A worker's results are not believed any more. Its claims are void.
    WorkerQuarantined(Quarantine),
    /// What a quarantined worker alone stood behind has been withdrawn.
    WorkerSwept {
        /// Who.
        worker: WorkerId,
    },
    /// A worker is believed again.
    WorkerReadmitted {
        /// Who.
        worker: WorkerId,
        /// When, in milliseconds since 1970.
        at_unix_ms: u64,
    },
    /// What the workers of a job must have, in place of what was said before.
    Requirements {
        /// The run.
        job: JobId,
        /// As texts, which the ledger does not read.
        requirements: Vec<String>,
    },
}

/// All that the ledger knows of a job, its commits apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobSummary {
    /// As submitted.
    pub record: JobRecord,
    /// Where it stands.
    pub state: JobState,
    /// When it last changed its state, in milliseconds since 1970.
    pub state_unix_ms: u64,
    /// Units given up.
    pub quarantined: Vec<u64>,
    /// Failures on record: unit, worker, error.
    pub failures: Vec<(u64, WorkerId, String)>,
    /// Refused second results.
    pub conflicts: Vec<CommitRecord>,
    /// Distinct workers that have to agree on a result before it counts.
    pub replicas: u32,
    /// Results that do not count, ascending by range and worker.
    pub claims: Vec<Vote>,
    /// Units that were committed and withdrawn again, all times counted.
    pub withdrawn_units: u64,
    /// What its workers must have. Not written where this is, but behind it: earlier versions did not know it.
    #[serde(skip)]
    pub requirements: Vec<String>,
}

impl JobSummary {
    /// A job of which nothing is known but how it was submitted.
    pub fn submitted(record: JobRecord) -> Self {
        Self {
            state: JobState::Running,
            state_unix_ms: record.created_unix_ms,
            quarantined: Vec::new(),
            failures: Vec::new(),
            conflicts: Vec::new(),
            replicas: 1,
            claims: Vec::new(),
            withdrawn_units: 0,
            requirements: Vec::new(),
            record,
        }
    }
}

/// What a durable record of jobs must do. Implemented by the embedded journal with sled, and by etcd.
pub trait Ledger: Send {
    /// Appends a group, and returns when it is durable. Either all of it is, or an error is returned. After
    /// [`LedgerError::Refused`] nothing happened and the ledger goes on; after any other error it takes nothing more.
    ///
    /// # Errors
    ///
    /// When the group contradicts what is recorded (a range committed before, an unknown job, a second live run of a
    /// name) or exceeds a bound, and when the medium fails or is full.
    fn append(&mut self, group: &[Entry]) -> Result<(), LedgerError>;

    /// Every job that is not removed, in the order of submission.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn jobs(&self) -> Result<Vec<JobSummary>, LedgerError>;

    /// Calls `each` with every commit of a job that counts and the workers that stand behind it, ascending by range.
    ///
    /// # Errors
    ///
    /// When the store cannot be read, or `each` fails.
    fn commits(&self, job: JobId, each: &mut EachCommit<'_>) -> Result<(), LedgerError>;

    /// The commit that starts at `start`.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn commit_at(&self, job: JobId, start: u64) -> Result<Option<CommitRecord>, LedgerError>;

    /// The last [`ACTS_KEPT`] acts, oldest first.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn acts(&self) -> Result<Vec<Act>, LedgerError>;

    /// The results of a job that do not count, ascending by range and worker.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn claims(&self, job: JobId) -> Result<Vec<Vote>, LedgerError> {
        let found = self.jobs()?.into_iter().find(|summary| summary.record.id == job);
        Ok(found.map_or(Vec::new(), |summary| summary.claims))
    }

    /// Workers whose results are not believed, ascending.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn quarantined(&self) -> Result<Vec<Quarantine>, LedgerError>;

    /// What it takes where it is kept: the journal, or pages and groups in etcd.
    fn len_bytes(&self) -> u64;

    /// A number that names this ledger, chosen when it was created. Workers keep it beside what they spool.
    fn ledger_id(&self) -> [u8; 16];
}
