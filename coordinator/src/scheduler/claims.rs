//! The contests of a job, and the units that are in them.

use std::ops::Range;

use super::{
    JobSpec, LeaseId, Token,
    commits::Offer,
    contests::{Contest, Meeting, Stage},
    job::Job,
    partition::Place,
};

impl Job {
    /// Takes up what is said of ranges. What does not fit what is done was settled before it was written down.
    pub(super) fn recall(&mut self, spec: &JobSpec) {
        for vote in &spec.claims {
            let range = &vote.range;
            if range.is_empty() || range.end > self.units() {
                continue;
            }
            if self.contests.get(range.start).is_none_or(|contest| contest.range != *range) {
                let committed = spec.disputed.iter().find(|committed| committed.range == *range);
                let free = !spec.done.intersects(range) && self.contests.within(range).is_empty();
                match committed {
                    Some(committed) if self.contests.within(range).is_empty() => {
                        self.contests.insert(Contest::over(committed.clone()));
                    }
                    None if free && self.replicas > 1 => {
                        self.set(range, Place::Claimed);
                        self.contests.insert(Contest::claim(range.clone(), self.replicas));
                    }
                    _ => continue,
                }
            }
            self.contests.change(range.start, |contest| {
                if contest.said_by(vote.worker).is_none() {
                    contest.votes.push((vote.worker, vote.digest));
                }
            });
        }
    }

    /// Moves units to a contest of their own. Returns where they were.
    pub(super) fn claim(&mut self, range: &Range<u64>, token: Token) -> Vec<(Range<u64>, Place)> {
        let displaced = self.set(range, Place::Claimed);
        self.contests
            .insert(Contest { stage: Stage::Flight(token), ..Contest::claim(range.clone(), self.replicas) });
        displaced
    }

    /// Ends a contest without a decision; units that do not count return to the pool.
    pub(super) fn dissolve(&mut self, start: u64) -> Option<Contest> {
        let contest = self.contests.remove(start)?;
        if contest.committed.is_none() {
            self.release(&contest.range, Place::Claimed);
        }
        Some(contest)
    }

    /// Takes up a vote that is already on its way to the disk.
    pub(super) fn adopt_vote(&mut self, offer: &Offer, token: Token) {
        let range = &offer.range;
        match self.contests.meeting(range) {
            Meeting::Exactly => {}
            Meeting::Nowhere if self.pieces_in(range).all(|piece| piece.1 != Place::Done) => {
                self.claim(range, token);
            }
            Meeting::Nowhere if self.pieces_in(range).all(|piece| piece.1 == Place::Done) => {
                let Some(committed) = offer.over.clone().filter(|committed| !committed.by.is_empty()) else {
                    return;
                };
                self.contests.insert(Contest::over(committed));
            }
            Meeting::Nowhere | Meeting::Across => return,
        }
        self.contests.change(range.start, |contest| {
            contest.stage = Stage::Flight(token);
            if contest.said_by(offer.worker).is_none() {
                contest.votes.push((offer.worker, offer.digest));
            }
        });
    }

    /// A lease over a contest has ended without a result.
    pub(super) fn contest_returns(&mut self, start: u64, lease: LeaseId) {
        if self.contests.get(start).is_some_and(|contest| contest.stage == Stage::Leased(lease)) {
            self.contests.change(start, |contest| contest.stage = Stage::Waits);
        }
    }

    /// Leases over contests.
    pub(super) fn contest_leases(&self) -> impl Iterator<Item = LeaseId> + '_ {
        self.contests.iter().filter_map(|contest| match contest.stage {
            Stage::Leased(lease) => Some(lease),
            Stage::Waits | Stage::Flight(_) => None,
        })
    }

    pub(super) fn check_contests(&self) -> Result<(), String> {
        self.contests.check()?;
        let mut claimed = 0;
        for contest in self.contests.iter() {
            let range = &contest.range;
            let place = if contest.committed.is_some() { Place::Done } else { Place::Claimed };
            claimed += if contest.committed.is_some() { 0 } else { range.end - range.start };
            if range.end > self.units() || self.pieces_in(range).any(|piece| piece.1 != place) {
                return Err(format!("{contest:?} should be {place:?}"));
            }
        }
        if claimed != self.counts().claimed {
            return Err(format!("{} units claimed, {claimed} in contests", self.counts().claimed));
        }
        Ok(())
    }
}
