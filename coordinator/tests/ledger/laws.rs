//! Whatever is appended, in whatever groups: the ledger says the same after reopening and rebuilding, and what a few
//! lines in memory say.

use std::cell::RefCell;

use coordinator::{
    ledger::{
        Act, Action, Actor, CommitRecord, Entry, JobState, JobSummary, JournalReading, Ledger, Quarantine,
        Reading, check, committed, rebuild,
    },
    scheduler::{Committed, JobId, Vote, WorkerId},
};
use proptest::{prelude::*, test_runner::TestRunner};

use super::{
    all_of, commit_record, failure, named_job,
    place::{Folder, Place},
    state,
};

/// Entries that make sense more often than not.
fn entry() -> impl Strategy<Value = Entry> {
    let id = 1..5_u8;
    let states = [JobState::Running, JobState::Paused, JobState::Finished, JobState::Removed];
    prop_oneof![
        2 => (id.clone(), 1..4_u8).prop_map(|(id, name)| named_job(id, name, 64)),
        8 => (id.clone(), 0..64_u64, 1..9_u64, prop_oneof![Just(0), Just(10), Just(5000)])
            .prop_map(|(id, at, len, size)| Entry::Commit(commit_record(id, at..at + len, vec![id; size]))),
        1 => (id.clone(), prop::sample::select(states.to_vec())).prop_map(|(id, s)| state(id, s)),
        1 => (id.clone(), 0..64_u64).prop_map(|(id, unit)| failure(id, unit)),
        1 => (id.clone(), 0..64_u64).prop_map(|(id, unit)| Entry::Quarantine { job: JobId([id; 16]), unit }),
        1 => id.clone().prop_map(|id| Entry::Retry { job: JobId([id; 16]) }),
        1 => id.clone().prop_map(|id| Entry::Conflict(commit_record(id, 0..1, vec![1]))),
        1 => id.clone().prop_map(act),
        1 => (id.clone(), 0..5_u32).prop_map(|(id, replicas)| Entry::Replicas { job: JobId([id; 16]), replicas }),
        1 => (id.clone(), prop::collection::vec("[a-z]{1,9}", 0..18)).prop_map(|(id, requirements)| {
            Entry::Requirements { job: JobId([id; 16]), requirements }
        }),
        6 => (id.clone(), 0..8_u64, 1..3_u64, 1..4_u8).prop_map(|(id, at, len, by)| Entry::Claim(of(by, id, at, len))),
        3 => (id.clone(), 0..8_u64, 1..3_u64, 1..4_u8, prop::collection::vec(1..4_u8, 0..3)).prop_map(
            |(id, at, len, last, by)| {
                let by = by.into_iter().chain([last]).map(|by| WorkerId([by; 16])).collect();
                Entry::Confirm { commit: of(last, id, at, len), by }
            }
        ),
        3 => (id, 0..8_u64, 1..3_u64).prop_map(|(id, at, len)| {
            Entry::Withdraw { job: JobId([id; 16]), range: at * 8..(at + len) * 8 }
        }),
        1 => worker().prop_map(|worker| Entry::WorkerQuarantined(Quarantine {
            worker,
            name: "w".into(),
            why: "it lied".into(),
            at_unix_ms: 5,
            swept: false,
        })),
        1 => worker().prop_map(|worker| Entry::WorkerSwept { worker }),
        1 => worker().prop_map(|worker| Entry::WorkerReadmitted { worker, at_unix_ms: 6 }),
    ]
}

fn act(id: u8) -> Entry {
    let actor = Actor { who: format!("user {id}"), role: "operator".into(), peer: String::new() };
    let (action, job) = (Action::Pause, Some(JobId([id; 16])));
    Entry::Act(Act { at_unix_ms: id.into(), actor, action, job, detail: "noop".into() })
}

fn worker() -> impl Strategy<Value = WorkerId> {
    (1..4_u8).prop_map(|by| WorkerId([by; 16]))
}

/// A result of a worker. These ranges meet often.
fn of(by: u8, id: u8, at: u64, len: u64) -> CommitRecord {
    CommitRecord { worker: WorkerId([by; 16]), ..commit_record(id, at * 8..(at + len) * 8, vec![by]) }
}

fn apart(a: &std::ops::Range<u64>, b: &std::ops::Range<u64>) -> bool {
    a.end <= b.start || b.end <= a.start
}

/// The obvious ledger. Takes a single entry, or says no.
#[derive(Clone, Default)]
pub struct Model {
    jobs: Vec<(JobSummary, Vec<CommitRecord>)>,
    removed: Vec<JobId>,
    acts: Vec<Act>,
    liars: Vec<Quarantine>,
    behind: Vec<(JobId, u64, Vec<WorkerId>)>,
}

impl Model {
    fn job(&mut self, id: JobId) -> Option<&mut (JobSummary, Vec<CommitRecord>)> {
        self.jobs.iter_mut().find(|j| j.0.record.id == id)
    }

    fn enter(&mut self, entry: &Entry) -> Option<()> {
        match entry.clone() {
            Entry::Job(record) => {
                let taken = self.removed.contains(&record.id)
                    || self.jobs.iter().any(|j| j.0.record.id == record.id || j.0.record.name == record.name);
                if taken {
                    return None;
                }
                self.jobs.push((JobSummary::submitted(record), Vec::new()));
            }
            Entry::Commit(new) => {
                let by = vec![new.worker];
                self.commit(new, by)?;
            }
            Entry::Confirm { commit, by } => {
                let mut distinct = by.clone();
                distinct.sort();
                distinct.dedup();
                if distinct.len() != by.len() {
                    return None;
                }
                self.commit(commit, by)?;
            }
            Entry::Replicas { job, replicas } => {
                self.job(job)?.0.replicas = Some(replicas).filter(|replicas| (1..=3).contains(replicas))?;
            }
            Entry::Requirements { job, requirements } => {
                self.job(job)?.0.requirements = Some(requirements).filter(|texts| texts.len() <= 16)?;
            }
            Entry::Claim(CommitRecord { job, range, digest, worker, .. }) => {
                let liar = self.liars.iter().any(|liar| liar.worker == worker);
                let summary = &mut self.job(job)?.0;
                if liar || range.end > summary.record.units {
                    return None;
                }
                let claims = &mut summary.claims;
                claims.retain(|c| apart(&c.range, &range) || (c.range == range && c.worker != worker));
                claims.push(Vote { range, worker, digest });
                claims.sort_by_key(|c| (c.range.start, c.worker));
            }
            Entry::Withdraw { job, range } => {
                let (summary, commits) = self.job(job)?;
                let covered: u64 = commits
                    .iter()
                    .map(|c| c.range.end.min(range.end).saturating_sub(c.range.start.max(range.start)))
                    .sum();
                let claimed = summary.claims.iter().any(|c| c.range == range);
                let counts = covered == range.end - range.start;
                // Whoever withdraws gives a range as it was committed.
                if (!counts && !claimed) || (counts && !commits.iter().any(|c| c.range == range)) {
                    return None;
                }
                summary.claims.retain(|c| c.range != range);
                if counts {
                    commits.retain(|c| c.range != range);
                    summary.withdrawn_units += range.end - range.start;
                    self.behind.retain(|b| b.0 != job || b.1 != range.start);
                }
            }
            Entry::WorkerQuarantined(liar) => {
                if self.liars.iter().any(|known| known.worker == liar.worker) {
                    return None;
                }
                self.jobs.iter_mut().for_each(|j| j.0.claims.retain(|c| c.worker != liar.worker));
                self.liars.push(liar);
                self.liars.sort_by_key(|liar| liar.worker);
            }
            Entry::WorkerSwept { worker } => {
                self.liars.iter_mut().find(|known| known.worker == worker)?.swept = true;
            }
            Entry::WorkerReadmitted { worker, .. } => {
                self.liars.iter().find(|known| known.worker == worker)?;
                self.liars.retain(|known| known.worker != worker);
            }
            Entry::State { job, state: JobState::Removed, .. } => {
                self.job(job)?;
                self.jobs.retain(|j| j.0.record.id != job);
                self.removed.push(job);
            }
            Entry::State { job, state, at_unix_ms } => {
                let summary = &mut self.job(job)?.0;
                (summary.state, summary.state_unix_ms) = (state, at_unix_ms);
            }
            Entry::Failure { job, unit, worker, error } => {
                self.job(job)?.0.failures.push((unit, worker, error));
            }
            Entry::Quarantine { job, unit } => {
                let quarantined = &mut self.job(job)?.0.quarantined;
                if !quarantined.contains(&unit) {
                    quarantined.push(unit);
                }
            }
            Entry::Retry { job } => {
                let summary = &mut self.job(job)?.0;
                summary.failures.clear();
                summary.quarantined.clear();
            }
            Entry::Conflict(commit) => self.job(commit.job)?.0.conflicts.push(commit),
            Entry::Act(act) => self.acts.push(act),
        }
        Some(())
    }

    fn commit(&mut self, new: CommitRecord, by: Vec<WorkerId>) -> Option<()> {
        let (summary, commits) = self.job(new.job)?;
        if new.range.end > summary.record.units || !commits.iter().all(|c| apart(&c.range, &new.range)) {
            return None;
        }
        summary.claims.retain(|c| apart(&c.range, &new.range));
        let behind = (new.job, new.range.start, by);
        commits.push(new);
        commits.sort_by_key(|c| c.range.start);
        self.behind.push(behind);
        Some(())
    }

    /// Whether the ledger says of doubts what these lines say.
    fn agrees_on_doubts(&self, ledger: &dyn Ledger) -> bool {
        let behind = self.behind.iter().filter(|(job, ..)| self.jobs.iter().any(|j| j.0.record.id == *job));
        let mut same = ledger.quarantined().unwrap() == self.liars;
        for (job, start, by) in behind {
            same &= super::behind(ledger, *job, *start) == *by;
        }
        for (summary, _) in &self.jobs {
            same &= ledger.claims(summary.record.id).unwrap() == summary.claims;
        }
        same
    }

    /// Whether who reads the ledger beside others sees what these lines say.
    pub fn agrees_with(&self, ledger: &dyn Reading) {
        let jobs: Vec<_> = self.jobs.iter().map(|(summary, _)| summary.clone()).collect();
        assert_eq!(ledger.jobs().unwrap(), jobs);
        assert_eq!(ledger.quarantined().unwrap(), self.liars);
        for (summary, commits) in &self.jobs {
            let job = summary.record.id;
            let mut live = committed(ledger, job).unwrap();
            live.sort_by_key(|c| c.range.start);
            assert!(live.iter().map(|c| &c.range).eq(commits.iter().map(|c| &c.range)), "{job:?}");
            for Committed { range, by, .. } in live {
                assert!(self.behind.contains(&(job, range.start, by)), "{job:?} {range:?}");
            }
        }
    }
}

/// A withdrawal of a range, or a claim to one, that covers commits without being one is the one thing that the ledger leaves to
/// its user.
fn is_careless(model: &mut Model, entry: &Entry) -> bool {
    let (Entry::Withdraw { job, range } | Entry::Claim(CommitRecord { job, range, .. })) = entry else {
        return false;
    };
    model.job(*job).is_some_and(|(_, commits)| {
        let meets = commits.iter().any(|c| !apart(&c.range, range));
        meets && !commits.iter().any(|c| c.range == *range)
    })
}

/// Appends whatever there is in whatever groups, and opens the ledger again now and then; `ended` gets what must be there.
pub fn hold(place: &mut dyn Place, ended: impl Fn(&mut dyn Place, &Model)) {
    let groups = prop::collection::vec(prop::collection::vec(entry(), 1..6), 1..40);
    let reopen = prop::collection::vec(prop::bool::weighted(0.1), 40);
    let config = ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() };
    // The runner calls it again and again, but never in itself.
    let place = RefCell::new(place);
    let ran = TestRunner::new(config).run(&(groups, reopen), |(groups, reopen)| {
        let mut place = place.borrow_mut();
        place.clear();
        let mut ledger = place.open();
        let mut model = Model::default();
        for (group, reopen) in groups.iter().zip(reopen) {
            let mut next = model.clone();
            let mut careless = false;
            let sensible = group.iter().all(|e| {
                careless |= is_careless(&mut next, e);
                next.enter(e).is_some()
            });
            if careless {
                continue;
            }
            match ledger.append(group) {
                Ok(()) => {
                    prop_assert!(sensible);
                    model = next;
                }
                Err(error) => {
                    prop_assert!(error.is_refusal(), "{error}");
                    prop_assert!(!sensible, "{error}");
                }
            }
            if reopen {
                drop(ledger);
                ledger = place.open();
            }
        }
        prop_assert_eq!(&all_of(ledger.as_ref()), &model.jobs);
        prop_assert_eq!(&ledger.acts().expect("acts"), &model.acts);
        prop_assert!(model.agrees_on_doubts(ledger.as_ref()));
        drop(ledger);
        ledger = place.open();
        prop_assert_eq!(&all_of(ledger.as_ref()), &model.jobs);
        prop_assert!(model.agrees_on_doubts(ledger.as_ref()));
        drop(ledger);
        ended(&mut **place, &model);
        Ok(())
    });
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn reopening_and_rebuilding_change_nothing() {
    // The folder is shared: what is checked at the end lies where the ledger was.
    let mut folder = Folder::new();
    hold(&mut folder, |place, expected| {
        let path = place.path().expect("a folder").to_owned();
        assert_eq!(check(&path).unwrap().findings, [""; 0]);
        expected.agrees_with(&JournalReading::open(&path).unwrap());
        rebuild(&path, &mut |_, _| {}).unwrap();
        let ledger = place.open();
        assert_eq!(all_of(ledger.as_ref()), expected.jobs);
        assert!(expected.agrees_on_doubts(ledger.as_ref()));
    });
}
