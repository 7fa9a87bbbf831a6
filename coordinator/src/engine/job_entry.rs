//! A job in the engine's hands.

use std::sync::Arc;

use jobs::{Accumulator, BadPartial, NeededReport, Progress, Report};

use super::{
    SharedJob, Terms,
    opening::{Opened, reopen},
};
use crate::{
    ledger::{CommitRecord, JobRecord, JobState, JobSummary},
    scheduler::{RangeSet, Requirement, WorkerId, parse_requirements},
};

/// What the engine keeps of a job.
pub(crate) struct JobEntry {
    pub record: JobRecord,
    pub state: JobState,
    pub state_unix_ms: u64,
    /// The job itself, or why this program cannot open it.
    pub job: Result<SharedJob, String>,
    /// Names of the jobs that it needs.
    pub needs: Vec<[u8; 16]>,
    /// The sum of its commits, once they have been added up.
    pub past: Past,
    pub done_units: u64,
    /// Which those are, of a job that the scheduler does not know.
    pub done_at_rest: RangeSet,
    /// Computing time of those, in microseconds.
    pub busy_us: u64,
    /// Units that were done when this program started.
    pub done_before: Option<u64>,
    pub quarantined: RangeSet,
    pub failures: Vec<(u64, WorkerId, String)>,
    pub conflicts: Vec<CommitRecord>,
    /// Workers that have to agree on a result before it counts.
    pub replicas: u32,
    /// What its workers must have.
    pub requirements: Vec<Requirement>,
    /// Units that were committed by liars, and withdrawn.
    pub withdrawn_units: u64,
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
    /// A job of the ledger.
    pub fn read(summary: JobSummary) -> Self {
        let JobRecord { kind, revision, settings, units, .. } = &summary.record;
        let opened = reopen((kind, *revision, settings), *units, "start it anew with --fresh");
        let (job, needs) = match opened {
            Ok(Opened { job, needs, .. }) => (Ok(job), needs.iter().map(|need| need.name).collect()),
            Err(why) => (Err(why), Vec::new()),
        };
        Self::new(summary, job, needs)
    }

    /// A job that has just been submitted.
    pub fn submitted(record: JobRecord, terms: &Terms, opened: &Opened) -> Self {
        let requirements = super::requirements::texts(&terms.requirements);
        let summary = JobSummary { replicas: terms.replicas, requirements, ..JobSummary::submitted(record) };
        let needs = opened.needs.iter().map(|need| need.name).collect();
        Self::new(summary, Ok(Arc::clone(&opened.job)), needs)
    }

    fn new(summary: JobSummary, job: Result<SharedJob, String>, needs: Vec<[u8; 16]>) -> Self {
        let JobSummary { record, state, state_unix_ms, quarantined, failures, conflicts, .. } = summary;
        let JobSummary { replicas, withdrawn_units, requirements, .. } = summary;
        // One that asks for what this program does not understand must not go to just anybody.
        let (requirements, job) = match parse_requirements(&requirements) {
            Ok(requirements) => (requirements, job),
            Err(why) => (Vec::new(), job.and(Err(format!("{why}; start it anew with --fresh")))),
        };
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
            needs,
            past,
            done_units,
            done_at_rest: RangeSet::new(),
            busy_us: 0,
            done_before,
            quarantined,
            failures,
            conflicts,
            replicas,
            requirements,
            withdrawn_units,
        }
    }

    /// Whether units may be handed out.
    pub fn is_live(&self) -> bool {
        matches!(self.state, JobState::Running | JobState::Paused) && self.job.is_ok()
    }

    /// Whether it counts as finished, but lost results: only its commits tell whether all of them were computed again.
    pub fn is_doubtful(&self) -> bool {
        self.state == JobState::Finished && self.withdrawn_units > 0
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

    /// Whether every unit is done or given up, as far as is known.
    pub fn is_complete(&self) -> bool {
        matches!(self.past, Past::Known(_)) && self.done_units + self.quarantined.units() == self.record.units
    }

    /// The report, given those of the jobs that it needs.
    pub fn report(&self, needed: Vec<Option<NeededReport>>) -> Result<Report, BadPartial> {
        let job = self.job.as_ref().map_err(|e| BadPartial(e.clone()))?;
        let Past::Known(sum) = &self.past else {
            return Err(BadPartial("the job's commits have not been added up".into()));
        };
        let progress = Progress {
            units: self.record.units,
            done: self.done_units,
            busy_us: self.busy_us,
            quarantined: self.quarantined.iter().collect(),
            needed,
        };
        job.report(&sum.bytes()?, &progress)
    }
}
