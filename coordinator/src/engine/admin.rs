//! What users want of jobs: submit, pause, resume, cancel, retry, results.

use proto::v1::{Action, JobStatus, ReleaseReply, Verdict, WorkersReply};

use super::{
    Answer, Ask, Refusal, Submission, Terms,
    core::{Core, unix_ms},
    job_entry::{JobEntry, Past},
    opening::Opened,
    requirements,
    writer::After,
};
use crate::{
    ledger::{self, Actor, Entry, JobRecord, JobState},
    scheduler::{Event, JobId, SessionId, hex},
};

/// What waits until what it says is durable.
pub(crate) enum Ticket {
    Submitted(JobId, Answer<(JobStatus, bool)>),
    Controlled(JobId, Answer<JobStatus>),
    Drained(String, Answer<String>),
    Released(ReleaseReply, Answer<ReleaseReply>),
    Existed(JobId, Answer<(JobStatus, bool)>),
    Finished(JobId),
    /// A job that another one needs was submitted.
    Provided,
    Conflict(SessionId, u64),
    Readmitted(String, Answer<String>),
}

/// More jobs than this are refused.
pub(super) const MAX_JOBS: usize = 10_000;

impl Core {
    pub(super) fn asked(&mut self, ask: Ask) {
        // Nobody listening is no failure: the user has gone, what was asked for is done all the same.
        match ask {
            Ask::Submit(submission, answer) => self.submit(submission, answer),
            Ask::List(answer) => {
                let brief = |status: JobStatus| JobStatus { quarantined: Vec::new(), ..status };
                let all = self.jobs.keys().map(|&id| self.job_status(id).map(brief)).collect();
                drop(answer.send(all));
            }
            Ask::Status(job, answer) => match self.find(&job) {
                Ok(id) if self.is_being_read(id) => self.park(id, Ask::Status(job, answer)),
                found => drop(answer.send(found.and_then(|id| self.job_status(id)))),
            },
            Ask::Result(job, answer) => self.result(job, answer),
            Ask::Control(job, action, by, answer) => self.control(job, action, by, answer),
            Ask::Workers(answer) => {
                let now = self.now();
                let views = self.scheduler.sessions();
                let all = views.filter_map(|view| Some(self.sessions.peek(view.session)?.status(&view, now)));
                let (workers, quarantined) = (all.collect(), self.list_quarantined());
                let wanted_slots = self.scheduler.wanted_slots();
                drop(answer.send(Ok(WorkersReply { workers, quarantined, wanted_slots })));
            }
            Ask::Drain(worker, by, answer) => self.drain(&worker, &by, answer),
            Ask::Farm(answer) => drop(answer.send(Ok(self.farm()))),
            Ask::Release(pool, keep, by, answer) => self.release(pool, keep, &by, answer),
            Ask::Acts(last, answer) => drop(answer.send(Ok(self.acts.last(last)))),
            Ask::Readmit(worker, by, answer) => self.readmit(&worker, &by, answer),
            Ask::Verify(request, by, answer) => self.verify(request, by, answer),
            Ask::VerifyStop(job, number) => self.verify_stop(job, number),
            Ask::Pulse(answer) => drop(answer.send(Ok(()))),
        }
    }

    fn submit(&mut self, submission: Submission, answer: Answer<(JobStatus, bool)>) {
        if let Some(unread) = self.unread_to_raise(&submission.opened, submission.terms.replicas) {
            return self.park(unread, Ask::Submit(submission, answer));
        }
        let provided = submission.opened.needs.iter().try_for_each(|need| self.provide(need, &submission));
        if let Err(refusal) = provided {
            return drop(answer.send(Err(refusal)));
        }
        let Submission { opened, terms, requires, fresh, by } = submission;
        let replicas = terms.replicas;
        let old = self.by_name(&opened.name);
        let has = old.and_then(|old| self.jobs.get(&old)).map_or(replicas, |entry| entry.replicas);
        match old {
            Some(old) if !fresh && has < replicas => {
                if !self.can_raise(old) {
                    return drop(answer.send(Err(Refusal::NotNow(format!(
                        "the coordinator has results of this job that needed {has} of {replicas} workers: --fresh computes \
                         anew, `nonet verify` has a sample computed again"
                    )))));
                }
                self.require(old, requires.as_ref(), &by);
                let ticket = self.ticket(Ticket::Existed(old, answer));
                self.raise(old, replicas, &by, ticket);
            }
            Some(old) if !fresh => {
                // In embedded mode an unfinished job of an earlier life waits for this moment.
                self.read_past_if_live(old);
                self.require(old, requires.as_ref(), &by);
                let ticket = self.ticket(Ticket::Existed(old, answer));
                self.when_durable(ticket);
            }
            Some(old) => {
                self.record_for(&by, ledger::Action::Replace, old);
                self.remove(old);
                self.admit(&opened, &terms, &by, |id| Ticket::Submitted(id, answer));
            }
            None if self.jobs.len() >= MAX_JOBS => drop(answer.send(Err(too_many_jobs()))),
            None => self.admit(&opened, &terms, &by, |id| Ticket::Submitted(id, answer)),
        }
    }

    /// The run of the job with this name.
    pub(super) fn by_name(&self, name: &[u8; 16]) -> Option<JobId> {
        self.jobs.iter().find(|(_, entry)| entry.record.name == *name).map(|(&id, _)| id)
    }

    pub(super) fn admit(
        &mut self,
        opened: &Opened,
        terms: &Terms,
        by: &Actor,
        ticket: impl FnOnce(JobId) -> Ticket,
    ) {
        let record = JobRecord {
            id: JobId(*uuid::Uuid::now_v7().as_bytes()),
            name: opened.name,
            kind: opened.kind.name().into(),
            revision: opened.kind.revision(),
            settings: opened.settings.clone(),
            units: opened.job.units(),
            weight: terms.weight,
            created_unix_ms: unix_ms(),
        };
        let id = record.id;
        tracing::info!(job = hex(&record.name), kind = record.kind, units = record.units, "job submitted");
        self.jobs.insert(id, JobEntry::submitted(record.clone(), terms, opened));
        self.record_for(by, ledger::Action::Submit, id);
        let ticket = self.ticket(ticket(id));
        // Whoever hears of the job may rely on all of it.
        self.append(Entry::Job(record), After::Nothing);
        if terms.replicas > 1 {
            self.append(Entry::Replicas { job: id, replicas: terms.replicas }, After::Nothing);
        }
        if !terms.requirements.is_empty() {
            let requirements = requirements::texts(&terms.requirements);
            self.append(Entry::Requirements { job: id, requirements }, After::Nothing);
        }
        self.when_durable(ticket);
        self.read_past(id);
        self.announce();
    }

    fn remove(&mut self, id: JobId) {
        self.feed(Event::JobRemoved(id));
        self.set_state(id, JobState::Removed, After::Nothing);
        self.jobs.remove(&id);
    }

    pub(super) fn read_past_if_live(&mut self, id: JobId) {
        if self.jobs.get(&id).is_some_and(|entry| entry.is_live() || entry.is_doubtful()) {
            self.read_past(id);
        }
    }

    pub(super) fn ticket(&mut self, ticket: Ticket) -> After {
        self.last_ticket += 1;
        self.tickets.insert(self.last_ticket, ticket);
        After::Ticket(self.last_ticket)
    }

    pub(super) fn redeem(&mut self, ticket: u64) {
        match self.tickets.remove(&ticket) {
            Some(Ticket::Submitted(id, answer)) => {
                drop(answer.send(self.job_status(id).map(|status| (status, false))));
            }
            Some(Ticket::Existed(id, answer)) => {
                drop(answer.send(self.job_status(id).map(|status| (status, true))));
            }
            Some(Ticket::Controlled(id, answer)) => drop(answer.send(self.job_status(id))),
            Some(Ticket::Drained(name, answer) | Ticket::Readmitted(name, answer)) => {
                drop(answer.send(Ok(name)));
            }
            Some(Ticket::Released(reply, answer)) => drop(answer.send(Ok(reply))),
            Some(Ticket::Finished(id)) => {
                // What a liar had done may have been withdrawn meanwhile.
                let is_finished =
                    |entry: &&mut JobEntry| entry.state == JobState::Running && entry.is_complete();
                if let Some(entry) = self.jobs.get_mut(&id).filter(is_finished) {
                    (entry.state, entry.state_unix_ms) = (JobState::Finished, unix_ms());
                }
                self.wake_dependents(id);
                self.announce();
            }
            Some(Ticket::Conflict(session, sequence)) => {
                self.answer_wire(session, sequence, Verdict::Conflict);
            }
            Some(Ticket::Provided) | None => {}
        }
    }

    fn result(&mut self, job: String, answer: Answer<(JobStatus, jobs::Report)>) {
        let id = match self.find(&job) {
            Ok(id) => id,
            Err(refusal) => return drop(answer.send(Err(refusal))),
        };
        let Some(entry) = self.jobs.get(&id) else { return };
        if entry.job.is_ok() && !matches!(entry.past, Past::Known(_)) {
            return self.park(id, Ask::Result(job, answer));
        }
        if let Some(unread) = self.unread_need(id) {
            return self.park(unread, Ask::Result(job, answer));
        }
        let report = self.report(id).map_err(|e| Refusal::Failed(e.to_string()));
        drop(answer.send(report.and_then(|report| Ok((self.job_status(id)?, report)))));
    }

    fn is_being_read(&self, id: JobId) -> bool {
        self.jobs.get(&id).is_some_and(|entry| matches!(entry.past, Past::BeingRead) && entry.job.is_ok())
    }

    /// Keeps a question until the job's commits have been added up.
    pub(super) fn park(&mut self, id: JobId, ask: Ask) {
        self.parked.entry(id).or_default().push(ask);
        self.read_past(id);
    }

    fn control(&mut self, job: String, action: Action, by: Actor, answer: Answer<JobStatus>) {
        let id = match self.find(&job) {
            Ok(id) => id,
            Err(refusal) => return drop(answer.send(Err(refusal))),
        };
        let Some(entry) = self.jobs.get(&id) else { return };
        if entry.job.is_ok() && !matches!(entry.past, Past::Known(_)) {
            return self.park(id, Ask::Control(job, action, by, answer));
        }
        match decide(entry, action) {
            Ok(Some(step)) => {
                self.record_for(&by, step.act(), id);
                let after = self.ticket(Ticket::Controlled(id, answer));
                self.take(id, step, after);
            }
            Ok(None) => {
                let ticket = self.ticket(Ticket::Controlled(id, answer));
                self.when_durable(ticket);
            }
            Err(refusal) => drop(answer.send(Err(refusal))),
        }
    }

    fn take(&mut self, id: JobId, step: Step, after: After) {
        match step {
            Step::Pause => {
                self.feed(Event::JobPaused(id));
                self.set_state(id, JobState::Paused, after);
            }
            Step::Resume => {
                self.set_state(id, JobState::Running, after);
                self.feed(Event::JobResumed(id));
            }
            Step::Cancel => {
                self.feed(Event::JobRemoved(id));
                self.set_state(id, JobState::Cancelled, after);
                self.reread(id);
            }
            Step::Retry => {
                self.feed(Event::JobRemoved(id));
                self.append(Entry::Retry { job: id }, After::Nothing);
                self.set_state(id, JobState::Running, after);
                if let Some(entry) = self.jobs.get_mut(&id) {
                    entry.quarantined = crate::scheduler::RangeSet::new();
                    entry.failures.clear();
                }
                self.reread(id);
            }
        }
    }
}

pub(super) fn too_many_jobs() -> Refusal {
    Refusal::NotNow(format!("there are {MAX_JOBS} jobs already"))
}

/// What a user's wish comes to.
#[derive(Clone, Copy)]
enum Step {
    Pause,
    Resume,
    Cancel,
    /// Forget failures and quarantine, and go on.
    Retry,
}

impl Step {
    fn act(self) -> ledger::Action {
        match self {
            Self::Pause => ledger::Action::Pause,
            Self::Resume => ledger::Action::Resume,
            Self::Cancel => ledger::Action::Cancel,
            Self::Retry => ledger::Action::Retry,
        }
    }
}

fn decide(entry: &JobEntry, action: Action) -> Result<Option<Step>, Refusal> {
    use JobState::{Cancelled, Conflicted, Finished, Paused, Removed, Running};
    let not_now = |text: &str| Err(Refusal::NotNow(text.into()));
    if let Err(why) = &entry.job {
        return Err(Refusal::NotNow(why.clone()));
    }
    match (action, entry.state) {
        (Action::Unspecified, _) => Err(Refusal::Invalid("no action is named".into())),
        (_, Conflicted) => not_now("two of its results differ: only a fresh submission can replace it"),
        (_, Removed) => not_now("the job was replaced by a fresh run"),
        (Action::Pause, Paused) | (Action::Resume, Running | Finished) | (Action::Cancel, Cancelled) => {
            Ok(None)
        }
        (Action::Pause, Running) => Ok(Some(Step::Pause)),
        (Action::Resume, Paused) => Ok(Some(Step::Resume)),
        (Action::Cancel, Running | Paused) => Ok(Some(Step::Cancel)),
        (Action::Pause | Action::Cancel, Finished) => not_now("the job is finished"),
        (Action::Pause, Cancelled) => not_now("the job is cancelled"),
        (Action::Resume, Cancelled) => not_now("the job is cancelled: `nonet retry` takes it up again"),
        (Action::Retry, Running | Finished) if entry.quarantined.is_empty() => Ok(None),
        (Action::Retry, _) => Ok(Some(Step::Retry)),
    }
}
