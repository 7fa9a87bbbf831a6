//! What the ledger's thread reads commits for: sums, samples, and what liars have left behind.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use jobs::ErasedJob;

use super::{
    core::unix_ms,
    folded::Folded,
    writer::{FoldError, Sample},
};
use crate::{
    ledger::{Entry, JobState, JobSummary, Ledger, LedgerError},
    scheduler::{Committed, JobId, WorkerId},
};

/// Commits of a job that were withdrawn.
#[derive(Debug)]
pub struct Lost {
    /// The run.
    pub job: JobId,
    /// The ranges, as they were committed.
    pub ranges: Vec<Range<u64>>,
}

/// Withdrawals that are written together.
const AT_ONCE: usize = 1024;

/// Adds up the commits of a job.
pub fn fold(ledger: &dyn Ledger, id: JobId, job: Arc<dyn ErasedJob>) -> Result<Folded, FoldError> {
    let (mut folded, mut trouble) = (Folded::nothing(job), None);
    let claims = ledger.claims(id)?;
    let claimed: BTreeMap<u64, u64> = claims.iter().map(|vote| (vote.range.start, vote.range.end)).collect();
    let mut disputed = Vec::new();
    ledger.commits(id, &mut |commit, by| {
        let range = commit.range.clone();
        if claimed.get(&range.start) == Some(&range.end) {
            let committed = Committed { range: range.clone(), digest: commit.digest, by: by.to_vec() };
            disputed.push(committed);
        }
        if trouble.is_none() {
            trouble = folded.add(range, &commit.partial, commit.busy_us).err();
        }
        Ok(())
    })?;
    (folded.claims, folded.disputed) = (claims, disputed);
    trouble.map_or(Ok(folded), |text| Err(FoldError::Job(text)))
}

/// Withdraws every commit that fewer believed workers stand behind than its job wants, of all jobs, and writes down that this
/// is done. Costs one reading of all commits. A coordinator that dies over it does it again: that a finished job runs is
/// written first, that all is withdrawn last.
pub fn sweep(ledger: &mut dyn Ledger, worker: WorkerId) -> Result<Vec<Lost>, LedgerError> {
    let mut liars: BTreeSet<WorkerId> = ledger.quarantined()?.into_iter().map(|liar| liar.worker).collect();
    if !liars.contains(&worker) {
        return Ok(Vec::new());
    }
    // Nobody knows any more who computed what was added up of several: it may have been a liar.
    liars.insert(WorkerId::SEVERAL);
    let mut all = Vec::new();
    for summary in ledger.jobs()? {
        let job = summary.record.id;
        let ranges = in_doubt(ledger, &summary, &liars)?;
        if ranges.is_empty() {
            continue;
        }
        if summary.state == JobState::Finished {
            ledger.append(&[Entry::State { job, state: JobState::Running, at_unix_ms: unix_ms() }])?;
        }
        for some in ranges.chunks(AT_ONCE) {
            let entries: Vec<_> =
                some.iter().map(|range| Entry::Withdraw { job, range: range.clone() }).collect();
            ledger.append(&entries)?;
        }
        all.push(Lost { job, ranges });
    }
    ledger.append(&[Entry::WorkerSwept { worker }])?;
    Ok(all)
}

/// The commits of a job that too few stand behind who are no liars.
fn in_doubt(
    ledger: &dyn Ledger,
    summary: &JobSummary,
    liars: &BTreeSet<WorkerId>,
) -> Result<Vec<Range<u64>>, LedgerError> {
    let wanted = usize::try_from(summary.replicas).unwrap_or(usize::MAX).max(1);
    let mut ranges = Vec::new();
    ledger.commits(summary.record.id, &mut |commit, by| {
        if by.iter().filter(|worker| !liars.contains(worker)).count() < wanted {
            ranges.push(commit.range.clone());
        }
        Ok(())
    })?;
    Ok(ranges)
}

/// Commits at random until they have this share of all committed units; at least one, if there are any. Some 100 bytes of
/// memory for each commit of the job.
pub fn sample(ledger: &dyn Ledger, job: JobId, sample: Sample) -> Result<Vec<Committed>, LedgerError> {
    let mut left = Vec::new();
    ledger.commits(job, &mut |commit, by| {
        left.push(Committed { range: commit.range.clone(), digest: commit.digest, by: by.to_vec() });
        Ok(())
    })?;
    Ok(choose(left, |committed| committed.range.end - committed.range.start, sample))
}

/// Items at random until they have this share of all units.
pub fn choose<T>(mut left: Vec<T>, units_of: impl Fn(&T) -> u64, sample: Sample) -> Vec<T> {
    let all: u128 = left.iter().map(|item| u128::from(units_of(item))).sum();
    let mut random = shared::random::Random::new(sample.seed);
    let (mut chosen, mut units) = (Vec::new(), 0_u128);
    while !left.is_empty() && units * 1_000_000 < all * u128::from(sample.share_ppm) {
        let item = left.swap_remove(random.below(left.len()));
        units += u128::from(units_of(&item));
        chosen.push(item);
    }
    chosen
}
