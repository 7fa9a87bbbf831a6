//! Size and speed.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use coordinator::scheduler::{
    Abilities, Event, JobSpec, Need, Policy, Scheduler, SessionId, Token, WorkerId,
};

use crate::{
    chaos,
    rules::{Bench, JOB, fixed, grants, spec},
    world::World,
};

#[test]
fn ten_thousand_million_units_cost_no_more_than_what_is_going_on() {
    let mut bench = Bench::new(Policy::default());
    bench.add(JOB, 10_000_000_000, 1);
    assert_eq!(bench.scheduler.job(JOB).unwrap().pieces, 1);
    let mut held = grants(&bench.open(1, 4, 4));
    for _ in 0..500 {
        // In any order, so that there are holes; a millisecond a unit.
        let grant = held.swap_remove(held.len() / 2);
        let busy_ms = grant.range.end - grant.range.start;
        bench.now += busy_ms;
        bench.step(Event::Heard(grant.session));
        held.extend(grants(&bench.finish(&grant, busy_ms)));
    }
    // Done, 8 leases, pending, and what lies between.
    let pieces = bench.scheduler.job(JOB).unwrap().pieces;
    assert!(pieces <= 18, "{pieces} pieces");
}

/// Sessions that take and commit single units as fast as the scheduler can follow. Prints commits a second.
fn commits_per_second(sessions: u64, commits: u64) -> u64 {
    let mut scheduler = Scheduler::new(fixed(1));
    scheduler.step(0, Event::JobAdded { job: JOB, spec: spec(u64::from(u32::MAX), 1) });
    let mut held = std::collections::VecDeque::new();
    for session in 0..sessions {
        let worker = WorkerId(u128::from(session).to_le_bytes());
        let (session, abilities) = (SessionId(session), Arc::default());
        let opened = Event::SessionOpened { session, worker, slots: 1, prefetch: 1, abilities };
        held.extend(grants(&scheduler.step(0, opened)));
    }
    let began = Instant::now();
    for number in 0..commits {
        let Some(grant) = held.pop_front() else { panic!("nothing is leased") };
        let (token, now) = (Token(number), number / 100);
        let (session, job, range) = (grant.session, grant.job, grant.range);
        let worker = WorkerId(u128::from(session.0).to_le_bytes());
        let digest = [0; 32];
        let commit = Event::Commit { session, worker, token, job, range, digest, busy_us: 10 };
        held.extend(grants(&scheduler.step(now, commit)));
        held.extend(grants(&scheduler.step(now, Event::Persisted(token))));
    }
    let spent_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX).max(1);
    assert_eq!(scheduler.check(), Ok(()));
    commits * 1_000_000 / spent_us
}

#[test]
fn single_unit_leases_keep_up() {
    for sessions in [1, 100, 10_000] {
        let rate = commits_per_second(sessions, if cfg!(debug_assertions) { 20_000 } else { 1_000_000 });
        println!("{sessions} sessions: {rate} commits a second");
        assert!(rate > 2_000, "{rate} commits a second with {sessions} sessions");
    }
}

#[test]
fn idle_ticks_cost_little_with_ten_thousand_sessions() {
    let mut scheduler = Scheduler::new(Policy::default());
    for session in 0..10_000 {
        let worker = WorkerId(u128::from(session).to_le_bytes());
        let (session, abilities) = (SessionId(session), Arc::default());
        scheduler.step(0, Event::SessionOpened { session, worker, slots: 8, prefetch: 8, abilities });
    }
    for job in 0..36 {
        let job = coordinator::scheduler::JobId([job; 16]);
        scheduler.step(0, Event::JobAdded { job, spec: spec(1_000_000, 1) });
    }
    assert_eq!(scheduler.jobs().map(|job| job.leased).sum::<u64>(), 160_000);
    let began = Instant::now();
    for now in 0..10_000 {
        scheduler.step(now, Event::Tick);
    }
    let each = began.elapsed() / 10_000;
    println!("a tick takes {each:?}");
    assert!(each.as_micros() < 1_000, "{each:?}");
    let began = Instant::now();
    assert_eq!(scheduler.step(15_000, Event::Tick).len(), 10_000, "all are silent");
    println!("closing 10,000 sessions takes {:?}", began.elapsed());
}

/// Time to finish a job, in percent of what it would take if no slot were ever idle.
fn makespan_percent(units: u64, cost_ms: u64, cost_percent: &[u64]) -> u64 {
    let mut world = World::bare(1, None);
    chaos::arrange_calm(&mut world, units, cost_ms, cost_percent);
    let report = world.run().expect("nothing goes wrong");
    // Units by all workers in a million seconds.
    let speed: u64 = cost_percent.iter().map(|percent| 100_000_000_000 / (cost_ms * percent)).sum();
    report.settled_ms * speed / units / 10_000_000
}

#[test]
fn nobody_waits_long_for_a_straggler() {
    let alike = makespan_percent(40_000, 10, &[100; 8]);
    let straggler = makespan_percent(40_000, 10, &[100, 100, 100, 100, 100, 100, 100, 2_000]);
    let mixed = makespan_percent(1_000, 500, &[50, 100, 100, 200, 400, 800]);
    println!("makespan in percent of the ideal: {alike} alike, {straggler} with a straggler, {mixed} mixed");
    for percent in [alike, straggler, mixed] {
        assert!((100..125).contains(&percent), "{percent}%");
    }
}

#[test]
fn sessions_that_fit_no_job_cost_a_step_nothing() {
    let mut scheduler = Scheduler::new(fixed(1));
    let needs = |texts: &[&str]| Need {
        kind: "solve".into(),
        revision: 1,
        requirements: texts.iter().map(|text| text.parse().expect("a requirement")).collect(),
    };
    let (kinds, names) = (BTreeMap::from([("solve".into(), 1)]), ["host", "pool"]);
    for session in 0..10_000 {
        // Each of them is called otherwise, which no job asks for.
        let labels = names.map(|name| (name.into(), format!("n{session}"))).into();
        let abilities = Arc::new(Abilities { kinds: kinds.clone(), labels });
        let (worker, session) = (WorkerId(u128::from(session).to_le_bytes()), SessionId(session));
        scheduler.step(0, Event::SessionOpened { session, worker, slots: 8, prefetch: 8, abilities });
    }
    for job in 0..100 {
        let (job, big) = (coordinator::scheduler::JobId([job; 16]), format!("memory_gib>={job}"));
        let spec = JobSpec { need: needs(&["avx512", &big]), ..spec(1_000_000, 1) };
        scheduler.step(0, Event::JobAdded { job, spec });
    }
    assert_eq!(scheduler.jobs().map(|job| job.leased).sum::<u64>(), 0);
    // One that fits all of them works as if the others were not there.
    let labels = [("avx512".into(), "yes".into()), ("memory_gib".into(), "128".into())].into();
    let (session, worker) = (SessionId(10_000), WorkerId([7; 16]));
    let abilities = Arc::new(Abilities { kinds, labels });
    let opened = Event::SessionOpened { session, worker, slots: 1, prefetch: 1, abilities };
    let mut held = std::collections::VecDeque::from(grants(&scheduler.step(0, opened)));
    let (began, steps) = (Instant::now(), 5_000);
    for number in 0..steps {
        let grant = held.pop_front().expect("a lease");
        let (token, job, range) = (Token(number), grant.job, grant.range);
        let commit = Event::Commit { session, worker, token, job, range, digest: [0; 32], busy_us: 10 };
        held.extend(grants(&scheduler.step(number, commit)));
        held.extend(grants(&scheduler.step(number, Event::Persisted(token))));
    }
    let each = began.elapsed() / u32::try_from(steps).expect("few");
    println!("a commit beside 10,000 sessions that fit nothing takes {each:?}");
    assert!(each.as_micros() < 500, "{each:?}");
}
