//! `nonet storm`, short.

mod farm;

use farm::run;

/// Runs two storms and reads what is said of them.
fn weather(options: &[&str]) {
    let seed = farm::seed() % 1_000_000;
    let seed = seed.to_string();
    let mut args =
        vec!["storm", "recount", "--method", "search", "--shape", "2x4", "--seconds", "4", "--seed", &seed];
    args.extend(["--repeat", "2", "--format", "json"]);
    args.extend(options);
    let (code, stdout, stderr) = run(&args);
    assert_eq!(code, Some(0), "{stderr}\n{stdout}");
    assert_eq!(stdout.lines().count(), 2, "{stdout}");
    for line in stdout.lines() {
        let storm: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((&storm["lost"], &storm["doubled"]), (&"0".into(), &"0".into()), "{storm}");
        assert_eq!(
            (&storm["same_result"], &storm["faults"]),
            (&true.into(), &serde_json::json!([])),
            "{storm}"
        );
    }
}

#[test]
fn storms_over_a_ledger_in_a_folder_lose_and_double_nothing() {
    weather(&[]);
}

#[test]
fn storms_over_results_that_two_workers_agree_on_lose_and_double_nothing() {
    weather(&["--replicas", "2"]);
}

#[test]
fn storms_over_a_ledger_in_etcd_lose_and_double_nothing() {
    if farm::etcd::is_here() {
        weather(&["--on", "etcd"]);
        weather(&["--on", "etcd", "--replicas", "2"]);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (options, said) in [
        (vec!["--coordinators", "2"], "--on etcd"),
        (vec!["--seconds=-1"], "seconds"),
        (vec!["--repeat", "0"], "--repeat"),
    ] {
        let mut args = vec!["storm", "noop"];
        args.extend(options);
        let (code, _, stderr) = run(&args);
        assert!(code == Some(2) && stderr.contains(said), "{args:?}: {code:?} {stderr}");
    }
}
