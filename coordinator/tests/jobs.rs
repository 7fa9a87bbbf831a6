//! Jobs from submission to result, through real processes.

mod farm;

use std::time::{Duration, Instant};

use farm::{Farm, output, run, until};

#[test]
fn a_lost_connection_is_leased_anew_within_a_second_and_silence_after_its_time() {
    let mut farm = Farm::start(1, &["--silence-ms", "3000"]);
    // One unit of ten minutes: whoever has it has the only lease.
    farm.ask(&["submit", "noop", "--units", "1", "--unit-us", "600000000"]);
    until("the first worker has the lease", || leases(&farm, "w0") == Some(1));
    farm.workers.push(None);
    farm.start_worker(1);
    until("the second worker is there", || leases(&farm, "w1") == Some(0));

    let killed = Instant::now();
    farm.kill_worker(0);
    until("the second worker has the lease", || leases(&farm, "w1") == Some(1));
    let after = killed.elapsed();
    assert!(after < Duration::from_secs(1), "a closed connection was noticed after {after:?}");

    farm.start_worker(0);
    until("the first worker is back", || leases(&farm, "w0") == Some(0));
    let stopped = Instant::now();
    farm.workers[1].as_ref().expect("running").signal("STOP");
    until("the silent worker has lost the lease", || leases(&farm, "w0") == Some(1));
    let after = stopped.elapsed();
    assert!(after < Duration::from_secs(5), "silence of 3 s was noticed after {after:?}");
    // It wakes up and finds itself superseded: nobody is disturbed by it.
    farm.workers[1].as_ref().expect("running").signal("CONT");
    until("the sleeper is back", || leases(&farm, "w1") == Some(0));
    assert_eq!(leases(&farm, "w0"), Some(1));
}

fn leases(farm: &Farm, worker: &str) -> Option<u64> {
    let workers = farm.ask(&["workers"]);
    let workers = workers.as_array().expect("a list");
    workers.iter().find(|w| w["name"] == worker)?["leases"].as_u64()
}

#[test]
fn pause_resume_cancel_retry_do_what_they_say() {
    let mut farm = Farm::start(1, &["--lease-ms", "100"]);
    farm.ask(&["submit", "noop", "--units", "2000", "--unit-us", "1000"]);
    let done = |farm: &Farm| farm.ask(&["status", "noop"])["done"].as_u64().expect("a number");
    until("some units are done", || done(&farm) > 0);
    assert_eq!(farm.ask(&["pause", "noop"])["state"], "paused");
    until("the leases are back", || farm.ask(&["status", "noop"])["leased"] == 0);
    let paused_at = done(&farm);
    assert!(paused_at < 2000);
    // A pause outlives the coordinator.
    farm.kill_coordinator();
    farm.start_coordinator();
    until("the worker is back", || farm.ask(&["workers"]).as_array().is_some_and(|w| w.len() == 1));
    let status = farm.ask(&["status", "noop"]);
    assert_eq!((&status["state"], &status["leased"]), (&"paused".into(), &0.into()));
    assert!(done(&farm) >= paused_at);

    assert_eq!(farm.ask(&["resume", "noop"])["state"], "running");
    assert_eq!(farm.ask(&["cancel", "noop"])["state"], "cancelled");
    assert_eq!(run(&["resume", "noop", "--coordinator", &farm.url]).0, Some(1));
    assert_eq!(farm.ask(&["retry", "noop"])["state"], "running");
    assert_eq!(farm.wait("noop")["done"], 2000);
    assert_eq!(farm.ask(&["result", "noop"])["sum"], "1999000");
    farm.check_ledger();
}

#[test]
fn units_that_fail_on_two_workers_are_given_up_and_the_rest_is_done() {
    let mut farm = Farm::start(2, &[]);
    let submit =
        ["submit", "noop", "--units", "500", "--fail", "7", "--panic", "300", "--wait", "--format", "json"];
    let args = [&submit[..], &["--coordinator", &farm.url]].concat();
    let (code, stdout, stderr) = run(&args);
    assert_eq!(code, Some(3), "{stderr}");
    for part in ["unit 7 ", "asked to fail", "unit 300 ", "asked to panic", "nonet retry"] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let report: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((&report["units"], &report["job"]["quarantined_units"]), (&"498".into(), &2.into()));
    // Taken up again, they fail again; what is done stays done.
    assert_eq!(farm.ask(&["retry", "noop"])["quarantined_units"], 0);
    assert_eq!(farm.wait("noop")["quarantined_units"], 2);
    farm.check_ledger();
}

#[test]
fn the_only_worker_gives_a_unit_up_after_two_attempts() {
    let dir = tempfile::tempdir().expect("a folder");
    let state = dir.path().join("state");
    let state = state.to_str().expect("UTF-8");
    let args = ["run", "noop", "--units", "100", "--panic", "50", "--state", state];
    for _ in 0..2 {
        let (code, stdout, stderr) = run(&args);
        assert_eq!((code, stdout.starts_with("99 of 100 units")), (Some(3), true), "{stdout}{stderr}");
    }
}

#[test]
fn the_same_job_is_answered_from_the_ledger_and_a_fresh_one_computed() {
    let mut farm = Farm::start(1, &[]);
    let submit =
        ["submit", "recount", "--shape", "2x3", "--wait", "--format", "json", "--coordinator", &farm.url];
    let first = run(&submit);
    assert_eq!(first.0, Some(0), "{}", first.2);
    let second = run(&submit);
    assert!(second.2.contains("has this job already"), "{}", second.2);
    let total =
        |stdout: &str| serde_json::from_str::<serde_json::Value>(stdout).expect("JSON")["total"].clone();
    // Pettersen and Jarvis 2005, OEIS A107739: 6x6 grids with boxes of 2x3.
    assert_eq!((total(&first.1), total(&second.1)), ("28200960".into(), "28200960".into()));
    let fresh = run(&[&submit[..], &["--fresh"]].concat());
    assert_eq!((fresh.0, total(&fresh.1)), (Some(0), "28200960".into()));
    assert_eq!(farm.ask(&["jobs"]).as_array().map(Vec::len), Some(1));
    farm.check_ledger();
}

#[test]
fn two_jobs_run_side_by_side_by_weight() {
    let farm = Farm::start(2, &["--lease-ms", "50"]);
    for (label, weight) in [("light", "1"), ("heavy", "4")] {
        let job =
            ["submit", "noop", "--units", "20000", "--unit-us", "500", "--label", label, "--weight", weight];
        farm.ask(&job);
    }
    let job = |label: &str| {
        let jobs = farm.ask(&["jobs"]);
        let jobs = jobs.as_array().expect("a list").iter();
        jobs.clone().find(|job| job["settings"]["label"] == label).expect("the job").clone()
    };
    until("the heavy job is half done", || job("heavy")["done"].as_u64() > Some(10_000));
    let (heavy, light) = (job("heavy")["done"].as_u64(), job("light")["done"].as_u64());
    let (heavy, light) = (heavy.expect("a number"), light.expect("a number"));
    assert!(light > 0 && heavy > 2 * light, "heavy {heavy}, light {light}");
}

#[test]
fn a_drained_worker_ends_well_and_one_told_to_stop_hands_everything_back() {
    let mut farm = Farm::start(2, &["--lease-ms", "200"]);
    farm.ask(&["submit", "noop", "--units", "5000", "--unit-us", "1000"]);
    until("both work", || leases(&farm, "w0") > Some(0) && leases(&farm, "w1") > Some(0));
    assert_eq!(run(&["drain", "w0", "--coordinator", &farm.url]).0, Some(0));
    let (code, said) = farm.workers[0].take().expect("running").end();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(leases(&farm, "w0"), None, "it has left");
    let told = Instant::now();
    let worker = farm.workers[1].take().expect("running");
    worker.signal("TERM");
    assert_eq!(worker.end().0, Some(0));
    assert!(told.elapsed() < Duration::from_secs(10));
    assert_eq!(farm.ask(&["status", "noop"])["leased"], 0, "what it held was handed back");
    farm.start_worker(1);
    assert_eq!(farm.wait("noop")["done"], 5000);
    farm.check_ledger();
}

#[test]
fn every_command_explains_itself_with_an_example() {
    let commands = ["run", "submit", "coordinator", "worker", "jobs", "status", "result", "pause", "resume"];
    let more =
        ["cancel", "retry", "workers", "drain", "ledger", "run recount", "submit recount", "ledger check"];
    for command in commands.iter().chain(&more) {
        let args: Vec<_> = command.split(' ').chain(["--help"]).collect();
        let help = output(&args);
        let text = String::from_utf8_lossy(&help.stdout);
        assert!(help.status.success() && text.contains("Example"), "{command}: {text}");
    }
}
