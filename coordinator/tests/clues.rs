//! Searches for puzzles with few clues, and estimates of how many there are, killed inside a grid or a sample.

mod farm;

use std::path::Path;

use farm::{Farm, count_parts, run, spawn, until};

/// A grid with one puzzle of 17 clues, and that.
const GRID: &str = "693784512487512936125963874932651487568247391741398625319475268856129743274836159";
const PUZZLE: &str = ".......1.4.........2...........5.4.7..8...3....1.9....3..4..2...5.1........8.6...";

#[test]
fn a_grid_gives_its_puzzle_though_the_search_is_killed() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (state, out, input) = (path("state"), path("puzzles.txt"), path("grids.txt"));
    std::fs::write(&input, format!("{GRID}\n")).expect("a file");
    let args = ["run", "hitting", &input, "--clues", "17", "--state", &state, "-o", &out, "--format", "json"];
    let mut killed = spawn(&args);
    until("some parts are written", || count_parts(Path::new(&state)) > 2);
    killed.kill();
    let (code, stdout, stderr) = run(&args);
    assert_eq!(code, Some(0), "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(report["puzzles"], serde_json::json!([PUZZLE]));
    assert_eq!((&report["grids_with_puzzles"], &report["complete"]), (&"1".into(), &true.into()));
    assert_eq!(std::fs::read_to_string(&out).expect("the output"), format!("{PUZZLE}\n"));

    std::fs::write(&input, format!("{GRID}\n{}\n", GRID.replace('6', "5"))).expect("a file");
    let (code, _, stderr) = run(&["run", "hitting", &input, "--state", &state]);
    assert!(code == Some(2) && stderr.contains("line 2"), "{stderr}");
}

/// Two workers share one grid; one of them is killed in it, and then the coordinator.
#[test]
fn workers_share_a_grid_and_are_killed_in_it() {
    let mut farm = Farm::start(2, &["--lease-ms", "200", "--silence-ms", "1000"]);
    let dir = tempfile::tempdir().expect("a folder");
    let input = dir.path().join("grids.txt").to_str().expect("UTF-8").to_owned();
    std::fs::write(&input, format!("{GRID}\n")).expect("a file");
    farm.ask(&["submit", "hitting", &input, "--clues", "17"]);
    let done = |farm: &Farm| farm.ask(&["status", "hitting"])["done"].as_u64().expect("a number");
    let mut before = 0;
    until("some of the grid is done", || {
        before = done(&farm);
        before > 0
    });
    farm.kill_worker(0);
    farm.start_worker(0);
    until("more of it is done", || done(&farm) > before);
    farm.kill_coordinator();
    farm.start_coordinator();
    assert_eq!(farm.wait("hitting")["state"], "finished", "{}", farm.log());
    let result = farm.ask(&["result", "hitting"]);
    assert_eq!(result["puzzles"], serde_json::json!([PUZZLE]));
    farm.check_ledger();
}

/// Whoever makes the populations: the sums are the same to the last digit.
#[test]
fn a_sample_by_a_farm_under_kills_is_that_of_one_process() {
    let dir = tempfile::tempdir().expect("a folder");
    let state = dir.path().join("state").to_str().expect("UTF-8").to_owned();
    let sample = ["minimal", "--sample", "24", "--seed", "7"];
    let (code, stdout, stderr) =
        run(&[&["run"], &sample[..], &["--state", &state, "--format", "json"]].concat());
    assert_eq!(code, Some(0), "{stderr}");
    let alone: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    let mut farm = Farm::start(2, &["--lease-ms", "200", "--silence-ms", "1000"]);
    farm.ask(&[&["submit"], &sample[..]].concat());
    until("some of it is done", || farm.ask(&["status", "minimal"])["done"] != 0);
    farm.kill_worker(1);
    farm.start_worker(1);
    farm.kill_coordinator();
    farm.start_coordinator();
    assert_eq!(farm.wait("minimal")["state"], "finished", "{}", farm.log());
    let together = farm.ask(&["result", "minimal"]);
    for key in ["populations", "minimal_puzzles", "by_clues", "largest_share_of_a_population"] {
        assert_eq!(together[key], alone[key], "{key}");
    }
    assert_eq!(together["populations"], "24");
    farm.check_ledger();
}
