//! A small ledger whose journal is damaged opens with a prefix of the groups that were written, or not at all; journal and
//! index say what a ledger in memory says of these groups.

#![no_main]

use std::{collections::BTreeMap, fs, ops::Range};

use arbitrary::Arbitrary;
use coordinator::{
    ledger::{
        Act, Action, Actor, CommitRecord, EmbeddedLedger, Entry, Frames, JOURNAL, JobRecord, JobState,
        JobSummary, JournalReading, Ledger, LedgerError, Quarantine, Reading, etcd::fuzz::group_of,
        fuzz::Memory,
    },
    scheduler::{JobId, WorkerId},
};
use coordinator_fuzz::{folder, header};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Line {
    Job { job: u8, settings: String, weight: u32 },
    Commit { of: Said },
    State { job: u8, state: u8 },
    Failure { job: u8, unit: u8, error: String },
    Quarantine { job: u8, unit: u8 },
    Retry { job: u8 },
    Conflict { of: Said },
    Act { who: String, job: Option<u8> },
    Replicas { job: u8, replicas: u8 },
    Claim { of: Said },
    Confirm { of: Said, by: Vec<u8> },
    Withdraw { job: u8, start: u8, units: u8 },
    Liar { worker: u8, why: String },
    Swept { worker: u8 },
    Readmitted { worker: u8 },
    Requirements { job: u8, texts: Vec<String> },
}

#[derive(Arbitrary, Debug)]
struct Said {
    job: u8,
    start: u8,
    units: u8,
    worker: u8,
    partial: Vec<u8>,
}

impl Line {
    fn entry(&self) -> Entry {
        let job = |job: &u8| JobId([job % 8; 16]);
        let worker = |worker: &u8| WorkerId([worker % 4; 16]);
        let range = |start: &u8, units: &u8| {
            let start = u64::from(*start) * 4;
            start..start + u64::from(units % 8)
        };
        let commit = |Said { job: of, start, units, worker: who, partial }: &Said| CommitRecord {
            job: job(of),
            range: range(start, units),
            digest: [4; 32],
            partial: partial.clone(),
            worker: worker(who),
            busy_us: 5,
            at_unix_ms: 6,
        };
        match self {
            Self::Job { job: id, settings, weight } => Entry::Job(JobRecord {
                id: job(id),
                name: [id % 16; 16],
                kind: "noop".into(),
                revision: 1,
                settings: settings.clone(),
                units: u64::MAX,
                weight: *weight,
                created_unix_ms: 1,
            }),
            Self::Commit { of } => Entry::Commit(commit(of)),
            Self::State { job: id, state } => {
                use JobState::{Cancelled, Conflicted, Finished, Paused, Removed, Running};
                let states = [Running, Paused, Cancelled, Finished, Conflicted, Removed];
                Entry::State {
                    job: job(id),
                    state: states[usize::from(*state) % states.len()],
                    at_unix_ms: 7,
                }
            }
            Self::Failure { job: id, unit, error } => {
                let worker = WorkerId([2; 16]);
                Entry::Failure { job: job(id), unit: (*unit).into(), worker, error: error.clone() }
            }
            Self::Quarantine { job: id, unit } => Entry::Quarantine { job: job(id), unit: (*unit).into() },
            Self::Retry { job: id } => Entry::Retry { job: job(id) },
            Self::Conflict { of } => Entry::Conflict(commit(of)),
            Self::Act { who, job: id } => {
                let actor = Actor { who: who.clone(), ..Actor::default() };
                let (job, detail) = (id.as_ref().map(job), String::new());
                Entry::Act(Act { at_unix_ms: 8, actor, action: Action::Pause, job, detail })
            }
            Self::Replicas { job: id, replicas } => {
                Entry::Replicas { job: job(id), replicas: (*replicas).into() }
            }
            Self::Requirements { job: id, texts } => {
                Entry::Requirements { job: job(id), requirements: texts.clone() }
            }
            Self::Claim { of } => Entry::Claim(commit(of)),
            Self::Confirm { of, by } => {
                Entry::Confirm { commit: commit(of), by: by.iter().map(worker).collect() }
            }
            Self::Withdraw { job: id, start, units } => {
                Entry::Withdraw { job: job(id), range: range(start, units) }
            }
            Self::Liar { worker: who, why } => {
                let (name, why) = (String::new(), why.clone());
                let liar = Quarantine { worker: worker(who), name, why, at_unix_ms: 9, swept: false };
                Entry::WorkerQuarantined(liar)
            }
            Self::Swept { worker: who } => Entry::WorkerSwept { worker: worker(who) },
            Self::Readmitted { worker: who } => {
                Entry::WorkerReadmitted { worker: worker(who), at_unix_ms: 9 }
            }
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Damage {
    Flip { at: u16, bit: u8 },
    Cut { at: u16 },
    Insert { at: u16, bytes: Vec<u8> },
    Remove { at: u16, len: u16 },
    Copy { from: u16, len: u16, to: u16 },
}

#[derive(Arbitrary, Debug)]
struct Input {
    groups: Vec<Vec<Line>>,
    damages: Vec<Damage>,
    whole_ledger: u8,
}

fn damage(journal: &mut Vec<u8>, damage: &Damage) {
    let length = journal.len();
    let at = |at: u16| usize::from(at) % (length + 1);
    let range = |from: u16, len: u16| -> Range<usize> { at(from)..(at(from) + usize::from(len)).min(length) };
    match damage {
        Damage::Flip { at: place, bit } => {
            if let Some(byte) = journal.get_mut(at(*place)) {
                *byte ^= 1 << (bit % 8);
            }
        }
        Damage::Cut { at: place } => journal.truncate(at(*place)),
        Damage::Insert { at: place, bytes } => {
            drop(journal.splice(at(*place)..at(*place), bytes.iter().copied()))
        }
        Damage::Remove { at: from, len } => drop(journal.drain(range(*from, *len))),
        Damage::Copy { from, len, to } => {
            let copy = journal[range(*from, *len)].to_vec();
            drop(journal.splice(at(*to)..at(*to), copy));
        }
    }
}

/// All that a ledger says.
#[derive(Debug, PartialEq)]
struct Sayings {
    jobs: Vec<JobSummary>,
    commits: BTreeMap<(JobId, u64), (CommitRecord, Vec<WorkerId>)>,
    acts: Vec<Act>,
    liars: Vec<Quarantine>,
}

fn said_by(ledger: &dyn Ledger) -> Result<Sayings, LedgerError> {
    let (jobs, mut commits) = (ledger.jobs()?, BTreeMap::new());
    for id in jobs.iter().map(|job| job.record.id) {
        ledger.commits(id, &mut |commit, by| {
            let start = commit.range.start;
            assert_eq!(ledger.commit_at(id, start)?.as_ref(), Some(commit));
            commits.insert((id, start), (commit.clone(), by.to_vec()));
            Ok(())
        })?;
    }
    Ok(Sayings { jobs, commits, acts: ledger.acts()?, liars: ledger.quarantined()? })
}

fn read_from(reading: &dyn Reading) -> Result<Sayings, LedgerError> {
    let (jobs, mut commits) = (reading.jobs()?, BTreeMap::new());
    for id in jobs.iter().map(|job| job.record.id) {
        reading.commits(id, &mut |commit, by| {
            commits.insert((id, commit.range.start), (commit.clone(), by.to_vec()));
            Ok(())
        })?;
    }
    Ok(Sayings { jobs, commits, acts: reading.acts()?, liars: reading.quarantined()? })
}

fuzz_target!(|input: Input| {
    let (mut journal, mut chain) = header();
    let (mut all, mut written) = (Memory::default(), Vec::new());
    for lines in input.groups.iter().take(16) {
        let lines = lines.iter().take(64).map(Line::entry);
        // Contradictions are not written.
        let group: Vec<Entry> =
            lines.filter(|entry| all.append(std::slice::from_ref(entry)).is_ok()).collect();
        let frame = group_of(&group, &chain).expect("small");
        chain.copy_from_slice(&frame[12..44]);
        journal.extend(frame);
        written.push(group);
    }
    input.damages.iter().take(8).for_each(|one| damage(&mut journal, one));

    let dir = folder().join("ledger");
    drop(fs::remove_dir_all(&dir));
    fs::create_dir(&dir).expect("a folder");
    fs::write(dir.join(JOURNAL), &journal).expect("written");
    let read = (|| -> Result<Vec<Vec<Entry>>, LedgerError> {
        let (mut frames, mut groups) = (Frames::open(&dir)?, Vec::new());
        while let Some(frame) = frames.next_frame()? {
            groups.push(frame.entries.into_iter().map(|(_, entry)| entry).collect());
        }
        Ok(groups)
    })();
    let mut expected = Memory::default();
    if let Ok(read) = &read {
        assert_eq!(read.as_slice(), &written[..read.len()], "a prefix");
        let reading = JournalReading::open(&dir).expect("it was just read");
        read.iter().for_each(|group| expected.append(group).expect("it was taken before"));
        assert_eq!(read_from(&reading).expect("it reads"), said_by(&expected).expect("in memory"));
    }
    // An index is made, which takes its time.
    if input.whole_ledger % 16 != 0 {
        return;
    }
    let ledger = EmbeddedLedger::open(&dir);
    assert_eq!(ledger.is_ok(), read.is_ok());
    let Ok(mut ledger) = ledger else { return };
    assert_eq!(said_by(&ledger).expect("it reads"), said_by(&expected).expect("in memory"));
    // What was cut off is not in the way.
    let entry = Line::Job { job: 7, settings: String::new(), weight: 1 }.entry();
    if expected.append(std::slice::from_ref(&entry)).is_ok() {
        ledger.append(&[entry]).expect("it goes on");
    }
});
