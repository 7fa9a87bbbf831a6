//! What the entries say, in memory: the jobs, and which units of them are committed. No disk here.
//!
//! The book is the ledger's last line of defence: an entry that contradicts it never reaches the disk.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{
    ACTS_KEPT, Act, CommitRecord, Entry, JobRecord, JobState, JobSummary, LedgerError, Place,
    doubts::{self, Quarantine},
};
use crate::scheduler::{JobId, MAX_REQUIREMENTS, RangeSet, Vote, WorkerId};

/// Upper bound of a unit's error message.
pub const MAX_ERROR_BYTES: usize = 32 << 10;

/// Upper bound of all requirements of a job.
const MAX_REQUIREMENTS_BYTES: usize = 8 << 10;

/// A job in the book.
#[derive(Clone, Debug)]
pub(super) struct Account {
    /// Position among all jobs ever submitted.
    pub order: u64,
    /// Where the job's record lies; the book itself does not need it.
    pub place: Option<Place>,
    pub summary: JobSummary,
    /// Committed units; `None` when they were not loaded yet.
    pub done: Option<RangeSet>,
}

/// Takes back one entry.
#[derive(Debug)]
pub(super) enum Undo {
    Nothing,
    Job(JobId),
    Commit(CommitRange),
    State(JobId, JobState, u64),
    Removal(Box<Account>),
    Failure(JobId),
    Quarantine(JobId),
    Marks(JobId, Vec<u64>, Vec<(u64, WorkerId, String)>),
    Conflict(JobId),
    /// The act that made room for it.
    Act(Option<Act>),
    Replicas(JobId, u32),
    Requirements(JobId, Vec<String>),
    /// Claims that were displaced, and one that was added.
    Votes(JobId, Vec<Vote>, Option<Vote>),
    Withdrawn(CommitRange),
    /// What was known of a worker.
    Worker(WorkerId, Option<Quarantine>),
    All(Vec<Undo>),
}

type CommitRange = (JobId, std::ops::Range<u64>);

/// All jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    pub(super) accounts: BTreeMap<JobId, Account>,
    pub(super) workers: BTreeMap<WorkerId, Quarantine>,
    names: BTreeMap<[u8; 16], JobId>,
    removed: BTreeSet<JobId>,
    next_order: u64,
    /// The newest acts.
    acts: VecDeque<Act>,
}

impl Book {
    /// Takes over a job as it was left.
    pub fn load(&mut self, account: Account) {
        let record = &account.summary.record;
        self.names.insert(record.name, record.id);
        self.next_order = self.next_order.max(account.order.saturating_add(1));
        self.accounts.insert(record.id, account);
    }

    /// Remembers that a job existed.
    pub fn load_removed(&mut self, job: JobId, order: u64) {
        self.next_order = self.next_order.max(order.saturating_add(1));
        self.removed.insert(job);
    }

    /// Jobs that existed.
    pub fn removed(&self) -> impl Iterator<Item = JobId> {
        self.removed.iter().copied()
    }

    /// The order of the next job.
    pub fn next_order(&self) -> u64 {
        self.next_order
    }

    /// Remembers that orders below this one were given.
    pub fn skip_orders(&mut self, next: u64) {
        self.next_order = self.next_order.max(next);
    }

    /// Takes over the newest acts.
    pub fn load_acts(&mut self, acts: Vec<Act>) {
        self.acts = acts.into();
    }

    /// The newest acts, oldest first.
    pub fn acts(&self) -> Vec<Act> {
        self.acts.iter().cloned().collect()
    }

    pub fn account(&self, job: JobId) -> Option<&Account> {
        self.accounts.get(&job)
    }

    pub fn account_mut(&mut self, job: JobId) -> Option<&mut Account> {
        self.accounts.get_mut(&job)
    }

    /// Jobs in the order of submission.
    pub fn accounts(&self) -> Vec<&Account> {
        let mut all: Vec<_> = self.accounts.values().collect();
        all.sort_unstable_by_key(|a| a.order);
        all
    }

    /// Enters a group, or nothing of it. Committed units of the jobs in it must have been loaded.
    pub fn enter(&mut self, group: &[Entry]) -> Result<Vec<Undo>, LedgerError> {
        let mut undo = Vec::with_capacity(group.len());
        for entry in group {
            match self.enter_one(entry) {
                Ok(step) => undo.push(step),
                Err(why) => {
                    self.take_back(undo);
                    return Err(LedgerError::Refused(why));
                }
            }
        }
        Ok(undo)
    }

    /// Undoes what [`enter`](Self::enter) did.
    pub fn take_back(&mut self, undo: Vec<Undo>) {
        for step in undo.into_iter().rev() {
            self.undo(step);
        }
    }

    /// Enters one entry, or says why it cannot be.
    pub fn enter_one(&mut self, entry: &Entry) -> Result<Undo, String> {
        match entry {
            Entry::Job(record) => self.enter_job(record),
            Entry::Commit(commit) => self.enter_commit(commit),
            Entry::State { job, state, at_unix_ms } => self.enter_state(*job, *state, *at_unix_ms),
            Entry::Failure { job, unit, worker, error } => {
                if error.len() > MAX_ERROR_BYTES {
                    return Err(format!(
                        "an error message of {} bytes exceeds {MAX_ERROR_BYTES}",
                        error.len()
                    ));
                }
                let account = self.with_unit(*job, *unit)?;
                account.summary.failures.push((*unit, *worker, error.clone()));
                Ok(Undo::Failure(*job))
            }
            Entry::Quarantine { job, unit } => {
                let account = self.with_unit(*job, *unit)?;
                if account.summary.quarantined.contains(unit) {
                    return Ok(Undo::Nothing);
                }
                account.summary.quarantined.push(*unit);
                Ok(Undo::Quarantine(*job))
            }
            Entry::Retry { job } => {
                let summary = &mut self.live(*job)?.summary;
                let quarantined = std::mem::take(&mut summary.quarantined);
                Ok(Undo::Marks(*job, quarantined, std::mem::take(&mut summary.failures)))
            }
            Entry::Conflict(commit) => {
                self.live(commit.job)?.summary.conflicts.push(commit.clone());
                Ok(Undo::Conflict(commit.job))
            }
            Entry::Act(act) => {
                act.check()?;
                self.acts.push_back(act.clone());
                let is_full = self.acts.len() > ACTS_KEPT;
                Ok(Undo::Act(is_full.then(|| self.acts.pop_front()).flatten()))
            }
            Entry::Replicas { job, replicas } => self.enter_replicas(*job, *replicas),
            Entry::Requirements { job, requirements } => {
                check_requirements(*job, requirements)?;
                let summary = &mut self.live(*job)?.summary;
                let before = std::mem::replace(&mut summary.requirements, requirements.clone());
                Ok(Undo::Requirements(*job, before))
            }
            Entry::Claim(claim) => self.enter_claim(claim),
            Entry::Confirm { commit, by } => {
                doubts::check_voters(commit, by)?;
                self.enter_commit(commit)
            }
            Entry::Withdraw { job, range } => self.enter_withdrawal(*job, range),
            Entry::WorkerQuarantined(quarantine) => self.enter_quarantine(quarantine),
            Entry::WorkerSwept { worker } => self.enter_swept(*worker),
            Entry::WorkerReadmitted { worker, .. } => self.enter_readmission(*worker),
        }
    }

    fn enter_job(&mut self, record: &JobRecord) -> Result<Undo, String> {
        let id = record.id;
        if self.accounts.contains_key(&id) || self.removed.contains(&id) {
            return Err(format!("{id:?} was submitted before"));
        }
        if let Some(other) = self.names.get(&record.name) {
            return Err(format!("{id:?} has the name of {other:?}, which is not removed"));
        }
        let summary = JobSummary::submitted(record.clone());
        let done = Some(RangeSet::new());
        self.load(Account { order: self.next_order, place: None, summary, done });
        Ok(Undo::Job(id))
    }

    fn enter_commit(&mut self, commit: &CommitRecord) -> Result<Undo, String> {
        let (job, range) = (commit.job, commit.range.clone());
        let account = self.live(job)?;
        let units = account.summary.record.units;
        if range.is_empty() || range.end > units {
            return Err(format!("{job:?}: {range:?} is no range of its {units} units"));
        }
        let done = account.done.as_mut().ok_or("the committed ranges are not loaded")?;
        if !done.insert(range.clone()) {
            return Err(format!("{job:?}: units of {range:?} are committed already"));
        }
        let settled = doubts::cut(&mut account.summary.claims, &range, |_| true);
        let undo = Undo::Commit((job, range));
        Ok(if settled.is_empty() { undo } else { Undo::All(vec![undo, Undo::Votes(job, settled, None)]) })
    }

    fn enter_state(&mut self, job: JobId, state: JobState, at_unix_ms: u64) -> Result<Undo, String> {
        let account = self.live(job)?;
        if state == JobState::Removed {
            let Some(account) = self.accounts.remove(&job) else { return Ok(Undo::Nothing) };
            self.names.remove(&account.summary.record.name);
            self.removed.insert(job);
            return Ok(Undo::Removal(Box::new(account)));
        }
        let undo = Undo::State(job, account.summary.state, account.summary.state_unix_ms);
        account.summary.state = state;
        account.summary.state_unix_ms = at_unix_ms;
        Ok(undo)
    }

    fn undo(&mut self, step: Undo) {
        match step {
            Undo::Nothing => {}
            Undo::Job(job) => {
                if let Some(account) = self.accounts.remove(&job) {
                    self.names.remove(&account.summary.record.name);
                    self.next_order = account.order;
                }
            }
            Undo::Commit((job, range)) => {
                if let Some(done) = self.accounts.get_mut(&job).and_then(|a| a.done.as_mut()) {
                    done.remove(&range);
                }
            }
            Undo::Removal(account) => {
                self.removed.remove(&account.summary.record.id);
                self.load(*account);
            }
            Undo::State(job, state, at) => self.with_summary(job, |s| {
                (s.state, s.state_unix_ms) = (state, at);
            }),
            Undo::Failure(job) => self.with_summary(job, |s| drop(s.failures.pop())),
            Undo::Quarantine(job) => {
                self.with_summary(job, |s| s.quarantined.truncate(s.quarantined.len().saturating_sub(1)));
            }
            Undo::Marks(job, quarantined, failures) => self.with_summary(job, |s| {
                (s.quarantined, s.failures) = (quarantined, failures);
            }),
            Undo::Requirements(job, before) => self.with_summary(job, |s| s.requirements = before),
            Undo::Conflict(job) => self.with_summary(job, |s| drop(s.conflicts.pop())),
            Undo::Act(oldest) => {
                self.acts.pop_back();
                if let Some(oldest) = oldest {
                    self.acts.push_front(oldest);
                }
            }
            Undo::All(steps) => self.take_back(steps),
            doubt => self.undo_doubt(doubt),
        }
    }

    pub(super) fn with_summary(&mut self, job: JobId, change: impl FnOnce(&mut JobSummary)) {
        if let Some(account) = self.accounts.get_mut(&job) {
            change(&mut account.summary);
        }
    }

    pub(super) fn live(&mut self, job: JobId) -> Result<&mut Account, String> {
        let removed = self.removed.contains(&job);
        self.accounts.get_mut(&job).ok_or_else(|| {
            let what = if removed { "was removed" } else { "is unknown" };
            format!("{job:?} {what}")
        })
    }

    fn with_unit(&mut self, job: JobId, unit: u64) -> Result<&mut Account, String> {
        let account = self.live(job)?;
        let units = account.summary.record.units;
        if unit < units { Ok(account) } else { Err(format!("{job:?} has no unit {unit}, only {units}")) }
    }
}

fn check_requirements(job: JobId, texts: &[String]) -> Result<(), String> {
    let len_bytes: usize = texts.iter().map(String::len).sum();
    if texts.len() <= MAX_REQUIREMENTS && len_bytes <= MAX_REQUIREMENTS_BYTES {
        return Ok(());
    }
    Err(format!(
        "{job:?}: {} requirements of {len_bytes} bytes exceed {MAX_REQUIREMENTS} of {MAX_REQUIREMENTS_BYTES}",
        texts.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u8, name: u8) -> Entry {
        Entry::Job(JobRecord {
            id: JobId([id; 16]),
            name: [name; 16],
            kind: "noop".into(),
            revision: 1,
            settings: "{}".into(),
            units: 100,
            weight: 1,
            created_unix_ms: 5,
        })
    }

    fn commit(id: u8, range: std::ops::Range<u64>) -> Entry {
        Entry::Commit(CommitRecord {
            job: JobId([id; 16]),
            range,
            digest: [0; 32],
            partial: vec![],
            worker: WorkerId([0; 16]),
            busy_us: 1,
            at_unix_ms: 2,
        })
    }

    fn state(id: u8, state: JobState) -> Entry {
        Entry::State { job: JobId([id; 16]), state, at_unix_ms: 9 }
    }

    #[test]
    fn takes_over_jobs_of_any_order() {
        let mut book = Book::default();
        book.enter(&[job(1, 1)]).unwrap();
        let mut last = book.account(JobId([1; 16])).unwrap().clone();
        last.order = u64::MAX;
        book.load(last);
        book.load_removed(JobId([2; 16]), u64::MAX);
        assert_eq!(book.next_order(), u64::MAX);
        book.enter(&[job(3, 3)]).unwrap();
    }

    #[test]
    fn refuses_contradictions_and_keeps_nothing_of_the_group() {
        let mut book = Book::default();
        book.enter(&[job(1, 1), commit(1, 10..20)]).unwrap();
        let before = format!("{book:?}");
        let error =
            Entry::Failure { job: JobId([1; 16]), unit: 3, worker: WorkerId([0; 16]), error: "x".into() };
        for bad in [
            job(1, 2),
            job(2, 1),
            commit(3, 0..1),
            commit(1, 5..11),
            commit(1, 19..30),
            commit(1, 10..20),
            commit(1, 12..13),
            commit(1, 0..100),
            commit(1, 90..101),
            commit(1, 5..5),
            state(2, JobState::Paused),
            Entry::Quarantine { job: JobId([1; 16]), unit: 100 },
        ] {
            let quarantine = Entry::Quarantine { job: JobId([1; 16]), unit: 7 };
            let group = [
                commit(1, 30..40),
                error.clone(),
                quarantine,
                Entry::Retry { job: JobId([1; 16]) },
                state(1, JobState::Finished),
                job(9, 9),
                bad,
            ];
            assert!(book.enter(&group).unwrap_err().is_refusal());
            assert_eq!(format!("{book:?}"), before);
        }
    }

    #[test]
    fn a_removed_job_frees_its_name_but_not_its_id() {
        let mut book = Book::default();
        book.enter(&[job(1, 1), state(1, JobState::Removed), job(2, 1)]).unwrap();
        assert!(book.enter(&[job(1, 3)]).is_err());
        assert!(book.enter(&[commit(1, 0..1)]).is_err());
        let undo = book.enter(&[state(2, JobState::Removed), job(3, 1)]).unwrap();
        book.take_back(undo);
        assert!(book.enter(&[job(3, 1)]).is_err());
        book.enter(&[commit(2, 0..1)]).unwrap();
    }
}
