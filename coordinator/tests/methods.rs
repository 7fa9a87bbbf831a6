//! Puzzles explained and methods compared, by the real binary.

mod farm;

use std::{
    fs,
    io::Write,
    process::{Child, Stdio},
};

use farm::{nonet, page::texts, run, spawn, until};
use serde_json::Value;

const EASY: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const SOLUTION: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
/// A. Inkala, "AI Escargot" (2006).
const ESCARGOT: &str = "1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3..";
const METHODS: [&str; 9] = [
    "bitslice",
    "backtrack",
    "fewest",
    "dlx",
    "crook",
    "projections",
    "projections-singles",
    "douglas-rachford",
    "annealing",
];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn an_explanation_tells_steps_guesses_and_the_solution() {
    let (code, text, stderr) = run(&["explain", EASY]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(text.starts_with("+-------+"), "{text}");
    assert!(text.contains("\n1. c(5, 3) = 6: the only place for 6 in box 4\n"), "{text}");
    assert!(text.contains("One solution, found without a guess:\n534678912\n"), "{text}");

    let (code, text, _) = run(&["explain", ESCARGOT, "--format", "json"]);
    let told = json(&text);
    assert_eq!((code, &told["solutions"], &told["all_solutions"]), (Some(0), &1.into(), &true.into()));
    let steps = told["steps"].as_array().expect("steps");
    let any = |words: &str| steps.iter().any(|step| step["text"].as_str().expect("text").contains(words));
    for words in
        ["a guess out of", "preemptive pair", "complement (hidden ", "impossible", "erased", "solution 1"]
    {
        assert!(any(words), "no {words:?} in {text}");
    }
    assert!(steps.iter().any(|step| step["colour"] == "blue" && step["guesses"] == 2), "{text}");

    // A file, a drawing on standard input, another shape, several solutions, none.
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("puzzles.csv");
    fs::write(&file, format!("puzzle,rating\n{EASY},1\n{ESCARGOT},9\n")).expect("written");
    let told = json(&run(&["explain", file.to_str().expect("UTF-8"), "--format", "json"]).1);
    assert_eq!((&told["puzzle"], &told["solution"]), (&EASY.into(), &SOLUTION.into()));
    let drawn: Vec<String> =
        EASY.as_bytes().chunks(9).map(|row| String::from_utf8_lossy(row).into_owned()).collect();
    let mut child: Child = nonet(&["explain", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    child.stdin.take().expect("piped").write_all(drawn.join("\n").as_bytes()).expect("written");
    let told = json(&String::from_utf8_lossy(&child.wait_with_output().expect("ends").stdout));
    assert_eq!(told["solution"], SOLUTION);
    let told = run(&["explain", "1.....3..2.....4"]).1;
    assert!(told.contains("| 1 . | . . |"), "{told}");
    let told = run(&["explain", "................", "--limit", "300", "--steps", "3"]).1;
    assert!(told.contains("288 solutions, found with"), "4x4 has 288 grids (E. Russell 2006): {told}");
    assert!(told.contains("more steps are not shown"), "{told}");
    // The 3 of the second row is in the other box, and the first box has no other place.
    let told = run(&["explain", "12....3........."]).1;
    assert!(told.contains("No solution: this is proved"), "{told}");
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let refused = |args: &[&str], words: &str| {
        let (code, stdout, stderr) = run(&[&["explain"], args].concat());
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{args:?}: {stderr}");
        assert!(stderr.contains(words) && stderr.lines().count() <= 6, "{args:?}: {stderr}");
    };
    refused(&["no-such-file"], "neither a file nor a puzzle");
    refused(&[&("55".to_owned() + &".".repeat(79))], "5 is given twice");
    refused(&["1,2,3,4,3,4,1,2,2,1,4,3,4,3,2,12"], "pencil marks");
    refused(&[EASY, "--shape", "0x3"], "0x3");
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    fs::write(path("empty"), "").expect("written");
    refused(&[&path("empty")], "there is no puzzle in it");
    fs::write(path("binary"), [0, 1, 2, 255]).expect("written");
    refused(&[&path("binary")], "not text");
}

#[test]
fn all_methods_are_compared_and_agree() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("some & \"puzzles\".txt").to_str().expect("UTF-8").to_owned();
    fs::write(&file, format!("{EASY}\nnonsense\n1.....3..2.....4\n{}{}\n", ".".repeat(18), &EASY[18..]))
        .expect("written");
    let args = ["compare", "--corpus", &file, "--cap", "200000", "--format"];
    let with = |format: &str| {
        let (code, stdout, stderr) = run(&[&args[..], &[format]].concat());
        assert_eq!(code, Some(0), "{stderr}");
        stdout
    };
    let report = json(&with("json"));
    let corpus = &report["corpora"][0];
    assert_eq!(
        (&corpus["puzzles"], &corpus["of"], &corpus["other_lines"]),
        (&3.into(), &3.into(), &1.into())
    );
    let methods = corpus["methods"].as_array().expect("methods");
    let names: Vec<&str> = methods.iter().map(|of| of["method"].as_str().expect("a name")).collect();
    assert_eq!(names, METHODS);
    for of in methods {
        let solutions: Vec<_> =
            of["puzzles"].as_array().expect("puzzles").iter().map(|p| &p["solutions"]).collect();
        if of["proves"] == true {
            assert_eq!(solutions, [1, 1, 2], "{of}");
            assert_eq!(of["solved"], 3, "{of}");
        } else {
            assert_eq!(solutions[..2], [1, 1], "{of}");
        }
        assert!(of["time_ns"]["median"].as_u64() > Some(0), "{of}");
    }
    let table = with("table");
    assert!(table.contains("3 of 3 puzzles (1 lines are none)"), "{table}");
    assert!(METHODS.iter().all(|name| table.contains(&format!("\n{name} "))), "{table}");
    let csv = with("csv");
    assert_eq!(csv.lines().count(), 10, "{csv}");
    let titles = texts(&with("html"), "title");
    assert_eq!(titles[..3], ["nonet compare", "Median steps a puzzle", "Median time a puzzle"]);
    assert!(
        titles.len() == 5 && titles[3].ends_with("puzzles.txt: puzzles solved within so many microseconds"),
        "{titles:?}"
    );
}

#[test]
fn what_cannot_be_compared_is_refused_and_a_long_comparison_can_be_stopped() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("puzzles.txt").to_str().expect("UTF-8").to_owned();
    fs::write(&file, "nonsense\n").expect("written");
    let (code, _, stderr) = run(&["compare", "--corpus", &file]);
    assert!(code == Some(2) && stderr.contains("no puzzle in it"), "{stderr}");
    let (code, _, stderr) = run(&["compare", "--corpus", &file, "--methods", "dlx,magic"]);
    assert!(code == Some(2) && stderr.contains("magic") && stderr.contains("douglas-rachford"), "{stderr}");
    // An impossible puzzle keeps annealing busy for years.
    let impossible = format!("12345678.{}9{}", ".".repeat(8), ".".repeat(63));
    fs::write(&file, impossible).expect("written");
    let cap = u64::MAX.to_string();
    let process = spawn(&["compare", "--corpus", &file, "--methods", "annealing", "--cap", &cap]);
    let busy = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.pid())).expect("a process");
        // User time in ticks of 1/100 s: proc(5), field 14.
        let ticks =
            stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(11)?.parse::<u64>().ok());
        ticks.expect("a number") > 20
    };
    until("it is at it", busy);
    process.signal("INT");
    assert_eq!(process.end().0, Some(130));
}
