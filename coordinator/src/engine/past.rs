//! What is read of a job's past before it goes on.

use super::{core::Core, folded::Folded, job_entry::Past, writer::Request};
use crate::{
    ledger::JobState,
    scheduler::{Event, JobId, JobSpec},
};

impl Core {
    /// Has the commits of a job added up; [`Core::past_is_known`] goes on from there.
    pub(super) fn read_past(&mut self, id: JobId) {
        let Some(entry) = self.jobs.get_mut(&id) else { return };
        if let (Past::Unread, Ok(job)) = (&entry.past, &entry.job) {
            let request = Request::Fold(id, std::sync::Arc::clone(job));
            entry.past = Past::BeingRead;
            self.being_read += 1;
            self.ask_ledger(request);
        }
    }

    /// Adds a job's commits up anew, after the scheduler was made to forget those on their way to the ledger.
    pub(super) fn reread(&mut self, id: JobId) {
        if let Some(entry) = self.jobs.get_mut(&id) {
            // One that is being read already was asked for before those commits, and the ledger keeps the order.
            if matches!(entry.past, Past::BeingRead) {
                return;
            }
            entry.past = Past::Unread;
        }
        self.read_past(id);
    }

    pub(super) fn past_is_known(&mut self, id: JobId, folded: Folded) {
        let Folded { done, sum, busy_us, claims, disputed } = folded;
        let Some(entry) = self.jobs.get_mut(&id) else { return };
        entry.busy_us = busy_us;
        entry.past = Past::Known(sum);
        entry.done_units = done.units();
        entry.done_before.get_or_insert(done.units());
        for range in done.iter() {
            entry.quarantined.remove(&range);
        }
        if entry.state == JobState::Finished && !entry.is_complete() {
            // An earlier life died between the withdrawal of some results and writing down that the job runs again.
            tracing::error!(job = ?id, "a job was taken for finished that lacks results: it runs again");
            self.unfinish(id);
        }
        let Some(entry) = self.jobs.get(&id) else { return };
        if entry.is_scheduled() {
            let spec = JobSpec {
                units: entry.record.units,
                weight: entry.record.weight,
                done,
                failures: entry.failures.clone(),
                quarantined: entry.quarantined.clone(),
                paused: entry.state == JobState::Paused,
                need: self.need(entry),
                replicas: entry.replicas,
                claims,
                disputed,
            };
            self.feed(Event::JobAdded { job: id, spec });
        }
    }

    /// Whoever waited for a job's past goes on.
    pub(super) fn past_was_read(&mut self, id: JobId) {
        for ask in self.parked.remove(&id).unwrap_or_default() {
            self.asked(ask);
        }
        if self.being_read == 0 {
            std::mem::take(&mut self.at_the_door).into_iter().for_each(|input| self.input(input));
        }
        self.announce();
    }
}
