//! Turning groups into pages, so that what is kept is bounded by what is known, and not by how it came about.
//!
//! Every megabyte of groups becomes part of the base: their commits go into the pages of their jobs, everything else is in the
//! summaries. When the pages of a job outgrow their bound, commits that lie side by side are added up: the partial of
//! a range is the same whoever computed it in whatever pieces, so the sum of two neighbours is the commit that one worker
//! would have made of both. What is lost is who computed which piece, nothing else.

use super::{
    EtcdLedger,
    layout::{self, BASE, Base, Body, JobBody, Kept, LOG, PAGE, PIECE, PageRef},
    office::Step,
    ops, size,
    tail::{Late, Tail, merged},
};
use crate::{
    ledger::{CommitRecord, JobRecord, JobSummary, LedgerError},
    scheduler::WorkerId,
};

/// Adds up partials of one job; `None` when they make no sum.
pub type Adding = Box<Add>;
/// What is in the box.
type Add = dyn Fn(&[&[u8]]) -> Option<Vec<u8>>;
/// Knows how partials of a job are added up; `None` when this program does not know such jobs.
pub type Merging = Box<dyn Fn(&JobRecord) -> Option<Adding> + Send>;

/// How much may gather before it is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Groups since the base, in bytes, before there is a new one.
    pub tail_bytes: usize,
    /// The same in number.
    pub tail_groups: usize,
    /// Pages of one job, in bytes, before neighbours are added up until they take half of that.
    pub job_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { tail_bytes: 1 << 20, tail_groups: 1000, job_bytes: 4 << 20 }
    }
}

/// Sums larger than this are not made larger.
const SUM_BYTES: usize = 16 << 10;
/// Keys removed at a time.
const AT_ONCE: usize = 64;

impl EtcdLedger {
    pub(super) fn compact_if_due(&mut self) -> Result<(), LedgerError> {
        if self.tail.bytes < self.bounds.tail_bytes && self.tail.groups < self.bounds.tail_groups {
            return Ok(());
        }
        self.compact()
    }

    /// Makes a new base of all that is known. Happens by itself whenever a megabyte was appended.
    ///
    /// # Errors
    ///
    /// As appending.
    pub fn compact(&mut self) -> Result<(), LedgerError> {
        let mut body = Body {
            next_page: 0,
            next_order: self.book.next_order(),
            removed: self.book.removed().collect(),
            jobs: Vec::new(),
            workers: self.book.workers.values().cloned().collect(),
            acts: self.book.acts(),
        };
        let accounts: Vec<_> =
            self.book.accounts().into_iter().map(|a| (a.order, a.summary.clone())).collect();
        for (order, summary) in accounts {
            let pages = self.new_pages(&summary)?;
            body.jobs.push(JobBody { order, summary, pages });
        }
        body.next_page = self.next_page;
        let (pieces, digest) = layout::encode_body(&body)?;
        let generation = self.base.map_or(0, |base| base.generation + 1);
        let count = u32::try_from(pieces.len()).unwrap_or(u32::MAX);
        for (index, piece) in (0..).zip(pieces) {
            self.put(&layout::piece(generation, index), piece)?;
        }
        let base = Base { generation, pieces: count, digest, head: self.head };
        let from = self.base.map(|base| layout::encode(&base)).transpose()?;
        let step = Step { key: self.office.wire.address.key(BASE), from, to: layout::encode(&base)? };
        self.runtime.block_on(self.office.step(&step, Vec::new()))?;
        self.base = Some(base);
        self.directory = body.jobs.into_iter().map(|job| (job.summary.record.id, job.pages)).collect();
        self.pages_bytes = size(&self.directory);
        self.tail = Tail::default();
        self.sweep()
    }

    /// The pages of a job with the tail's commits in them. Those that do not change stay.
    fn new_pages(&mut self, summary: &JobSummary) -> Result<Vec<PageRef>, LedgerError> {
        let job = summary.record.id;
        let old = self.pages(job).to_vec();
        let late: Vec<(u64, Late)> = self.tail.of(job).map(|(start, late)| (start, late.clone())).collect();
        if late.is_empty() {
            return Ok(old);
        }
        let late: Vec<(u64, &Late)> = late.iter().map(|(start, late)| (*start, late)).collect();
        let mut late = &late[..];
        let mut pages = Vec::with_capacity(old.len() + 1);
        for (i, page) in old.iter().enumerate() {
            let next = old.get(i + 1).map_or(u64::MAX, |next| next.start);
            let (of_page, behind) = late.split_at(late.partition_point(|(start, _)| *start < next));
            late = behind;
            if of_page.is_empty() {
                pages.push(*page);
                continue;
            }
            let commits = merged(self.page(job, page)?, of_page);
            self.put_pages(page.start, &commits, &mut pages)?;
        }
        // Only when there was no page at all.
        self.put_pages(0, &merged(Vec::new(), late), &mut pages)?;
        // The first one reaches down to 0, also when the one before it has lost all that it had.
        if let Some(first) = pages.first_mut() {
            first.start = 0;
        }
        // Ranges that somebody is about to withdraw stay as they are.
        let in_doubt = !summary.claims.is_empty() || self.book.workers.values().any(|known| !known.swept);
        let most_bytes = self.stubborn.get(&job).copied().unwrap_or(self.bounds.job_bytes);
        if bytes(&pages) > most_bytes && !in_doubt {
            pages = self.added_up(&summary.record, &pages)?;
            if bytes(&pages) > self.bounds.job_bytes {
                // Gaps, or large partials, leave little to add up: all of it is not to be read again for every megabyte.
                self.stubborn.insert(job, 2 * bytes(&pages));
            } else {
                self.stubborn.remove(&job);
            }
        }
        Ok(pages)
    }

    /// Writes commits as pages, the first of which begins at `start`.
    fn put_pages(
        &mut self,
        start: u64,
        commits: &[Kept],
        pages: &mut Vec<PageRef>,
    ) -> Result<(), LedgerError> {
        for (i, part) in layout::split(commits).into_iter().enumerate() {
            let packed = layout::encode_page(part)?;
            let page = PageRef {
                id: self.next_page,
                start: if i == 0 { start } else { part[0].start() },
                len_bytes: u32::try_from(packed.len()).unwrap_or(u32::MAX),
                commits: u32::try_from(part.len()).unwrap_or(u32::MAX),
                digest: *blake3::hash(&packed).as_bytes(),
            };
            self.next_page += 1;
            self.put(&layout::numbered(PAGE, page.id), packed)?;
            pages.push(page);
        }
        Ok(())
    }

    /// The commits of these pages, neighbours added up until they take half of what they may.
    fn added_up(&mut self, record: &JobRecord, pages: &[PageRef]) -> Result<Vec<PageRef>, LedgerError> {
        let Some(add) = (self.merging)(record) else { return Ok(pages.to_vec()) };
        let mut commits = Vec::new();
        for page in pages {
            commits.extend(self.page(record.id, page)?);
        }
        let before = commits.len();
        let mut size = bytes(pages);
        while size > self.bounds.job_bytes / 2 {
            let count = commits.len();
            commits = add_neighbours(commits, &*add);
            if commits.len() > count - count / 8 {
                break;
            }
            size = size * commits.len() / count.max(1);
        }
        if commits.len() == before {
            return Ok(pages.to_vec());
        }
        tracing::info!(job = ?record.id, before, after = commits.len(), "added neighbouring commits up");
        let mut pages = Vec::new();
        self.put_pages(0, &commits, &mut pages)?;
        Ok(pages)
    }

    fn put(&self, key: &str, value: Vec<u8>) -> Result<(), LedgerError> {
        let put = ops::put(self.office.wire.address.key(key), value);
        self.runtime.block_on(self.office.repeatable(vec![put])).map(drop)
    }

    /// Removes what the base does not name, and has etcd forget the past.
    pub(super) fn sweep(&mut self) -> Result<(), LedgerError> {
        let kept: std::collections::HashSet<String> =
            self.directory.values().flatten().map(|page| layout::numbered("", page.id)).collect();
        let generation = self.base.map(|base| layout::numbered("", base.generation));
        let mut stale = Vec::new();
        let reader = self.reader();
        let (pages, pieces) =
            (self.runtime.block_on(reader.names(PAGE))?, self.runtime.block_on(reader.names(PIECE))?);
        stale.extend(
            pages.into_iter().filter(|name| !kept.contains(name)).map(|name| format!("{PAGE}{name}")),
        );
        let of_base = |name: &String| name.split('/').next() == generation.as_deref();
        stale.extend(pieces.into_iter().filter(|name| !of_base(name)).map(|name| format!("{PIECE}{name}")));
        let address = &self.office.wire.address;
        for some in stale.chunks(AT_ONCE) {
            let ops = some.iter().map(|key| ops::delete(address.key(key))).collect();
            self.runtime.block_on(self.office.repeatable(ops))?;
        }
        let Some(base) = self.base else { return Ok(()) };
        let log = ops::delete_range(address.key(LOG), address.key(&layout::numbered(LOG, base.head.seq + 1)));
        let revision = self.runtime.block_on(self.office.repeatable(vec![log]))?;
        // Not up to now: whoever reads the ledger beside us reads it as it was when they began.
        let past = std::mem::replace(&mut self.past, revision);
        if past > 0 {
            self.runtime.block_on(self.office.forget_past(past));
        }
        Ok(())
    }
}

fn bytes(pages: &[PageRef]) -> usize {
    pages.iter().map(|page| page.len_bytes as usize).sum()
}

/// Adds up every other commit and the one behind it, where they touch. Whom to believe for a sum of what different workers stand
/// behind cannot be told any more: it is [`WorkerId::SEVERAL`].
fn add_neighbours(commits: Vec<Kept>, add: &Add) -> Vec<Kept> {
    let mut all = commits.into_iter();
    let mut sums: Vec<Kept> = Vec::with_capacity(all.len() / 2 + 1);
    let mut first = all.next();
    while let Some(one) = first.take() {
        let Some(two) = all.next() else {
            sums.push(one);
            break;
        };
        if let Some(sum) = sum_of(&one, &two, add) {
            sums.push(sum);
            first = all.next();
        } else {
            sums.push(one);
            first = Some(two);
        }
    }
    sums
}

fn sum_of(one: &Kept, two: &Kept, add: &Add) -> Option<Kept> {
    let (a, b) = (&one.commit, &two.commit);
    if a.range.end != b.range.start || a.partial.len() + b.partial.len() > SUM_BYTES {
        return None;
    }
    let partial = add(&[&a.partial, &b.partial]).filter(|partial| partial.len() <= SUM_BYTES)?;
    // Whoever confirms comes last: the same workers stand behind both in whatever order.
    let alike = one.by.len() == two.by.len() && one.by.iter().all(|worker| two.by.contains(worker));
    let (worker, by) =
        if alike { (a.worker, one.by.clone()) } else { (WorkerId::SEVERAL, vec![WorkerId::SEVERAL]) };
    let commit = CommitRecord {
        job: a.job,
        range: a.range.start..b.range.end,
        digest: *blake3::hash(&partial).as_bytes(),
        partial,
        worker,
        busy_us: a.busy_us.saturating_add(b.busy_us),
        at_unix_ms: a.at_unix_ms.max(b.at_unix_ms),
    };
    Some(Kept { commit, by })
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::scheduler::JobId;

    fn commit(range: Range<u64>, worker: u8) -> Kept {
        let partial = range.clone().sum::<u64>().to_le_bytes().to_vec();
        let digest = *blake3::hash(&partial).as_bytes();
        let worker = WorkerId([worker; 16]);
        let job = JobId([1; 16]);
        Kept::alone(CommitRecord { job, range, digest, partial, worker, busy_us: 1, at_unix_ms: 5 })
    }

    #[expect(clippy::unnecessary_wraps, reason = "as the ledger wants it")]
    fn add(partials: &[&[u8]]) -> Option<Vec<u8>> {
        let sum: u64 = partials.iter().map(|p| u64::from_le_bytes((*p).try_into().expect("8 bytes"))).sum();
        Some(sum.to_le_bytes().to_vec())
    }

    #[test]
    fn neighbours_become_what_one_worker_would_have_committed() {
        let commits =
            vec![commit(0..3, 1), commit(3..4, 1), commit(4..9, 2), commit(10..11, 2), commit(11..20, 3)];
        let sums = add_neighbours(commits, &add);
        let mut expected = vec![commit(0..4, 1), commit(4..9, 2), commit(10..20, 0xff)];
        (expected[0].commit.busy_us, expected[2].commit.busy_us) = (2, 2);
        assert_eq!(sums, expected);
    }

    #[test]
    fn sums_stay_small_and_what_makes_no_sum_stays() {
        let large = |range: Range<u64>| {
            let partial = vec![0; SUM_BYTES / 2 + 1];
            let digest = *blake3::hash(&partial).as_bytes();
            Kept::alone(CommitRecord { digest, partial, ..commit(range, 1).commit })
        };
        let commits = vec![large(0..1), large(1..2), commit(2..3, 1), commit(3..4, 1)];
        assert_eq!(add_neighbours(commits.clone(), &|_| None), commits);
        let sums = add_neighbours(commits.clone(), &|partials| Some(partials.concat()));
        assert_eq!(sums.iter().map(|kept| kept.commit.range.clone()).collect::<Vec<_>>(), [0..1, 1..3, 3..4]);
    }
}
