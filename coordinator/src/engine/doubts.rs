//! What is done about results that need a second worker, and about workers that are found out.

use std::ops::Range;

use proto::v1::{QuarantinedWorker, Verdict};

use super::{
    Answer, Refusal,
    admin::Ticket,
    core::{Core, Offer, unix_ms},
    recall::Lost,
    writer::{After, Request},
};
use crate::{
    ledger::{Action, Actor, Entry, JobState, Quarantine},
    scheduler::{Digest, Event, JobId, SessionId, Token, WorkerId, hex},
};

impl Core {
    /// Tells the scheduler who is not believed, has withdrawn what an earlier life left half-way, and has those finished
    /// jobs looked at that may lack what was withdrawn.
    pub(super) fn recall_quarantined(&mut self) {
        let known: Vec<_> = self.quarantined.values().map(|known| (known.worker, known.swept)).collect();
        for (worker, swept) in known {
            if !swept {
                self.ask_ledger(Request::Sweep(worker));
            }
            self.feed(Event::WorkerQuarantined(worker));
            if swept {
                self.believe_sums(worker);
            }
        }
        if self.config.start_unfinished {
            let doubtful = self.jobs.iter().filter(|(_, entry)| entry.is_doubtful());
            let doubtful: Vec<_> = doubtful.map(|(&id, _)| id).collect();
            doubtful.into_iter().for_each(|id| self.read_past(id));
        }
    }

    /// Writes a result down that does not count, or one that counts as `by` agree on it.
    pub(super) fn write_vote(&mut self, token: Token, by: Option<Vec<WorkerId>>) {
        let Some(offer) = self.offers.get_mut(&token) else { return };
        offer.counts = by.is_some();
        let commit = offer.record.clone();
        let entry = by.map_or(Entry::Claim(commit.clone()), |by| Entry::Confirm { commit, by });
        self.append(entry, After::Commit(token));
    }

    /// A worker's results are not believed from here on. Its quarantine is written before anything that follows from it.
    pub(super) fn quarantine(&mut self, worker: WorkerId, said: &Said) {
        let Said { job, range, digest, against } = said;
        let (kind, job) = self
            .jobs
            .get(job)
            .map_or(("", String::new()), |entry| (entry.record.kind.as_str(), hex(&entry.record.name)));
        let why = format!(
            "its result for units {range:?} of {kind} job {job} has the digest {}, which others contradict with {}",
            hex(digest),
            hex(against)
        );
        let own: Vec<SessionId> =
            self.sessions.iter().filter(|(_, session)| session.worker == worker).map(|(id, _)| id).collect();
        let names = own.first().and_then(|id| self.sessions.peek(*id)).map(|session| session.name.clone());
        let name = names.unwrap_or_default();
        tracing::error!(
            ?worker,
            name,
            "worker quarantined: {why}; what too few others have computed is computed again"
        );
        let quarantine = Quarantine { worker, name, why, at_unix_ms: unix_ms(), swept: false };
        for session in own {
            if let Some(session) = self.close_session(session, "quarantined") {
                session.dismiss(refusal(&quarantine));
            }
        }
        self.quarantined.insert(worker, quarantine.clone());
        self.append(Entry::WorkerQuarantined(quarantine), After::Nothing);
        self.ask_ledger(Request::Sweep(worker));
        self.moved = true;
    }

    /// The ledger has withdrawn what too few believed workers stand behind. Finished jobs run again.
    pub(super) fn swept(&mut self, worker: WorkerId, lost: Vec<Lost>) {
        if let Some(quarantine) = self.quarantined.get_mut(&worker) {
            quarantine.swept = true;
        }
        for Lost { job, ranges } in lost {
            let units: u64 = ranges.iter().map(|range| range.end - range.start).sum();
            let Some(entry) = self.jobs.get_mut(&job) else { continue };
            entry.withdrawn_units = entry.withdrawn_units.saturating_add(units);
            let (kind, name) = (entry.record.kind.clone(), hex(&entry.record.name));
            tracing::error!(
                job = name,
                kind,
                units,
                ?worker,
                "results of a quarantined worker are withdrawn and computed again"
            );
            self.unfinish(job);
            self.feed(Event::Withdrawn { job, ranges });
            self.reread(job);
        }
        self.believe_sums(worker);
        self.announce();
    }

    /// Nobody is [`WorkerId::SEVERAL`]: with what was added up gone, there is nobody left to turn away.
    fn believe_sums(&mut self, worker: WorkerId) {
        if worker == WorkerId::SEVERAL && self.quarantined.remove(&worker).is_some() {
            self.append(Entry::WorkerReadmitted { worker, at_unix_ms: unix_ms() }, After::Nothing);
            self.feed(Event::WorkerReadmitted(worker));
        }
    }

    /// A job that counted as finished is not, nor are those that need it.
    pub(super) fn unfinish(&mut self, id: JobId) {
        let Some(entry) = self.jobs.get(&id) else { return };
        if !matches!(entry.state, JobState::Running | JobState::Finished) {
            return;
        }
        let name = entry.record.name;
        // Also if it is not finished as far as is known here: that it is may be on its way to the disk.
        self.set_state(id, JobState::Running, After::Nothing);
        let dependents =
            self.jobs.iter().filter(|(_, job)| job.needs.contains(&name) && job.state == JobState::Finished);
        for dependent in dependents.map(|(&id, _)| id).collect::<Vec<_>>() {
            self.unfinish(dependent);
            self.read_past(dependent);
        }
    }

    pub(super) fn readmit(&mut self, wanted: &str, by: &Actor, answer: Answer<String>) {
        let is_meant = |known: &&Quarantine| {
            !wanted.is_empty() && (known.name == wanted || hex(&known.worker.0).starts_with(wanted))
        };
        let mut meant = self.quarantined.values().filter(is_meant);
        let worker = match (meant.next(), meant.next()) {
            (Some(known), None) => known.worker,
            (None, _) => {
                let text = format!("no quarantined worker {wanted:?}: `nonet workers` lists all");
                return drop(answer.send(Err(Refusal::NotFound(text))));
            }
            _ => {
                let text = format!("{wanted:?} means several quarantined workers: give more of the id");
                return drop(answer.send(Err(Refusal::Invalid(text))));
            }
        };
        let known = self.quarantined.remove(&worker);
        let name = known.map(|known| known.name).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| hex(&worker.0));
        tracing::warn!(?worker, name, "quarantine lifted");
        self.record(by, Action::Readmit, None, name.clone());
        let ticket = self.ticket(Ticket::Readmitted(name, answer));
        self.append(Entry::WorkerReadmitted { worker, at_unix_ms: unix_ms() }, ticket);
        self.feed(Event::WorkerReadmitted(worker));
    }

    /// The quarantined workers, for people.
    pub(super) fn list_quarantined(&self) -> Vec<QuarantinedWorker> {
        let shown = |known: &Quarantine| QuarantinedWorker {
            id: hex(&known.worker.0),
            name: known.name.clone(),
            why: known.why.clone(),
            at_unix_ms: known.at_unix_ms,
        };
        self.quarantined.values().map(shown).collect()
    }

    /// A result of a worker that is not believed.
    pub(super) fn refuse(&mut self, offer: &Offer) {
        self.answer_wire(offer.session, offer.sequence, Verdict::UnknownJob);
    }
}

/// What a worker said, and what others say.
pub(super) struct Said {
    pub job: JobId,
    pub range: Range<u64>,
    pub digest: Digest,
    pub against: Digest,
}

/// What a quarantined worker is told.
pub(super) fn refusal(known: &Quarantine) -> Refusal {
    let id = hex(&known.worker.0);
    Refusal::Invalid(format!(
        "this worker is quarantined: {}. Find out what is wrong with the machine; `nonet readmit {}` lets it in again",
        known.why,
        &id[..12]
    ))
}
