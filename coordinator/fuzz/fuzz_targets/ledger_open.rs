//! A small ledger whose journal is damaged opens with a prefix of the groups that were written, or not at all.

#![no_main]

use std::{fs, ops::Range};

use arbitrary::Arbitrary;
use coordinator::{
    ledger::{
        CommitRecord, EmbeddedLedger, Entry, Frames, JOURNAL, JobRecord, JobState, JournalReading, Ledger,
        LedgerError, Reading, etcd::fuzz::group_of,
    },
    scheduler::{JobId, WorkerId},
};
use coordinator_fuzz::{folder, header};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Line {
    Job { settings: String, weight: u32 },
    Commit { job: u8, gap: u8, units: u8, partial: Vec<u8> },
    State { job: u8, state: u8 },
    Failure { job: u8, unit: u8, error: String },
    Quarantine { job: u8, unit: u8 },
    Retry { job: u8 },
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

/// Entries that do not contradict each other.
#[derive(Default)]
struct Writer {
    /// The end of the last commit of each job.
    ends: Vec<u64>,
}

impl Writer {
    fn entry(&mut self, line: &Line) -> Option<Entry> {
        let count = self.ends.len();
        let some = |job: u8| (count > 0).then(|| usize::from(job) % count.max(1));
        let id = |job: usize| JobId([u8::try_from(job).expect("few"); 16]);
        let worker = WorkerId([2; 16]);
        Some(match line {
            Line::Job { settings, weight } => {
                if count == 100 {
                    return None;
                }
                self.ends.push(0);
                Entry::Job(JobRecord {
                    id: id(count),
                    name: id(count).0,
                    kind: "noop".into(),
                    revision: 1,
                    settings: settings.clone(),
                    units: u64::MAX,
                    weight: *weight,
                    created_unix_ms: 1,
                })
            }
            Line::Commit { job, gap, units, partial } => {
                let job = some(*job)?;
                let start = self.ends[job] + u64::from(*gap);
                self.ends[job] = start + u64::from(*units).max(1);
                Entry::Commit(CommitRecord {
                    job: id(job),
                    range: start..self.ends[job],
                    digest: [4; 32],
                    partial: partial.clone(),
                    worker,
                    busy_us: 5,
                    at_unix_ms: 6,
                })
            }
            Line::State { job, state } => {
                let states = [JobState::Running, JobState::Paused, JobState::Cancelled, JobState::Finished];
                let state = states[usize::from(*state) % states.len()];
                Entry::State { job: id(some(*job)?), state, at_unix_ms: 7 }
            }
            Line::Failure { job, unit, error } => {
                Entry::Failure { job: id(some(*job)?), unit: (*unit).into(), worker, error: error.clone() }
            }
            Line::Quarantine { job, unit } => {
                Entry::Quarantine { job: id(some(*job)?), unit: (*unit).into() }
            }
            Line::Retry { job } => Entry::Retry { job: id(some(*job)?) },
        })
    }
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

fn commits(reading: &dyn Fn(JobId, &mut Vec<CommitRecord>), job: JobId) -> Vec<CommitRecord> {
    let mut all = Vec::new();
    reading(job, &mut all);
    all
}

fuzz_target!(|input: Input| {
    let (mut journal, mut chain) = header();
    let (mut writer, mut written) = (Writer::default(), Vec::new());
    for lines in input.groups.iter().take(16) {
        let group: Vec<Entry> = lines.iter().take(64).filter_map(|line| writer.entry(line)).collect();
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
    if let Ok(read) = &read {
        assert_eq!(read.as_slice(), &written[..read.len()], "a prefix");
    }
    let reading = JournalReading::open(&dir);
    // An index is made, which takes its time.
    if input.whole_ledger % 16 != 0 {
        return;
    }
    let ledger = EmbeddedLedger::open(&dir);
    assert_eq!(ledger.is_ok(), read.is_ok());
    let (Ok(mut ledger), Ok(reading)) = (ledger, reading) else { return };
    let jobs = Ledger::jobs(&ledger).expect("jobs");
    assert_eq!(reading.jobs().expect("jobs"), jobs);
    for job in jobs {
        let ours = |job, all: &mut Vec<_>| {
            Ledger::commits(&ledger, job, &mut |one| Ok(all.push(one))).expect("commits")
        };
        let theirs =
            |job, all: &mut Vec<_>| reading.commits(job, &mut |one| Ok(all.push(one))).expect("commits");
        assert_eq!(commits(&ours, job.record.id), commits(&theirs, job.record.id));
    }
    // What was cut off is not in the way.
    let mut fresh = Writer { ends: vec![0; 200] };
    let line = Line::Job { settings: String::new(), weight: 1 };
    fresh.ends.truncate(99);
    let entry = fresh.entry(&line).expect("a job");
    if !written
        .iter()
        .flatten()
        .any(|other| matches!((other, &entry), (Entry::Job(a), Entry::Job(b)) if a.id == b.id))
    {
        ledger.append(&[entry]).expect("it goes on");
    }
});
