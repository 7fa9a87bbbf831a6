//! Real processes killed with SIGKILL at random moments: nothing acknowledged is lost, nothing is counted twice.

mod farm;

use std::time::{Duration, Instant};

use farm::{Farm, run, seed, spawn};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Kills the coordinator or a worker, at random, after a random time, and starts it again.
fn strike(farm: &mut Farm, rng: &mut ChaCha8Rng) {
    std::thread::sleep(Duration::from_millis(rng.random_range(50..400)));
    let victim = rng.random_range(0..=farm.workers.len());
    if victim == farm.workers.len() {
        farm.kill_coordinator();
        std::thread::sleep(Duration::from_millis(rng.random_range(0..200)));
        farm.start_coordinator();
    } else {
        farm.kill_worker(victim);
        farm.start_worker(victim);
    }
}

#[test]
fn a_farm_under_dozens_of_kills_counts_every_unit_once() {
    let mut rng = ChaCha8Rng::seed_from_u64(seed());
    let mut farm = Farm::start(3, &["--lease-ms", "500", "--silence-ms", "2000"]);
    // About forty seconds of computing for three workers on two cores: the storm is over before the job is.
    let units = 40_000;
    farm.ask(&["submit", "noop", "--units", &units.to_string(), "--unit-us", "2000"]);
    for _ in 0..48 {
        strike(&mut farm, &mut rng);
    }
    let status = farm.ask(&["status", "noop"]);
    assert_eq!(status["state"], "running", "the storm must be over before the job is: {status}");
    let status = farm.wait("noop");
    assert_eq!(status["state"], "finished", "{status}\n{}", farm.log());
    let result = farm.ask(&["result", "noop"]);
    assert_eq!(result["units"], units.to_string());
    assert_eq!(result["sum"], (units * (units - 1) / 2).to_string());
    let report = farm.check_ledger();
    let job = &report["jobs"][0];
    assert_eq!((&job["committed_units"], &job["gaps"]), (&units.to_string().into(), &"0".into()), "{job}");
}

/// The same where two workers have to agree: claims and confirmations are as durable as commits.
#[test]
fn a_farm_of_two_replicas_under_kills_counts_every_unit_once() {
    let mut rng = ChaCha8Rng::seed_from_u64(seed());
    let mut farm = Farm::start(3, &["--lease-ms", "500", "--silence-ms", "2000"]);
    let units = 10_000;
    farm.ask(&["submit", "noop", "--units", &units.to_string(), "--unit-us", "1000", "--replicas", "2"]);
    for _ in 0..24 {
        strike(&mut farm, &mut rng);
    }
    let status = farm.wait("noop");
    assert_eq!(status["state"], "finished", "{status}\n{}", farm.log());
    let result = farm.ask(&["result", "noop"]);
    assert_eq!(result["sum"], (units * (units - 1) / 2).to_string());
    let report = farm.check_ledger();
    let job = &report["jobs"][0];
    assert_eq!((&job["committed_units"], &job["gaps"]), (&units.to_string().into(), &"0".into()), "{job}");
    assert_eq!(report["quarantined_workers"], "0");
}

/// The cluster job itself. It is quick, so it is started afresh each time it ends under the storm.
#[test]
fn the_search_recount_of_9x9_under_kills_ends_with_the_exact_total() {
    let submit = ["submit", "recount", "--method", "search", "--fresh"];
    let mut rng = ChaCha8Rng::seed_from_u64(seed());
    let mut farm = Farm::start(3, &["--lease-ms", "200", "--silence-ms", "2000"]);
    farm.ask(&submit);
    let mut finished = 0;
    for _ in 0..36 {
        strike(&mut farm, &mut rng);
        let status = farm.ask(&["status", "recount"]);
        if status["state"] == "finished" {
            finished += 1;
            assert_total(&farm);
            farm.ask(&submit);
        }
        assert_ne!(status["state"], "conflict", "{status}");
    }
    assert_eq!(farm.wait("recount")["state"], "finished", "{}", farm.log());
    assert_total(&farm);
    println!("{} runs finished under 36 kills", finished + 1);
    farm.check_ledger();
}

/// Felgenhauer and Jarvis 2005, and the same number of classes.
fn assert_total(farm: &Farm) {
    let result = farm.ask(&["result", "recount"]);
    assert_eq!(result["total"], "6670903752021072936960");
    assert_eq!(result["classes"].as_array().map(Vec::len), Some(44));
}

#[test]
fn nonet_run_killed_and_restarted_resumes_and_ends_exactly() {
    let mut rng = ChaCha8Rng::seed_from_u64(seed());
    let dir = tempfile::tempdir().expect("a folder");
    let state = dir.path().join("state");
    let state = state.to_str().expect("UTF-8");
    let args = ["run", "noop", "--units", "30000", "--unit-us", "300", "--state", state, "--format", "json"];
    let mut kills = 0;
    let begun = Instant::now();
    while kills < 24 && begun.elapsed() < farm::PATIENCE {
        let mut process = spawn(&args);
        std::thread::sleep(Duration::from_millis(rng.random_range(20..600)));
        process.kill();
        kills += 1;
    }
    let (code, stdout, stderr) = run(&args);
    assert_eq!(code, Some(0), "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((&report["units"], &report["sum"]), (&"30000".into(), &"449985000".into()));
    farm::check(std::path::Path::new(state));
    let (code, again, stderr) = run(&args);
    assert_eq!((code, stderr.contains("answered from the ledger")), (Some(0), true), "{stderr}");
    let again: serde_json::Value = serde_json::from_str(&again).expect("JSON");
    assert_eq!(again["sum"], report["sum"]);
}
