//! `nonet verify`: a sample of what is committed, computed again by others.

use proto::v1::{Difference, VerifyRequest, VerifyStatus};
use tokio::sync::watch;

use super::{
    Answer, Ask, Refusal,
    core::Core,
    job_entry::Past,
    writer::{Request, Sample},
};
use crate::{
    ledger::{Action, Actor, JobState},
    scheduler::{Checked, Committed, Event, JobId, hex},
};

/// A verification as the one who asked sees it.
pub(crate) struct Verifying {
    pub job: JobId,
    /// Tells it from an earlier one of the same job.
    pub number: u64,
    /// The sender goes when it is done, or the job is gone.
    pub status: watch::Receiver<VerifyStatus>,
}

/// A verification as the engine sees it.
pub(super) struct Verification {
    number: u64,
    status: watch::Sender<VerifyStatus>,
}

/// Differences that are listed.
const MAX_LISTED: usize = 1000;

impl Core {
    pub(super) fn verify(&mut self, request: VerifyRequest, by: Actor, answer: Answer<Verifying>) {
        let id = match self.find(&request.job).and_then(|id| self.may_verify(id, &request)) {
            Ok(id) => id,
            Err(refusal) => return drop(answer.send(Err(refusal))),
        };
        if self.jobs.get(&id).is_some_and(|entry| !matches!(entry.past, Past::Known(_))) {
            return self.park(id, Ask::Verify(request, by, answer));
        }
        self.record_for(&by, Action::Verify, id);
        self.last_verification += 1;
        let (status, shown) = watch::channel(VerifyStatus::default());
        let number = self.last_verification;
        self.verifications.insert(id, Verification { number, status });
        let sample = Sample { share_ppm: request.share_ppm, seed: request.seed };
        self.ask_ledger(Request::Sample(id, sample));
        let verifying = Verifying { job: id, number, status: shown };
        if answer.send(Ok(verifying)).is_err() {
            self.verify_stop(id, number);
        }
    }

    fn may_verify(&self, id: JobId, request: &VerifyRequest) -> Result<JobId, Refusal> {
        if !(1..=1_000_000).contains(&request.share_ppm) {
            let share = request.share_ppm;
            return Err(Refusal::Invalid(format!("a sample of {share} millionths: expected 1 to 1000000")));
        }
        let entry = self.jobs.get(&id).ok_or_else(|| Refusal::NotFound("the job is gone".into()))?;
        if let Err(why) = &entry.job {
            return Err(Refusal::NotNow(why.clone()));
        }
        if !matches!(entry.state, JobState::Running | JobState::Finished) {
            let text = "only jobs that run or are finished can be verified: `nonet status` tells where this one stands";
            return Err(Refusal::NotNow(text.into()));
        }
        if self.verifications.contains_key(&id) {
            return Err(Refusal::NotNow("the job is being verified already".into()));
        }
        Ok(id)
    }

    pub(super) fn verify_stop(&mut self, id: JobId, number: u64) {
        if self.verifications.get(&id).is_some_and(|verification| verification.number == number) {
            self.verifications.remove(&id);
            self.feed(Event::VerifyStopped(id));
        }
    }

    /// The sample is chosen.
    pub(super) fn sampled(&mut self, id: JobId, chosen: Vec<Committed>) {
        let Some(verification) = self.verifications.get(&id) else { return };
        verification.status.send_modify(|status| {
            status.ranges = chosen.len() as u64;
            status.units = chosen.iter().map(units).sum();
            status.done = chosen.is_empty();
        });
        if chosen.is_empty() {
            self.verifications.remove(&id);
            return;
        }
        self.feed(Event::Verify { job: id, ranges: chosen });
    }

    /// A range of a sample is done with.
    pub(super) fn checked(&mut self, id: JobId, committed: &Committed, found: Checked) {
        if let Checked::Different { worker, digest } = &found {
            tracing::error!(
                job = ?id, range = ?committed.range, by = ?committed.by, digest = hex(&committed.digest),
                second = ?worker, second_digest = hex(digest),
                "a committed result differs from that of another worker: a third one decides"
            );
        }
        let Some(verification) = self.verifications.get(&id) else { return };
        verification.status.send_modify(|status| count(status, committed, found));
        if verification.status.borrow().done {
            self.verifications.remove(&id);
        }
    }

    /// Tells those who wait for a verification whether it waits for a worker.
    pub(super) fn look_for_verifiers(&self) {
        for (id, verification) in &self.verifications {
            let waits = self.scheduler.job(*id).is_some_and(|job| job.short_of_workers);
            verification
                .status
                .send_if_modified(|status| std::mem::replace(&mut status.waits_for_worker, waits) != waits);
        }
    }
}

fn units(committed: &Committed) -> u64 {
    committed.range.end - committed.range.start
}

fn count(status: &mut VerifyStatus, committed: &Committed, found: Checked) {
    let checked = matches!(found, Checked::Same { .. } | Checked::Different { .. });
    status.checked_ranges += u64::from(checked);
    status.checked_units += if checked { units(committed) } else { 0 };
    match found {
        Checked::Same { .. } => status.agreeing_ranges += 1,
        Checked::Different { worker, digest } => {
            status.differing_ranges += 1;
            if status.differences.len() < MAX_LISTED {
                status.differences.push(Difference {
                    start: committed.range.start,
                    end: committed.range.end,
                    workers: committed.by.iter().map(|worker| worker.text()).collect(),
                    digest: hex(&committed.digest),
                    second_worker: hex(&worker.0),
                    second_digest: hex(&digest),
                });
            }
        }
        Checked::Failed { error } => {
            status.failed_ranges += 1;
            status.last_failure = error;
        }
        Checked::Dropped => status.dropped_ranges += 1,
    }
    status.done = status.checked_ranges + status.failed_ranges + status.dropped_ranges >= status.ranges;
}
