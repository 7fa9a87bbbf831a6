//! What the book says of results that do not count, and of workers that are not believed.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    CommitRecord,
    book::{Book, MAX_ERROR_BYTES, Undo},
};
use crate::scheduler::{JobId, Vote, WorkerId};

/// Workers at most that have to agree on a result.
pub const MAX_REPLICAS: u32 = 3;
/// Workers at most that stand behind a result.
const MAX_VOTERS: usize = 64;

/// A worker whose results are not believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantine {
    /// Who.
    pub worker: WorkerId,
    /// Its name, for people.
    pub name: String,
    /// What it was found out with, in words.
    pub why: String,
    /// When, in milliseconds since 1970.
    pub at_unix_ms: u64,
    /// Whether what it alone stood behind has been withdrawn. False when it is written down.
    pub swept: bool,
}

/// Takes the claims that share units with `range`, and that `is_displaced`, out of `claims`. These are ascending, and two
/// of them are of the same range or share nothing.
pub(super) fn cut(
    claims: &mut Vec<Vote>,
    range: &Range<u64>,
    is_displaced: impl Fn(&Vote) -> bool,
) -> Vec<Vote> {
    let first = claims.partition_point(|vote| vote.range.end <= range.start);
    let behind = claims.partition_point(|vote| vote.range.start < range.end).max(first);
    let (taken, kept): (Vec<Vote>, Vec<Vote>) = claims.drain(first..behind).partition(is_displaced);
    claims.splice(first..first, kept);
    taken
}

fn add(claims: &mut Vec<Vote>, vote: Vote) {
    let at =
        claims.partition_point(|other| (other.range.start, other.worker) < (vote.range.start, vote.worker));
    claims.insert(at, vote);
}

/// Whether these workers can stand behind a commit.
pub(super) fn check_voters(commit: &CommitRecord, by: &[WorkerId]) -> Result<(), String> {
    let (job, range) = (commit.job, &commit.range);
    if by.len() > MAX_VOTERS || !by.contains(&commit.worker) {
        return Err(format!("{job:?}: {} workers cannot stand behind {range:?}", by.len()));
    }
    let twice = by.iter().enumerate().find(|(at, worker)| by[..*at].contains(worker));
    twice.map_or(Ok(()), |(_, worker)| Err(format!("{job:?}: {worker:?} stands behind {range:?} twice")))
}

impl Book {
    pub(super) fn enter_replicas(&mut self, job: JobId, replicas: u32) -> Result<Undo, String> {
        if !(1..=MAX_REPLICAS).contains(&replicas) {
            return Err(format!("{job:?}: {replicas} replicas; expected 1 to {MAX_REPLICAS}"));
        }
        let summary = &mut self.live(job)?.summary;
        Ok(Undo::Replicas(job, std::mem::replace(&mut summary.replicas, replicas)))
    }

    pub(super) fn enter_claim(&mut self, claim: &CommitRecord) -> Result<Undo, String> {
        let CommitRecord { job, digest, worker, .. } = *claim;
        let range = claim.range.clone();
        if self.workers.contains_key(&worker) {
            return Err(format!("{job:?}: a claim of {worker:?}, which is quarantined"));
        }
        let summary = &mut self.live(job)?.summary;
        let units = summary.record.units;
        if range.is_empty() || range.end > units {
            return Err(format!("{job:?}: {range:?} is no range of its {units} units"));
        }
        let displaced =
            cut(&mut summary.claims, &range, |other| other.range != range || other.worker == worker);
        let vote = Vote { range, worker, digest };
        add(&mut summary.claims, vote.clone());
        Ok(Undo::Votes(job, displaced, Some(vote)))
    }

    pub(super) fn enter_withdrawal(&mut self, job: JobId, range: &Range<u64>) -> Result<Undo, String> {
        let account = self.live(job)?;
        let done = account.done.as_mut().ok_or("the committed ranges are not loaded")?;
        let counts = !range.is_empty() && done.contains(range);
        let claims = cut(&mut account.summary.claims, range, |vote| vote.range == *range);
        if !counts && claims.is_empty() {
            return Err(format!("{job:?}: nothing of {range:?} can be withdrawn"));
        }
        let votes = Undo::Votes(job, claims, None);
        if !counts {
            return Ok(votes);
        }
        let units = done.remove(range);
        account.summary.withdrawn_units = account.summary.withdrawn_units.saturating_add(units);
        Ok(Undo::All(vec![votes, Undo::Withdrawn((job, range.clone()))]))
    }

    pub(super) fn enter_quarantine(&mut self, quarantine: &Quarantine) -> Result<Undo, String> {
        let Quarantine { worker, name, why, .. } = quarantine;
        let worker = *worker;
        if name.len() + why.len() > MAX_ERROR_BYTES {
            return Err(format!("{worker:?}: more than {MAX_ERROR_BYTES} bytes about it"));
        }
        if self.workers.contains_key(&worker) {
            return Err(format!("{worker:?} is quarantined already"));
        }
        let mut steps = vec![Undo::Worker(worker, None)];
        self.workers.insert(worker, Quarantine { swept: false, ..quarantine.clone() });
        for (&job, account) in &mut self.accounts {
            let claims = &mut account.summary.claims;
            let (void, kept): (Vec<_>, Vec<_>) =
                std::mem::take(claims).into_iter().partition(|vote| vote.worker == worker);
            *claims = kept;
            if !void.is_empty() {
                steps.push(Undo::Votes(job, void, None));
            }
        }
        Ok(Undo::All(steps))
    }

    pub(super) fn enter_swept(&mut self, worker: WorkerId) -> Result<Undo, String> {
        let known = self.workers.get_mut(&worker).ok_or_else(|| format!("{worker:?} is not quarantined"))?;
        let before = known.clone();
        known.swept = true;
        Ok(Undo::Worker(worker, Some(before)))
    }

    pub(super) fn enter_readmission(&mut self, worker: WorkerId) -> Result<Undo, String> {
        let known = self.workers.remove(&worker).ok_or_else(|| format!("{worker:?} is not quarantined"))?;
        Ok(Undo::Worker(worker, Some(known)))
    }

    pub(super) fn undo_doubt(&mut self, step: Undo) {
        match step {
            Undo::Replicas(job, replicas) => self.with_summary(job, |s| s.replicas = replicas),
            Undo::Votes(job, displaced, added) => self.with_summary(job, |s| {
                if let Some(vote) = added {
                    s.claims.retain(|other| *other != vote);
                }
                displaced.into_iter().for_each(|vote| add(&mut s.claims, vote));
            }),
            Undo::Withdrawn((job, range)) => {
                let Some(account) = self.accounts.get_mut(&job) else { return };
                let units = range.end - range.start;
                account.summary.withdrawn_units = account.summary.withdrawn_units.saturating_sub(units);
                if let Some(done) = &mut account.done {
                    done.insert_merged(range);
                }
            }
            Undo::Worker(worker, None) => drop(self.workers.remove(&worker)),
            Undo::Worker(worker, Some(before)) => drop(self.workers.insert(worker, before)),
            _ => {}
        }
    }
}
