//! The ledger against a real disk: torn and rotten files, killed processes, full disks.

#[path = "ledger/damage.rs"]
mod damage;
#[path = "ledger/etcd.rs"]
mod etcd;
mod farm;
#[path = "ledger/full.rs"]
mod full;
#[path = "ledger/kill.rs"]
mod kill;
#[path = "ledger/laws.rs"]
mod laws;
#[path = "ledger/measure.rs"]
mod measure;
#[path = "ledger/place.rs"]
mod place;
#[path = "ledger/spool.rs"]
mod spool;

use std::{fs, ops::Range, path::Path, sync::Arc};

use coordinator::{
    ledger::{
        CommitRecord, EmbeddedLedger, Entry, JobRecord, JobState, JobSummary, Ledger, LedgerError,
        Quarantine, etcd::Merging,
    },
    scheduler::{JobId, Vote, WorkerId},
};
use place::{Folder, Place};

/// A job with a name of its own.
fn job(id: u8, units: u64) -> Entry {
    named_job(id, id, units)
}

fn named_job(id: u8, name: u8, units: u64) -> Entry {
    Entry::Job(JobRecord {
        id: JobId([id; 16]),
        name: [name; 16],
        kind: "noop".into(),
        revision: 1,
        settings: "{\"units\":5}".into(),
        units,
        weight: 1,
        created_unix_ms: 1_700_000_000_000 + u64::from(id),
    })
}

fn commit_record(id: u8, range: Range<u64>, partial: Vec<u8>) -> CommitRecord {
    CommitRecord {
        job: JobId([id; 16]),
        range,
        digest: *blake3::hash(&partial).as_bytes(),
        partial,
        worker: WorkerId([9; 16]),
        busy_us: 1000,
        at_unix_ms: 1_700_000_000_999,
    }
}

fn commit(id: u8, range: Range<u64>) -> Entry {
    let partial = format!("partial of {range:?}").into_bytes();
    Entry::Commit(commit_record(id, range, partial))
}

fn claim(id: u8, by: u8, range: Range<u64>) -> Entry {
    Entry::Claim(CommitRecord { worker: WorkerId([by; 16]), ..commit_record(id, range, vec![by]) })
}

fn vote(by: u8, range: Range<u64>) -> Vote {
    Vote { range, worker: WorkerId([by; 16]), digest: *blake3::hash(&[by]).as_bytes() }
}

fn state(id: u8, state: JobState) -> Entry {
    Entry::State { job: JobId([id; 16]), state, at_unix_ms: 77 }
}

fn failure(id: u8, unit: u64) -> Entry {
    Entry::Failure {
        job: JobId([id; 16]),
        unit,
        worker: WorkerId([3; 16]),
        error: format!("unit {unit} broke"),
    }
}

fn commits(ledger: &dyn Ledger, id: u8) -> Result<Vec<CommitRecord>, LedgerError> {
    let mut all = Vec::new();
    ledger.commits(JobId([id; 16]), &mut |c, _| {
        all.push(c.clone());
        Ok(())
    })?;
    Ok(all)
}

/// The workers that stand behind the commit that starts there.
fn behind(ledger: &dyn Ledger, job: JobId, start: u64) -> Vec<WorkerId> {
    let mut found = Vec::new();
    let look = &mut |commit: &CommitRecord, by: &[WorkerId]| {
        if commit.range.start == start {
            found = by.to_vec();
        }
        Ok(())
    };
    ledger.commits(job, look).unwrap();
    found
}

/// All that a ledger says of its jobs.
fn all(ledger: &dyn Ledger) -> Result<Vec<(JobSummary, Vec<CommitRecord>)>, LedgerError> {
    let mut all = Vec::new();
    for summary in ledger.jobs()? {
        let mut commits = Vec::new();
        ledger.commits(summary.record.id, &mut |c, _| {
            commits.push(c.clone());
            Ok(())
        })?;
        all.push((summary, commits));
    }
    Ok(all)
}

fn all_of(ledger: &dyn Ledger) -> Vec<(JobSummary, Vec<CommitRecord>)> {
    all(ledger).unwrap()
}

/// How partials of a job are added up: as its kind does.
fn adding() -> Merging {
    Box::new(|record| {
        let job = jobs::find(&record.kind)?.open(&record.settings).ok()?;
        Some(Box::new(move |partials| {
            let mut sum = Arc::clone(&job).accumulator();
            partials.iter().try_for_each(|partial| sum.absorb(partial)).ok()?;
            sum.bytes().ok()
        }))
    })
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn requirements(id: u8, texts: &[&str]) -> Entry {
    let requirements = texts.iter().map(ToString::to_string).collect();
    Entry::Requirements { job: JobId([id; 16]), requirements }
}

/// Groups that use every kind of entry.
fn some_groups() -> Vec<Vec<Entry>> {
    vec![
        vec![job(1, 1000), job(2, 50)],
        vec![commit(1, 0..10), commit(1, 100..110), commit(2, 0..5)],
        vec![failure(1, 7), failure(1, 8), Entry::Quarantine { job: JobId([1; 16]), unit: 8 }],
        vec![state(2, JobState::Paused), commit(1, 10..20)],
        vec![Entry::Conflict(commit_record(1, 0..10, b"other".to_vec())), state(1, JobState::Conflicted)],
        vec![job(3, 9), commit(3, 0..9), state(3, JobState::Finished)],
        vec![Entry::Retry { job: JobId([1; 16]) }, failure(1, 9), state(1, JobState::Running)],
        vec![state(2, JobState::Removed), named_job(4, 2, 50)],
        vec![commit(4, 3..4), commit(1, 500..600)],
        vec![requirements(1, &["gpu"]), requirements(4, &["avx512", "memory_gib>=16"]), requirements(1, &[])],
        vec![Entry::Replicas { job: JobId([4; 16]), replicas: 2 }, claim(4, 1, 10..14), claim(4, 2, 10..14)],
        vec![
            Entry::WorkerQuarantined(Quarantine {
                worker: WorkerId([2; 16]),
                name: "w2".into(),
                why: "it lied".into(),
                at_unix_ms: 78,
                swept: false,
            }),
            Entry::Confirm {
                commit: commit_record(4, 10..14, b"agreed".to_vec()),
                by: vec![WorkerId([1; 16]), WorkerId([9; 16])],
            },
            claim(4, 3, 20..22),
        ],
        vec![Entry::Withdraw { job: JobId([1; 16]), range: 10..20 }, commit(1, 10..15)],
        vec![
            Entry::WorkerSwept { worker: WorkerId([2; 16]) },
            Entry::WorkerReadmitted { worker: WorkerId([2; 16]), at_unix_ms: 79 },
        ],
    ]
}

#[test]
fn every_entry_is_there_after_reopening() {
    every_entry_is_there(&mut Folder::new());
}

fn every_entry_is_there(place: &mut dyn Place) {
    let mut ledger = place.open();
    let id = ledger.ledger_id();
    for group in some_groups() {
        ledger.append(&group).unwrap();
    }
    let before = all_of(ledger.as_ref());
    assert_eq!(before.iter().map(|j| j.0.record.id.0[0]).collect::<Vec<_>>(), [1, 3, 4]);
    let first = &before[0];
    assert_eq!(
        first.1.iter().map(|c| c.range.clone()).collect::<Vec<_>>(),
        [0..10, 10..15, 100..110, 500..600]
    );
    assert_eq!(first.0.withdrawn_units, 10);
    // That of the worker that was quarantined is void, those of units that are agreed on are settled.
    let last = &before[2].0;
    assert_eq!((last.replicas, &last.claims[..]), (2, &[vote(3, 20..22)][..]));
    assert_eq!(last.requirements, ["avx512", "memory_gib>=16"]);
    assert!(first.0.requirements.is_empty());
    assert_eq!(behind(ledger.as_ref(), JobId([4; 16]), 10), [WorkerId([1; 16]), WorkerId([9; 16])]);
    assert_eq!(behind(ledger.as_ref(), JobId([4; 16]), 3), [WorkerId([9; 16])]);
    assert_eq!(first.0.failures.len(), 1);
    assert_eq!(first.0.conflicts[0].partial, b"other");
    assert!(first.0.quarantined.is_empty());
    assert!(commits(ledger.as_ref(), 2).unwrap().is_empty());
    for _ in 0..4 {
        drop(ledger);
        ledger = place.open();
        assert_eq!(all_of(ledger.as_ref()), before);
        assert_eq!(ledger.ledger_id(), id);
    }
    let found = ledger.commit_at(JobId([1; 16]), 100).unwrap().unwrap();
    assert_eq!(found.range, 100..110);
    assert!(ledger.commit_at(JobId([1; 16]), 101).unwrap().is_none());
}

#[test]
fn contradictions_are_refused_and_change_nothing() {
    contradictions_are_refused(&mut Folder::new());
}

fn contradictions_are_refused(place: &mut dyn Place) {
    let mut ledger = place.open();
    for group in some_groups() {
        ledger.append(&group).unwrap();
    }
    for reopen in [false, true] {
        if reopen {
            drop(ledger);
            ledger = place.open();
        }
        let before = all_of(ledger.as_ref());
        for bad in [
            commit(1, 0..10),
            commit(1, 5..25),
            commit(1, 599..601),
            commit(1, 0..1000),
            commit(2, 30..31),
            commit(4, 49..51),
            named_job(5, 2, 1),
            job(2, 50),
            failure(4, 50),
        ] {
            let error = ledger.append(&[commit(1, 30..40), bad.clone()]).unwrap_err();
            assert!(error.is_refusal(), "{bad:?}: {error}");
        }
        assert_eq!(all_of(ledger.as_ref()), before);
    }
    let too_large = commit_record(1, 700..701, vec![0; 200_000]);
    assert!(ledger.append(&[Entry::Commit(too_large)]).unwrap_err().is_refusal());
    ledger.append(&[commit(1, 30..40), commit(1, 700..701)]).unwrap();
}

#[test]
fn one_process_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut ledger = EmbeddedLedger::open(dir.path()).unwrap();
    ledger.append(&some_groups()[0]).unwrap();
    let error = EmbeddedLedger::open(dir.path()).unwrap_err();
    assert!(error.is_in_use(), "{error}");
    assert!(error.to_string().contains("another nonet process (pid "), "{error}");
    assert!(coordinator::ledger::rebuild(dir.path(), &mut |_, _| {}).unwrap_err().is_in_use());
    let report = coordinator::ledger::check(dir.path()).unwrap();
    assert!(report.store.contains("another process"), "{}", report.store);
    assert_eq!(report.jobs.len(), 2);
}

#[test]
fn check_export_and_rebuild_tell_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let mut ledger = EmbeddedLedger::open(dir.path()).unwrap();
    for group in some_groups() {
        ledger.append(&group).unwrap();
    }
    let before = all(&ledger).unwrap();
    drop(ledger);
    let report = coordinator::ledger::check(dir.path()).unwrap();
    assert_eq!(report.findings, [""; 0]);
    assert!(report.store.starts_with("agrees with the journal (3 jobs, 7 commits)"), "{}", report.store);
    assert_eq!((report.frames, report.entries), (14, 35));
    assert_eq!((report.jobs[0].commits, report.jobs[0].committed_units), (4, 125));
    assert_eq!((report.jobs[0].withdrawn_units, report.jobs[2].claims), (10, 1));
    assert_eq!(report.jobs[0].first_gaps, ["15..100", "110..500", "600..1000"]);
    let rebuilt = coordinator::ledger::rebuild(dir.path(), &mut |_, _| {}).unwrap();
    assert!(rebuilt.moved.unwrap().exists());
    let ledger = EmbeddedLedger::open(dir.path()).unwrap();
    assert_eq!(all(&ledger).unwrap(), before);
    let mut lines = Vec::new();
    let exported = coordinator::ledger::export(dir.path(), &mut lines).unwrap();
    assert_eq!((exported.entries, exported.tail), (35, None));
    let text = String::from_utf8(lines).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 35);
    assert_eq!(lines[2]["end"], "10");
}
