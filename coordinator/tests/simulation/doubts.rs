//! One test for each rule of results that several workers have to agree on, with a hand-driven scheduler.

use std::ops::Range;

use coordinator::scheduler::{
    Checked, CloseReason, Command, Committed, Comparison, Event, JobSpec, Policy, SessionId, Token, Verdict,
    Vote,
};

use crate::rules::{Bench, Grant, JOB, OTHER, fixed, grants, spec, worker};

/// A job of `units` units of which so many workers have to agree.
fn bench(units: u64, replicas: u32, policy: Policy) -> Bench {
    let mut bench = Bench::new(policy);
    bench.step(Event::JobAdded { job: JOB, spec: JobSpec { replicas, ..spec(units, 1) } });
    bench
}

/// A result that is written down as a claim.
fn claim(bench: &mut Bench, session: u64, range: Range<u64>, digest: u8) -> Vec<Command> {
    let (token, commands) = bench.say(session, range, digest);
    assert!(commands.contains(&Command::Claim(token)), "{commands:?}");
    let mut all = commands;
    all.extend(bench.step(Event::Persisted(token)));
    assert!(all.contains(&Command::Answer(token, Verdict::Accepted)), "{all:?}");
    all
}

/// A result that settles a range. Returns what was ordered before it was on the disk.
fn confirm(bench: &mut Bench, session: u64, range: Range<u64>, digest: u8, by: &[u64]) -> Vec<Command> {
    let (token, commands) = bench.say(session, range, digest);
    let by = by.iter().map(|&session| worker(session)).collect();
    assert!(commands.contains(&Command::Confirm { token, by }), "{commands:?}");
    let answers = bench.step(Event::Persisted(token));
    assert_eq!(answers[0], Command::Answer(token, Verdict::Accepted));
    [commands, answers].concat()
}

fn quarantined(commands: &[Command]) -> Vec<u64> {
    let known = |id| (1..100).find(|&session| worker(session) == id).expect("a worker of this test");
    let liars = commands.iter().filter_map(|command| match command {
        Command::QuarantineWorker { worker, .. } => Some(known(*worker)),
        _ => None,
    });
    liars.collect()
}

fn done(bench: &Bench) -> (u64, u64) {
    let status = bench.scheduler.job(JOB).expect("a job");
    (status.done, status.claimed)
}

#[test]
fn a_result_counts_when_a_second_worker_agrees_and_not_before() {
    let mut bench = bench(10, 2, fixed(10));
    let first = grants(&bench.open(1, 1, 0)).remove(0);
    assert_eq!(first.range, 0..10);
    // The first commits two stretches; each is computed again as a whole, by somebody else.
    claim(&mut bench, 1, 0..4, 7);
    assert_eq!(grants(&claim(&mut bench, 1, 4..10, 8)), [], "not by the same worker");
    assert_eq!(done(&bench), (0, 10));
    let status = bench.scheduler.job(JOB).expect("a job");
    assert!(status.short_of_workers && !status.finished);
    let commands = bench.open(2, 2, 0);
    let whole = |c: &&Command| matches!(c, Command::Grant { whole: true, .. });
    assert_eq!(commands.iter().filter(whole).count(), 2);
    let ranges: Vec<_> = grants(&commands).into_iter().map(|grant| grant.range).collect();
    assert_eq!(ranges, [0..4, 4..10]);
    let (token, commands) = bench.say(2, 0..2, 9);
    assert_eq!(commands, [Command::Answer(token, Verdict::Overlap)], "a part of it is no answer");
    confirm(&mut bench, 2, 0..4, 7, &[1, 2]);
    assert_eq!(done(&bench), (4, 6));
    let commands = confirm(&mut bench, 2, 4..10, 8, &[1, 2]);
    assert_eq!(commands.last(), Some(&Command::Finished(JOB)));
    assert_eq!(done(&bench), (10, 0));
}

#[test]
fn where_two_differ_a_third_decides_and_the_liar_is_gone_with_all_that_it_claimed() {
    let mut bench = bench(30, 2, fixed(10));
    bench.open(1, 1, 0);
    claim(&mut bench, 1, 0..10, 66);
    claim(&mut bench, 1, 10..20, 66);
    bench.open(2, 1, 0);
    let commands = claim(&mut bench, 2, 0..10, 7);
    // A dispute is not for those who are in it.
    assert_eq!(grants(&commands)[0].range, 10..20);
    assert_eq!(bench.scheduler.job(JOB).expect("a job").disputes, 1);
    bench.open(3, 1, 0);
    let commands = confirm(&mut bench, 3, 0..10, 7, &[2, 3]);
    assert_eq!(quarantined(&commands), [1]);
    let order = |wanted: fn(&Command) -> bool| commands.iter().position(wanted);
    let quarantine = order(|c| matches!(c, Command::QuarantineWorker { .. }));
    assert!(
        quarantine < order(|c| matches!(c, Command::Confirm { .. })),
        "the ledger hears of the liar first"
    );
    assert!(commands.contains(&Command::Close(SessionId(1), CloseReason::Quarantined)));
    // What it said of 10..20 is void. The lease over that claim is, too.
    assert!(commands.iter().any(|c| matches!(c, Command::Abandon { session: SessionId(2), .. })));
    assert_eq!(done(&bench), (10, 0));
    // It is not let in, and not heard, until it is readmitted.
    assert_eq!(bench.open(1, 1, 0), []);
    let (token, commands) = bench.say(1, 20..30, 1);
    assert_eq!(commands, [Command::Answer(token, Verdict::Refused)]);
    bench.step(Event::WorkerReadmitted(worker(1)));
    assert_eq!(bench.scheduler.sessions().count(), 2);
    bench.open(1, 1, 0);
    assert_eq!(bench.scheduler.sessions().count(), 3);
}

#[test]
fn three_replicas_are_three_that_agree() {
    let mut bench = bench(1, 3, fixed(1));
    (1..=5).for_each(|session| drop(bench.open(session, 1, 0)));
    claim(&mut bench, 1, 0..1, 7);
    claim(&mut bench, 2, 0..1, 66);
    claim(&mut bench, 3, 0..1, 66);
    claim(&mut bench, 4, 0..1, 7);
    let commands = confirm(&mut bench, 5, 0..1, 7, &[1, 4, 5]);
    assert_eq!(quarantined(&commands), [2, 3]);
    assert_eq!(commands.last(), Some(&Command::Finished(JOB)));
}

#[test]
fn five_that_all_say_something_else_stop_the_job() {
    let mut bench = bench(1, 2, fixed(1));
    (1..=5).for_each(|session| drop(bench.open(session, 1, 0)));
    (1..=4).for_each(|session| drop(claim(&mut bench, session, 0..1, u8::try_from(session).expect("small"))));
    let (token, commands) = bench.say(5, 0..1, 5);
    assert!(commands.contains(&Command::Answer(token, Verdict::Conflict)), "{commands:?}");
    assert_eq!(quarantined(&commands), [0; 0]);
}

#[test]
fn a_worker_that_contradicts_itself_or_what_is_agreed_on_is_a_liar() {
    let mut bench = bench(2, 2, fixed(1));
    bench.open(1, 1, 0);
    bench.open(2, 1, 0);
    claim(&mut bench, 1, 0..1, 7);
    let (token, commands) = bench.say(1, 0..1, 7);
    assert_eq!(commands, [Command::Answer(token, Verdict::Duplicate)]);
    let (token, commands) = bench.say(1, 0..1, 8);
    assert_eq!(commands[0], Command::Answer(token, Verdict::Refused));
    assert_eq!(quarantined(&commands), [1]);
    assert_eq!(done(&bench), (0, 0));
    bench.open(3, 1, 0);
    claim(&mut bench, 2, 0..1, 7);
    confirm(&mut bench, 3, 0..1, 7, &[2, 3]);
    // Late, and something else than what two agree on: it is kept, and its worker is not.
    let (token, commands) = bench.say(4, 0..1, 9);
    assert_eq!(commands, [Command::Compare(token)]);
    let commands = bench.step(Event::Compared(token, Comparison::Different([7; 32])));
    assert_eq!(commands[0], Command::Claim(token));
    assert_eq!(quarantined(&commands), [4]);
    assert_eq!(bench.step(Event::Persisted(token)), [Command::Answer(token, Verdict::Accepted)]);
    assert_eq!(done(&bench).0, 1);
}

#[test]
fn a_lone_worker_computes_no_more_than_can_be_kept_in_mind() {
    let mut bench = bench(100, 2, Policy { max_claims: 3, ..fixed(1) });
    let mut held = grants(&bench.open(1, 1, 0));
    let mut claims = 0;
    while let Some(Grant { range, .. }) = held.pop() {
        held = grants(&claim(&mut bench, 1, range, 7));
        claims += 1;
    }
    assert_eq!(claims, 3);
    assert!(bench.scheduler.job(JOB).expect("a job").short_of_workers);
    // With a second one it goes on.
    let grant = grants(&bench.open(2, 1, 0)).remove(0);
    let commands = confirm(&mut bench, 2, grant.range, 7, &[1, 2]);
    assert_eq!(grants(&commands).len(), 2);
}

#[test]
fn a_range_that_fails_on_two_workers_is_computed_anew_without_the_unit_that_does() {
    let mut bench = bench(3, 2, fixed(3));
    bench.open(1, 1, 0);
    claim(&mut bench, 1, 0..3, 7);
    let fail = |bench: &mut Bench, grant: &Grant, unit| {
        let Grant { session, lease, .. } = *grant;
        bench.step(Event::Failed { session, lease, unit, error: "boom".into() })
    };
    let second = grants(&bench.open(2, 1, 0)).remove(0);
    let commands = fail(&mut bench, &second, 1);
    assert!(matches!(commands[..], [Command::RecordFailure { unit: 1, .. }]), "{commands:?}");
    assert_eq!(done(&bench), (0, 3));
    let third = grants(&bench.open(3, 1, 0)).remove(0);
    let commands = fail(&mut bench, &third, 1);
    assert_eq!(commands[1], Command::Withdraw { job: JOB, range: 0..3 });
    assert_eq!(done(&bench), (0, 0));
    // Neither of the two has computed anything: the one that has is asked for the unit, and believed.
    let again: Vec<_> = grants(&commands).into_iter().map(|grant| (grant.session.0, grant.range)).collect();
    assert_eq!(again, [(1, 1..2), (2, 0..1), (3, 2..3)]);
    let commands = fail(&mut bench, &grants(&commands)[0], 1);
    assert_eq!(commands[1], Command::Quarantine { job: JOB, unit: 1 });
}

#[test]
fn paused_and_removed_jobs_take_leases_over_claims_back() {
    let mut bench = bench(1, 2, fixed(1));
    bench.open(1, 1, 0);
    claim(&mut bench, 1, 0..1, 7);
    let Grant { session, lease, .. } = grants(&bench.open(2, 1, 0)).remove(0);
    // It cannot be shortened.
    assert_eq!(bench.step(Event::Shrunk { session, lease, end: 0 }), []);
    assert_eq!(bench.step(Event::JobPaused(JOB)), [Command::Revoke { session, lease }]);
    assert_eq!(bench.step(Event::Returned { session, lease }), []);
    let Grant { lease, .. } = grants(&bench.step(Event::JobResumed(JOB))).remove(0);
    assert_eq!(bench.step(Event::JobRemoved(JOB)), [Command::Abandon { session, lease }]);
}

#[test]
fn a_restart_knows_what_was_claimed_and_what_is_disputed() {
    let vote = |session, digest| Vote { range: 0..5, worker: worker(session), digest: [digest; 32] };
    let mut bench = Bench::new(fixed(5));
    bench.step(Event::WorkerQuarantined(worker(9)));
    let claims = vec![vote(1, 7), vote(2, 66), vote(9, 66)];
    bench.step(Event::JobAdded {
        job: JOB,
        spec: JobSpec { replicas: 2, claims: claims.clone(), ..spec(5, 1) },
    });
    assert_eq!(bench.scheduler.job(JOB).expect("a job").disputes, 1);
    bench.open(3, 1, 0);
    let commands = confirm(&mut bench, 3, 0..5, 7, &[1, 3]);
    assert_eq!(quarantined(&commands), [2]);
    // Another job, of which a claim contradicts what is committed.
    let disputed = vec![Committed { range: 0..5, digest: [7; 32], by: vec![worker(1)] }];
    let claims = vec![vote(4, 66)];
    let mut past = JobSpec { claims, disputed, ..spec(5, 1) };
    past.done.insert_merged(0..5);
    let commands = bench.step(Event::JobAdded { job: OTHER, spec: past });
    assert_eq!(commands[0], Command::Finished(OTHER));
    assert_eq!(grants(&commands)[0].range, 0..5, "somebody else looks at it");
}

#[test]
fn a_restart_convicts_whom_claims_on_record_overturn() {
    let vote = |session| Vote { range: 0..5, worker: worker(session), digest: [7; 32] };
    let disputed = vec![Committed { range: 0..5, digest: [66; 32], by: vec![worker(1)] }];
    let mut past = JobSpec { claims: vec![vote(2), vote(3)], disputed, ..spec(5, 1) };
    past.done.insert_merged(0..5);
    // The last coordinator died between the second claim and the quarantine.
    let mut bench = Bench::new(fixed(5));
    let commands = bench.step(Event::JobAdded { job: JOB, spec: past });
    assert_eq!(quarantined(&commands), [1]);
    assert_eq!(grants(&bench.open(4, 1, 0)), [], "nothing is left to decide");
    let lost = std::iter::once(0..5).collect();
    let again = bench.step(Event::Withdrawn { job: JOB, ranges: lost });
    assert_eq!(grants(&again)[0].range, 0..5);
}

/// A finished job of one range that worker 1 computed alone, with the result 66.
fn finished() -> Bench {
    let mut bench = Bench::new(fixed(5));
    bench.add(JOB, 5, 1);
    bench.open(1, 1, 0);
    let (token, _) = bench.say(1, 0..5, 66);
    assert_eq!(bench.step(Event::Persisted(token)).last(), Some(&Command::Finished(JOB)));
    bench
}

fn verify(bench: &mut Bench, range: Range<u64>) -> Vec<Command> {
    let ranges = vec![Committed { range, digest: [66; 32], by: vec![worker(1)] }];
    bench.step(Event::Verify { job: JOB, ranges })
}

fn found(commands: &[Command]) -> Vec<Checked> {
    let found = commands.iter().filter_map(|command| match command {
        Command::Checked { found, .. } => Some(found.clone()),
        _ => None,
    });
    found.collect()
}

#[test]
fn what_is_verified_counts_on_and_agreement_is_told() {
    let mut bench = finished();
    assert_eq!(verify(&mut bench, 0..5), [], "not by the one who computed it");
    assert_eq!(done(&bench), (5, 0));
    assert_eq!(grants(&bench.open(2, 1, 0))[0].range, 0..5);
    let (token, commands) = bench.say(2, 0..5, 66);
    assert_eq!(commands[0], Command::Answer(token, Verdict::Duplicate), "there is nothing to write");
    assert_eq!(found(&commands), [Checked::Same { worker: worker(2) }]);
    // Ranges that are none, or are looked at already, are told apart.
    assert_eq!(
        found(&verify(&mut bench, 0..4)),
        [],
        "a part of what is done; the engine asks for commits only"
    );
    assert_eq!(found(&verify(&mut bench, 0..5)), [Checked::Dropped]);
    assert_eq!(found(&verify(&mut bench, 3..9)), [Checked::Dropped]);
}

#[test]
fn a_lie_that_is_verified_is_found_out_and_computed_again() {
    let mut bench = finished();
    verify(&mut bench, 0..5);
    bench.open(2, 1, 0);
    let commands = claim(&mut bench, 2, 0..5, 7);
    assert_eq!(found(&commands), [Checked::Different { worker: worker(2), digest: [7; 32] }]);
    // Nobody waits any more; the third decides all the same.
    bench.step(Event::VerifyStopped(JOB));
    assert_eq!(grants(&bench.open(3, 1, 0))[0].range, 0..5);
    let commands = claim(&mut bench, 3, 0..5, 7);
    assert_eq!(quarantined(&commands), [1]);
    // The ledger has withdrawn what worker 1 alone stood behind.
    let ranges = Vec::from([Range { start: 0, end: 5 }]);
    let commands = bench.step(Event::Withdrawn { job: JOB, ranges });
    assert_eq!(grants(&commands)[0].range, 0..5);
    let (token, _) = bench.say(2, 0..5, 7);
    assert_eq!(
        bench.step(Event::Persisted(token)).last(),
        Some(&Command::Finished(JOB)),
        "for the second time"
    );
}

#[test]
fn one_that_slanders_what_is_right_is_the_liar() {
    let mut bench = finished();
    verify(&mut bench, 0..5);
    bench.open(2, 1, 0);
    claim(&mut bench, 2, 0..5, 7);
    bench.open(3, 1, 0);
    let (_, commands) = bench.say(3, 0..5, 66);
    assert_eq!(quarantined(&commands), [2]);
    assert_eq!(done(&bench), (5, 0));
}

#[test]
fn a_verification_that_is_called_off_or_fails_leaves_nothing_behind() {
    let mut bench = finished();
    verify(&mut bench, 0..5);
    let Grant { session, lease, .. } = grants(&bench.open(2, 1, 0)).remove(0);
    assert_eq!(bench.step(Event::VerifyStopped(JOB)), [Command::Abandon { session, lease }]);
    verify(&mut bench, 0..5);
    for number in 2..4 {
        let commands = bench.open(number, 1, 0);
        // The second has had it since it was asked for.
        let sessions: Vec<_> =
            bench.scheduler.sessions().filter(|s| s.leases > 0).map(|s| s.session).collect();
        assert_eq!(sessions, [SessionId(number)], "{commands:?}");
        let lease = coordinator::scheduler::LeaseId(lease.0 + number - 1);
        let error = String::from("boom");
        let commands = bench.step(Event::Failed { session: SessionId(number), lease, unit: 2, error });
        let failed = [Checked::Failed { error: "boom".into() }];
        assert_eq!(found(&commands), if number == 3 { failed.to_vec() } else { Vec::new() });
    }
    assert_eq!(bench.step(Event::Persisted(Token(99))), []);
}

#[test]
fn a_vote_that_the_ledger_refuses_is_answered_and_holds_nobody_up() {
    let mut bench = bench(20, 2, fixed(10));
    (1..=4).for_each(|session| drop(bench.open(session, 1, 0)));
    claim(&mut bench, 1, 0..10, 7);
    confirm(&mut bench, 2, 0..10, 7, &[1, 2]);
    let by = vec![worker(1), worker(2)];
    let committed = Committed { range: 0..10, digest: [7; 32], by };
    bench.step(Event::Verify { job: JOB, ranges: vec![committed.clone()] });
    // Meanwhile the ledger has added 0..10 up with its neighbour.
    let (token, commands) = bench.say(3, 0..10, 66);
    assert!(commands.contains(&Command::Claim(token)), "{commands:?}");
    let (behind, commands) = bench.say(4, 0..10, 66);
    assert_eq!(commands, [], "parked");
    let commands = bench.step(Event::NotWritten(token));
    assert!(commands.contains(&Command::Answer(token, Verdict::Overlap)), "{commands:?}");
    let dropped = Command::Checked { job: JOB, committed, found: Checked::Dropped };
    assert!(commands.contains(&dropped), "{commands:?}");
    assert!(commands.contains(&Command::Compare(behind)), "{commands:?}");
    // Of a range that does not count, it goes to the pool again.
    let (token, _) = bench.say(1, 10..20, 7);
    let commands = bench.step(Event::NotWritten(token));
    assert!(commands.contains(&Command::Answer(token, Verdict::Overlap)), "{commands:?}");
    assert_eq!(grants(&commands)[0].range, 10..20);
    assert_eq!(done(&bench), (10, 0));
}

#[test]
fn two_that_fail_over_a_dispute_do_not_end_it() {
    let mut bench = bench(10, 1, fixed(10));
    (1..=4).for_each(|session| drop(bench.open(session, 1, 0)));
    let (token, _) = bench.say(1, 0..10, 66);
    bench.step(Event::Persisted(token));
    let committed = Committed { range: 0..10, digest: [66; 32], by: vec![worker(1)] };
    bench.step(Event::Verify { job: JOB, ranges: vec![committed] });
    let mut commands = claim(&mut bench, 2, 0..10, 7);
    for session in [3, 4] {
        let Grant { lease, .. } = grants(&commands).remove(0);
        let session = SessionId(session);
        commands = bench.step(Event::Failed { session, lease, unit: 3, error: "broke".into() });
    }
    assert_eq!(bench.scheduler.job(JOB).expect("a job").disputes, 1);
    let commands = bench.open(5, 1, 0);
    assert_eq!(grants(&commands)[0].range, 0..10);
    let commands = claim(&mut bench, 5, 0..10, 7);
    assert_eq!(quarantined(&commands), [1]);
}
