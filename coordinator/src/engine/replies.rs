//! What the ledger answers, and what follows from it.

use super::{
    core::{Core, Offer},
    job_entry::Past,
    writer::{After, FoldError, Reply},
};
use crate::scheduler::{Comparison, Event, JobId, Token};

impl Core {
    /// What the ledger has done with what it was asked.
    pub(super) fn ledger_says(&mut self, reply: Reply) {
        match reply {
            Reply::Durable(afters) => {
                for after in afters {
                    match after {
                        After::Nothing => {}
                        After::Commit(token) => self.persisted(token),
                        After::Ticket(ticket) => self.redeem(ticket),
                    }
                }
            }
            Reply::Found(token, found) => {
                let Some(Offer { record, .. }) = self.offers.get(&token) else { return };
                let comparison = match found {
                    Some(stored) if stored.range != record.range => Comparison::Overlap,
                    Some(stored) if stored.digest == record.digest => Comparison::Same,
                    Some(stored) => Comparison::Different(stored.digest),
                    None => Comparison::Overlap,
                };
                self.feed(Event::Compared(token, comparison));
            }
            Reply::Swept(worker, lost) => self.swept(worker, lost),
            Reply::Sampled(job, chosen) => self.sampled(job, chosen),
            Reply::Refused(after, error) => {
                // For entries about a job that was replaced meanwhile, and claims to a part of what was added up; anything else
                // is a fault of this program.
                tracing::error!(?after, "{error}");
                match after {
                    After::Nothing => {}
                    After::Commit(token) => self.feed(Event::NotWritten(token)),
                    After::Ticket(ticket) => self.redeem(ticket),
                }
            }
            Reply::Folded(job, folded) => {
                self.being_read -= 1;
                match folded {
                    Ok(folded) => self.past_is_known(job, folded),
                    Err(FoldError::Job(why)) => self.spoil(job, &why),
                    Err(FoldError::Ledger(error)) => self.failure = Some(error),
                }
                self.past_was_read(job);
            }
            Reply::Failed(error) => self.failure = Some(error),
        }
    }

    /// A commit is durable: it counts from here on.
    fn persisted(&mut self, token: Token) {
        let mut trouble = None;
        if let Some(Offer { session, record, counts, arrived, .. }) = self.offers.get(&token) {
            let units = record.range.end - record.range.start;
            self.telemetry.counted.commit_latency_s.observe(arrived.elapsed().as_secs_f64());
            if let Some(entry) = self.jobs.get_mut(&record.job).filter(|_| *counts) {
                entry.done_units += units;
                self.telemetry.counted.units_committed.inc_by(units);
                entry.busy_us = entry.busy_us.saturating_add(record.busy_us);
                entry.quarantined.remove(&record.range);
                if let Past::Known(sum) = &mut entry.past
                    && let Err(error) = sum.absorb(&record.partial)
                {
                    // Its form was checked on arrival, so it contradicts the others.
                    let text = format!("the result of range {:?} does not add up: {error}", record.range);
                    trouble = Some((record.job, text));
                }
            }
            if let Some(session) = self.sessions.get(*session) {
                session.units_done += units;
            }
        }
        self.moved = true;
        self.feed(Event::Persisted(token));
        if let Some((job, why)) = trouble {
            self.spoil(job, &why);
        }
    }

    /// A job whose results contradict themselves stops; the others go on.
    fn spoil(&mut self, job: JobId, why: &str) {
        tracing::error!(?job, "the job stops: {why}");
        if let Some(entry) = self.jobs.get_mut(&job) {
            entry.job = Err(format!("{why}; `nonet ledger export` shows all results, --fresh starts anew"));
        }
        self.feed(Event::JobRemoved(job));
        self.announce();
    }
}
