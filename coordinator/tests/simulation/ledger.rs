//! A disk that takes its time and loses what it has not written.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::Range,
};

use coordinator::scheduler::{Comparison, JobId, JobSpec, RangeSet, Token, WorkerId};

/// What one line says.
#[derive(Clone, Debug)]
pub enum Entry {
    Commit { token: Token, job: JobId, range: Range<u64>, digest: [u8; 32] },
    Failure { job: JobId, unit: u64, worker: WorkerId },
    Quarantine { job: JobId, unit: u64 },
}

/// A job on the disk.
#[derive(Clone, Debug, Default)]
pub struct Book {
    pub units: u64,
    pub weight: u32,
    pub paused: bool,
    pub removed: bool,
    pub conflicted: bool,
    /// By start: end and digest.
    pub commits: BTreeMap<u64, (u64, [u8; 32])>,
    pub failures: Vec<(u64, WorkerId)>,
    pub quarantined: BTreeSet<u64>,
}

impl Book {
    /// Fails if two commits overlap: something would be counted twice.
    pub fn done(&self) -> Result<RangeSet, String> {
        let mut done = RangeSet::new();
        for (&start, &(end, _)) in &self.commits {
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
        })
    }

    /// What the ledger says of a range that overlaps what is committed.
    pub fn compare(&self, range: &Range<u64>, digest: &[u8; 32]) -> Comparison {
        match self.commits.get(&range.start) {
            Some((end, same)) if *end == range.end && same == digest => Comparison::Same,
            Some((end, _)) if *end == range.end => Comparison::Different,
            _ => Comparison::Overlap,
        }
    }
}

/// All jobs, and what waits to be written.
#[derive(Debug, Default)]
pub struct Ledger {
    pub books: BTreeMap<JobId, Book>,
    pub waiting: VecDeque<Entry>,
}

impl Ledger {
    /// Writes what waits. Returns the commits of the group. With `twice`, commits are also written shifted by one unit,
    /// which a ledger must never do.
    pub fn flush(&mut self, twice: bool) -> Vec<Token> {
        let mut tokens = Vec::new();
        for entry in self.waiting.drain(..) {
            match entry {
                Entry::Commit { token, job, range, digest } => {
                    tokens.push(token);
                    let Some(book) = self.books.get_mut(&job) else { continue };
                    // As `put`, not as `put if absent`: what overlaps must be found by the checker, not hidden here.
                    book.commits.insert(range.start, (range.end, digest));
                    if twice && range.end - range.start > 1 {
                        book.commits.insert(range.start + 1, (range.end, digest));
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
            Entry::Commit { .. } => true,
        });
        if let Some(book) = self.books.get_mut(&of_job) {
            book.failures.clear();
            book.quarantined.clear();
        }
    }
}
