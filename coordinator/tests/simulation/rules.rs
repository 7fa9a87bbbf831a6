//! One test for each rule, with a hand-driven scheduler.

use std::{ops::Range, sync::Arc};

use coordinator::scheduler::{
    Abilities, CloseReason, Command, Comparison, Event, JobId, JobSpec, LeaseId, Need, Policy, RangeSet,
    Scheduler, SessionId, Token, Verdict, WorkerId,
};

pub const JOB: JobId = JobId([1; 16]);
pub const OTHER: JobId = JobId([2; 16]);

/// A grant as a test sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub session: SessionId,
    pub lease: LeaseId,
    pub job: JobId,
    pub range: Range<u64>,
}

/// A scheduler with the clumsy parts of an engine.
pub struct Bench {
    pub scheduler: Scheduler,
    pub now: u64,
    last_token: u64,
}

impl Bench {
    pub fn new(policy: Policy) -> Self {
        Self { scheduler: Scheduler::new(policy), now: 0, last_token: 0 }
    }

    pub fn step(&mut self, event: Event) -> Vec<Command> {
        let commands = self.scheduler.step(self.now, event);
        assert_eq!(self.scheduler.check(), Ok(()));
        commands
    }

    pub fn add(&mut self, job: JobId, units: u64, weight: u32) -> Vec<Command> {
        self.step(Event::JobAdded { job, spec: spec(units, weight) })
    }

    pub fn open(&mut self, session: u64, slots: u32, prefetch: u32) -> Vec<Command> {
        self.open_as(session, slots, prefetch, &Arc::default())
    }

    /// A worker with these abilities.
    pub fn open_as(
        &mut self,
        id: u64,
        slots: u32,
        prefetch: u32,
        abilities: &Arc<Abilities>,
    ) -> Vec<Command> {
        let (session, worker, abilities) = (SessionId(id), worker(id), Arc::clone(abilities));
        self.step(Event::SessionOpened { session, worker, slots, prefetch, abilities })
    }

    /// A worker's result, whatever it hashes to.
    pub fn say(&mut self, session: u64, range: Range<u64>, digest: u8) -> (Token, Vec<Command>) {
        self.last_token += 1;
        let token = Token(self.last_token);
        let (worker, session, digest) = (worker(session), SessionId(session), [digest; 32]);
        let commit = Event::Commit { session, worker, token, job: JOB, range, digest, busy_us: 1 };
        (token, self.step(commit))
    }

    fn offer(&mut self, session: SessionId, range: Range<u64>, spent_ms: u64) -> (Token, Vec<Command>) {
        self.last_token += 1;
        let token = Token(self.last_token);
        let busy_us = 1_000 * spent_ms;
        let worker = worker(session.0);
        (
            token,
            self.step(Event::Commit { session, worker, token, job: JOB, range, digest: [0; 32], busy_us }),
        )
    }

    /// Commits all of a lease at once, durably.
    pub fn finish(&mut self, grant: &Grant, spent_ms: u64) -> Vec<Command> {
        self.last_token += 1;
        let token = Token(self.last_token);
        let Grant { session, job, range, .. } = grant.clone();
        let busy_us = 1_000 * spent_ms;
        let worker = worker(session.0);
        let mut commands =
            self.step(Event::Commit { session, worker, token, job, range, digest: [0; 32], busy_us });
        assert!(commands.contains(&Command::Persist(token)), "{commands:?}");
        let persisted = self.step(Event::Persisted(token));
        assert_eq!(persisted.first(), Some(&Command::Answer(token, Verdict::Accepted)));
        commands.extend(persisted);
        commands
    }

    fn fail(&mut self, grant: &Grant, unit: u64) -> Vec<Command> {
        let Grant { session, lease, .. } = *grant;
        let mut commands = self.step(Event::Failed { session, lease, unit, error: "boom".into() });
        commands.extend(self.step(Event::Returned { session, lease }));
        commands
    }
}

pub fn spec(units: u64, weight: u32) -> JobSpec {
    let (done, quarantined) = (RangeSet::new(), RangeSet::new());
    let (failures, claims, disputed, need) = (Vec::new(), Vec::new(), Vec::new(), Need::default());
    JobSpec { units, weight, done, failures, quarantined, paused: false, need, replicas: 1, claims, disputed }
}

pub fn worker(number: u64) -> WorkerId {
    WorkerId((u128::from(number) << 8).to_le_bytes())
}

pub fn grants(commands: &[Command]) -> Vec<Grant> {
    let grants = commands.iter().filter_map(|command| match command.clone() {
        Command::Grant { session, lease, job, range, .. } => Some(Grant { session, lease, job, range }),
        _ => None,
    });
    grants.collect()
}

/// A policy under which every lease has `units` units.
pub fn fixed(units: u64) -> Policy {
    Policy { fixed_lease_units: Some(units), ..Policy::default() }
}

#[test]
fn silence_is_fifteen_seconds_exactly() {
    let mut bench = Bench::new(fixed(10));
    bench.add(JOB, 10, 1);
    bench.now = 1_000;
    let lost = grants(&bench.open(1, 1, 0));
    bench.open(2, 1, 0);
    bench.now = 5_000;
    bench.step(Event::Heard(SessionId(2)));
    bench.now = 15_999;
    assert_eq!(bench.step(Event::Tick), []);
    bench.now = 16_000;
    let commands = bench.step(Event::Tick);
    assert_eq!(commands[0], Command::Close(SessionId(1), CloseReason::Silent));
    assert_eq!(
        grants(&commands)[0].range,
        lost[0].range,
        "what the silent one held goes to the other at once"
    );
    // A word at the last moment counts.
    bench.now = 20_000;
    assert_eq!(bench.step(Event::Heard(SessionId(2))), []);
    bench.now = 35_000;
    assert_eq!(bench.step(Event::Tick), [Command::Close(SessionId(2), CloseReason::Silent)]);
}

#[test]
fn a_closed_session_gives_its_leases_up_in_the_same_step() {
    let mut bench = Bench::new(fixed(5));
    bench.add(JOB, 10, 1);
    assert_eq!(grants(&bench.open(1, 1, 1)).len(), 2);
    assert_eq!(grants(&bench.open(2, 2, 0)), []);
    let ranges: Vec<_> =
        grants(&bench.step(Event::SessionClosed(SessionId(1)))).into_iter().map(|g| g.range).collect();
    assert_eq!(ranges, [0..5, 5..10]);
}

#[test]
fn the_same_worker_replaces_its_older_session() {
    let mut bench = Bench::new(fixed(5));
    bench.add(JOB, 5, 1);
    bench.open(1, 1, 0);
    let (session, abilities) = (SessionId(7), Arc::default());
    let again = Event::SessionOpened { session, worker: worker(1), slots: 1, prefetch: 0, abilities };
    let commands = bench.step(again);
    assert_eq!(commands[0], Command::Close(SessionId(1), CloseReason::Superseded));
    assert_eq!(grants(&commands)[0].session, SessionId(7));
}

#[test]
fn leases_grow_fourfold_to_the_target_and_shrink_towards_the_end() {
    let mut bench = Bench::new(Policy::default());
    bench.add(JOB, 100_000, 1);
    let mut next = grants(&bench.open(1, 1, 0));
    let mut sizes = Vec::new();
    while let Some(grant) = next.pop() {
        let units = grant.range.end - grant.range.start;
        sizes.push(units);
        bench.now += units * 10;
        bench.step(Event::Heard(grant.session));
        next = grants(&bench.finish(&grant, units * 10));
    }
    assert_eq!(sizes[..6], [1, 4, 16, 64, 256, 1_024]);
    assert_eq!(sizes.iter().max(), Some(&1_500), "15 s at 10 ms a unit");
    assert!(sizes[sizes.len() - 2..].iter().all(|&size| size <= 10), "0.1 s at the end: {sizes:?}");
    assert_eq!(sizes.iter().sum::<u64>(), 100_000);
}

#[test]
fn a_prefix_commit_leaves_the_rest_with_the_worker() {
    let mut bench = Bench::new(fixed(10));
    bench.add(JOB, 10, 1);
    let grant = grants(&bench.open(1, 1, 0)).remove(0);
    let (first, _) = bench.offer(grant.session, 0..4, 1);
    let (second, _) = bench.offer(grant.session, 7..10, 1);
    assert_eq!(bench.step(Event::Persisted(second)), [Command::Answer(second, Verdict::Accepted)]);
    bench.step(Event::Persisted(first));
    let status = bench.scheduler.job(JOB).unwrap();
    assert_eq!((status.done, status.leased), (7, 3));
    let Grant { session, lease, .. } = grant;
    assert_eq!(grants(&bench.step(Event::Returned { session, lease }))[0].range, 4..7);
}

#[test]
fn a_repeated_commit_is_compared_and_one_in_flight_is_waited_for() {
    let mut bench = Bench::new(fixed(10));
    bench.add(JOB, 20, 1);
    let grant = grants(&bench.open(1, 1, 0)).remove(0);
    let (first, commands) = bench.offer(grant.session, 0..10, 1);
    assert_eq!(commands[0], Command::Persist(first));
    let (second, commands) = bench.offer(grant.session, 0..10, 1);
    assert_eq!(commands, [], "parked");
    let commands = bench.step(Event::Persisted(first));
    assert_eq!(commands, [Command::Answer(first, Verdict::Accepted), Command::Compare(second)]);
    let commands = bench.step(Event::Compared(second, Comparison::Same));
    assert_eq!(commands, [Command::Answer(second, Verdict::Duplicate)]);
    let (third, commands) = bench.offer(grant.session, 0..10, 1);
    assert_eq!(commands, [Command::Compare(third)]);
    let commands = bench.step(Event::Compared(third, Comparison::Different([9; 32])));
    assert_eq!(commands, [Command::Answer(third, Verdict::Conflict)]);
    // The second lease is 10..20; an overlapping commit gives its part of it up.
    let (fourth, _) = bench.offer(grant.session, 5..15, 1);
    let commands = bench.step(Event::Compared(fourth, Comparison::Overlap));
    assert_eq!(commands[0], Command::Answer(fourth, Verdict::Overlap));
    assert_eq!(bench.scheduler.job(JOB).unwrap().pending, 5);
}

#[test]
fn a_result_from_an_earlier_session_ends_the_lease_of_another() {
    let mut bench = Bench::new(fixed(10));
    bench.add(JOB, 10, 1);
    bench.open(1, 1, 0);
    bench.step(Event::SessionClosed(SessionId(1)));
    let second = grants(&bench.open(2, 1, 0)).remove(0);
    let (token, commands) = bench.offer(SessionId(1), 0..4, 1);
    let abandon = Command::Abandon { session: second.session, lease: second.lease };
    assert_eq!(commands[..2], [abandon, Command::Persist(token)]);
    assert_eq!(grants(&commands)[0].range, 4..10, "the remainder is handed out again");
}

#[test]
fn nonsense_is_answered_or_ignored() {
    let mut bench = Bench::new(fixed(10));
    bench.add(JOB, 10, 1);
    let session = grants(&bench.open(1, 1, 0)).remove(0).session;
    for range in [0..0, Range { start: 5, end: 2 }, 0..11, 10..11, u64::MAX..u64::MAX, 0..u64::MAX] {
        let (token, commands) = bench.offer(session, range, u64::MAX / 1_000);
        assert_eq!(commands[0], Command::Answer(token, Verdict::Unknown));
    }
    let (stranger, lease) = (SessionId(99), LeaseId(1));
    for event in [
        Event::Returned { session: stranger, lease },
        Event::Shrunk { session: stranger, lease, end: 0 },
        Event::Progress { session: stranger, lease, reached: u64::MAX },
        Event::Failed { session: stranger, lease, unit: u64::MAX, error: String::new() },
        Event::Failed { session, lease: LeaseId(77), unit: 3, error: String::new() },
        Event::Persisted(Token(12_345)),
        Event::Compared(Token(12_345), Comparison::Same),
        Event::JobRemoved(OTHER),
        Event::JobRetried(OTHER),
        Event::JobAdded { job: JOB, spec: spec(5, 0) },
    ] {
        assert_eq!(bench.step(event.clone()), [], "{event:?}");
    }
    let (most, abilities) = (u32::MAX, Arc::default());
    let crowd = Event::SessionOpened {
        session: stranger,
        worker: worker(99),
        slots: most,
        prefetch: most,
        abilities,
    };
    assert_eq!(bench.step(crowd), []);
}

#[test]
fn a_unit_that_fails_on_two_workers_is_given_up_and_a_retry_forgives() {
    let mut bench = Bench::new(fixed(3));
    bench.add(JOB, 3, 1);
    let first = grants(&bench.open(1, 1, 0)).remove(0);
    let commands = bench.fail(&first, 1);
    assert!(matches!(commands[0], Command::RecordFailure { unit: 1, .. }));
    // The worker gets its good units again, but not the one it failed on.
    let again = grants(&commands).remove(0);
    assert_eq!(again.range, 0..1);
    bench.finish(&again, 1);
    bench.finish(&Grant { range: 2..3, ..again.clone() }, 1);
    let second = grants(&bench.open(2, 1, 0)).remove(0);
    assert_eq!(second.range, 1..2);
    let commands = bench.fail(&second, 1);
    assert_eq!(commands[1..], [Command::Quarantine { job: JOB, unit: 1 }, Command::Finished(JOB)]);
    assert_eq!(
        bench.scheduler.quarantined(JOB).unwrap().iter().collect::<Vec<_>>(),
        [Range { start: 1, end: 2 }]
    );
    let third = grants(&bench.step(Event::JobRetried(JOB))).remove(0);
    assert_eq!(third.range, 1..2);
    assert_eq!(bench.finish(&third, 1).last(), Some(&Command::Finished(JOB)));
}

#[test]
fn a_sole_worker_fails_twice_by_itself() {
    let mut bench = Bench::new(Policy { sole_worker: true, ..fixed(1) });
    bench.add(JOB, 1, 1);
    let first = grants(&bench.open(1, 1, 0)).remove(0);
    let second = grants(&bench.fail(&first, 0)).remove(0);
    assert_eq!(second.range, 0..1);
    assert!(bench.fail(&second, 0).contains(&Command::Finished(JOB)));
}

#[test]
fn a_lost_worker_or_a_preemption_is_no_failure() {
    let mut bench = Bench::new(fixed(1));
    bench.add(JOB, 1, 1);
    for session in 0..9 {
        assert_eq!(grants(&bench.open(session, 1, 0)).len(), 1);
        bench.step(Event::SessionClosed(SessionId(session)));
    }
    let status = bench.scheduler.job(JOB).unwrap();
    assert_eq!((status.pending, status.quarantined, status.suspects), (1, 0, 0));
}

#[test]
fn a_late_result_of_a_unit_given_up_counts() {
    let mut bench = Bench::new(fixed(1));
    let mut past = spec(2, 1);
    past.quarantined.insert_merged(0..1);
    bench.step(Event::JobAdded { job: JOB, spec: past });
    let (token, _) = bench.offer(SessionId(5), 0..1, 1);
    bench.step(Event::Persisted(token));
    let status = bench.scheduler.job(JOB).unwrap();
    assert_eq!((status.done, status.quarantined), (1, 0));
}

#[test]
fn an_idle_slot_takes_stock_first_and_then_half_of_what_runs_longest() {
    let mut bench = Bench::new(fixed(100));
    bench.add(JOB, 200, 1);
    let held = grants(&bench.open(1, 1, 1));
    let (running, stock) = (held[0].clone(), held[1].clone());
    bench.now = 10_000;
    bench.step(Event::Progress { session: running.session, lease: running.lease, reached: 20 });
    let commands = bench.open(2, 1, 0);
    assert_eq!(commands, [Command::Shrink { session: stock.session, lease: stock.lease, end: 100 }]);
    bench.now = 11_000;
    assert_eq!(bench.step(Event::Heard(running.session)), [], "asked once");
    let answer = Event::Shrunk { session: stock.session, lease: stock.lease, end: 100 };
    assert_eq!(grants(&bench.step(answer))[0].range, 100..200);
    bench.now = 12_000;
    let commands = bench.open(3, 1, 0);
    let shrinks: Vec<_> = commands.iter().filter(|c| matches!(c, Command::Shrink { .. })).collect();
    assert_eq!(shrinks, [&Command::Shrink { session: running.session, lease: running.lease, end: 60 }]);
    // It stops later than asked for.
    let answer = Event::Shrunk { session: running.session, lease: running.lease, end: 70 };
    assert_eq!(grants(&bench.step(answer))[0].range, 70..100);
}

#[test]
fn paused_jobs_revoke_and_removed_jobs_abandon() {
    let mut bench = Bench::new(fixed(5));
    bench.add(JOB, 10, 1);
    let grant = grants(&bench.open(1, 1, 0)).remove(0);
    let Grant { session, lease, .. } = grant;
    assert_eq!(bench.step(Event::JobPaused(JOB)), [Command::Revoke { session, lease }]);
    assert_eq!(bench.step(Event::Returned { session, lease }), []);
    let again = grants(&bench.step(Event::JobResumed(JOB))).remove(0);
    let (in_flight, _) = bench.offer(session, 0..2, 1);
    let (parked, _) = bench.offer(session, 1..2, 1);
    let commands = bench.step(Event::JobRemoved(JOB));
    let abandon = Command::Abandon { session, lease: again.lease };
    assert_eq!(commands, [abandon, Command::Answer(parked, Verdict::Unknown)]);
    // Added again while a commit is on its way to the disk: those units are neither granted nor written again.
    bench.step(Event::SessionClosed(session));
    bench.add(JOB, 10, 1);
    assert_eq!(bench.scheduler.job(JOB).unwrap().in_flight, 2);
    assert_eq!(bench.step(Event::Persisted(in_flight)), [Command::Answer(in_flight, Verdict::Accepted)]);
    assert_eq!(bench.scheduler.job(JOB).unwrap().done, 2);
}

#[test]
fn a_draining_session_gets_nothing_more() {
    let mut bench = Bench::new(fixed(1));
    bench.add(JOB, 10, 1);
    let grant = grants(&bench.open(1, 1, 0)).remove(0);
    bench.step(Event::Draining(SessionId(1)));
    assert_eq!(grants(&bench.finish(&grant, 1)), []);
}

#[test]
fn a_worker_that_returns_everything_untouched_must_rest() {
    let mut bench = Bench::new(fixed(1));
    bench.add(JOB, 10, 1);
    let mut held = grants(&bench.open(1, 1, 0));
    let mut rounds = 0;
    while let Some(Grant { session, lease, .. }) = held.pop() {
        held = grants(&bench.step(Event::Returned { session, lease }));
        rounds += 1;
    }
    assert_eq!(rounds, 4);
    bench.now = 1_000;
    assert_eq!(grants(&bench.step(Event::Tick)).len(), 1);
}

#[test]
fn weights_share_computing_time_whatever_units_cost() {
    let mut bench = Bench::new(Policy::default());
    bench.add(JOB, 1_000_000_000, 3);
    bench.add(OTHER, 1_000_000_000, 1);
    let mut running = std::collections::BTreeMap::new();
    let mut spent_ms = [0u64; 2];
    let mut fresh: Vec<_> = (0..8).flat_map(|session| grants(&bench.open(session, 1, 0))).collect();
    while bench.now < 3_600_000 {
        for grant in fresh.drain(..) {
            // 3 ms a unit in one job, 700 ms in the other.
            let cost = if grant.job == JOB { 3 } else { 700 };
            let busy = cost * (grant.range.end - grant.range.start);
            running.insert((bench.now + busy, grant.lease), (grant, busy));
        }
        let Some(((due, _), (grant, busy))) = running.pop_first() else { break };
        bench.now = due;
        (0..8).for_each(|session| drop(bench.step(Event::Heard(SessionId(session)))));
        spent_ms[usize::from(grant.job == OTHER)] += busy;
        fresh = grants(&bench.finish(&grant, busy));
    }
    let ratio_percent = spent_ms[0] * 100 / spent_ms[1];
    assert!((270..=330).contains(&ratio_percent), "{ratio_percent}% instead of 300%");
}

#[test]
fn a_job_that_waited_has_no_claim_on_the_past() {
    let mut bench = Bench::new(fixed(1));
    bench.add(JOB, 1_000_000, 1);
    bench.step(Event::JobAdded { job: OTHER, spec: JobSpec { paused: true, ..spec(1_000, 1) } });
    let mut held = grants(&bench.open(1, 1, 0));
    for _ in 0..200 {
        bench.now += 100;
        held = grants(&bench.finish(&held[0], 100));
    }
    bench.step(Event::JobResumed(OTHER));
    let mut shares = [0; 2];
    for _ in 0..40 {
        bench.now += 100;
        held = grants(&bench.finish(&held[0], 100));
        shares[usize::from(held[0].job == OTHER)] += 1;
    }
    assert!(shares[0] >= 15 && shares[1] >= 15, "{shares:?}");
}

#[test]
fn empty_and_complete_jobs_are_finished_at_once_and_once() {
    let mut bench = Bench::new(fixed(1));
    assert_eq!(bench.add(JOB, 0, 1), [Command::Finished(JOB)]);
    let mut past = spec(3, 1);
    past.done.insert_merged(0..2);
    past.failures = (1..=5).map(|number| (2, worker(number), String::new())).collect();
    let commands = bench.step(Event::JobAdded { job: OTHER, spec: past.clone() });
    // The last coordinator died between the last failure and the quarantine.
    assert_eq!(commands, [Command::Quarantine { job: OTHER, unit: 2 }, Command::Finished(OTHER)]);
    assert_eq!(bench.step(Event::Tick), []);
    // After two failures nobody knows any more whether those workers can compute anything.
    past.failures.truncate(2);
    bench.step(Event::JobRemoved(OTHER));
    assert_eq!(bench.step(Event::JobAdded { job: OTHER, spec: past }), []);
    assert_eq!(grants(&bench.open(2, 1, 0)), []);
    assert_eq!(grants(&bench.open(3, 1, 0))[0].range, 2..3);
}
