//! Corpora through real processes that are killed: every line once, in order.

mod farm;

use std::path::Path;

use farm::{Farm, count_parts, page::texts, run, spawn, until};

/// A puzzle with one solution, and that.
const PUZZLE: &str = "000000010400000000020000000000050407008000300001090000300400200050100000000806000";
const SOLUTION: &str = "693784512487512936125963874932651487568247391741398625319475268856129743274836159";

/// The puzzle with stacks turned about and digits renamed in one of 27 ways: line by line another one.
fn variant(number: usize, text: &str) -> String {
    let name = |digit: char| match digit.to_digit(10) {
        Some(0) | None => digit,
        Some(digit) => char::from_digit((digit - 1 + u32::try_from(number % 9).expect("small")) % 9 + 1, 10)
            .expect("a digit"),
    };
    let column = |cell: usize| cell / 9 * 9 + (cell % 9 + number / 9 % 3 * 3) % 9;
    let cells: Vec<char> = text.chars().collect();
    (0..81).map(|cell| name(cells[column(cell)])).collect()
}

/// Writes a corpus of some megabytes.
fn corpus(path: &Path, lines: usize) {
    let lines: Vec<String> = (0..lines).map(|line| variant(line, PUZZLE) + "\n").collect();
    std::fs::write(path, lines.concat()).expect("a corpus");
}

/// Every line is there once, in order, with its solution.
fn check(output: &Path, lines: usize) {
    let text = std::fs::read_to_string(output).expect("the output");
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!((rows[0], rows.len()), ("puzzle,verdict,solutions,solution,problem", lines + 1));
    let expected: Vec<String> = (0..27)
        .map(|number| {
            format!("{},unique,1,{},", variant(number, PUZZLE).replace('0', "."), variant(number, SOLUTION))
        })
        .collect();
    let wrong = rows[1..].iter().enumerate().find(|(line, row)| **row != expected[line % 27]);
    assert_eq!(wrong, None);
}

#[test]
fn a_run_that_is_killed_writes_every_line_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (input, state, out) = (path("corpus.txt"), path("state"), path("out.csv"));
    corpus(Path::new(&input), 300_000);
    let args = ["run", "solve", &input, "--state", &state, "--output", &out, "--format", "json"];
    let mut killed = spawn(&args);
    until("some parts are written", || count_parts(Path::new(&state)) > 4);
    killed.kill();
    assert!(!Path::new(&out).exists(), "the output is whole or absent");
    let (code, stdout, stderr) = run(&args);
    assert_eq!(code, Some(0), "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((&report["puzzles"], &report["unique"]), (&"300000".into(), &"300000".into()));
    check(Path::new(&out), 300_000);
    // A corpus that has changed is another job.
    corpus(Path::new(&input), 100);
    assert_eq!(run(&args).0, Some(0));
    check(Path::new(&out), 100);
    let (code, _, stderr) = run(&["run", "solve", &path("nowhere"), "--state", &state]);
    assert!(code == Some(2) && stderr.contains("nowhere"), "{stderr}");
}

#[test]
fn workers_share_a_corpus_and_one_of_them_dies() {
    let mut farm = Farm::start(2, &["--lease-ms", "20"]);
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (input, out) = (path("corpus.txt"), path("out.csv"));
    corpus(Path::new(&input), 200_000);
    let parts = farm.parts();
    let (parts, url) = (parts.to_str().expect("UTF-8").to_owned(), farm.url.clone());
    let name = farm.ask(&["submit", "solve", &input])["name"].as_str().expect("a name").to_owned();
    until("some units are done", || farm.ask(&["status", &name])["done"].as_u64() > Some(0));
    farm.kill_worker(0);
    farm.kill_coordinator();
    farm.start_coordinator();
    assert_eq!(farm.wait(&name)["state"], "finished");
    let (code, _, stderr) =
        run(&["result", &name, "--output", &out, "--parts", &parts, "--coordinator", &url]);
    assert_eq!(code, Some(0), "{stderr}");
    check(Path::new(&out), 200_000);
    farm.check_ledger();
}

#[test]
fn a_page_has_plots_of_the_report() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (input, state) = (path("<corpus> & more.txt"), path("state"));
    let puzzles: Vec<String> = (0..1200).map(|line| variant(line, PUZZLE) + "\n").collect();
    std::fs::write(&input, puzzles.concat() + SOLUTION + "\n<b>no puzzle</b>\n").expect("a corpus");
    let args = ["run", "solve", &input, "--state", &state, "--format", "html"];
    let (code, page, stderr) = run(&args);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    assert!(!page.contains("<b>") && !page.contains("<corpus>"), "what others wrote is escaped");
    assert_eq!(texts(&page, "title"), ["nonet solve", "Lines by verdict", "Puzzles by number of clues"]);
    let text = texts(&page, "text");
    for shown in ["unique", "1,201", "unreadable", "1", "1,000", "20", "80"] {
        assert!(text.iter().any(|text| text == shown), "{shown} is not in {text:?}");
    }
    let cells = texts(&page, "td");
    assert!(cells.windows(2).any(|two| two == ["unique", "1201"]), "{cells:?}");
    assert!(cells.windows(2).any(|two| two == ["17", "1200"]), "{cells:?}");
    // Answered from the ledger, all that is seen is the same; the JSON tells of the workers of the moment.
    let seen = |page: &str| page.split("<summary>JSON").next().map(str::to_owned);
    assert!(seen(&run(&args).1) == seen(&page), "another page");
}
