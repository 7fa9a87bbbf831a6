//! What was written since the base, and how it comes onto the pages.

use std::{collections::BTreeMap, ops::Range};

use super::layout::{Kept, PageRef};
use crate::{
    ledger::{Entry, JobState, LedgerError},
    scheduler::JobId,
};

/// What was written since the base.
#[derive(Debug, Default)]
pub(super) struct Tail {
    pub commits: BTreeMap<(JobId, u64), Late>,
    pub groups: usize,
    pub bytes: usize,
}

/// What became of the commit that starts somewhere.
#[derive(Clone, Debug)]
pub(super) enum Late {
    /// It was made.
    Made(Kept),
    /// The one with this end was withdrawn.
    Withdrawn(u64),
    /// Several were, one after the other: whatever the page has there is void.
    Gone,
}

impl Tail {
    /// Takes an entry in.
    pub fn add(&mut self, entry: &Entry) {
        match entry {
            Entry::Commit(commit) => self.made(Kept::alone(commit.clone())),
            Entry::Confirm { commit, by } => self.made(Kept { commit: commit.clone(), by: by.clone() }),
            Entry::Withdraw { job, range } => self.withdrawn(*job, range),
            Entry::State { job, state: JobState::Removed, .. } => {
                self.commits.retain(|(of, _), _| of != job);
            }
            _ => {}
        }
    }

    fn made(&mut self, kept: Kept) {
        self.commits.insert((kept.commit.job, kept.start()), Late::Made(kept));
    }

    /// Claims may have been meant: then nothing of this range is committed.
    fn withdrawn(&mut self, job: JobId, range: &Range<u64>) {
        let key = (job, range.start);
        let late = match self.commits.get(&key) {
            None => Late::Withdrawn(range.end),
            // Of claims, beside a commit that is made.
            Some(Late::Made(kept)) if kept.commit.range != *range => return,
            Some(Late::Withdrawn(end)) if *end == range.end => return,
            // What was made, or claimed, after something else was withdrawn.
            Some(_) => Late::Gone,
        };
        self.commits.insert(key, late);
    }

    /// What became of a job's commits, ascending.
    pub fn of(&self, job: JobId) -> impl Iterator<Item = (u64, &Late)> {
        self.commits.range((job, 0)..=(job, u64::MAX)).map(|((_, start), late)| (*start, late))
    }

    /// Calls `each` with every commit of a job that counts, ascending: those of its pages, and what became of them since.
    pub fn onto(
        &self,
        job: JobId,
        pages: &[PageRef],
        read: &dyn Fn(&PageRef) -> Result<Vec<Kept>, LedgerError>,
        each: &mut dyn FnMut(Kept) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let late: Vec<(u64, &Late)> = self.of(job).collect();
        let mut late = &late[..];
        for (i, page) in pages.iter().enumerate() {
            let next = pages.get(i + 1).map_or(u64::MAX, |next| next.start);
            let (of_page, behind) = late.split_at(late.partition_point(|(start, _)| *start < next));
            late = behind;
            merged(read(page)?, of_page).into_iter().try_for_each(&mut *each)?;
        }
        // Only when there is no page at all.
        merged(Vec::new(), late).into_iter().try_for_each(each)
    }
}

/// The commits of a page, with what became of them and of those between them.
pub(super) fn merged(page: Vec<Kept>, late: &[(u64, &Late)]) -> Vec<Kept> {
    let mut all: BTreeMap<u64, Kept> = page.into_iter().map(|kept| (kept.start(), kept)).collect();
    for (start, late) in late {
        match late {
            Late::Made(kept) => drop(all.insert(*start, kept.clone())),
            Late::Withdrawn(end) => {
                if all.get(start).is_some_and(|kept| kept.commit.range.end == *end) {
                    all.remove(start);
                }
            }
            Late::Gone => drop(all.remove(start)),
        }
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ledger::CommitRecord, scheduler::WorkerId};

    const JOB: JobId = JobId([1; 16]);

    fn commit(range: Range<u64>, worker: u8) -> CommitRecord {
        let partial = vec![worker];
        let digest = *blake3::hash(&partial).as_bytes();
        let worker = WorkerId([worker; 16]);
        CommitRecord { job: JOB, range, digest, partial, worker, busy_us: 1, at_unix_ms: 5 }
    }

    /// The ranges that count of a page, after these entries.
    fn after(page: &[(u64, u64)], entries: &[Entry]) -> Vec<(u64, u64)> {
        let page = page.iter().map(|&(start, end)| Kept::alone(commit(start..end, 1))).collect();
        let mut tail = Tail::default();
        entries.iter().for_each(|entry| tail.add(entry));
        let late: Vec<_> = tail.of(JOB).collect();
        merged(page, &late).into_iter().map(|kept| (kept.commit.range.start, kept.commit.range.end)).collect()
    }

    fn made(range: Range<u64>) -> Entry {
        Entry::Commit(commit(range, 2))
    }

    fn withdrawn(range: Range<u64>) -> Entry {
        Entry::Withdraw { job: JOB, range }
    }

    #[test]
    fn what_was_withdrawn_does_not_come_back_with_what_is_withdrawn_after_it() {
        let page = [(0, 16), (16, 20)];
        assert_eq!(after(&page, &[withdrawn(0..16)]), [(16, 20)]);
        assert_eq!(after(&page, &[withdrawn(0..16), made(0..8)]), [(0, 8), (16, 20)]);
        assert_eq!(after(&page, &[withdrawn(0..16), made(0..8), withdrawn(0..8)]), [(16, 20)]);
        let again = [withdrawn(0..16), made(0..8), withdrawn(0..8), made(0..4), withdrawn(0..4)];
        assert_eq!(after(&page, &again), [(16, 20)]);
        // Claims of a part of it, which two workers could not compute.
        assert_eq!(after(&page, &[withdrawn(0..16), withdrawn(0..8)]), [(16, 20)]);
        assert_eq!(after(&page, &[withdrawn(0..16), withdrawn(0..8), made(0..16)]), [(0, 16), (16, 20)]);
    }

    #[test]
    fn claims_are_withdrawn_beside_what_is_committed() {
        let page = [(4, 8)];
        assert_eq!(after(&page, &[withdrawn(4..6)]), [(4, 8)]);
        assert_eq!(after(&[], &[withdrawn(0..3), made(0..4), withdrawn(0..3)]), [(0, 4)]);
    }
}
