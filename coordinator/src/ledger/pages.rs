//! The commits of a job in the index, in pages.
//!
//! sled spends some 20 microseconds and 400 bytes on a key, whatever it holds. Work is handed out in ascending order, so
//! the commits of a moment lie close together: a page of a hundred of them is one key, and a batch writes a few pages.
//! Commits at random places each cost a page; that is slower, and right.
//!
//! The key of a page is where it begins; that of the first page is 0, so that every start has a page. Pages only split.

use serde::{Deserialize, Serialize};
use worker::store::Store;

use super::{
    LedgerError, Place,
    index::{COMMIT, decode, encode, key, numbered},
};
use crate::scheduler::JobId;

/// More are split. At some 25 bytes each, a page stays in one part of the store.
const PAGE: usize = 128;

/// A commit in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommitEntry {
    pub start: u64,
    pub end: u64,
    pub place: Place,
}

/// What happens to a job's commits.
#[derive(Clone, Copy, Debug)]
pub(super) enum PageChange {
    Add(CommitEntry),
    /// The one that starts there was withdrawn.
    Remove(u64),
}

impl PageChange {
    fn start(&self) -> u64 {
        match self {
            Self::Add(commit) => commit.start,
            Self::Remove(start) => *start,
        }
    }
}

/// Adds to `staged` the pages that `commits` change.
pub(super) fn stage(
    store: &Store,
    mut commits: Vec<(JobId, PageChange)>,
    staged: &mut Vec<(Vec<u8>, Option<Vec<u8>>)>,
) -> Result<(), LedgerError> {
    // Stable: what is withdrawn and committed again stays in that order.
    commits.sort_by_key(|(job, c)| (*job, c.start()));
    let mut rest = &commits[..];
    while let Some((job, first)) = rest.first() {
        let prefix = key(COMMIT, *job);
        let found = store.last_up_to(&prefix, &numbered(COMMIT, *job, first.start()))?;
        let (page_key, mut page) = match found {
            Some((page_key, page)) => (page_key, decode::<Vec<CommitEntry>>(&page)?),
            None => (numbered(COMMIT, *job, 0), Vec::new()),
        };
        let next = store.first_key_after(&prefix, &page_key)?;
        let ours = |(j, c): &(JobId, PageChange)| {
            j == job && next.as_ref().is_none_or(|next| numbered(COMMIT, *job, c.start()) < *next)
        };
        // At least the first: its page is where it belongs.
        let count = rest.iter().take_while(|c| ours(c)).count().max(1);
        let (new, behind) = rest.split_at(count);
        rest = behind;
        let ascending = page.last().is_none_or(|last| last.start < first.start());
        for (_, change) in new {
            match change {
                PageChange::Add(commit) => page.push(*commit),
                PageChange::Remove(start) => page.retain(|commit| commit.start != *start),
            }
        }
        page.sort_by_key(|c| c.start);
        if page.is_empty() {
            staged.push((page_key, None));
            continue;
        }
        // Evenly, so that none is left with one commit; but what comes in order fills its pages.
        let pages = page.len().div_ceil(PAGE);
        let size = if ascending && next.is_none() { PAGE } else { page.len().div_ceil(pages) };
        for (i, part) in page.chunks(size).enumerate() {
            let key = if i == 0 { page_key.clone() } else { numbered(COMMIT, *job, part[0].start) };
            staged.push((key, Some(encode(&part)?)));
        }
    }
    Ok(())
}

/// The commits of a job, ascending.
pub(super) fn commits(
    store: &Store,
    job: JobId,
) -> impl Iterator<Item = Result<CommitEntry, LedgerError>> + '_ {
    store.scan_prefix(&key(COMMIT, job)).flat_map(|item| {
        let page = item.map_err(LedgerError::from).and_then(|(_, page)| decode::<Vec<CommitEntry>>(&page));
        let (page, error) = match page {
            Ok(page) => (page, None),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        page.into_iter().map(Ok).chain(error)
    })
}

/// The commit that starts at `start`.
pub(super) fn commit_at(store: &Store, job: JobId, start: u64) -> Result<Option<CommitEntry>, LedgerError> {
    let found = store.last_up_to(&key(COMMIT, job), &numbered(COMMIT, job, start))?;
    let Some((_, page)) = found else { return Ok(None) };
    Ok(decode::<Vec<CommitEntry>>(&page)?.into_iter().find(|c| c.start == start))
}

/// Number of commits in the index, of all jobs.
pub(super) fn count(store: &Store) -> Result<u64, LedgerError> {
    let mut count = 0;
    for item in store.scan_prefix(&[COMMIT]) {
        count += decode::<Vec<CommitEntry>>(&item?.1)?.len() as u64;
    }
    Ok(count)
}
