//! Jobs that need other jobs, through real processes.

mod farm;

use farm::{Farm, run, until};
use serde_json::Value;

/// Settings of a job of 1,500 units of a millisecond: its sum is 1,124,250.
const NEED: &str = r#"{"units":1500,"unit_us":1000,"fail":[],"panic":[],"label":"need"}"#;

fn submit<'a>(label: &'a str, need: &'a str) -> [&'a str; 8] {
    ["submit", "noop", "--units", "40", "--label", label, "--needs", need]
}

fn named<'a>(jobs: &'a Value, label: &str) -> Option<&'a Value> {
    jobs.as_array()?.iter().find(|job| job["settings"]["label"] == label)
}

#[test]
fn a_job_is_finished_when_those_it_needs_are_and_they_are_run_once() {
    let mut farm = Farm::start(1, &["--lease-ms", "50"]);
    let name = farm.ask(&submit("first", NEED))["name"].as_str().expect("a name").to_owned();
    let need = {
        let jobs = farm.ask(&["jobs"]);
        named(&jobs, "need").expect("it is run too")["name"].as_str().expect("a name").to_owned()
    };
    // Both are computed side by side, and the one that is through waits.
    until("its own units are done", || farm.ask(&["status", &name])["done"] == 40);
    let status = farm.ask(&["status", &name]);
    let waits_for = status["waits_for"].as_str().expect("text");
    assert!(status["state"] == "running" && waits_for.contains(&need), "{status}");
    // Who needs whom outlives the coordinator, also while the one waits for the other.
    farm.kill_coordinator();
    farm.start_coordinator();
    let status = farm.wait(&name);
    assert_eq!((&status["state"], &status["waits_for"]), (&"finished".into(), &"".into()));
    assert_eq!(farm.ask(&["status", &need])["state"], "finished");
    let sum = |name: &str| farm.ask(&["result", name])["needed"][0]["sum"].clone();
    assert_eq!(sum(&name), "1124250");
    // Another one that needs it has it at once, also in another life.
    farm.kill_coordinator();
    farm.start_coordinator();
    let second = farm.ask(&submit("second", NEED))["name"].as_str().expect("a name").to_owned();
    farm.wait(&second);
    assert_eq!(farm.ask(&["result", &second])["needed"][0]["sum"], "1124250");
    assert_eq!(farm.ask(&["jobs"]).as_array().map(Vec::len), Some(3));
    farm.check_ledger();
}

#[test]
fn needs_of_needs_are_run_and_nonsense_is_refused() {
    let farm = Farm::start(1, &[]);
    let middle = format!(
        r#"{{"units":7,"unit_us":0,"fail":[],"panic":[],"label":"middle","needs":{}}}"#,
        Value::from(NEED)
    );
    let name = farm.ask(&submit("top", &middle))["name"].as_str().expect("a name").to_owned();
    farm.wait(&name);
    let report = farm.ask(&["result", &name]);
    assert_eq!(report["needed"][0]["sum"], "21");
    assert_eq!(report["needed"][0]["needed"][0]["sum"], "1124250");

    let refused = |need: &str| {
        let (code, _, stderr) = run(&[&submit("bad", need)[..], &["--coordinator", &farm.url]].concat());
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        (code, stderr)
    };
    let (code, why) = refused("{}");
    assert!(code == Some(2) && why.contains("noop needs a noop job") && why.contains("units"), "{why}");
    let mut deep = NEED.to_owned();
    for _ in 0..6 {
        deep = format!(
            r#"{{"units":7,"unit_us":0,"fail":[],"panic":[],"label":"","needs":{}}}"#,
            Value::from(deep)
        );
    }
    let (code, why) = refused(&deep);
    assert!(code == Some(2) && why.contains("more than 4 deep"), "{why}");
    assert_eq!(farm.ask(&["jobs"]).as_array().map(Vec::len), Some(3));
}

#[test]
fn a_cancelled_job_is_not_taken_up_behind_the_back_of_who_cancelled_it() {
    let farm = Farm::start(0, &[]);
    let need = farm.ask(&["submit", "noop", "--units", "1500", "--unit-us", "1000", "--label", "need"]);
    let need = need["name"].as_str().expect("a name");
    let first = farm.ask(&submit("first", NEED))["name"].as_str().expect("a name").to_owned();
    farm.ask(&["cancel", need]);
    let waits_for = farm.ask(&["status", &first])["waits_for"].clone();
    assert!(waits_for.as_str().is_some_and(|text| text.contains("is cancelled")), "{waits_for}");
    let (code, _, stderr) = run(&[&submit("second", NEED)[..], &["--coordinator", &farm.url]].concat());
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains(need) && stderr.contains("nonet retry"), "{stderr}");
}

#[test]
fn a_run_on_one_machine_runs_what_it_needs() {
    let dir = tempfile::tempdir().expect("a folder");
    let state = dir.path().join("state");
    let state = state.to_str().expect("UTF-8");
    let args = ["run", "noop", "--units", "3", "--needs", NEED, "--state", state, "--format", "json"];
    for _ in 0..2 {
        let (code, stdout, stderr) = run(&args);
        assert_eq!(code, Some(0), "{stderr}");
        let report: Value = serde_json::from_str(&stdout).expect("JSON");
        assert_eq!(report["needed"][0]["sum"], "1124250");
    }
}

#[test]
fn what_is_needed_is_agreed_on_by_as_many_workers_or_the_job_is_refused() {
    let mut farm = Farm::start(0, &[]);
    let replicas = |farm: &Farm, label| named(&farm.ask(&["jobs"]), label).map(|job| job["replicas"].clone());
    // As long as there are no results, more workers can be asked.
    farm.ask(&submit("first", NEED));
    assert_eq!(replicas(&farm, "need"), Some(1.into()));
    farm.ask(&[&submit("second", NEED)[..], &["--replicas", "2"]].concat());
    assert_eq!(replicas(&farm, "need"), Some(2.into()));
    farm.kill_coordinator();
    farm.start_coordinator();
    assert_eq!(replicas(&farm, "need"), Some(2.into()));

    let small = NEED.replace("1500", "5").replace("need", "small");
    let need = ["submit", "noop", "--units", "5", "--unit-us", "1000", "--label", "small"];
    let name = farm.ask(&need)["name"].as_str().expect("a name").to_owned();
    farm.workers.resize_with(2, || None);
    (0..2).for_each(|i| farm.start_worker(i));
    farm.wait(&name);
    let third = [&submit("third", &small)[..], &["--replicas", "2"]].concat();
    let (code, _, stderr) = run(&[&third[..], &["--coordinator", &farm.url]].concat());
    assert!(code == Some(1) && stderr.contains(&name), "{stderr}");
    assert!(stderr.contains("1 of 2 workers") && stderr.contains("--fresh --replicas 2"), "{stderr}");
    assert_eq!(replicas(&farm, "third"), None, "nothing was taken in");
    // One worker is enough for who asks for no more.
    let fourth = farm.ask(&submit("fourth", &small))["name"].as_str().expect("a name").to_owned();
    farm.wait(&fourth);
    // What it says helps.
    farm.ask(&[&need[..], &["--fresh", "--replicas", "2"]].concat());
    let third = farm.ask(&third)["name"].as_str().expect("a name").to_owned();
    farm.wait(&third);
    assert_eq!(farm.ask(&["result", &third])["needed"][0]["sum"], "10");
    farm.check_ledger();
}
