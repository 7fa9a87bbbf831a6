//! The words that the scheduler exchanges with the engine around it.

use std::{fmt, ops::Range};

/// One run of a job: unique for ever, so that a result that wanders in from an older run cannot be mistaken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct JobId(pub [u8; 16]);

/// One connection of a worker. Numbers are never reused while the coordinator lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// A worker, as it names itself in its own store: the same across reconnections and restarts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct WorkerId(pub [u8; 16]);

/// A shard in a worker's hands. Never reused while the coordinator lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub u64);

/// A commit that waits for an answer. Chosen by the engine, unique while the coordinator lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u64);

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
        /// Names this offer in the commands that answer it.
        token: Token,
        /// The run.
        job: JobId,
        /// What it covers.
        range: Range<u64>,
        /// Hash of the partial.
        digest: [u8; 32],
        /// Computing time spent on the range, in microseconds: what lease sizes are made of.
        busy_us: u64,
    },
    /// The ledger holds the commit durably.
    Persisted(Token),
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
}

/// What the ledger says of a range that is offered a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The same range with the same digest is committed.
    Same,
    /// The same range is committed with another digest.
    Different,
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
    /// Write the commit to the ledger, then report [`Event::Persisted`].
    Persist(Token),
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
    /// Every unit is committed or quarantined.
    Finished(JobId),
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
