//! Workers that are found out: nothing that they said counts, and nothing more is heard from them.

use std::ops::Range;

use super::{Checked, CloseReason, Command, Digest, JobId, Scheduler, WorkerId, contests::Stage};

impl Scheduler {
    /// Has workers quarantined for what they said of a range, where the others say `against`.
    pub(super) fn convict(
        &mut self,
        liars: &[(WorkerId, Digest)],
        (job, range): (JobId, &Range<u64>),
        against: Digest,
        out: &mut Vec<Command>,
    ) {
        for &(worker, digest) in liars {
            if !self.quarantined.contains(&worker) {
                let range = range.clone();
                out.push(Command::QuarantineWorker { worker, job, range, digest, against });
                self.expel(worker, out);
            }
        }
    }

    /// Closes a worker's session, and strikes what it said off every contest.
    pub(super) fn expel(&mut self, worker: WorkerId, out: &mut Vec<Command>) {
        if !self.quarantined.insert(worker) {
            return;
        }
        if let Some(session) = self.workers.get(&worker).and_then(|worker| worker.session) {
            self.close_session(session);
            out.push(Command::Close(session, CloseReason::Quarantined));
        }
        let jobs: Vec<JobId> = self.jobs.keys().copied().collect();
        for id in jobs {
            self.strike_off(id, worker, out);
        }
    }

    fn strike_off(&mut self, id: JobId, worker: WorkerId, out: &mut Vec<Command>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let heeded = job.contests.iter().filter(|contest| contest.said_by(worker).is_some());
        let starts: Vec<u64> = heeded.map(|contest| contest.range.start).collect();
        for start in starts {
            let Some(job) = self.jobs.get_mut(&id) else { return };
            let left = job.contests.change(start, |contest| {
                contest.strip(worker);
                contest.stands() || matches!(contest.stage, Stage::Flight(_))
            });
            // What is on its way to the disk is looked at when it is there.
            if left == Some(false) {
                self.drop_contest(id, start, Checked::Dropped, out);
            }
        }
        self.job_changed(id, out);
    }

    /// The ledger has lost what a liar alone stood behind.
    pub(super) fn withdrawn(&mut self, id: JobId, ranges: &[Range<u64>], out: &mut Vec<Command>) {
        for range in ranges {
            let Some(job) = self.jobs.get(&id) else { return };
            for start in job.contests.within(range) {
                self.drop_contest(id, start, Checked::Dropped, out);
            }
            if let Some(job) = self.jobs.get_mut(&id) {
                job.withdrawn(range);
            }
        }
        self.job_changed(id, out);
    }
}
