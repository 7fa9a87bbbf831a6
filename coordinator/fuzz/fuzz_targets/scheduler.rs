//! Any events in any order: the scheduler takes them, and its books agree after each (it looks itself, see
//! `Scheduler::check`).

#![no_main]

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use arbitrary::Arbitrary;
use coordinator::scheduler::{
    Abilities, Command, Committed, Comparison, Event, JobId, JobSpec, LeaseId, Need, Policy, RangeSet,
    Scheduler, SessionId, Token, Vote, WorkerId,
};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Step {
    Job {
        job: u8,
        units: u64,
        weight: u32,
        done: Option<(u64, u64)>,
        failed: Option<u64>,
        given_up: Option<u64>,
        paused: bool,
        replicas: u32,
        claims: Vec<(u8, u8, u8, u8)>,
        disputed: Option<(u8, u8, u8)>,
        need: u8,
    },
    Pause(u8),
    Resume(u8),
    Remove(u8),
    Retry(u8),
    Open {
        worker: u8,
        slots: u32,
        prefetch: u32,
        has: u8,
    },
    Need {
        job: u8,
        need: u8,
    },
    Release {
        pool: u8,
        keep: u8,
    },
    Close(u8),
    Heard(u8),
    Draining(u8),
    Progress {
        session: u8,
        lease: u8,
        reached: u64,
    },
    Commit {
        session: u8,
        job: u8,
        start: u64,
        end: u64,
        busy_us: u64,
        worker: u8,
        lie: bool,
    },
    /// What a worker commits that does what it is told: a lease from its beginning.
    Obey {
        grant: u8,
        units: u64,
        busy_us: u64,
        /// One of two results.
        lie: bool,
    },
    Persisted(u8),
    Compared(u8, u8),
    Failed {
        session: u8,
        lease: u8,
        unit: u64,
    },
    Returned {
        session: u8,
        lease: u8,
    },
    Shrunk {
        session: u8,
        lease: u8,
        end: u64,
    },
    Verify {
        job: u8,
        ranges: Vec<(u8, u8, u8)>,
    },
    VerifyKept(u8),
    VerifyStopped(u8),
    Withdrawn {
        job: u8,
        ranges: Vec<(u8, u8)>,
    },
    WithdrawnKept(u8),
    WorkerQuarantined(u8),
    WorkerReadmitted(u8),
    Wait(u16),
}

/// One of some, by number.
fn one<T: Clone>(of: &[T], number: u8) -> Option<T> {
    of.get(usize::from(number) % of.len().max(1)).cloned()
}

fn worker(worker: u8) -> WorkerId {
    WorkerId([worker % 4; 16])
}

fn short(start: u8, units: u8) -> Range<u64> {
    let start = u64::from(start) * 4;
    start..start + u64::from(units % 8)
}

/// A range that counts; `by` has a bit for each worker.
fn committed(start: u8, units: u8, by: u8) -> Committed {
    let by = (0..4).filter(|who| by >> who & 1 > 0).map(worker).collect();
    Committed { range: short(start, units), digest: [units >> 7; 32], by }
}

/// What a ledger could have on record, of what was made up: claims of ranges that are the same or share nothing, one of each
/// worker, ascending, and fewer that agree than are enough.
fn on_record(units: u64, replicas: u32, made_up: &[(u8, u8, u8, u8)]) -> Vec<Vote> {
    let mut votes: BTreeMap<(u64, WorkerId), Vote> = BTreeMap::new();
    for &(start, len, who, lie) in made_up {
        let (range, worker, digest) = (short(start, len), worker(who), [lie % 2; 32]);
        let fits = |other: &Vote| {
            other.range == range || other.range.end <= range.start || range.end <= other.range.start
        };
        let agree = |other: &&Vote| other.range == range && other.digest == digest && other.worker != worker;
        let agreeing = votes.values().filter(agree).count() + 1;
        if !range.is_empty()
            && range.end <= units
            && votes.values().all(fits)
            && agreeing < replicas.max(2) as usize
        {
            votes.insert((range.start, worker), Vote { range, worker, digest });
        }
    }
    votes.into_values().collect()
}

/// What a job needs, by number.
fn needed(need: u8) -> Need {
    let asked = ["", "big", "!big", "pool=a", "pool!=a", "n>=2", "n<2"][usize::from(need % 7)];
    let requirements = Some(asked).filter(|text| !text.is_empty()).map(|text| text.parse().expect("good"));
    let kind = if need & 64 > 0 { "k".into() } else { String::new() };
    Need { kind, revision: u32::from(need >> 7), requirements: requirements.into_iter().collect() }
}

fn pool_name(pool: u8) -> Option<String> {
    ["a", "b"].get(usize::from(pool % 3)).map(ToString::to_string)
}

/// What a worker has; a bit or two for each.
fn abilities(has: u8) -> Abilities {
    let mut labels = BTreeMap::from([("n".to_owned(), (has >> 6).to_string())]);
    if has & 1 > 0 {
        labels.insert("big".into(), "yes".into());
    }
    labels.extend(pool_name(has >> 1 & 3).map(|pool| ("pool".to_owned(), pool)));
    Abilities { kinds: BTreeMap::from([("k".into(), u32::from(has >> 3 & 1))]), labels }
}

fuzz_target!(|input: (u8, Vec<Step>)| {
    let (rules, steps) = input;
    let policy = Policy {
        sole_worker: rules & 1 > 0,
        max_suspect_units: if rules & 2 > 0 { 2 } else { 10_000 },
        fixed_lease_units: (rules & 4 > 0).then_some(3),
        max_absent_workers: 3,
        ..Policy::default()
    };
    let mut scheduler = Scheduler::new(policy);
    let (mut now, mut sessions, mut last) = (0, 0, 0);
    let (mut asked, mut grants) = (Vec::new(), Vec::new());
    let (mut owners, mut said, mut kept) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for step in steps.into_iter().take(200) {
        let job = |job: u8| JobId([job % 3; 16]);
        let session = |session: u8| SessionId(u64::from(session % 8));
        let lease = |lease: u8| LeaseId(lease.into());
        let mut token = || {
            last += 1;
            Token(last)
        };
        let event = match step {
            Step::Job {
                job: id,
                units,
                weight,
                done,
                failed,
                given_up,
                paused,
                replicas,
                claims,
                disputed,
                need,
            } => {
                let units = units.max(1);
                let inside = |unit: u64| unit % units;
                let worker = WorkerId([1; 16]);
                let done =
                    done.map(|(start, len)| inside(start)..inside(start).saturating_add(len).min(units));
                let given_up = given_up.map(|unit| inside(unit)..inside(unit) + 1);
                let disputed = disputed.map(|(start, len, by)| committed(start, len, by));
                let disputed: Vec<_> =
                    disputed.into_iter().filter(|of| !of.range.is_empty() && of.range.end <= units).collect();
                let done = done.into_iter().chain(disputed.iter().map(|of| of.range.clone()));
                let mut all_done = RangeSet::new();
                done.for_each(|range| {
                    all_done.insert_merged(range);
                });
                let spec = JobSpec {
                    units,
                    weight: weight.clamp(1, 1_000_000),
                    done: all_done,
                    failures: failed.map(|unit| (inside(unit), worker, String::new())).into_iter().collect(),
                    quarantined: given_up.into_iter().collect(),
                    paused,
                    need: needed(need),
                    replicas: replicas % 5,
                    claims: on_record(units, replicas % 5, &claims),
                    disputed,
                };
                Event::JobAdded { job: job(id), spec }
            }
            Step::Pause(id) => Event::JobPaused(job(id)),
            Step::Resume(id) => Event::JobResumed(job(id)),
            Step::Remove(id) => Event::JobRemoved(job(id)),
            Step::Retry(id) => Event::JobRetried(job(id)),
            Step::Need { job: id, need } => Event::JobNeeds(job(id), needed(need)),
            Step::Release { pool, keep } => {
                Event::Release { pool: pool_name(pool).unwrap_or_default(), keep: keep.into() }
            }
            Step::Open { worker, slots, prefetch, has } => {
                sessions += 1;
                owners.insert(SessionId(sessions), self::worker(worker));
                Event::SessionOpened {
                    session: SessionId(sessions),
                    worker: self::worker(worker),
                    slots,
                    prefetch,
                    abilities: Arc::new(abilities(has)),
                }
            }
            Step::Close(id) => Event::SessionClosed(session(id)),
            Step::Heard(id) => Event::Heard(session(id)),
            Step::Draining(id) => Event::Draining(session(id)),
            Step::Progress { session: id, lease: of, reached } => {
                Event::Progress { session: session(id), lease: lease(of), reached }
            }
            Step::Commit { session: id, job: of, start, end, busy_us, worker: who, lie } => {
                let (session, token, worker) = (session(id), token(), worker(who));
                Event::Commit {
                    session,
                    worker,
                    token,
                    job: job(of),
                    range: start..end,
                    digest: [lie.into(); 32],
                    busy_us,
                }
            }
            Step::Obey { grant, units, busy_us, lie } => {
                let Some((session, job, range)) = one::<(SessionId, JobId, Range<u64>)>(&grants, grant)
                else {
                    continue;
                };
                let end = range.start.saturating_add(units.max(1)).min(range.end);
                let worker = owners.get(&session).copied().unwrap_or(WorkerId([9; 16]));
                Event::Commit {
                    session,
                    worker,
                    token: token(),
                    job,
                    range: range.start..end,
                    digest: [lie.into(); 32],
                    busy_us,
                }
            }
            Step::Persisted(number) => {
                let Some(token) = one(&asked, number) else { continue };
                kept.extend(said.get(&token).cloned());
                Event::Persisted(token)
            }
            Step::Compared(number, how) => {
                let Some(token) = one(&asked, number) else { continue };
                let different = |digest| Comparison::Different([digest; 32]);
                let how = [Comparison::Same, Comparison::Overlap, different(0), different(1), different(2)]
                    [usize::from(how % 5)];
                Event::Compared(token, how)
            }
            Step::Failed { session: id, lease: of, unit } => {
                Event::Failed { session: session(id), lease: lease(of), unit, error: String::new() }
            }
            Step::Returned { session: id, lease: of } => {
                Event::Returned { session: session(id), lease: lease(of) }
            }
            Step::Shrunk { session: id, lease: of, end } => {
                Event::Shrunk { session: session(id), lease: lease(of), end }
            }
            Step::Verify { job: id, ranges } => {
                let made_up = ranges.into_iter().map(|(start, len, by)| committed(start, len, by));
                Event::Verify { job: job(id), ranges: made_up.collect() }
            }
            Step::VerifyKept(number) => {
                let Some((job, committed)) = one(&kept, number) else { continue };
                Event::Verify { job, ranges: vec![committed] }
            }
            Step::VerifyStopped(id) => Event::VerifyStopped(job(id)),
            Step::Withdrawn { job: id, ranges } => {
                let ranges = ranges.into_iter().map(|(start, len)| short(start, len));
                Event::Withdrawn { job: job(id), ranges: ranges.collect() }
            }
            Step::WithdrawnKept(number) => {
                let Some((job, committed)) = one(&kept, number) else { continue };
                Event::Withdrawn { job, ranges: vec![committed.range] }
            }
            Step::WorkerQuarantined(who) => Event::WorkerQuarantined(worker(who)),
            Step::WorkerReadmitted(who) => Event::WorkerReadmitted(worker(who)),
            Step::Wait(ms) => {
                now += u64::from(ms);
                Event::Tick
            }
        };
        if let Event::Commit { worker, token, job, range, digest, .. } = &event {
            let committed = Committed { range: range.clone(), digest: *digest, by: vec![*worker] };
            said.insert(*token, (*job, committed));
        }
        for command in scheduler.step(now, event) {
            match command {
                Command::Persist(token) | Command::Compare(token) | Command::Claim(token) => {
                    asked.push(token);
                }
                Command::Confirm { token, by } => {
                    if let Some((_, committed)) = said.get_mut(&token) {
                        committed.by = by;
                    }
                    asked.push(token);
                }
                Command::Grant { session, job, range, .. } => grants.push((session, job, range)),
                _ => {}
            }
        }
        grants.drain(..grants.len().saturating_sub(256));
    }
    assert_eq!(scheduler.check(), Ok(()));
});
