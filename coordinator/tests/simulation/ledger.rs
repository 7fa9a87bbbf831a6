//! A disk that takes its time and loses what it has not written.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::Range,
};

use coordinator::scheduler::{
    Committed, Comparison, Digest, JobId, JobSpec, Need, RangeSet, Token, Vote, WorkerId,
};

/// What one line says.
#[derive(Clone, Debug)]
pub enum Entry {
    /// Counts; so many workers stand behind it.
    Commit {
        token: Token,
        job: JobId,
        range: Range<u64>,
        digest: Digest,
        by: Vec<WorkerId>,
    },
    Claim {
        token: Token,
        job: JobId,
        vote: Vote,
    },
    Withdraw {
        job: JobId,
        range: Range<u64>,
    },
    QuarantineWorker {
        worker: WorkerId,
    },
    Failure {
        job: JobId,
        unit: u64,
        worker: WorkerId,
    },
    Quarantine {
        job: JobId,
        unit: u64,
    },
}

/// A job on the disk.
#[derive(Clone, Debug, Default)]
pub struct Book {
    pub units: u64,
    pub weight: u32,
    pub paused: bool,
    pub removed: bool,
    pub conflicted: bool,
    pub replicas: u32,
    pub need: Need,
    /// By start: end, digest, and who stands behind it.
    pub commits: BTreeMap<u64, (u64, Digest, Vec<WorkerId>)>,
    /// Results that do not count.
    pub claims: Vec<Vote>,
    /// What was taken out again.
    pub withdrawn: RangeSet,
    pub failures: Vec<(u64, WorkerId)>,
    pub quarantined: BTreeSet<u64>,
}

impl Book {
    /// Fails if two commits overlap: something would be counted twice.
    pub fn done(&self) -> Result<RangeSet, String> {
        let mut done = RangeSet::new();
        for (&start, &(end, ..)) in &self.commits {
            if !done.insert(start..end) {
                return Err(format!("{start}..{end} overlaps another commit"));
            }
        }
        Ok(done)
    }

    pub fn spec(&self) -> Result<JobSpec, String> {
        Ok(JobSpec {
            units: self.units,
            weight: self.weight,
            done: self.done()?,
            failures: self.failures.iter().map(|&(unit, worker)| (unit, worker, String::new())).collect(),
            quarantined: self.quarantined.iter().map(|&unit| unit..unit + 1).collect(),
            paused: self.paused,
            need: self.need.clone(),
            replicas: self.replicas,
            claims: self.claims.clone(),
            disputed: self.claims.iter().filter_map(|vote| self.committed(&vote.range)).collect(),
        })
    }

    /// The commit of exactly this range.
    pub fn committed(&self, range: &Range<u64>) -> Option<Committed> {
        let (end, digest, by) = self.commits.get(&range.start)?;
        let range = range.start..*end;
        (*end == range.end).then(|| Committed { range, digest: *digest, by: by.clone() })
    }

    fn commit(&mut self, range: Range<u64>, digest: Digest, by: Vec<WorkerId>) {
        self.claims.retain(|vote| vote.range.end <= range.start || range.end <= vote.range.start);
        // As `put`, not as `put if absent`: what overlaps must be found by the checker, not hidden here.
        self.commits.insert(range.start, (range.end, digest, by));
    }

    fn claim(&mut self, new: Vote) {
        let apart = |vote: &Vote| vote.range.end <= new.range.start || new.range.end <= vote.range.start;
        self.claims.retain(|vote| apart(vote) || (vote.range == new.range && vote.worker != new.worker));
        self.claims.push(new);
    }

    fn withdraw(&mut self, range: &Range<u64>) {
        self.claims.retain(|vote| vote.range != *range);
        if self.commits.get(&range.start).is_some_and(|commit| commit.0 == range.end) {
            self.commits.remove(&range.start);
        }
        self.withdrawn.insert_merged(range.clone());
    }

    /// What the ledger says of a range that overlaps what is committed.
    pub fn compare(&self, range: &Range<u64>, digest: &[u8; 32]) -> Comparison {
        match self.commits.get(&range.start) {
            Some((end, same, _)) if *end == range.end && same == digest => Comparison::Same,
            Some((end, other, _)) if *end == range.end => Comparison::Different(*other),
            _ => Comparison::Overlap,
        }
    }
}

/// All jobs, and what waits to be written.
#[derive(Debug, Default)]
pub struct Ledger {
    pub books: BTreeMap<JobId, Book>,
    pub waiting: VecDeque<Entry>,
    pub quarantined: BTreeSet<WorkerId>,
    /// Those of the quarantined whose commits were not looked for yet.
    pub unswept: BTreeSet<WorkerId>,
}

impl Ledger {
    /// Writes what waits. Returns the commits of the group. With `twice`, commits are also written shifted by one unit,
    /// which a ledger must never do.
    pub fn flush(&mut self, twice: bool) -> Vec<Token> {
        let mut tokens = Vec::new();
        for entry in self.waiting.drain(..) {
            match entry {
                Entry::Commit { token, job, range, digest, by } => {
                    tokens.push(token);
                    let Some(book) = self.books.get_mut(&job) else { continue };
                    book.commit(range.clone(), digest, by.clone());
                    if twice && range.end - range.start > 1 {
                        book.commits.insert(range.start + 1, (range.end, digest, by));
                    }
                }
                Entry::Claim { token, job, vote } => {
                    tokens.push(token);
                    if let Some(book) = self.books.get_mut(&job) {
                        book.claim(vote);
                    }
                }
                Entry::Withdraw { job, range } => {
                    if let Some(book) = self.books.get_mut(&job) {
                        book.withdraw(&range);
                    }
                }
                Entry::QuarantineWorker { worker } => {
                    self.quarantined.insert(worker);
                    self.unswept.insert(worker);
                    for book in self.books.values_mut() {
                        book.claims.retain(|vote| vote.worker != worker);
                    }
                }
                Entry::Failure { job, unit, worker } => {
                    if let Some(book) = self.books.get_mut(&job) {
                        book.failures.push((unit, worker));
                    }
                }
                Entry::Quarantine { job, unit } => {
                    if let Some(book) = self.books.get_mut(&job) {
                        book.quarantined.insert(unit);
                    }
                }
            }
        }
        tokens
    }

    /// Takes out what too few believed workers stand behind. Returns it.
    pub fn sweep(&mut self) -> Vec<(JobId, Vec<Range<u64>>)> {
        self.unswept.clear();
        let mut swept = Vec::new();
        for (&job, book) in &mut self.books {
            let believed = |by: &[WorkerId]| by.iter().filter(|by| !self.quarantined.contains(by)).count();
            let lost =
                book.commits.iter().filter(|(_, commit)| believed(&commit.2) < book.replicas.max(1) as usize);
            let lost: Vec<Range<u64>> = lost.map(|(&start, commit)| start..commit.0).collect();
            lost.iter().for_each(|range| book.withdraw(range));
            if !lost.is_empty() {
                swept.push((job, lost));
            }
        }
        swept
    }

    /// Failures of a unit, written or not.
    pub fn failures_of(&self, of_job: JobId, of_unit: u64) -> Vec<WorkerId> {
        let written = self.books.get(&of_job).into_iter().flat_map(|book| &book.failures);
        let written = written.filter(|failure| failure.0 == of_unit).map(|failure| failure.1);
        let waiting = self.waiting.iter().filter_map(|entry| match entry {
            Entry::Failure { job, unit, worker } if *job == of_job && *unit == of_unit => Some(*worker),
            _ => None,
        });
        written.chain(waiting).collect()
    }

    /// Forgets failures and quarantine of a job, also those that wait.
    pub fn retry(&mut self, of_job: JobId) {
        self.waiting.retain(|entry| match entry {
            Entry::Failure { job, .. } | Entry::Quarantine { job, .. } => *job != of_job,
            Entry::Commit { .. }
            | Entry::Claim { .. }
            | Entry::Withdraw { .. }
            | Entry::QuarantineWorker { .. } => true,
        });
        if let Some(book) = self.books.get_mut(&of_job) {
            book.failures.clear();
            book.quarantined.clear();
        }
    }
}
