//! Whole runs that are measured: that they come to their end, on both ledgers, small as they are here. With one unit a lease
//! the coordinator has as much to write as it can ask for.

mod farm;

use farm::{etcd, run};

fn measures(args: &[&str], lines: &[&str]) {
    let (code, said, trouble) = run(args);
    assert_eq!(code, Some(0), "{args:?}: {said}{trouble}");
    for line in lines {
        assert!(said.contains(line), "{args:?} says nothing of {line:?}: {said}");
    }
}

const RESUMED: &[&str] = &["submitted", "listens again", "more units are done", "memory of the coordinator"];

#[test]
fn on_a_ledger_in_a_folder() {
    measures(&["bench", "machinery", "--units", "20000"], &["units/s", "CPU us/unit"]);
    measures(&["bench", "resume", "--units", "40000"], RESUMED);
    measures(
        &["bench", "swarm", "--workers", "200", "--seconds", "1"],
        &["all back after SIGKILL, 200 workers"],
    );
}

#[test]
fn on_a_ledger_in_etcd() {
    if etcd::is_here() {
        measures(&["bench", "machinery", "--units", "20000", "--on", "etcd"], &["units/s", "CPU us/unit"]);
        measures(&["bench", "resume", "--units", "40000", "--on", "etcd"], RESUMED);
    }
}
