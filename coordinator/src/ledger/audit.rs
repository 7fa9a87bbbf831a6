//! `nonet ledger check`.

use std::{collections::BTreeMap, ops::Range, path::Path};

use serde::{Serialize, Serializer};
use worker::store::{FolderLock, Store};

use super::{
    CommitRecord, Entry, JobState, LedgerError,
    book::Book,
    embedded::{self, LOCK, STORE},
    frame::Place,
    index,
    journal::{Frames, Tail},
    live::Withdrawals,
    pages,
};
use crate::scheduler::{JobId, RangeSet, hex};

/// What [`check`] found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CheckReport {
    /// The ledger's id, in hexadecimal.
    pub ledger: String,
    /// Frames that are whole and follow each other.
    #[serde(serialize_with = "as_text")]
    pub frames: u64,
    /// Entries in them.
    #[serde(serialize_with = "as_text")]
    pub entries: u64,
    /// Bytes of the journal that were read.
    #[serde(serialize_with = "as_text")]
    pub bytes: u64,
    /// Last value of the chain, in hexadecimal: it stands for the whole journal.
    pub chain: String,
    /// Jobs that are not removed, in the order of submission.
    pub jobs: Vec<JobCheck>,
    /// Workers that are quarantined.
    #[serde(serialize_with = "as_text")]
    pub quarantined_workers: u64,
    /// What became of the comparison with the store.
    pub store: String,
    /// What an interrupted write left at the end, or a running coordinator is just writing.
    pub tail: Option<String>,
    /// What is wrong, in words. Empty is good.
    pub findings: Vec<String>,
}

/// A job in a [`CheckReport`].
#[derive(Clone, Debug, Serialize)]
pub struct JobCheck {
    /// The run, in hexadecimal.
    pub job: String,
    /// Kind in the registry.
    pub kind: String,
    /// Where it stands.
    pub state: JobState,
    /// Units in the plan.
    #[serde(serialize_with = "as_text")]
    pub units: u64,
    /// Commits.
    #[serde(serialize_with = "as_text")]
    pub commits: u64,
    /// Units in them.
    #[serde(serialize_with = "as_text")]
    pub committed_units: u64,
    /// Commits of nothing but units that were committed before: must be 0.
    #[serde(serialize_with = "as_text")]
    pub duplicates: u64,
    /// Commits of some units that were committed before: must be 0.
    #[serde(serialize_with = "as_text")]
    pub overlaps: u64,
    /// Commits whose digest is not that of their partial: must be 0.
    #[serde(serialize_with = "as_text")]
    pub wrong_digests: u64,
    /// Number of ranges that are not committed.
    #[serde(serialize_with = "as_text")]
    pub gaps: u64,
    /// The first of them, ten at most, as `start..end`.
    pub first_gaps: Vec<String>,
    /// Units given up.
    #[serde(serialize_with = "as_text")]
    pub quarantined: u64,
    /// Failures on record.
    #[serde(serialize_with = "as_text")]
    pub failures: u64,
    /// Refused second results.
    #[serde(serialize_with = "as_text")]
    pub conflicts: u64,
    /// Workers that have to agree on a result before it counts.
    pub replicas: u32,
    /// Results that do not count.
    #[serde(serialize_with = "as_text")]
    pub claims: u64,
    /// Units that were committed and withdrawn again.
    #[serde(serialize_with = "as_text")]
    pub withdrawn_units: u64,
}

#[derive(Default)]
struct Tally {
    commits: u64,
    duplicates: u64,
    overlaps: u64,
    wrong_digests: u64,
}

/// Reads the whole journal, verifies every frame, digest and range, and compares the store with it. While another
/// process has the ledger open, the store is left alone, and the report says so.
///
/// # Errors
///
/// When there is no journal to read. Whatever is wrong with what is there is a finding.
pub fn check(dir: &Path) -> Result<CheckReport, LedgerError> {
    let mut frames = Frames::open(dir)?;
    let lock = match FolderLock::take(dir, LOCK) {
        Ok(lock) => Some(lock),
        Err(e) if e.is_in_use() => None,
        Err(e) => return Err(e.into()),
    };
    let mut auditor = Auditor::new(Book::default());
    let mut groups = 0;
    loop {
        match frames.next_frame() {
            Ok(Some(frame)) => {
                groups += 1;
                for (place, entry) in &frame.entries {
                    auditor.enter(entry, *place);
                }
            }
            Ok(None) => break,
            Err(e) => {
                auditor.findings.push(e.to_string());
                break;
            }
        }
    }
    let book = auditor.book.clone();
    let mut report = CheckReport {
        ledger: hex(&frames.id()),
        frames: groups,
        bytes: frames.position().end,
        chain: hex(&frames.position().chain),
        tail: frames.tail().map(|t| describe_tail(t, lock.is_none())),
        ..auditor.report()
    };
    report.store = if lock.is_none() {
        "not compared: another process has the ledger open; the journal alone was read".into()
    } else if !dir.join(STORE).join("db").exists() {
        "missing; it will be made anew from the journal when the ledger is opened".into()
    } else {
        match compare(dir, &book) {
            Ok(text) => text,
            Err(e) => {
                report.findings.push(e.to_string());
                "does not agree with the journal".into()
            }
        }
    };
    Ok(report)
}

/// Reads entries in their order, and notes what is wrong with them.
pub(super) struct Auditor {
    book: Book,
    tallies: BTreeMap<JobId, Tally>,
    entries: u64,
    findings: Vec<String>,
}

impl Auditor {
    /// Begins with what is known already.
    pub fn new(book: Book) -> Self {
        Self { book, tallies: BTreeMap::new(), entries: 0, findings: Vec::new() }
    }

    /// Reads an entry.
    pub fn enter(&mut self, entry: &Entry, place: Place) {
        self.entries += 1;
        match entry {
            Entry::Commit(commit) | Entry::Confirm { commit, .. } => self.tally(commit),
            Entry::Claim(claim) if *blake3::hash(&claim.partial).as_bytes() != claim.digest => {
                let text =
                    format!("{:?}: the claim of {:?} does not match its digest", claim.job, claim.range);
                say(&mut self.findings, text);
            }
            _ => {}
        }
        let withdrawn = self.counted(entry);
        match self.book.enter_one(entry) {
            Err(why) => {
                let text = format!("the entry at byte {} contradicts what precedes it: {why}", place.offset);
                say(&mut self.findings, text);
            }
            Ok(_) => {
                if let Some(job) = withdrawn {
                    let tally = self.tallies.entry(job).or_default();
                    tally.commits = tally.commits.saturating_sub(1);
                }
            }
        }
    }

    /// Takes in a commit that is kept without the entry that made it.
    pub fn keep(&mut self, commit: &CommitRecord) {
        self.entries += 1;
        self.tally(commit);
        let (job, range) = (commit.job, &commit.range);
        let account = self.book.account_mut(job);
        let fits = account.is_some_and(|account| {
            let units = account.summary.record.units;
            let done = account.done.get_or_insert_default();
            !range.is_empty() && range.end <= units && done.insert(range.clone())
        });
        if !fits {
            say(&mut self.findings, format!("{job:?}: the commit of {range:?} contradicts the others"));
        }
    }

    /// The job of which `entry` withdraws a commit that counts so far.
    fn counted(&self, entry: &Entry) -> Option<JobId> {
        let Entry::Withdraw { job, range } = entry else { return None };
        let done = self.book.account(*job)?.done.as_ref()?;
        done.contains(range).then_some(*job)
    }

    fn tally(&mut self, commit: &CommitRecord) {
        let tally = self.tallies.entry(commit.job).or_default();
        tally.commits += 1;
        if *blake3::hash(&commit.partial).as_bytes() != commit.digest {
            tally.wrong_digests += 1;
            let text =
                format!("{:?}: the partial of {:?} does not match its digest", commit.job, commit.range);
            say(&mut self.findings, text);
        }
        if let Some(done) = self.book.account(commit.job).and_then(|a| a.done.as_ref()) {
            if !commit.range.is_empty() && done.contains(&commit.range) {
                tally.duplicates += 1;
            } else if done.intersects(&commit.range) {
                tally.overlaps += 1;
            }
        }
    }

    /// What was found: entries, jobs and findings.
    pub fn report(mut self) -> CheckReport {
        let jobs = self.book.accounts().into_iter().map(|account| {
            let summary = &account.summary;
            let tally = self.tallies.remove(&summary.record.id).unwrap_or_default();
            let done = account.done.clone().unwrap_or_default();
            let gaps = gaps(&done, summary.record.units);
            JobCheck {
                job: hex(&summary.record.id.0),
                kind: summary.record.kind.clone(),
                state: summary.state,
                units: summary.record.units,
                commits: tally.commits,
                committed_units: done.iter().map(|r| r.end - r.start).sum(),
                duplicates: tally.duplicates,
                overlaps: tally.overlaps,
                wrong_digests: tally.wrong_digests,
                gaps: gaps.len() as u64,
                first_gaps: gaps.iter().take(10).map(|r| format!("{}..{}", r.start, r.end)).collect(),
                quarantined: summary.quarantined.len() as u64,
                failures: summary.failures.len() as u64,
                conflicts: summary.conflicts.len() as u64,
                replicas: summary.replicas,
                claims: summary.claims.len() as u64,
                withdrawn_units: summary.withdrawn_units,
            }
        });
        CheckReport {
            jobs: jobs.collect(),
            quarantined_workers: self.book.workers.len() as u64,
            entries: self.entries,
            findings: self.findings,
            ..CheckReport::default()
        }
    }
}

/// A journal full of one mistake must not fill memory with words about it.
fn say(findings: &mut Vec<String>, finding: String) {
    const MOST: usize = 100;
    match findings.len() {
        n if n < MOST => findings.push(finding),
        MOST => findings.push("and more of these".into()),
        _ => {}
    }
}

fn describe_tail(tail: &Tail, running: bool) -> String {
    let Tail { offset, bytes, why } = tail;
    let whose = if running {
        "a group that the running process is writing, or an interrupted write"
    } else {
        "an interrupted write, which was never acknowledged and is cut off at the next opening"
    };
    format!("{bytes} bytes from byte {offset} on are {whose} ({why})")
}

fn gaps(done: &RangeSet, units: u64) -> Vec<Range<u64>> {
    let mut gaps = Vec::new();
    let mut at = 0;
    for range in done.iter() {
        if at < range.start {
            gaps.push(at..range.start);
        }
        at = range.end;
    }
    if at < units {
        gaps.push(at..units);
    }
    gaps
}

/// Compares the store with a second reading of the journal; memory stays bounded by the jobs.
fn compare(dir: &Path, book: &Book) -> Result<String, LedgerError> {
    let store = Store::open(&dir.join(STORE), embedded::purpose(dir))?;
    let watermark = index::watermark(&store)?;
    let mut frames = Frames::open(dir)?;
    embedded::catch_up(&mut frames, watermark.as_ref(), dir)?;
    let known = frames.position();
    let mut frames = Frames::open(dir)?;
    let apart = |what: String| {
        let cure = format!("Run `nonet ledger rebuild --state {}`", dir.display());
        LedgerError::Apart { dir: dir.into(), what, cure }
    };
    let (mut known_book, mut withdrawals) = (Book::default(), Withdrawals::default());
    while frames.position().end < known.end
        && let Some(frame) = frames.next_frame()?
    {
        for (place, entry) in &frame.entries {
            withdrawals.note(place.offset, entry);
            // What it says of contradictions is among the findings already.
            let _ = known_book.enter_one(entry);
        }
    }
    let indexed = index::load(&store, &|place| frames.read(place))?;
    let says = |book: &Book| book.accounts().into_iter().map(|a| a.summary.clone()).collect::<Vec<_>>();
    if says(&indexed) != says(&known_book) {
        return Err(apart("the store's jobs are not those of the journal".into()));
    }
    if indexed.acts() != known_book.acts() {
        return Err(apart("the store's acts are not those of the journal".into()));
    }
    if indexed.workers != known_book.workers {
        return Err(apart("the store's quarantined workers are not those of the journal".into()));
    }
    let mut commits = 0_u64;
    let mut frames = Frames::open(dir)?;
    while frames.position().end < known.end
        && let Some(frame) = frames.next_frame()?
    {
        for (place, entry) in &frame.entries {
            let Some((commit, _)) = withdrawals.counts(place.offset, entry) else { continue };
            if known_book.account(commit.job).is_none() {
                continue;
            }
            commits += 1;
            let found = pages::commit_at(&store, commit.job, commit.range.start)?;
            if found.is_none_or(|f| f.place != *place || f.end != commit.range.end) {
                return Err(apart(format!("the store lacks {:?} of {:?}", commit.range, commit.job)));
            }
        }
    }
    let indexed = pages::count(&store)?;
    if indexed != commits {
        return Err(apart(format!("the store has {indexed} commits, the journal {commits}")));
    }
    let jobs = book.accounts().len();
    let behind = Frames::open(dir)?.size() - known.end;
    let lag = if behind == 0 {
        String::new()
    } else {
        format!("; {behind} bytes of the journal are still to be read into it")
    };
    Ok(format!("agrees with the journal ({jobs} jobs, {commits} commits){lag}"))
}

/// Exact counts are strings: readers of JSON round large numbers.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(super) fn as_text<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}
