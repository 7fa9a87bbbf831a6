//! What jobs ask of their workers. It changes nothing in their results, so it is no part of their settings: it may change
//! while they run.

use super::{Refusal, core::Core, job_entry::JobEntry, writer::After};
use crate::{
    ledger::{Action, Actor, Entry, JobState},
    scheduler::{self, Event, JobId, Need, Requirement, hex, parse_requirements},
};

/// Takes away what a job asks for.
const ANY: &str = "any";

/// What was asked for with a submission; none: what is there stays.
pub(super) fn requested(texts: &[String]) -> Result<Option<Vec<Requirement>>, Refusal> {
    match texts {
        [] => Ok(None),
        [text] if text.trim() == ANY => Ok(Some(Vec::new())),
        texts if texts.iter().any(|text| text.trim() == ANY) => {
            Err(Refusal::Invalid(format!("--require {ANY} takes all requirements away, and stands alone")))
        }
        texts => parse_requirements(texts)
            .map(Some)
            .map_err(|error| Refusal::Invalid(format!("--require: {error}"))),
    }
}

/// As they are written down.
pub(super) fn texts(requirements: &[Requirement]) -> Vec<String> {
    requirements.iter().map(ToString::to_string).collect()
}

impl Core {
    /// Has a job ask for something else in its workers.
    pub(super) fn require(&mut self, id: JobId, wanted: Option<&Vec<Requirement>>, by: &Actor) {
        let Some(wanted) = wanted else { return };
        let Some(entry) = self.jobs.get_mut(&id).filter(|entry| entry.requirements != *wanted) else {
            return;
        };
        entry.requirements.clone_from(wanted);
        let texts = texts(wanted);
        let said = if texts.is_empty() { "any worker".into() } else { texts.join(", ") };
        let detail = format!("{} {}: {said}", entry.record.kind, hex(&entry.record.name));
        self.record(by, Action::Require, Some(id), detail);
        self.append(Entry::Requirements { job: id, requirements: texts }, After::Nothing);
        if let Some(entry) = self.jobs.get(&id) {
            let need = self.need(entry);
            self.feed(Event::JobNeeds(id, need));
        }
        self.announce();
    }

    /// What a worker must have to compute a job.
    pub(super) fn need(&self, entry: &JobEntry) -> Need {
        // In `nonet run` there is one worker, and it is asked for nothing.
        let asks = !self.config.policy.sole_worker;
        let requirements = if asks { entry.requirements.clone() } else { Vec::new() };
        Need { kind: entry.record.kind.clone(), revision: entry.record.revision, requirements }
    }

    /// Says what a running job waits for that no connected worker has.
    pub(super) fn lacks(&self, entry: &JobEntry, view: Option<&scheduler::JobStatus>) -> Option<String> {
        if entry.state != JobState::Running || !entry.is_live() {
            return None;
        }
        let is_met = if let Some(view) = view {
            view.fitting > 0 || view.finished || view.pending + view.suspects + view.claimed == 0
        } else {
            // The scheduler does not know a job that has just come.
            let need = self.need(entry);
            let mut staying = self.sessions.iter().filter(|(_, session)| !session.draining);
            staying.any(|(_, session)| need.met_by(&session.abilities))
        };
        let connected = self.scheduler.takers();
        if is_met || connected == 0 {
            return None;
        }
        let (kind, revision) = (&entry.record.kind, &entry.record.revision);
        if !self.scheduler.is_known(kind, *revision) {
            return Some(format!(
                "waits for a worker that knows {kind} in revision {revision}: none of the {connected} connected does"
            ));
        }
        let wanted = texts(&entry.requirements).join(" and ");
        Some(format!("waits for a worker with {wanted}: none of the {connected} connected has it"))
    }
}
