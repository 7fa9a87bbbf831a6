//! Results that count only when several workers agree, or that are held against what counts already.
//!
//! ```text
//! fresh ----------> Claim: in the ledger, not in the sum; the range goes to another worker
//! agrees ---------> Confirm, as soon as there are as many as the job wants: counts, and settles the range
//! disagrees ------> Claim: the next worker decides. When enough agree, the others are liars
//! nobody agrees --> Conflict, after `max_votes`: the job stops with all results kept
//! ```
//! Nothing that follows from a vote overtakes it on its way to the disk: the ledger keeps the order. That a liar is not
//! believed is written before the result of the others.

use super::{
    Checked, Command, Digest, JobId, LeaseId, Place, Scheduler, SessionId, Token, Verdict,
    commits::{Offer, Purpose, Stage as OfferStage},
    contests::{Contest, Stage},
};

impl Scheduler {
    /// The first result of a range: it waits for a second worker.
    pub(super) fn first_vote(
        &mut self,
        token: Token,
        mut offer: Offer,
        busy_us: u64,
        out: &mut Vec<Command>,
    ) {
        (offer.stage, offer.purpose) = (OfferStage::InFlight, Purpose::Claim);
        self.take_in(token, &offer, busy_us, out);
        self.cast(token, offer, out);
    }

    /// A result of a range that others have computed, or are to.
    pub(super) fn vote(&mut self, token: Token, offer: Offer, busy_us: u64, out: &mut Vec<Command>) {
        let (job, start) = (offer.job, offer.range.start);
        let Some(contest) = self.contest(job, start) else { return };
        if let Stage::Flight(before) = contest.stage {
            return self.park(token, offer, before);
        }
        if let Some(said) = contest.said_by(offer.worker) {
            if said == offer.digest {
                return self.not_taken(token, &offer, Verdict::Duplicate, out);
            }
            // It contradicts itself: one of the two is wrong, and it takes no third worker to say so.
            self.not_taken(token, &offer, Verdict::Refused, out);
            return self.convict(&[(offer.worker, offer.digest)], (offer.job, &offer.range), said, out);
        }
        if let Stage::Leased(lease) = contest.stage {
            self.end_check(lease, offer.session, busy_us, out);
        }
        let max_votes = self.policy.max_votes;
        let Some(contest) = self.contest(job, start) else { return };
        let mut counted = contest.clone();
        counted.votes.push((offer.worker, offer.digest));
        let agreeing = counted.agreeing(offer.digest);
        let decided = agreeing.len() >= counted.quorum;
        match &counted.committed {
            _ if !decided && counted.is_full(max_votes) => {
                self.not_taken(token, &offer, Verdict::Conflict, out);
            }
            Some(committed) if committed.digest == offer.digest => self.upheld(token, &offer, decided, out),
            None if decided => {
                self.convict(&counted.against(offer.digest), (offer.job, &offer.range), offer.digest, out);
                let confirm = Offer { purpose: Purpose::Confirm, ..offer };
                self.cast(token, confirm, out);
            }
            _ => self.cast(token, Offer { purpose: Purpose::Claim, ..offer }, out),
        }
        self.job_changed(job, out);
    }

    /// Puts a vote on its way to the disk.
    fn cast(&mut self, token: Token, offer: Offer, out: &mut Vec<Command>) {
        let vote = (offer.worker, offer.digest);
        let cast = self.change_contest(&offer, |contest| {
            contest.votes.push(vote);
            contest.stage = Stage::Flight(token);
            (contest.agreeing(vote.1), contest.committed.clone())
        });
        let Some((by, over)) = cast else { return };
        out.push(match offer.purpose {
            Purpose::Confirm => Command::Confirm { token, by },
            Purpose::Claim | Purpose::Commit => Command::Claim(token),
        });
        self.offers.insert(token, Offer { stage: OfferStage::InFlight, over, ..offer });
    }

    /// Another worker got what the ledger has: there is nothing to write down.
    fn upheld(&mut self, token: Token, offer: &Offer, decided: bool, out: &mut Vec<Command>) {
        out.push(Command::Answer(token, Verdict::Duplicate));
        self.report_check(offer, Checked::Same { worker: offer.worker }, out);
        self.change_contest(offer, |contest| contest.votes.push((offer.worker, offer.digest)));
        if decided {
            self.settle(offer, out);
        }
    }

    /// Enough workers stand behind `offer`: the range is no question any more, and whoever said something else is a liar.
    fn settle(&mut self, offer: &Offer, out: &mut Vec<Command>) {
        let job = self.jobs.get_mut(&offer.job);
        let Some(contest) = job.and_then(|job| job.contests.remove(offer.range.start)) else { return };
        self.convict(&contest.against(offer.digest), (offer.job, &offer.range), offer.digest, out);
    }

    /// Carries out what was decided, but not written down, when the coordinator died: enough workers have said that what
    /// counts is wrong.
    pub(super) fn decide_recalled(&mut self, id: JobId, out: &mut Vec<Command>) {
        let Some(job) = self.jobs.get(&id) else { return };
        let decided: Vec<_> = job.contests.iter().filter_map(Contest::decided).collect();
        for (range, digest) in decided {
            let Some(job) = self.jobs.get_mut(&id) else { return };
            let Some(contest) = job.dissolve(range.start) else { continue };
            if contest.committed.is_none() {
                out.push(Command::Withdraw { job: id, range: range.clone() });
            }
            self.convict(&contest.against(digest), (id, &range), digest, out);
        }
    }

    /// A vote was refused by the ledger: its contest is void.
    pub(super) fn vote_lost(&mut self, token: Token, offer: &Offer, out: &mut Vec<Command>) {
        let start = offer.range.start;
        if self.contest(offer.job, start).is_some_and(|contest| contest.stage == Stage::Flight(token)) {
            self.drop_contest(offer.job, start, Checked::Dropped, out);
            self.job_changed(offer.job, out);
        }
    }

    /// A vote is on the disk.
    pub(super) fn vote_persisted(&mut self, token: Token, offer: &Offer, out: &mut Vec<Command>) {
        let Some(contest) = self.contest(offer.job, offer.range.start) else { return };
        if contest.stage != Stage::Flight(token) {
            return;
        }
        if offer.purpose == Purpose::Confirm {
            let now = self.now;
            if let Some(job) = self.jobs.get_mut(&offer.job) {
                job.contests.remove(offer.range.start);
                job.done(&offer.range, Place::Claimed, now);
            }
            return;
        }
        let overturned =
            contest.committed.is_some() && contest.agreeing(offer.digest).len() >= contest.quorum;
        let stands = contest.stands();
        let heeded = contest.said_by(offer.worker).is_some();
        self.change_contest(offer, |contest| contest.stage = Stage::Waits);
        if heeded {
            self.report_check(offer, Checked::Different { worker: offer.worker, digest: offer.digest }, out);
        }
        if overturned {
            self.settle(offer, out);
        } else if !stands {
            self.drop_contest(offer.job, offer.range.start, Checked::Dropped, out);
        }
    }

    /// A second result, other than the one that several workers agree on: its worker is outvoted. It is kept all the same.
    pub(super) fn outvoted(&mut self, token: Token, offer: Offer, against: Digest, out: &mut Vec<Command>) {
        self.take_back(&offer);
        out.push(Command::Claim(token));
        let liar = [(offer.worker, offer.digest)];
        let offer = Offer { stage: OfferStage::InFlight, purpose: Purpose::Claim, ..offer };
        self.convict(&liar, (offer.job, &offer.range), against, out);
        self.offers.insert(token, offer);
    }

    /// A unit failed on a worker that computed it a second time.
    pub(super) fn failed_again(
        &mut self,
        (session, lease): (SessionId, LeaseId),
        unit: u64,
        error: String,
        out: &mut Vec<Command>,
    ) {
        let Some(worker) = self.sessions.get(&session).map(|session| session.worker) else { return };
        let Some(held) = self.leases.get_mut(&lease).filter(|held| held.range.contains(&unit)) else {
            return;
        };
        held.started = true;
        let (job_id, start) = (held.job, held.range.start);
        self.end_lease(lease);
        self.count_failure(session);
        let Some(job) = self.jobs.get_mut(&job_id) else { return };
        let failed = job.contests.change(start, |contest| {
            contest.failed.push(worker);
            let settled = contest.committed.is_some() && !contest.is_disputed();
            (contest.range.clone(), contest.committed.is_some(), settled, contest.failed.len())
        });
        let Some((range, counts, settled, workers)) = failed else { return };
        if counts {
            // The unit is done, whatever becomes of it here; but where two results differ, somebody has to decide.
            if workers > 1 && settled {
                self.drop_contest(job_id, start, Checked::Failed { error }, out);
            }
        } else {
            out.push(Command::RecordFailure { job: job_id, unit, worker, error });
            job.note_failure(unit, worker);
            let hopeless = self.is_hopeless(job_id, unit);
            let Some(job) = self.jobs.get_mut(&job_id) else { return };
            if hopeless || workers > 1 {
                // What is left of it is computed anew, in other pieces: each worker may fail on another unit of it, and
                // then nobody is left to agree.
                job.dissolve(start);
                out.push(Command::Withdraw { job: job_id, range });
            }
            if hopeless {
                job.quarantine(unit);
                out.push(Command::Quarantine { job: job_id, unit });
            }
        }
        self.job_changed(job_id, out);
        self.strike(session, out);
    }

    /// Ends a lease over a contest, of which a result has come.
    fn end_check(&mut self, lease: LeaseId, from: SessionId, busy_us: u64, out: &mut Vec<Command>) {
        let Some(held) = self.leases.get(&lease) else { return };
        if held.session == from {
            self.measure(lease, held.open, busy_us);
            self.end_lease(lease);
        } else {
            self.abandon(lease, out);
        }
    }

    /// Forgets a contest, and tells whoever asked for it what came of it.
    pub(super) fn drop_contest(&mut self, id: JobId, start: u64, found: Checked, out: &mut Vec<Command>) {
        if let Some(Stage::Leased(lease)) = self.contest(id, start).map(|contest| contest.stage) {
            self.abandon(lease, out);
        }
        let dropped = self.jobs.get_mut(&id).and_then(|job| job.dissolve(start));
        if let Some(Contest { committed: Some(committed), asked: true, .. }) = dropped {
            out.push(Command::Checked { job: id, committed, found });
        }
    }

    /// Tells whoever asked for a range to be computed again what came of it.
    fn report_check(&mut self, offer: &Offer, found: Checked, out: &mut Vec<Command>) {
        let asked = self.change_contest(offer, |contest| std::mem::take(&mut contest.asked));
        let committed =
            self.contest(offer.job, offer.range.start).and_then(|contest| contest.committed.clone());
        if let (Some(true), Some(committed)) = (asked, committed) {
            out.push(Command::Checked { job: offer.job, committed, found });
        }
    }

    fn contest(&self, job: JobId, start: u64) -> Option<&Contest> {
        self.jobs.get(&job)?.contests.get(start)
    }

    fn change_contest<R>(&mut self, of: &Offer, change: impl FnOnce(&mut Contest) -> R) -> Option<R> {
        self.jobs.get_mut(&of.job)?.contests.change(of.range.start, change)
    }
}
