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

    /// Claims may have been meant: then nothing is committed there.
    fn withdrawn(&mut self, job: JobId, range: &Range<u64>) {
        let key = (job, range.start);
        let other = |late: &Late| matches!(late, Late::Made(kept) if kept.commit.range != *range);
        if !self.commits.get(&key).is_some_and(other) {
            self.commits.insert(key, Late::Withdrawn(range.end));
        }
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
        }
    }
    all.into_values().collect()
}
