//! What users are shown of jobs.

use proto::v1::{JobStatus, Quarantined, State};

use super::{Refusal, core::Core, job_entry::JobEntry, requirements};
use crate::{
    ledger::JobState,
    scheduler::{self, JobId, RangeSet, hex},
};

/// Quarantined units that a status lists.
const MAX_LISTED: usize = 100;

impl Core {
    /// Finds the job that a user means: the start of its name, or its kind.
    pub(super) fn find(&self, wanted: &str) -> Result<JobId, Refusal> {
        if wanted.is_empty() {
            return Err(Refusal::Invalid("no job is named: give the start of its name, or its kind".into()));
        }
        let wanted_lower = wanted.to_ascii_lowercase();
        let is_meant = |entry: &JobEntry| {
            entry.record.kind == wanted || hex(&entry.record.name).starts_with(&wanted_lower)
        };
        let mut meant = self.jobs.iter().filter(|(_, entry)| is_meant(entry)).map(|(&id, _)| id);
        match (meant.next(), meant.next()) {
            (Some(id), None) => Ok(id),
            (None, _) => Err(Refusal::NotFound(format!("no job {wanted:?}: `nonet jobs` lists all"))),
            (Some(_), Some(_)) => Err(Refusal::Invalid(format!(
                "{wanted:?} means several jobs: give more of the name (`nonet jobs`)"
            ))),
        }
    }

    pub(super) fn job_status(&self, id: JobId) -> Result<JobStatus, Refusal> {
        let gone = || Refusal::NotFound("the job is gone".into());
        let entry = self.jobs.get(&id).ok_or_else(gone)?;
        let record = &entry.record;
        let view = self.scheduler.job(id);
        let quarantined_units = entry.quarantined.units();
        Ok(JobStatus {
            name: hex(&record.name),
            kind: record.kind.clone(),
            settings: record.settings.clone(),
            state: wire_state(entry).into(),
            units: record.units,
            done: entry.done_units,
            leased: view.as_ref().map_or(0, |v| v.leased),
            quarantined: first_units(&entry.quarantined).map(|unit| describe(entry, unit)).collect(),
            quarantined_units,
            waiting_for_second_worker: view.as_ref().map_or(0, |v| v.suspects),
            units_per_1000s: view.as_ref().map_or(0, |v| v.units_per_1000s),
            eta_ms: view.as_ref().and_then(|v| v.eta_ms).unwrap_or(0),
            workers: u32::try_from(self.sessions.len()).unwrap_or(u32::MAX),
            created_unix_ms: record.created_unix_ms,
            state_unix_ms: entry.state_unix_ms,
            weight: record.weight,
            detail: self.detail(entry, view.as_ref()),
            done_before: entry.done_before.unwrap_or(0),
            run: hex(&id.0),
            replicas: entry.replicas,
            unconfirmed: view.as_ref().map_or(0, |v| v.claimed),
            quarantined_workers: u32::try_from(self.quarantined.len()).unwrap_or(u32::MAX),
            waits_for: self.waits_for(entry).unwrap_or_default(),
            requirements: requirements::texts(&entry.requirements),
            wanted_slots: view.as_ref().map_or(0, |v| v.wanted_slots),
            fitting_workers: u32::try_from(view.as_ref().map_or(0, |v| v.fitting)).unwrap_or(u32::MAX),
        })
    }

    fn detail(&self, entry: &JobEntry, view: Option<&scheduler::JobStatus>) -> String {
        if let Err(why) = &entry.job {
            return why.clone();
        }
        let Some(conflict) = entry.conflicts.last() else {
            return self
                .lacks(entry, view)
                .into_iter()
                .chain(doubts(entry, view))
                .collect::<Vec<_>>()
                .join("; ");
        };
        format!(
            "two results for units {:?} differ ({} kept; the second came from worker {}): `nonet ledger export` shows \
             both, --fresh starts anew",
            conflict.range,
            entry.conflicts.len() + 1,
            hex(&conflict.worker.0)
        )
    }
}

pub(super) fn wire_state(entry: &JobEntry) -> State {
    match entry.state {
        JobState::Running | JobState::Paused if entry.job.is_err() => State::Stale,
        JobState::Running => State::Running,
        JobState::Paused => State::Paused,
        JobState::Cancelled | JobState::Removed => State::Cancelled,
        JobState::Conflicted => State::Conflicted,
        JobState::Finished => State::Finished,
    }
}

fn first_units(set: &RangeSet) -> impl Iterator<Item = u64> {
    set.iter().flatten().take(MAX_LISTED)
}

fn describe(entry: &JobEntry, unit: u64) -> Quarantined {
    let unit_name = entry.job.as_ref().map_or(String::new(), |job| job.unit_name(unit));
    let error = entry.failures.iter().rev().find(|(failed, ..)| *failed == unit);
    Quarantined { unit, unit_name, error: error.map_or(String::new(), |(.., error)| error.clone()) }
}

/// What is to be said of results that need another worker, or are not believed.
fn doubts(entry: &JobEntry, view: Option<&scheduler::JobStatus>) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(view) = view {
        if view.disputes > 0 {
            said.push(format!("results of {} ranges differ, another worker decides", view.disputes));
        }
        // Where nobody has what the job needs, that is said already.
        if view.short_of_workers && view.fitting > 0 {
            let number = if view.disputes > 0 { "third" } else { "second" };
            said.push(format!(
                "waits for a {number} worker: none is connected that could confirm what is computed"
            ));
        }
    }
    if entry.withdrawn_units > 0 {
        let units = entry.withdrawn_units;
        said.push(format!("{units} units by quarantined workers were withdrawn, to be computed again"));
    }
    said
}
