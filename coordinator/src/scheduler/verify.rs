//! Committed ranges that are computed again because somebody asked for it.

use super::{Checked, Command, Committed, JobId, Place, Scheduler, contests::Contest};

impl Scheduler {
    pub(super) fn verify(&mut self, id: JobId, ranges: Vec<Committed>, out: &mut Vec<Command>) {
        for mut committed in ranges {
            committed.by.retain(|worker| !self.quarantined.contains(worker));
            let fits = |job: &&mut super::Job| {
                let range = &committed.range;
                !range.is_empty()
                    && range.end <= job.units()
                    && !committed.by.is_empty()
                    && job.contests.within(range).is_empty()
                    && job.pieces_in(range).all(|piece| piece.1 == Place::Done)
            };
            if let Some(job) = self.jobs.get_mut(&id).filter(fits) {
                job.contests.insert(Contest { asked: true, ..Contest::over(committed) });
            } else {
                out.push(Command::Checked { job: id, committed, found: Checked::Dropped });
            }
        }
        self.queue_job(id);
    }

    /// Nobody waits any more. Where two results differ already, a third worker is to decide all the same.
    pub(super) fn verify_stopped(&mut self, id: JobId, out: &mut Vec<Command>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let asked: Vec<u64> =
            job.contests.iter().filter(|contest| contest.asked).map(|contest| contest.range.start).collect();
        for start in asked {
            let Some(job) = self.jobs.get_mut(&id) else { return };
            let disputed = job.contests.change(start, |contest| {
                contest.asked = false;
                contest.is_disputed()
            });
            if disputed == Some(false) {
                self.drop_contest(id, start, Checked::Dropped, out);
            }
        }
        self.queue_job(id);
    }
}
