//! Workers that fit some jobs and not others, that are asked to leave, and on which nothing works.

use std::{collections::BTreeMap, sync::Arc};

use coordinator::scheduler::{
    Abilities, Command, Event, JobSpec, LeaseId, Need, Policy, SessionId, parse_requirements,
};

use crate::rules::{Bench, Grant, JOB, OTHER, fixed, grants, spec, worker};

fn abilities(revision: u32, labels: &[(&str, &str)]) -> Arc<Abilities> {
    let labels = labels.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    Arc::new(Abilities { kinds: BTreeMap::from([("solve".into(), revision)]), labels })
}

fn need(requirements: &[&str]) -> Need {
    let texts: Vec<_> = requirements.iter().map(ToString::to_string).collect();
    Need {
        kind: "solve".into(),
        revision: 3,
        requirements: parse_requirements(&texts).expect("requirements"),
    }
}

fn needing(units: u64, requirements: &[&str]) -> JobSpec {
    JobSpec { need: need(requirements), ..spec(units, 1) }
}

fn leaving(commands: &[Command]) -> Vec<u64> {
    let leave = |command: &Command| match command {
        Command::Leave(session) => Some(session.0),
        _ => None,
    };
    commands.iter().filter_map(leave).collect()
}

#[test]
fn leases_go_to_workers_that_have_what_the_job_needs() {
    let mut bench = Bench::new(fixed(1));
    bench.step(Event::JobAdded { job: JOB, spec: needing(2, &["avx512", "memory_gib>=16"]) });
    assert_eq!(
        grants(&bench.open_as(1, 4, 4, &abilities(2, &[("avx512", "yes"), ("memory_gib", "64")]))),
        []
    );
    assert_eq!(grants(&bench.open_as(2, 4, 4, &abilities(3, &[("avx512", "yes"), ("memory_gib", "8")]))), []);
    assert_eq!(grants(&bench.open_as(3, 4, 4, &Arc::default())), []);
    let status = bench.scheduler.job(JOB).expect("a job");
    assert_eq!((status.fitting, status.pending, status.wanted_slots), (0, 2, 1));
    let fit = abilities(3, &[("avx512", "yes"), ("memory_gib", "16")]);
    let granted = grants(&bench.open_as(4, 1, 0, &fit));
    assert_eq!((granted.len(), granted[0].session), (1, SessionId(4)));
    // Idle slots of those who could not take it are no reason to stop it early.
    bench.now = 60_000 / 5;
    assert!(!bench.step(Event::Heard(SessionId(4))).iter().any(|c| matches!(c, Command::Shrink { .. })));
    // Another job fits the others as well.
    let granted = grants(&bench.step(Event::JobAdded { job: OTHER, spec: needing(9, &[]) }));
    let sessions: std::collections::BTreeSet<_> = granted.iter().map(|grant| grant.session.0).collect();
    assert_eq!(sessions, [2].into());
}

#[test]
fn a_job_that_asks_for_something_else_takes_back_what_does_not_fit_any_more() {
    let mut bench = Bench::new(fixed(5));
    bench.step(Event::JobAdded { job: JOB, spec: needing(10, &[]) });
    let held = grants(&bench.open_as(1, 1, 0, &abilities(3, &[("pool", "spot")]))).remove(0);
    let stays = grants(&bench.open_as(2, 1, 0, &abilities(3, &[("pool", "slurm")]))).remove(0);
    let commands = bench.step(Event::JobNeeds(JOB, need(&["pool!=spot"])));
    assert_eq!(commands, [Command::Revoke { session: held.session, lease: held.lease }]);
    let commands = bench.step(Event::Returned { session: held.session, lease: held.lease });
    assert_eq!(grants(&commands), [], "not to the one that does not fit");
    assert_eq!(grants(&bench.finish(&stays, 1))[0].range, held.range);
}

#[test]
fn claims_and_verifications_wait_for_workers_that_fit() {
    let mut bench = Bench::new(fixed(5));
    let fit = abilities(3, &[("big", "yes")]);
    bench.step(Event::JobAdded { job: JOB, spec: JobSpec { replicas: 2, ..needing(5, &["big"]) } });
    bench.open_as(1, 1, 0, &fit);
    let (token, _) = bench.say(1, 0..5, 7);
    bench.step(Event::Persisted(token));
    assert_eq!(grants(&bench.open_as(2, 1, 0, &abilities(3, &[]))), []);
    assert_eq!(grants(&bench.open_as(3, 1, 0, &abilities(4, &[("big", "yes")]))), []);
    assert!(bench.scheduler.job(JOB).expect("a job").short_of_workers, "those two are of no use");
    assert_eq!(grants(&bench.open_as(4, 1, 0, &fit))[0].range, 0..5);
    assert!(!bench.scheduler.job(JOB).expect("a job").short_of_workers);
}

#[test]
fn of_a_pool_that_is_too_large_whoever_is_free_first_leaves() {
    let mut bench = Bench::new(fixed(10));
    bench.step(Event::JobAdded { job: JOB, spec: needing(1_000, &[]) });
    let slurm = abilities(3, &[("pool", "slurm")]);
    let mut held = Vec::new();
    for session in 1..=3 {
        held.extend(grants(&bench.open_as(session, 1, 0, &slurm)));
    }
    held.extend(grants(&bench.open_as(9, 1, 0, &abilities(3, &[("pool", "spot")]))));
    assert_eq!(bench.scheduler.staying("slurm"), 3);
    // All are busy: nobody is cut off.
    assert_eq!(bench.step(Event::Release { pool: "slurm".into(), keep: 1 }), []);
    // The one that is finished first leaves; what is handed out goes to others.
    let commands = bench.finish(&held[1], 1);
    assert_eq!((leaving(&commands), grants(&commands).len()), (vec![2], 0));
    // Of another pool nobody does.
    assert_eq!(leaving(&bench.finish(&held[3], 1)), [0; 0]);
    assert_eq!(leaving(&bench.finish(&held[0], 1)), [1]);
    // As many stay as are to.
    bench.step(Event::SessionClosed(SessionId(9)));
    let commands = bench.finish(&held[2], 1);
    assert_eq!((leaving(&commands), grants(&commands).len()), (vec![], 1));
    // One that comes back, or is new, was not meant.
    assert_eq!(leaving(&bench.open_as(2, 1, 0, &slurm)), [0; 0]);
    assert_eq!(leaving(&bench.open_as(7, 1, 0, &slurm)), [0; 0]);
}

#[test]
fn the_idle_leave_at_once_and_a_later_release_replaces_the_earlier_one() {
    let mut bench = Bench::new(fixed(10));
    for session in 1..=5 {
        bench.open_as(session, 1, 1, &abilities(3, &[("pool", "a")]));
    }
    assert_eq!(leaving(&bench.step(Event::Release { pool: String::new(), keep: 4 })), [1]);
    assert_eq!(leaving(&bench.step(Event::Release { pool: "a".into(), keep: 9 })), [0; 0]);
    bench.step(Event::JobAdded { job: JOB, spec: needing(1_000, &[]) });
    assert_eq!(bench.step(Event::Release { pool: "a".into(), keep: 0 }), []);
    bench.step(Event::Release { pool: "a".into(), keep: 4 });
    // Nobody has to leave any more.
    let lease = LeaseId(1);
    let commands = bench.step(Event::Returned { session: SessionId(2), lease });
    assert_eq!(leaving(&commands), [0; 0]);
}

#[test]
fn a_session_that_is_lost_counts_as_gone() {
    let mut bench = Bench::new(fixed(10));
    bench.step(Event::JobAdded { job: JOB, spec: needing(1_000, &[]) });
    let mut held = Vec::new();
    for session in 1..=3 {
        held.extend(grants(&bench.open_as(session, 1, 0, &abilities(3, &[]))));
    }
    bench.step(Event::Release { pool: String::new(), keep: 2 });
    bench.step(Event::SessionClosed(SessionId(3)));
    assert_eq!(leaving(&bench.finish(&held[0], 1)), [0; 0]);
    // It is back: again there is one too many, and it is not the one that is busy.
    let session = SessionId(30);
    let (abilities, worker) = (abilities(3, &[]), worker(3));
    let again = Event::SessionOpened { session, worker, slots: 1, prefetch: 0, abilities };
    assert_eq!(leaving(&bench.step(again)), [30]);
}

/// Fails with the first unit of a lease, and hands the lease back.
fn fail(bench: &mut Bench, grant: &Grant) -> Vec<Command> {
    let Grant { session, lease, ref range, .. } = *grant;
    let error = String::from("no such file");
    let mut commands = bench.step(Event::Failed { session, lease, unit: range.start, error });
    commands.extend(bench.step(Event::Returned { session, lease }));
    commands
}

#[test]
fn machines_on_which_nothing_works_get_less_and_less_and_give_nothing_up() {
    let mut bench = Bench::new(fixed(2));
    bench.add(JOB, 400, 1);
    let mut broken: Vec<Grant> = Vec::new();
    for session in 1..=3 {
        broken.extend(grants(&bench.open(session, 2, 2)));
    }
    let mut good = grants(&bench.open(9, 1, 0));
    let (mut failures, mut in_first_minute) = (0, 0);
    for second in 0..600 {
        bench.now = second * 1_000;
        let mut commands = Vec::new();
        for grant in std::mem::take(&mut broken) {
            commands.extend(fail(&mut bench, &grant));
            failures += 1;
            in_first_minute += usize::from(second < 60);
        }
        // It connects again, in the hope of a clean sheet.
        let session = SessionId(1_000 + second);
        let (worker, abilities) = (worker(1), Arc::default());
        commands.extend(bench.step(Event::SessionOpened {
            session,
            worker,
            slots: 2,
            prefetch: 2,
            abilities,
        }));
        for session in [2, 3, 9] {
            commands.extend(bench.step(Event::Heard(SessionId(session))));
        }
        for grant in std::mem::take(&mut good) {
            commands.extend(bench.finish(&grant, 10));
        }
        commands.extend(bench.step(Event::Tick));
        assert!(!commands.iter().any(|c| matches!(c, Command::Quarantine { .. })), "{commands:?}");
        let (mine, theirs): (Vec<_>, Vec<_>) =
            grants(&commands).into_iter().partition(|grant| grant.session == SessionId(9));
        good.extend(mine);
        broken.extend(theirs);
    }
    let status = bench.scheduler.job(JOB).expect("a job");
    assert!(status.finished && status.done == 400, "{status:?}");
    assert!(
        in_first_minute < 60 && failures < 60,
        "{in_first_minute} in the first minute, {failures} in all"
    );
    let session = bench.scheduler.session(SessionId(2)).expect("a session");
    assert!(session.failures > 3, "{session:?}");
}

#[test]
fn two_workers_that_can_compute_the_job_are_believed_at_once() {
    let mut bench = Bench::new(fixed(1));
    bench.add(JOB, 10, 1);
    let first = grants(&bench.open(1, 1, 0)).remove(0);
    let next = grants(&bench.finish(&first, 1)).remove(0);
    bench.open(3, 1, 0);
    fail(&mut bench, &next);
    let second = grants(&bench.open(2, 1, 0)).remove(0);
    assert_eq!(second.range, next.range);
    let commands = fail(&mut bench, &second);
    assert!(commands.contains(&Command::Quarantine { job: JOB, unit: next.range.start }), "{commands:?}");
}

#[test]
fn where_nothing_works_anywhere_five_are_asked() {
    let mut bench = Bench::new(Policy { free_strikes: 100, ..fixed(1) });
    bench.add(JOB, 1, 1);
    for session in 2..=9 {
        bench.open(session, 1, 0);
    }
    let mut grant = bench.open(1, 1, 0);
    // The lease went to the first that came.
    let mut held = vec![Grant { session: SessionId(2), lease: LeaseId(1), job: JOB, range: 0..1 }];
    let mut asked = 0;
    while let Some(next) = held.pop() {
        asked += 1;
        grant = fail(&mut bench, &next);
        held = grants(&grant);
    }
    assert_eq!(asked, 5);
    assert!(grant.contains(&Command::Quarantine { job: JOB, unit: 0 }), "{grant:?}");
}

#[test]
fn a_unit_that_nobody_is_left_to_try_is_given_up_after_a_while() {
    let mut bench = Bench::new(fixed(1));
    bench.add(JOB, 1, 1);
    let first = grants(&bench.open(1, 1, 0)).remove(0);
    bench.open(3, 1, 0);
    let second = grants(&fail(&mut bench, &first)).remove(0);
    assert_eq!(second.session, SessionId(3));
    bench.open(2, 1, 0);
    let third = grants(&fail(&mut bench, &second)).remove(0);
    assert_eq!(third.session, SessionId(2), "two that have computed nothing are not believed");
    bench.step(Event::SessionClosed(SessionId(2)));
    let mut given_up = None;
    for second in 1..60 {
        bench.now = second * 1_000;
        for session in [1, 3] {
            bench.step(Event::Heard(SessionId(session)));
        }
        if bench.step(Event::Tick).contains(&Command::Quarantine { job: JOB, unit: 0 }) {
            given_up.get_or_insert(second);
        }
    }
    assert_eq!(given_up, Some(16), "the third might have come back");
}

#[test]
fn as_many_slots_are_wanted_as_can_be_put_to_use() {
    let mut bench = Bench::new(fixed(10));
    assert_eq!(bench.scheduler.wanted_slots(), 0);
    bench.add(JOB, 100_000, 1);
    assert_eq!(bench.scheduler.wanted_slots(), 1, "nobody knows what a unit costs");
    let held = grants(&bench.open(1, 1, 0)).remove(0);
    bench.now = 10_000;
    // 10 units in 10 s: 99,990 units take 167 slots ten minutes.
    bench.finish(&held, 10_000);
    assert_eq!(bench.scheduler.wanted_slots(), 167);
    bench.add(OTHER, 5, 1);
    assert_eq!(bench.scheduler.wanted_slots(), 168);
    bench.step(Event::JobPaused(JOB));
    assert_eq!(bench.scheduler.wanted_slots(), 1);
    assert_eq!(bench.scheduler.job(JOB).expect("a job").wanted_slots, 0);
}
