//! The invariants, recounted from scratch. For tests: it looks at everything.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{JobId, Scheduler, Token, contests::Stage, partition::Place};

impl Scheduler {
    /// Whether the state is sound.
    ///
    /// # Errors
    ///
    /// Names the first thing that is not.
    pub fn check(&self) -> Result<(), String> {
        let mut open = BTreeMap::new();
        for (id, job) in &self.jobs {
            job.check().map_err(|error| format!("{id:?}: {error}"))?;
            for (range, place) in job.pieces_in(&(0..job.units())) {
                match place {
                    Place::Leased(lease) => {
                        let known = self.leases.get(&lease).filter(|lease| {
                            lease.job == *id
                                && lease.range.start <= range.start
                                && range.end <= lease.range.end
                        });
                        known.ok_or_else(|| {
                            format!("{id:?} {range:?} is leased to {lease:?}, which is not")
                        })?;
                        *open.entry(lease).or_insert(0) += range.end - range.start;
                    }
                    Place::Flight(token) => self.check_flight(*id, &range, token)?,
                    _ => {}
                }
            }
            for contest in job.contests.iter() {
                match contest.stage {
                    Stage::Waits => {}
                    Stage::Flight(token) => self.check_flight(*id, &contest.range, token)?,
                    Stage::Leased(lease) => {
                        let known = self
                            .leases
                            .get(&lease)
                            .filter(|lease| lease.job == *id && lease.range == contest.range && lease.whole);
                        known.ok_or_else(|| format!("{contest:?} is not leased"))?;
                        open.insert(lease, contest.range.end - contest.range.start);
                    }
                }
                if let Some(vote) = contest.votes.iter().find(|vote| self.quarantined.contains(&vote.0))
                    && !matches!(contest.stage, Stage::Flight(_))
                {
                    return Err(format!("{contest:?} heeds {vote:?}, who is not believed"));
                }
            }
            let queued = job.has_work(&self.policy).then_some(job.pass);
            if job.queued != queued {
                return Err(format!("{id:?} is queued as {:?}, should be {queued:?}", job.queued));
            }
            if job.is_complete() && !job.finished {
                return Err(format!("{id:?} is complete and nobody was told"));
            }
        }
        self.check_leases(&open)?;
        self.check_releases()?;
        self.check_sessions()
    }

    fn check_flight(&self, job: JobId, range: &Range<u64>, token: Token) -> Result<(), String> {
        let known = self.offers.get(&token).filter(|offer| offer.is_in_flight() && offer.job == job);
        known.map(drop).ok_or_else(|| format!("{job:?} {range:?} is in flight by {token:?}, which is not"))
    }

    fn check_leases(&self, open: &BTreeMap<super::LeaseId, u64>) -> Result<(), String> {
        for (id, lease) in &self.leases {
            if open.get(id) != Some(&lease.open) || lease.open == 0 {
                return Err(format!("{id:?} has {} units, recounted {:?}", lease.open, open.get(id)));
            }
            if self.sessions.get(&lease.session).is_none_or(|session| !session.leases.contains(id)) {
                return Err(format!("{id:?} is not held by {:?}", lease.session));
            }
        }
        let held: usize = self.sessions.values().map(|session| session.leases.len()).sum();
        if held == self.leases.len() {
            Ok(())
        } else {
            Err(format!("{held} leases held, {} known", self.leases.len()))
        }
    }

    fn check_sessions(&self) -> Result<(), String> {
        let timed: BTreeSet<_> = self.expiry.iter().map(|&(_, id)| id).collect();
        for (id, session) in &self.sessions {
            let credit = u64::from(session.slots) + u64::from(session.prefetch);
            if u64::from(session.held()) > credit {
                return Err(format!("{id:?} holds {} leases with a credit of {credit}", session.held()));
            }
            if self.quarantined.contains(&session.worker) {
                return Err(format!("{id:?} is that of {:?}, which is not believed", session.worker));
            }
            if !timed.contains(id) {
                return Err(format!("{id:?} would never be found silent"));
            }
            if self.workers.get(&session.worker).is_none_or(|worker| worker.session != Some(*id)) {
                return Err(format!("{id:?} is not the session of {:?}", session.worker));
            }
        }
        let takers = self.sessions.iter().filter(|(_, session)| !session.draining);
        let takers = takers.map(|(&id, session)| (id, session.appetite(self.now, &self.policy)));
        let jobs = self.jobs.iter().map(|(&id, job)| (id, (job.need, job.queued)));
        self.classes.check(&takers.collect(), &jobs.collect())
    }
}
