//! Certificates of real ledgers, and what becomes of them when somebody changes them.

mod kinds;

use std::{io::Cursor, path::Path};

use jobs::{UnitContext, input::Local};

use super::*;
use crate::{
    ledger::{CommitRecord, EmbeddedLedger, Entry, JobRecord, JobState, JournalReading, Ledger},
    scheduler::{JobId, WorkerId},
};

/// A job of `noop` or another kind with all its units done, in ranges of `step`.
fn entries(id: u8, kind: &str, settings: &str, step: u64) -> Vec<Entry> {
    let found = jobs::find(kind).expect("a kind");
    let settings = found.canonical(settings).expect("settings");
    let job = found.open(&settings).expect("a job");
    let name = jobs::job_name(kind, found.revision(), &settings);
    let id = JobId([id; 16]);
    let record = JobRecord {
        id,
        name,
        kind: kind.into(),
        revision: found.revision(),
        settings,
        units: job.units(),
        weight: 1,
        created_unix_ms: 17,
    };
    let mut entries = vec![Entry::Job(record)];
    let mut start = 0;
    while start < job.units() {
        let range = start..(start + step).min(job.units());
        let mut sum = std::sync::Arc::clone(&job).accumulator();
        range.clone().for_each(|unit| sum.run_unit(unit, &UnitContext::free()).expect("computed"));
        let partial = sum.bytes().expect("a partial");
        let digest = *blake3::hash(&partial).as_bytes();
        start = range.end;
        let worker = WorkerId([9; 16]);
        entries.push(Entry::Commit(CommitRecord {
            job: id,
            range,
            digest,
            partial,
            worker,
            busy_us: 5,
            at_unix_ms: 18,
        }));
    }
    entries.push(Entry::State { job: id, state: JobState::Finished, at_unix_ms: 19 });
    entries
}

fn certificate(dir: &Path, job: &str) -> Result<Vec<u8>, MakeError> {
    let mut out = Vec::new();
    make(&JournalReading::open(dir)?, job, &mut out).map(|_| out)
}

fn checked(bytes: &[u8]) -> Result<Checked, CheckError> {
    check(Cursor::new(bytes))
}

/// A ledger with a count of the grids of 4x4, and with their classes, which need it.
fn ledger() -> (tempfile::TempDir, EmbeddedLedger) {
    ledger_with(&|_| {})
}

/// The same, with something changed about each of the two.
fn ledger_with(change: &dyn Fn(&mut Vec<Entry>)) -> (tempfile::TempDir, EmbeddedLedger) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut ledger = EmbeddedLedger::open(dir.path()).expect("a ledger");
    let settings = r#"{"shape":"2x2","no_transpose":false}"#;
    let job = jobs::find("burnside").expect("a kind").open(settings);
    let need = job.expect("a job").needs().remove(0);
    for mut entries in [entries(1, need.kind, &need.settings, 1), entries(2, "burnside", settings, 3)] {
        change(&mut entries);
        ledger.append(&entries).expect("appended");
    }
    (dir, ledger)
}

#[test]
fn a_certificate_says_what_the_ledger_says_and_any_range_can_be_computed_again() {
    let (dir, _ledger) = ledger();
    let bytes = certificate(dir.path(), "burnside").expect("a certificate");
    let checked = checked(&bytes).expect("nothing is wrong");
    let kinds: Vec<&str> = checked.jobs.iter().map(|job| job.kind.as_str()).collect();
    assert_eq!(kinds, ["recount", "burnside"]);
    assert_eq!(checked.jobs[1].report.json["essentially_different"], "2");
    assert!(checked.ranges.len() > 2);
    for range in &checked.ranges {
        assert_eq!(recompute(&checked, range, Local::shared(), &|| false), Recomputed::Same, "{range:?}");
        let other = RangeOfJob { digest: [1; 32], ..range.clone() };
        let again = recompute(&checked, &other, Local::shared(), &|| false);
        assert_eq!(again, Recomputed::Different(range.digest));
    }
}

#[test]
fn any_bit_that_is_flipped_is_found_and_any_end_that_is_missing() {
    let (dir, _ledger) = ledger();
    let bytes = certificate(dir.path(), "burnside").expect("a certificate");
    for at in 0..bytes.len() {
        // Bit after bit takes too long; each of the eight is flipped in some byte of every field.
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(checked(&changed).is_err(), "bit {} of byte {at}: {:?}", at % 8, char::from(bytes[at]));
    }
    for at in (0..bytes.len()).step_by(7) {
        assert!(checked(&bytes[..at]).is_err(), "cut at {at}");
    }
    let twice = [bytes.as_slice(), bytes.as_slice()].concat();
    assert!(checked(&twice).is_err());
}

/// Who forges the chain too is found out by sums, and, where these agree, by computing again.
#[test]
fn what_does_not_add_up_is_found_whatever_the_chain_says() {
    let (dir, _ledger) = ledger();
    let bytes = certificate(dir.path(), "recount").expect("a certificate");
    let records = || -> Vec<Record> {
        let text = std::str::from_utf8(&bytes).expect("text");
        text.lines().map(|line| serde_json::from_str(&line[65..]).expect("a record")).collect()
    };
    let chained = |records: &[Record]| {
        let mut out = Vec::new();
        let mut lines = Lines { out: &mut out, chain: Chain::default() };
        records.iter().for_each(|record| lines.put(record).expect("written"));
        out
    };
    assert_eq!(chained(&records()), bytes);
    let said = |change: &dyn Fn(&mut Vec<Record>)| {
        let mut changed = records();
        change(&mut changed);
        checked(&chained(&changed)).expect_err("something is wrong").to_string()
    };
    let range = records().iter().position(|record| matches!(record, Record::Range { .. })).expect("a range");
    assert!(said(&|records| drop(records.remove(range))).contains("are in no range"));
    assert!(said(&|records| records.insert(range, records[range].clone())).contains("committed twice"));
    let report = |records: &mut Vec<Record>| {
        if let Some(Record::Report { report, .. }) = records.last_mut() {
            report["total"] = "289".into();
        }
    };
    assert!(said(&report).contains("the report is not what the ranges add up to"));
    let settings = |records: &mut Vec<Record>| {
        if let Record::Job { settings, .. } = &mut records[1] {
            *settings = settings.replace("2x2", "2x3");
        }
    };
    assert!(said(&settings).contains("the name of the job"));
    let partial = |records: &mut Vec<Record>| {
        if let Record::Range { partial, .. } = &mut records[range] {
            partial.replace_range(0..2, "7f");
        }
    };
    assert!(said(&partial).contains("digest"));
    assert!(said(&|records| drop(records.pop())).contains("breaks off"));
}

/// As when the worker that could compute it was away, and comes back with the result.
#[test]
fn a_unit_that_came_in_after_it_was_given_up_is_done() {
    let (dir, _ledger) = ledger_with(&|entries| {
        let Entry::Job(JobRecord { id, .. }) = entries[0] else { panic!("no job") };
        entries.insert(1, Entry::Quarantine { job: id, unit: 0 });
    });
    let bytes = certificate(dir.path(), "burnside").expect("a certificate");
    let checked = checked(&bytes).expect("nothing is wrong");
    assert!(checked.jobs.iter().all(|job| job.quarantined.is_empty()), "{:?}", checked.jobs);
    assert_eq!(checked.jobs[1].report.json["essentially_different"], "2");
    assert_eq!(checked.jobs[1].report.alarm, None);
}

#[test]
fn a_range_that_was_added_up_from_several_workers_says_so() {
    let (dir, _ledger) = ledger_with(&|entries| {
        if let Entry::Commit(commit) = &mut entries[1] {
            commit.worker = WorkerId::SEVERAL;
        }
    });
    let bytes = certificate(dir.path(), "burnside").expect("a certificate");
    let checked = checked(&bytes).expect("nothing is wrong");
    let of_several = checked.ranges.iter().filter(|range| range.worker == SEVERAL);
    assert_eq!(of_several.count(), 2);
    assert!(!String::from_utf8_lossy(&bytes).contains(&hex(&WorkerId::SEVERAL.0)));
}

#[test]
fn only_finished_jobs_are_certified() {
    let (dir, mut ledger) = ledger();
    let gone = certificate(dir.path(), "hitting").expect_err("no such job").to_string();
    assert!(gone.contains("no job \"hitting\""), "{gone}");
    let both = certificate(dir.path(), "").expect_err("two jobs").to_string();
    assert!(both.contains("one of 2 jobs"), "{both}");
    let paused = Entry::State { job: JobId([2; 16]), state: JobState::Cancelled, at_unix_ms: 20 };
    ledger.append(&[paused]).expect("appended");
    let error = certificate(dir.path(), "burnside").expect_err("not finished").to_string();
    assert!(error.contains("is cancelled"), "{error}");
}
