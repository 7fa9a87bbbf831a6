//! Jobs that need other jobs.
//!
//! A job's units never wait: what it needs goes into its report alone. So both are computed side by side, and the only
//! thing to see to is that a job is not called finished before those that it needs. Who needs whom follows from the
//! settings, so the ledger records nothing of it.

use jobs::{BadPartial, NeededReport, Report};

use super::{
    Refusal, Submission,
    admin::{MAX_JOBS, Ticket, too_many_jobs},
    core::Core,
    job_entry::{JobEntry, Past},
    opening::Opened,
    writer::After,
};
use crate::{
    ledger::JobState,
    scheduler::{JobId, hex},
};

impl Core {
    /// Sees to it that a needed job, and what that one needs, is there and goes on.
    pub(super) fn provide(&mut self, need: &Opened, by: &Submission) -> Result<(), Refusal> {
        need.needs.iter().try_for_each(|deeper| self.provide(deeper, by))?;
        let Some(id) = self.by_name(&need.name) else {
            if self.jobs.len() >= MAX_JOBS {
                return Err(too_many_jobs());
            }
            self.admit(need, &by.terms, &by.by, |_| Ticket::Provided);
            return Ok(());
        };
        let Some(entry) = self.jobs.get(&id) else { return Ok(()) };
        let (kind, name, has, wanted) =
            (&entry.record.kind, hex(&need.name), entry.replicas, by.terms.replicas);
        if let Some(trouble) = trouble(entry) {
            return Err(Refusal::NotNow(format!("the {kind} job {name} that it needs {trouble}")));
        }
        // The report rests on what is needed too.
        if has < wanted {
            if !self.can_raise(id) {
                return Err(Refusal::NotNow(format!(
                    "the {kind} job {name} that it needs has results that needed {has} of {wanted} workers: submit that one \
                     first, with --fresh --replicas {wanted}"
                )));
            }
            self.raise(id, wanted, &by.by, After::Nothing);
        }
        self.read_past_if_live(id);
        Ok(())
    }

    /// The first needed job that is not finished, in words.
    pub(super) fn waits_for(&self, entry: &JobEntry) -> Option<String> {
        entry.needs.iter().find_map(|name| {
            let Some(need) = self.by_name(name).and_then(|id| self.jobs.get(&id)) else {
                return Some(format!("job {}, which is gone: submit this one again", hex(name)));
            };
            let kind = &need.record.kind;
            match (need.state, trouble(need)) {
                (JobState::Finished, None) => None,
                (_, None) => {
                    Some(format!("{kind} job {}: {}/{} units", hex(name), need.done_units, need.record.units))
                }
                (_, Some(trouble)) => Some(format!("{kind} job {}, which {trouble}", hex(name))),
            }
        })
    }

    /// A job has finished: those that waited for nothing else are finished too.
    pub(super) fn wake_dependents(&mut self, finished: JobId) {
        let Some(name) = self.jobs.get(&finished).map(|entry| entry.record.name) else { return };
        let waiting = |entry: &JobEntry| entry.needs.contains(&name) && entry.is_complete();
        let waiting: Vec<_> =
            self.jobs.iter().filter(|(_, entry)| waiting(entry)).map(|(&id, _)| id).collect();
        waiting.into_iter().for_each(|id| self.finished(id));
    }

    /// A job whose commits have to be added up before the report of `id` can be worded.
    pub(super) fn unread_need(&self, id: JobId) -> Option<JobId> {
        let entry = self.jobs.get(&id)?;
        if entry.job.is_ok() && !matches!(entry.past, Past::Known(_)) {
            return Some(id);
        }
        entry.needs.iter().find_map(|name| self.unread_need(self.by_name(name)?))
    }

    /// The report of a job. The commits of all that it needs have been added up.
    pub(super) fn report(&self, id: JobId) -> Result<Report, BadPartial> {
        let entry = self.jobs.get(&id).ok_or_else(|| BadPartial("the job is gone".into()))?;
        let needed = entry.needs.iter().map(|name| {
            let id = self.by_name(name)?;
            let complete = self.jobs.get(&id).is_some_and(|need| need.done_units == need.record.units);
            let report = self.report(id).ok()?;
            Some(NeededReport { complete: complete && report.alarm.is_none(), json: report.json })
        });
        entry.report(needed.collect())
    }
}

/// Why a job does not go on by itself, and what to do.
fn trouble(entry: &JobEntry) -> Option<String> {
    if let Err(why) = &entry.job {
        return Some(format!("cannot go on: {why}"));
    }
    match entry.state {
        JobState::Running | JobState::Finished => None,
        JobState::Paused => Some("is paused: `nonet resume` lets it go on".into()),
        JobState::Cancelled => Some("is cancelled: `nonet retry` takes it up again".into()),
        JobState::Removed => Some("was replaced by a fresh run".into()),
        JobState::Conflicted => Some("has two different results: only a fresh submission replaces it".into()),
    }
}
