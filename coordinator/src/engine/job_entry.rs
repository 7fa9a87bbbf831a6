//! A job in the engine's hands.

use std::sync::Arc;

use jobs::{Accumulator, BadPartial, Progress, Report};

use super::SharedJob;
use crate::{
    ledger::{CommitRecord, JobRecord, JobState, JobSummary},
    scheduler::{RangeSet, WorkerId},
};

/// What the engine keeps of a job.
pub(crate) struct JobEntry {
    pub record: JobRecord,
    pub state: JobState,
    pub state_unix_ms: u64,
    /// The job itself, or why this program cannot open it.
    pub job: Result<SharedJob, String>,
    /// The sum of its commits, once they have been added up.
    pub past: Past,
    pub done_units: u64,
    /// Units that were done when this program started.
    pub done_before: Option<u64>,
    pub quarantined: RangeSet,
    pub failures: Vec<(u64, WorkerId, String)>,
    pub conflicts: Vec<CommitRecord>,
}

/// Whether a job's commits have been added up.
pub(crate) enum Past {
    /// Not yet: a finished job of an earlier life, of which nobody has asked the result.
    Unread,
    /// The ledger's thread is at it.
    BeingRead,
    /// They have.
    Known(Box<dyn Accumulator>),
}

/// Failures of a unit that are shown; every one is in the journal.
const MAX_FAILURES: usize = 1000;

impl JobEntry {
    pub fn new(summary: JobSummary) -> Self {
        let JobSummary { record, state, state_unix_ms, quarantined, failures, conflicts } = summary;
        let job = open(&record);
        let quarantined: RangeSet = quarantined.into_iter().map(|unit| unit..unit + 1).collect();
        // A finished job has done all that it has not given up; of the others the fold will tell.
        let finished = state == JobState::Finished;
        let done_units = if finished { record.units - quarantined.units() } else { 0 };
        let (past, done_before) = (Past::Unread, finished.then_some(done_units));
        Self {
            record,
            state,
            state_unix_ms,
            job,
            past,
            done_units,
            done_before,
            quarantined,
            failures,
            conflicts,
        }
    }

    /// Whether units may be handed out.
    pub fn is_live(&self) -> bool {
        matches!(self.state, JobState::Running | JobState::Paused) && self.job.is_ok()
    }

    /// Whether the scheduler knows it. A finished job gets no leases there, but a late result is compared with what is
    /// committed.
    pub fn is_scheduled(&self) -> bool {
        self.is_live() || (self.state == JobState::Finished && self.job.is_ok())
    }

    pub fn add_failure(&mut self, unit: u64, worker: WorkerId, error: String) {
        if self.failures.len() < MAX_FAILURES {
            self.failures.push((unit, worker, error));
        }
    }

    pub fn report(&self) -> Result<Report, BadPartial> {
        let job = self.job.as_ref().map_err(|e| BadPartial(e.clone()))?;
        let Past::Known(sum) = &self.past else {
            return Err(BadPartial("the job's commits have not been added up".into()));
        };
        let progress = Progress {
            units: self.record.units,
            done: self.done_units,
            quarantined: self.quarantined.iter().collect(),
        };
        job.report(&sum.bytes()?, &progress)
    }
}

fn open(record: &JobRecord) -> Result<SharedJob, String> {
    let JobRecord { kind: name, revision, settings, units, .. } = record;
    let kind = jobs::find(name).ok_or_else(|| format!("this program knows no job kind {name:?}"))?;
    if kind.revision() != *revision {
        let ours = kind.revision();
        return Err(format!(
            "made by revision {revision} of {name}, this program has revision {ours}: start it anew with --fresh"
        ));
    }
    let job: SharedJob = kind.open(settings).map_err(|e| e.to_string())?;
    if job.units() != *units {
        let ours = job.units();
        return Err(format!(
            "was planned with {units} units, this program plans {ours}: start it anew with --fresh"
        ));
    }
    Ok(Arc::clone(&job))
}
