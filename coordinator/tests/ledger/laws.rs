//! Whatever is appended, in whatever groups: the ledger says the same after reopening and rebuilding, and what a few
//! lines in memory say.

use std::cell::RefCell;

use coordinator::{
    ledger::{Act, Action, Actor, CommitRecord, Entry, JobState, JobSummary, check, rebuild},
    scheduler::{JobId, WorkerId},
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
        1 => id.prop_map(act),
    ]
}

fn act(id: u8) -> Entry {
    let actor = Actor { who: format!("user {id}"), role: "operator".into(), peer: String::new() };
    let (action, job) = (Action::Pause, Some(JobId([id; 16])));
    Entry::Act(Act { at_unix_ms: id.into(), actor, action, job, detail: "noop".into() })
}

/// The obvious ledger. Takes a single entry, or says no.
#[derive(Clone, Default)]
struct Model {
    jobs: Vec<(JobSummary, Vec<CommitRecord>)>,
    removed: Vec<JobId>,
    acts: Vec<Act>,
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
                let (quarantined, failures, conflicts) =
                    <(Vec<u64>, Vec<(u64, WorkerId, String)>, _)>::default();
                let (state, state_unix_ms) = (JobState::Running, record.created_unix_ms);
                let summary = JobSummary { record, state, state_unix_ms, quarantined, failures, conflicts };
                self.jobs.push((summary, Vec::new()));
            }
            Entry::Commit(new) => {
                let (summary, commits) = self.job(new.job)?;
                let clear =
                    |c: &CommitRecord| c.range.end <= new.range.start || new.range.end <= c.range.start;
                if new.range.end > summary.record.units || !commits.iter().all(clear) {
                    return None;
                }
                commits.push(new);
                commits.sort_by_key(|c| c.range.start);
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
}

/// Appends whatever there is in whatever groups, and opens the ledger again now and then; `ended` gets what must be there.
pub fn hold(place: &mut dyn Place, ended: impl Fn(&mut dyn Place, &[(JobSummary, Vec<CommitRecord>)])) {
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
            let sensible = group.iter().all(|e| next.enter(e).is_some());
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
        drop(ledger);
        ledger = place.open();
        prop_assert_eq!(&all_of(ledger.as_ref()), &model.jobs);
        drop(ledger);
        ended(&mut **place, &model.jobs);
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
        rebuild(&path, &mut |_, _| {}).unwrap();
        assert_eq!(all_of(place.open().as_ref()), expected);
    });
}
