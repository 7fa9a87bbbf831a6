//! Ranges of which several workers' results are compared: claims, which wait for a second worker before they count, and
//! committed ranges that are computed again.
//!
//! A contest holds its range as a whole: while there is one, no lease and no commit cuts across it. The units of a claim
//! are in [`super::partition::Place::Claimed`], those of a committed range stay done; a lease over a contest holds the
//! contest, not the units. One worker looks at it at a time.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{Committed, Digest, LeaseId, Token, WorkerId};

/// What is said of one range.
#[derive(Clone, Debug)]
pub(super) struct Contest {
    pub range: Range<u64>,
    /// Who says what; one vote a worker.
    pub votes: Vec<(WorkerId, Digest)>,
    /// So many workers have to agree.
    pub quorum: usize,
    /// The range counts already, with this result.
    pub committed: Option<Committed>,
    /// Somebody waits to hear of it.
    pub asked: bool,
    /// Workers that failed on a unit of it.
    pub failed: Vec<WorkerId>,
    pub stage: Stage,
}

/// Where a contest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Waits for a worker that has not been heard yet.
    Waits,
    /// A worker computes it.
    Leased(LeaseId),
    /// A result is on its way to the disk.
    Flight(Token),
}

/// How a range lies to the contests.
pub(super) enum Meeting {
    Nowhere,
    /// It is that of a contest.
    Exactly,
    Across,
}

impl Contest {
    /// A range that nobody has said anything about.
    pub(super) fn claim(range: Range<u64>, replicas: u32) -> Self {
        let quorum = usize::try_from(replicas).unwrap_or(usize::MAX).max(2);
        Self {
            range,
            votes: Vec::new(),
            quorum,
            committed: None,
            asked: false,
            failed: Vec::new(),
            stage: Stage::Waits,
        }
    }

    /// A range that counts: whoever stands behind it has voted, and it takes one worker more than those to agree, or to
    /// overturn it.
    pub(super) fn over(committed: Committed) -> Self {
        let votes: Vec<_> = committed.by.iter().map(|&worker| (worker, committed.digest)).collect();
        let (range, quorum) = (committed.range.clone(), (votes.len() + 1).max(2));
        Self { votes, quorum, committed: Some(committed), ..Self::claim(range, 2) }
    }

    /// What a worker has said.
    pub(super) fn said_by(&self, worker: WorkerId) -> Option<Digest> {
        self.votes.iter().find(|vote| vote.0 == worker).map(|vote| vote.1)
    }

    /// The workers that say `digest`.
    pub(super) fn agreeing(&self, digest: Digest) -> Vec<WorkerId> {
        self.votes.iter().filter(|vote| vote.1 == digest).map(|vote| vote.0).collect()
    }

    /// The votes for anything else.
    pub(super) fn against(&self, digest: Digest) -> Vec<(WorkerId, Digest)> {
        self.votes.iter().filter(|vote| vote.1 != digest).copied().collect()
    }

    /// The largest number of workers that agree.
    fn most(&self) -> usize {
        self.votes.iter().map(|vote| self.agreeing(vote.1).len()).max().unwrap_or(0)
    }

    /// One of the workers that agree, if there are enough of them.
    pub(super) fn decided(&self) -> Option<(WorkerId, Digest)> {
        self.votes.iter().find(|vote| self.agreeing(vote.1).len() >= self.quorum).copied()
    }

    /// Whether two results differ.
    pub(super) fn is_disputed(&self) -> bool {
        self.votes.windows(2).any(|pair| pair[0].1 != pair[1].1)
    }

    /// Whether this many votes are all that a range gets.
    pub(super) fn is_full(&self, max_votes: usize) -> bool {
        self.votes.len() >= max_votes.max(2 * self.quorum - 1)
    }

    /// Whether there is anything to hold results against.
    pub(super) fn stands(&self) -> bool {
        match &self.committed {
            None => !self.votes.is_empty(),
            Some(committed) => self.votes.iter().any(|vote| vote.1 == committed.digest),
        }
    }

    /// A worker is not believed any more.
    pub(super) fn strip(&mut self, worker: WorkerId) {
        let digest = self.committed.as_ref().map(|committed| committed.digest);
        let behind = self.said_by(worker).is_some_and(|said| Some(said) == digest);
        self.votes.retain(|vote| vote.0 != worker);
        if behind {
            // One fewer to overturn; but what is undecided stays so until somebody else is heard.
            self.quorum = (self.quorum - 1).max(self.most() + 1).max(2);
        }
    }

    /// The workers that are of no use to it, ascending.
    fn spent(&self) -> Vec<WorkerId> {
        let mut spent: Vec<_> = self.votes.iter().map(|vote| vote.0).chain(self.failed.clone()).collect();
        spent.sort_unstable();
        spent.dedup();
        spent
    }
}

/// The contests of a job.
#[derive(Debug, Default)]
pub(super) struct Contests {
    by_start: BTreeMap<u64, Contest>,
    /// Those that wait, by the workers that are of no use to them. With two replicas there are two groups at most to look
    /// at to find one for a worker; with more, as many as there are workers at worst.
    waiting: BTreeMap<Vec<WorkerId>, BTreeSet<u64>>,
    /// Those that do not count.
    claims: usize,
}

impl Contests {
    pub(super) fn get(&self, start: u64) -> Option<&Contest> {
        self.by_start.get(&start)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Contest> {
        self.by_start.values()
    }

    /// Number of ranges that wait for another worker before they count.
    pub(super) const fn claims(&self) -> usize {
        self.claims
    }

    /// Whether one waits for a worker.
    pub(super) fn any_waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The workers of no use to the first that waits.
    pub(super) fn first_spent(&self) -> Option<&[WorkerId]> {
        self.waiting.keys().next().map(Vec::as_slice)
    }

    /// One that waits for a worker such as this.
    pub(super) fn for_worker(&self, worker: WorkerId) -> Option<Range<u64>> {
        let (_, starts) = self.waiting.iter().find(|(spent, _)| spent.binary_search(&worker).is_err())?;
        self.get(*starts.first()?).map(|contest| contest.range.clone())
    }

    /// Starts of those that share units with `range`.
    pub(super) fn within(&self, range: &Range<u64>) -> Vec<u64> {
        let before = self.by_start.range(..range.start).next_back();
        let reaches = before.filter(|(_, contest)| contest.range.end > range.start);
        let inside = self.by_start.range(range.start..range.end.max(range.start));
        reaches.into_iter().chain(inside).map(|(&start, _)| start).collect()
    }

    pub(super) fn meeting(&self, range: &Range<u64>) -> Meeting {
        match self.within(range)[..] {
            [] => Meeting::Nowhere,
            [start] if self.get(start).is_some_and(|contest| contest.range == *range) => Meeting::Exactly,
            _ => Meeting::Across,
        }
    }

    pub(super) fn insert(&mut self, contest: Contest) {
        let start = contest.range.start;
        if contest.stage == Stage::Waits {
            self.waiting.entry(contest.spent()).or_default().insert(start);
        }
        self.claims += usize::from(contest.committed.is_none());
        self.by_start.insert(start, contest);
    }

    pub(super) fn remove(&mut self, start: u64) -> Option<Contest> {
        let contest = self.by_start.remove(&start)?;
        let spent = contest.spent();
        if let Some(group) = self.waiting.get_mut(&spent) {
            group.remove(&start);
            if group.is_empty() {
                self.waiting.remove(&spent);
            }
        }
        self.claims -= usize::from(contest.committed.is_none());
        Some(contest)
    }

    /// Changes a contest, and its place in the queue.
    pub(super) fn change<R>(&mut self, start: u64, change: impl FnOnce(&mut Contest) -> R) -> Option<R> {
        let mut contest = self.remove(start)?;
        let result = change(&mut contest);
        self.insert(contest);
        Some(result)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let mut waiting = BTreeMap::<_, BTreeSet<u64>>::new();
        let mut end = 0;
        for (&start, contest) in &self.by_start {
            let Contest { range, quorum, .. } = contest;
            if *range != (start..range.end) || range.is_empty() || start < end {
                return Err(format!("the contest of {range:?} at {start} follows {end}"));
            }
            let most = contest.most();
            if !contest.stands() && matches!(contest.stage, Stage::Waits | Stage::Leased(_)) {
                return Err(format!("nobody says anything of {range:?}"));
            }
            if most >= *quorum && contest.stage == Stage::Waits {
                return Err(format!("{most} agree on {range:?}, and it waits"));
            }
            if contest.stage == Stage::Waits {
                waiting.entry(contest.spent()).or_default().insert(start);
            }
            end = range.end;
        }
        if waiting != self.waiting {
            return Err(format!("{:?} wait, should be {waiting:?}", self.waiting));
        }
        let claims = self.iter().filter(|contest| contest.committed.is_none()).count();
        if claims == self.claims {
            Ok(())
        } else {
            Err(format!("{} claims, recounted {claims}", self.claims))
        }
    }
}
