//! The search of a grid for puzzles of 17 clues, by a run that is killed inside it.

mod farm;

use std::path::Path;

use farm::{count_parts, run, spawn, until};

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
