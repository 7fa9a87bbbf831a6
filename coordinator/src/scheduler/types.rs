//! The words that the scheduler exchanges with the engine around it.

use std::{fmt, ops::Range, sync::Arc};

use super::{Abilities, Need};

/// One run of a job: unique for ever, so that a result that wanders in from an older run cannot be mistaken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct JobId(pub [u8; 16]);

/// One connection of a worker. Numbers are never reused while the coordinator lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// A worker, as it names itself in its own store: the same across reconnections and restarts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct WorkerId(pub [u8; 16]);

impl WorkerId {
    /// Stands for workers whose results were added up: who of them computed what is not known any more. No worker's own.
    pub const SEVERAL: Self = Self([0xff; 16]);

    /// The text of [`Self::SEVERAL`].
    pub const SEVERAL_TEXT: &str = "several";

    /// Its id for people and in files: hexadecimal, or [`Self::SEVERAL_TEXT`].
    pub fn text(self) -> String {
        if self == Self::SEVERAL { Self::SEVERAL_TEXT.into() } else { hex(&self.0) }
    }
}

/// A shard in a worker's hands. Never reused while the coordinator lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub u64);

/// A commit that waits for an answer. Chosen by the engine, unique while the coordinator lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u64);

/// blake3 of a partial.
pub type Digest = [u8; 32];

/// Milliseconds on a clock that never runs backwards. The scheduler has no other notion of time.
pub type Millis = u64;

/// What the scheduler is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A job enters, new or read back from the ledger.
    JobAdded {
        /// The run.
        job: JobId,
        /// Its size and past.
        spec: JobSpec,
    },
    /// Grants stop; running leases are asked to commit what they have and hand back the rest.
    JobPaused(JobId),
    /// Grants go on.
    JobResumed(JobId),
    /// The job is cancelled, or stopped by a conflict: leases are abandoned and later commits refused.
    JobRemoved(JobId),
    /// Quarantined units return to the pool with their failures forgotten.
    JobRetried(JobId),
    /// The job asks for something else in its workers. Those that do not have it commit what they have, and hand back the
    /// rest.
    JobNeeds(JobId, Need),
    /// A worker connected.
    SessionOpened {
        /// The connection.
        session: SessionId,
        /// Who it is. An older session of the same worker is closed.
        worker: WorkerId,
        /// Leases that it computes at a time.
        slots: u32,
        /// Further leases that it wants in stock.
        prefetch: u32,
        /// What it has.
        abilities: Arc<Abilities>,
    },
    /// The connection is gone: what it held returns to the pool at once.
    SessionClosed(SessionId),
    /// The session said something; its leases are renewed.
    Heard(SessionId),
    /// How far a lease is: all units below `reached` are computed.
    Progress {
        /// The connection.
        session: SessionId,
        /// The lease.
        lease: LeaseId,
        /// First unit that is not computed.
        reached: u64,
    },
    /// A worker offers the result of a range, a lease's prefix or a spooled one from an earlier session.
    Commit {
        /// The connection.
        session: SessionId,
        /// Who computed it.
        worker: WorkerId,
        /// Names this offer in the commands that answer it.
        token: Token,
        /// The run.
        job: JobId,
        /// What it covers.
        range: Range<u64>,
        /// Hash of the partial.
        digest: Digest,
        /// Computing time spent on the range, in microseconds: what lease sizes are made of.
        busy_us: u64,
    },
    /// The ledger holds durably what [`Command::Persist`], [`Command::Claim`] or [`Command::Confirm`] ordered.
    Persisted(Token),
    /// The ledger has refused it, and goes on.
    NotWritten(Token),
    /// Answer to [`Command::Compare`].
    Compared(Token, Comparison),
    /// A unit failed; the lease continues to exist until it is returned.
    Failed {
        /// The connection.
        session: SessionId,
        /// The lease.
        lease: LeaseId,
        /// The unit.
        unit: u64,
        /// In the worker's words.
        error: String,
    },
    /// The worker is finished with a lease: everything of it that is not committed or on its way here returns.
    Returned {
        /// The connection.
        session: SessionId,
        /// The lease.
        lease: LeaseId,
    },
    /// The worker has shortened a lease: `end` is where it will stop (not below what was asked for).
    Shrunk {
        /// The connection.
        session: SessionId,
        /// The lease.
        lease: LeaseId,
        /// New end.
        end: u64,
    },
    /// The worker wants no further leases on this session (it is about to leave); it goes on with what it has.
    Draining(SessionId),
    /// So many of the workers of a pool (of all, if it has no name) that are connected now are to stay: see `release.rs`.
    Release {
        /// Value of their label `pool`.
        pool: String,
        /// So many.
        keep: u32,
    },
    /// Committed ranges are to be computed again by others. Those that cannot be are answered
    /// [`Checked::Dropped`].
    Verify {
        /// The run.
        job: JobId,
        /// What of it.
        ranges: Vec<Committed>,
    },
    /// Ranges that wait to be verified need not be; those of which two results differ are looked into all the same.
    VerifyStopped(JobId),
    /// What a quarantined worker had committed was taken out of the ledger: it is computed again.
    Withdrawn {
        /// The run.
        job: JobId,
        /// Whole committed ranges.
        ranges: Vec<Range<u64>>,
    },
    /// A worker's results are not believed: the ledger knows it from an earlier life.
    WorkerQuarantined(WorkerId),
    /// A worker is believed again.
    WorkerReadmitted(WorkerId),
    /// Nothing but the passing of time.
    Tick,
}

/// A job as the ledger knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSpec {
    /// Units in the plan.
    pub units: u64,
    /// Share of the workers, relative to other jobs (at least 1).
    pub weight: u32,
    /// Committed ranges.
    pub done: super::RangeSet,
    /// Failures on record that did not lead to quarantine yet: unit and worker.
    pub failures: Vec<(u64, WorkerId, String)>,
    /// Units given up.
    pub quarantined: super::RangeSet,
    /// Whether grants wait for [`Event::JobResumed`].
    pub paused: bool,
    /// What a worker must have to compute it.
    pub need: Need,
    /// Distinct workers that have to agree on a result before it counts; 0 and 1: it counts at once.
    pub replicas: u32,
    /// Results on record that do not count.
    pub claims: Vec<Vote>,
    /// The committed ranges that claims are about.
    pub disputed: Vec<Committed>,
}

/// What a worker says of a range.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Vote {
    /// Of which range.
    pub range: Range<u64>,
    /// Who says it.
    pub worker: WorkerId,
    /// What its result hashes to.
    pub digest: Digest,
}

/// A range that counts, and who stands behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its units.
    pub range: Range<u64>,
    /// What its result hashes to.
    pub digest: Digest,
    /// The workers that got this result.
    pub by: Vec<WorkerId>,
}

/// What the ledger says of a range that is offered a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The same range with the same digest is committed.
    Same,
    /// The same range is committed with this other digest.
    Different(Digest),
    /// The range cuts across what is committed.
    Overlap,
}

/// What the engine is told to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Hand a shard to a worker.
    Grant {
        /// The connection.
        session: SessionId,
        /// The lease.
        lease: LeaseId,
        /// The run.
        job: JobId,
        /// The shard.
        range: Range<u64>,
        /// It is to be committed whole or not at all: its result is compared with another worker's.
        whole: bool,
    },
    /// Ask a worker to stop a lease at `end`, or as soon after as it can. It answers with [`Event::Shrunk`].
    Shrink {
        /// The connection.
        session: SessionId,
        /// The lease.
        lease: LeaseId,
        /// Wanted end.
        end: u64,
    },
    /// Ask a worker to stop a lease now, commit what it has, and return it.
    Revoke {
        /// The connection.
        session: SessionId,
        /// The lease.
        lease: LeaseId,
    },
    /// Tell a worker that a lease is void; it drops the work and owes no answer.
    Abandon {
        /// The connection.
        session: SessionId,
        /// The lease.
        lease: LeaseId,
    },
    /// Write the commit to the ledger, then report [`Event::Persisted`]. It counts.
    Persist(Token),
    /// Write the result to the ledger as a claim, which does not count, then report [`Event::Persisted`].
    Claim(Token),
    /// Write the result to the ledger as one that `by` agree on, then report [`Event::Persisted`]. It counts, and
    /// settles all claims to its range.
    Confirm {
        /// The last result.
        token: Token,
        /// All workers that got it.
        by: Vec<WorkerId>,
    },
    /// Look the commit's range up in the ledger, then report [`Event::Compared`].
    Compare(Token),
    /// Answer a commit. The engine forgets the token.
    Answer(Token, Verdict),
    /// Write a failure to the ledger.
    RecordFailure {
        /// The run.
        job: JobId,
        /// The unit.
        unit: u64,
        /// Where.
        worker: WorkerId,
        /// Why.
        error: String,
    },
    /// Write to the ledger that a unit is given up.
    Quarantine {
        /// The run.
        job: JobId,
        /// The unit.
        unit: u64,
    },
    /// Write to the ledger that nothing said of a range counts any more: units of it are given up.
    Withdraw {
        /// The run.
        job: JobId,
        /// The range, as it was claimed.
        range: Range<u64>,
    },
    /// Write to the ledger that a worker's results are not believed, take out what it alone stands behind, and report
    /// [`Event::Withdrawn`].
    QuarantineWorker {
        /// Who.
        worker: WorkerId,
        /// The run in which it was found out.
        job: JobId,
        /// With which range.
        range: Range<u64>,
        /// What its result hashes to.
        digest: Digest,
        /// What the result of the others hashes to, or another one of its own.
        against: Digest,
    },
    /// A committed range was computed again, or will not be.
    Checked {
        /// The run.
        job: JobId,
        /// As it was asked for.
        committed: Committed,
        /// What came of it.
        found: Checked,
    },
    /// Every unit is committed or quarantined.
    Finished(JobId),
    /// A worker is to finish what it computes, and leave. It gets nothing more.
    Leave(SessionId),
    /// Too much in a row went wrong on a worker: it gets nothing for so long.
    Rests(SessionId, Millis),
    /// Close a connection: it was silent too long, or the same worker came back on another one.
    Close(SessionId, CloseReason),
}

/// Why the scheduler closes a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// No word for [`super::Policy::silence_ms`].
    Silent,
    /// The same worker opened a newer session.
    Superseded,
    /// Its results are not believed.
    Quarantined,
}

/// What came of a range that was to be computed again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Another worker got the same.
    Same {
        /// Who.
        worker: WorkerId,
    },
    /// Another worker got something else. A third one will decide.
    Different {
        /// Who.
        worker: WorkerId,
        /// What its result hashes to.
        digest: Digest,
    },
    /// It could not be computed again: two workers failed on it.
    Failed {
        /// In the words of the second.
        error: String,
    },
    /// It does not count any more, is being looked at already, or whoever asked has left.
    Dropped,
}

/// The answer to a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Durable now.
    Accepted,
    /// Was durable before, with the same bytes.
    Duplicate,
    /// Cuts across committed ranges: not taken; its uncommitted units will be handed out again.
    Overlap,
    /// The range holds a different result already. The job stops.
    Conflict,
    /// The job is unknown, cancelled or finished otherwise, or the range is outside of it.
    Unknown,
    /// The worker's results are not believed.
    Refused,
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {}", hex(&self.0))
    }
}

impl fmt::Debug for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {}", hex(&self.0))
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |s, b| s + &format!("{b:02x}"))
}
