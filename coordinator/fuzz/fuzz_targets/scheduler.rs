//! Any events in any order: the scheduler takes them, and its books agree after each (it looks itself, see
//! `Scheduler::check`).

#![no_main]

use arbitrary::Arbitrary;
use coordinator::scheduler::{
    Command, Comparison, Event, JobId, JobSpec, LeaseId, Policy, Scheduler, SessionId, Token, WorkerId,
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
    },
    Pause(u8),
    Resume(u8),
    Remove(u8),
    Retry(u8),
    Open {
        worker: u8,
        slots: u32,
        prefetch: u32,
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
    },
    /// What a worker commits that does what it is told: a lease from its beginning.
    Obey {
        grant: u8,
        units: u64,
        busy_us: u64,
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
    Wait(u16),
}

/// One of some, by number.
fn one<T: Clone>(of: &[T], number: u8) -> Option<T> {
    of.get(usize::from(number) % of.len().max(1)).cloned()
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
    for step in steps.into_iter().take(200) {
        let job = |job: u8| JobId([job % 3; 16]);
        let session = |session: u8| SessionId(u64::from(session % 8));
        let lease = |lease: u8| LeaseId(lease.into());
        let mut token = || {
            last += 1;
            Token(last)
        };
        let event = match step {
            Step::Job { job: id, units, weight, done, failed, given_up, paused } => {
                let units = units.max(1);
                let inside = |unit: u64| unit % units;
                let worker = WorkerId([1; 16]);
                let done =
                    done.map(|(start, len)| inside(start)..inside(start).saturating_add(len).min(units));
                let given_up = given_up.map(|unit| inside(unit)..inside(unit) + 1);
                let spec = JobSpec {
                    units,
                    weight: weight.clamp(1, 1_000_000),
                    done: done.into_iter().collect(),
                    failures: failed.map(|unit| (inside(unit), worker, String::new())).into_iter().collect(),
                    quarantined: given_up.into_iter().collect(),
                    paused,
                };
                Event::JobAdded { job: job(id), spec }
            }
            Step::Pause(id) => Event::JobPaused(job(id)),
            Step::Resume(id) => Event::JobResumed(job(id)),
            Step::Remove(id) => Event::JobRemoved(job(id)),
            Step::Retry(id) => Event::JobRetried(job(id)),
            Step::Open { worker, slots, prefetch } => {
                sessions += 1;
                Event::SessionOpened {
                    session: SessionId(sessions),
                    worker: WorkerId([worker % 4; 16]),
                    slots,
                    prefetch,
                }
            }
            Step::Close(id) => Event::SessionClosed(session(id)),
            Step::Heard(id) => Event::Heard(session(id)),
            Step::Draining(id) => Event::Draining(session(id)),
            Step::Progress { session: id, lease: of, reached } => {
                Event::Progress { session: session(id), lease: lease(of), reached }
            }
            Step::Commit { session: id, job: of, start, end, busy_us } => Event::Commit {
                session: session(id),
                token: token(),
                job: job(of),
                range: start..end,
                digest: [0; 32],
                busy_us,
            },
            Step::Obey { grant, units, busy_us } => {
                let Some((session, job, range)) =
                    one::<(SessionId, JobId, std::ops::Range<u64>)>(&grants, grant)
                else {
                    continue;
                };
                let end = range.start.saturating_add(units.max(1)).min(range.end);
                Event::Commit {
                    session,
                    token: token(),
                    job,
                    range: range.start..end,
                    digest: [0; 32],
                    busy_us,
                }
            }
            Step::Persisted(number) => {
                let Some(token) = one(&asked, number) else { continue };
                Event::Persisted(token)
            }
            Step::Compared(number, how) => {
                let Some(token) = one(&asked, number) else { continue };
                let how =
                    [Comparison::Same, Comparison::Different, Comparison::Overlap][usize::from(how % 3)];
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
            Step::Wait(ms) => {
                now += u64::from(ms);
                Event::Tick
            }
        };
        for command in scheduler.step(now, event) {
            match command {
                Command::Persist(token) | Command::Compare(token) => asked.push(token),
                Command::Grant { session, job, range, .. } => grants.push((session, job, range)),
                _ => {}
            }
        }
        grants.drain(..grants.len().saturating_sub(256));
    }
    assert_eq!(scheduler.check(), Ok(()));
});
