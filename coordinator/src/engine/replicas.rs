//! Jobs that are submitted again, or needed, with more workers to agree on their results than before.

use super::{
    core::Core,
    job_entry::{JobEntry, Past},
    opening::Opened,
    writer::After,
};
use crate::{
    ledger::{Action, Actor, Entry},
    scheduler::{Event, JobId},
};

impl Core {
    /// The first job, of one and those that it needs, whose commits have to be added up before it is known whether
    /// more workers can agree on its results.
    pub(super) fn unread_to_raise(&self, opened: &Opened, replicas: u32) -> Option<JobId> {
        let is_unread = |entry: &JobEntry| {
            entry.replicas < replicas && entry.is_live() && !matches!(entry.past, Past::Known(_))
        };
        let own = self.by_name(&opened.name).filter(|id| self.jobs.get(id).is_some_and(is_unread));
        own.or_else(|| opened.needs.iter().find_map(|need| self.unread_to_raise(need, replicas)))
    }

    /// Whether there are no results of the job yet: what one worker has computed would have to be computed again.
    pub(super) fn can_raise(&self, id: JobId) -> bool {
        self.jobs.get(&id).is_some_and(JobEntry::is_live)
            && self.scheduler.job(id).is_some_and(|job| job.done + job.in_flight + job.claimed == 0)
    }

    /// Has more workers agree on the results of a job.
    pub(super) fn raise(&mut self, id: JobId, replicas: u32, by: &Actor, after: After) {
        if let Some(entry) = self.jobs.get_mut(&id) {
            entry.replicas = replicas;
        }
        self.record_for(by, Action::Replicas, id);
        self.feed(Event::JobRemoved(id));
        self.append(Entry::Replicas { job: id, replicas }, after);
        self.reread(id);
    }
}
