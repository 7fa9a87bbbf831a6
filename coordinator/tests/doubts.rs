//! Results that several workers have to agree on, samples that are computed again, and liars, on a real farm.

mod farm;
#[path = "farm/puppet.rs"]
mod puppet;

use std::path::Path;

use coordinator::{
    ledger::{CommitRecord, EmbeddedLedger, Entry, JobState, Ledger},
    scheduler::{WorkerId, hex},
};
use farm::{Farm, run, until};
use proto::v1::{Grant, Verdict};
use puppet::{Puppet, commit, recount_partial};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

const SUBMIT: [&str; 6] = ["submit", "recount", "--shape", "2x3", "--replicas", "2"];
const TOTAL: &str = "28200960";

/// The quarantined workers, by their ids.
fn quarantined(farm: &Farm) -> Vec<String> {
    let all = farm.ask(&["workers"]);
    let all = all.as_array().expect("workers").iter().filter(|worker| worker["quarantined"].is_string());
    all.map(|worker| worker["id"].as_str().expect("an id").to_owned()).collect()
}

fn id(puppet: u8) -> String {
    hex(&[puppet; 16])
}

/// Runs `nonet` against the farm; exit code, JSON, standard error.
fn ask(farm: &Farm, args: &[&str]) -> (Option<i32>, Value, String) {
    let to = ["--coordinator", &farm.url, "--format", "json"];
    let (code, stdout, stderr) = run(&[args, &to].concat());
    (code, serde_json::from_str(&stdout).unwrap_or(Value::Null), stderr)
}

#[tokio::test]
async fn a_result_waits_for_a_second_worker_through_kills_of_the_coordinator() {
    let mut farm = Farm::start(0, &[]);
    farm.ask(&SUBMIT);
    let mut first = Puppet::welcome(&farm.url, 1).await;
    let (job, range) = first.granted().await;
    let truth = recount_partial(range.clone(), false);
    assert_eq!(first.offer(commit(1, &job, range.clone(), truth.clone())).await, Verdict::Accepted);
    let status = farm.ask(&["status", "recount"]);
    let units = range.end - range.start;
    assert_eq!((&status["done"], &status["unconfirmed"]), (&0.into(), &units.into()), "{status}");

    // Between the claim and its confirmation: nothing acknowledged is lost, and nothing counts yet.
    drop(first);
    farm.kill_coordinator();
    farm.start_coordinator();
    let status = farm.ask(&["status", "recount"]);
    assert_eq!((&status["done"], &status["unconfirmed"]), (&0.into(), &units.into()), "{status}");
    let mut again = Puppet::welcome(&farm.url, 1).await;
    assert_eq!(again.offer(commit(1, &job, range.clone(), truth.clone())).await, Verdict::Duplicate);

    let mut second = Puppet::welcome(&farm.url, 2).await;
    let Grant { start, end, whole, .. } = second.grant().await.expect("a lease");
    assert_eq!((start..end, whole), (range.clone(), true), "exactly what was claimed, and by another worker");
    assert_eq!(second.offer(commit(1, &job, range.clone(), truth.clone())).await, Verdict::Accepted);
    assert_eq!(farm.ask(&["status", "recount"])["done"], units);
    drop((again, second));
    farm.kill_coordinator();
    farm.start_coordinator();
    assert_eq!(farm.ask(&["status", "recount"])["done"], units);

    farm.workers.resize_with(2, || None);
    (0..2).for_each(|i| farm.start_worker(i));
    assert_eq!(farm.wait("recount")["state"], "finished");
    assert_eq!(farm.ask(&["result", "recount"])["total"], TOTAL);
    let report = farm.check_ledger();
    assert_eq!(
        (&report["jobs"][0]["gaps"], &report["jobs"][0]["claims"]),
        (&"0".into(), &"0".into()),
        "{report}"
    );
    // Who agreed is in the certificate.
    let state = farm.state();
    let (code, certificate, stderr) =
        run(&["certificate", "recount", "--state", state.to_str().expect("UTF-8")]);
    assert!(code == Some(0) && certificate.contains(r#""also":["#), "{stderr}");
}

#[tokio::test]
async fn a_third_worker_tells_the_liar_which_is_turned_away_until_it_is_readmitted() {
    let mut farm = Farm::start(0, &[]);
    farm.ask(&SUBMIT);
    let mut liar = Puppet::welcome(&farm.url, 1).await;
    let (job, range) = liar.granted().await;
    let (truth, lie) = (recount_partial(range.clone(), false), recount_partial(range.clone(), true));
    assert_eq!(liar.offer(commit(1, &job, range.clone(), lie.clone())).await, Verdict::Accepted);
    let mut second = Puppet::welcome(&farm.url, 2).await;
    second.granted().await;
    assert_eq!(second.offer(commit(1, &job, range.clone(), truth.clone())).await, Verdict::Accepted);
    let status = farm.ask(&["status", "recount"]);
    assert!(status["detail"].as_str().is_some_and(|text| text.contains("differ")), "{status}");
    assert_eq!(status["done"], 0);
    let mut third = Puppet::welcome(&farm.url, 3).await;
    assert_eq!(third.granted().await.1, range);
    assert_eq!(third.offer(commit(1, &job, range.clone(), truth.clone())).await, Verdict::Accepted);
    assert_eq!(farm.ask(&["status", "recount"])["done"], range.end - range.start);

    // It is told why, now and when it comes again, after a restart of the coordinator too.
    let reason = loop {
        if let Err(status) = liar.hear().await {
            break status;
        }
    };
    assert!(reason.message().contains("quarantined") && reason.message().contains("readmit"), "{reason}");
    assert_eq!(quarantined(&farm), [id(1)]);
    drop((liar, second, third));
    farm.kill_coordinator();
    farm.start_coordinator();
    let hello = proto::v1::FromWorker { hello: Some(puppet::hello(1)), ..Default::default() };
    let refused = Puppet::open(&farm.url, hello).await.err().expect("refused");
    assert!(refused.message().contains("quarantined"), "{refused}");
    let (code, _, stderr) = run(&["readmit", "nobody", "--coordinator", &farm.url]);
    assert!(code == Some(2) && stderr.contains("no quarantined worker"), "{stderr}");
    let (code, stdout, _) = run(&["readmit", "puppet-1", "--coordinator", &farm.url]);
    assert!(code == Some(0) && stdout.contains("puppet-1"), "{stdout}");
    assert!(quarantined(&farm).is_empty());
    drop(Puppet::welcome(&farm.url, 1).await);

    // Both results are kept.
    farm.stop_coordinator();
    let (_, export, _) = run(&["ledger", "export", "--state", farm.state().to_str().expect("UTF-8")]);
    let has = |entry: &str, partial: &[u8]| {
        let mut lines = export.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.any(|line| line["entry"] == entry && line["partial"] == hex(partial))
    };
    assert!(has("claim", &lie) && has("claim", &truth) && has("confirm", &truth), "{export}");
}

/// Computes like a worker, and lies about a third of what it computes, until it is found out.
async fn lie_at_random(mut puppet: Puppet, mut rng: ChaCha8Rng) {
    let mut sequence = 0;
    while let Ok(Grant { job, start, end, .. }) = puppet.grant().await {
        sequence += 1;
        let lies = sequence == 1 || rng.random_bool(0.3);
        let offer = commit(sequence, &job, start..end, recount_partial(start..end, lies));
        let message = proto::v1::FromWorker { commits: vec![offer], ..Default::default() };
        if puppet.say.send(message).await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_lie_counts_among_real_workers_and_the_total_is_right() {
    let seed = farm::seed();
    for replicas in ["2", "3"] {
        let mut farm = Farm::start(0, &["--lease-ms", "100"]);
        farm.ask(&["submit", "recount", "--shape", "2x3", "--replicas", replicas]);
        let puppet = Puppet::welcome(&farm.url, 1).await;
        let liar = tokio::spawn(lie_at_random(puppet, ChaCha8Rng::seed_from_u64(seed)));
        until("the liar has lied", || farm.ask(&["status", "recount"])["unconfirmed"] != 0);
        farm.workers.resize_with(4, || None);
        (0..4).for_each(|i| farm.start_worker(i));
        let status = farm.wait("recount");
        assert_eq!(status["state"], "finished", "{status}\n{}", farm.log());
        assert_eq!(farm.ask(&["result", "recount"])["total"], TOTAL);
        assert_eq!(quarantined(&farm), [id(1)]);
        liar.await.expect("it was found out");
        farm.check_ledger();
    }
}

/// A finished recount in the folder of a ledger, unit by unit, with a lie by worker 7 about the second.
fn plant(state: &Path) {
    let mut ledger = EmbeddedLedger::open(state).expect("opens");
    let record = ledger.jobs().expect("jobs")[0].record.clone();
    let mut entries: Vec<_> = (0..record.units)
        .map(|unit| {
            let partial = recount_partial(unit..unit + 1, unit == 1);
            let worker = WorkerId([if unit == 1 { 7 } else { 8 }; 16]);
            let digest = *blake3::hash(&partial).as_bytes();
            let (job, range) = (record.id, unit..unit + 1);
            Entry::Commit(CommitRecord { job, range, digest, partial, worker, busy_us: 1, at_unix_ms: 1 })
        })
        .collect();
    entries.push(Entry::State { job: record.id, state: JobState::Finished, at_unix_ms: 2 });
    ledger.append(&entries).expect("appended");
}

#[test]
fn verify_finds_a_planted_lie_and_what_the_liar_did_is_done_again() {
    let mut farm = Farm::start(0, &[]);
    farm.ask(&["submit", "recount", "--shape", "2x3"]);
    farm.stop_coordinator();
    plant(&farm.state());

    // Here, without a cluster.
    let state = farm.state();
    let here = ["verify", "recount", "--state", state.to_str().expect("UTF-8"), "--format", "json"];
    let (code, text, stderr) = run(&[&here[..], &["--sample", "100%", "--seed", "5"]].concat());
    assert!(code == Some(1) && stderr.contains("units 1..2") && stderr.contains("seed 5"), "{stderr}");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&json["differing"], &json["differences"][0]["workers"][0]),
        (&1.into(), &id(7).into()),
        "{json}"
    );
    assert_eq!(json["checked_units"], json["units"]);
    for (args, said) in
        [(["--sample", "0%"], "share"), (["--sample", "200%"], "share"), (["--seed", "1"], "--sample")]
    {
        let (code, _, stderr) = run(&[&here[..], &args].concat());
        assert!(code == Some(2) && stderr.contains(said), "{stderr}");
    }

    // On a cluster: one worker finds the difference, a second one decides.
    farm.start_coordinator();
    let (code, _, stderr) = ask(&farm, &["result", "recount"]);
    assert!(code == Some(1) && stderr.contains("not the published one"), "{stderr}");
    farm.workers.resize_with(2, || None);
    farm.start_worker(0);
    let (code, json, stderr) = ask(&farm, &["verify", "recount", "--sample", "100%"]);
    assert!(code == Some(1) && stderr.contains("units 1..2"), "{stderr}");
    assert_eq!(
        (&json["differing"], &json["dropped"], &json["failed"]),
        (&1.into(), &0.into(), &0.into()),
        "{json}"
    );
    assert_eq!(farm.ask(&["status", "recount"])["state"], "finished", "until it is decided");
    farm.start_worker(1);
    until("the liar is found out", || quarantined(&farm) == [id(7)]);
    until("it is computed again", || farm.ask(&["status", "recount"])["detail"] != "");
    let status = farm.wait("recount");
    assert_eq!(farm.ask(&["result", "recount"])["total"], TOTAL);
    assert!(status["detail"].as_str().is_some_and(|text| text.contains("withdrawn")), "{status}");
    let (code, json, stderr) = ask(&farm, &["verify", "recount", "--sample", "50%", "--seed", "1"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(json["differing"], 0);
    assert!(farm.log().contains("withdrawn and computed again"), "{}", farm.log());
    let report = farm.check_ledger();
    assert_eq!(
        (&report["jobs"][0]["withdrawn_units"], &report["jobs"][0]["gaps"]),
        (&"1".into(), &"0".into())
    );
}

/// As if a coordinator had died after its sweep had withdrawn a result of a job that was just finishing.
#[test]
fn a_finished_job_that_lacks_what_was_withdrawn_runs_again() {
    let mut farm = Farm::start(0, &[]);
    farm.ask(&["submit", "recount", "--shape", "2x3"]);
    farm.stop_coordinator();
    plant(&farm.state());
    let mut ledger = EmbeddedLedger::open(&farm.state()).expect("opens");
    let job = ledger.jobs().expect("jobs")[0].record.id;
    ledger.append(&[Entry::Withdraw { job, range: 1..2 }]).expect("appended");
    drop(ledger);
    farm.start_coordinator();
    let status = farm.ask(&["status", "recount"]);
    assert_eq!(status["state"], "running", "{status}");
    farm.workers.push(None);
    farm.start_worker(0);
    let status = farm.wait("recount");
    assert_eq!(status["done"], status["units"], "{status}");
    assert_eq!(farm.ask(&["result", "recount"])["total"], TOTAL);
    farm.check_ledger();
    // In a run on one machine too.
    let state = farm.state();
    let mut ledger = EmbeddedLedger::open(&state).expect("opens");
    ledger.append(&[Entry::Withdraw { job, range: 1..2 }]).expect("appended");
    drop(ledger);
    let state = state.to_str().expect("UTF-8");
    let (code, stdout, stderr) =
        run(&["run", "recount", "--shape", "2x3", "--state", state, "--format", "json"]);
    assert_eq!(code, Some(0), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(report["total"], TOTAL);
}

#[test]
fn replicas_are_raised_only_while_there_are_no_results() {
    let mut farm = Farm::start(0, &[]);
    let (code, _, stderr) = ask(&farm, &["submit", "noop", "--replicas", "4"]);
    assert!(code == Some(2) && stderr.contains("--replicas"), "{stderr}");
    farm.ask(&["submit", "noop", "--units", "50"]);
    farm.ask(&["submit", "noop", "--units", "50", "--replicas", "3"]);
    assert_eq!(
        farm.ask(&["submit", "noop", "--units", "50", "--replicas", "2"])["replicas"],
        3,
        "never lowered"
    );
    farm.workers.resize_with(3, || None);
    farm.start_worker(0);
    until("all is computed once", || farm.ask(&["status", "noop"])["unconfirmed"] == 50);
    let detail = farm.ask(&["status", "noop"])["detail"].clone();
    assert!(detail.as_str().is_some_and(|text| text.contains("waits for a second worker")), "{detail}");
    (1..3).for_each(|i| farm.start_worker(i));
    assert_eq!(farm.wait("noop")["done"], 50);
    assert_eq!(farm.ask(&["result", "noop"])["sum"], "1225");

    farm.ask(&["submit", "noop", "--units", "60"]);
    until("it is done", || {
        let jobs = farm.ask(&["jobs"]);
        jobs.as_array().expect("jobs").iter().all(|job| job["state"] == "finished")
    });
    let (code, _, stderr) = ask(&farm, &["submit", "noop", "--units", "60", "--replicas", "2"]);
    assert!(code == Some(1) && stderr.contains("--fresh"), "{stderr}");
}
