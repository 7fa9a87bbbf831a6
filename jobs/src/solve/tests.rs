//! The kind as the machinery sees it: real files, every cut of the units, every kind of line.

use std::fs;

use serde_json::json;

use super::*;
use crate::{laws, parts::memory::Parts};

const UNIQUE: &str = "..8.95..1..6..13.5.......4..7...9..2.4.5.....8..6........12..8...4..2.6..........";
const SEVENTEEN: &str = "000000010400000000020000000000050407008000300001090000300400200050100000000806000";

fn job(files: &[&std::path::Path], limit: u32) -> Solve {
    let corpora = files.iter().map(|file| Source::typed(file.to_str().unwrap()).unwrap()).collect();
    Solve::new(Solve::prepare(SolveArgs { corpora, limit }, &Surroundings::local()).unwrap()).unwrap()
}

fn output(job: &Solve, tally: &Tally, parts: &Parts, form: Form) -> String {
    let progress = Progress { units: job.units(), done: job.units(), ..Progress::default() };
    let report = job.report(tally, &progress).unwrap();
    let mut out = Vec::new();
    job.assemble(&Finished { report: &report.json, parts, form }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_line_gets_its_row_and_wrong_ones_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mixed.csv");
    let grid = "693784512487512936125963874932651487568247391741398625319475268856129743274836159";
    let clash = "55".to_owned() + &".".repeat(79);
    let text = format!(
        "\u{feff}quizzes,rating\r\n{SEVENTEEN},9.0\r\n\r\n# a comment\r\nnonsense\r\n{clash}\r\n{grid}\r\n{}\r\n\
         1.....3..2.....4\r\n{}",
        ".".repeat(81),
        "12345678.".to_owned() + "........9" + &".".repeat(63)
    );
    fs::write(&file, text).unwrap();
    let job = job(&[&file], 3);
    let parts = Parts::default();
    let tally = laws::run_with(&job, 0..job.units(), Some(&parts));
    let objects = output(&job, &tally, &parts, Form::JsonLines);
    let objects: Vec<serde_json::Value> =
        objects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let output = output(&job, &tally, &parts, Form::Csv);
    let rows: Vec<Vec<&str>> = output.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows[0].len() == 5 && rows[1].len() == 5 && rows.len() == objects.len() + 1, "{output}");
    let verdicts: Vec<(&str, &str)> = rows[1..].iter().map(|row| (row[1], row[2])).collect();
    let expected = [
        ("unique", "1"),
        ("unreadable", ""),
        ("invalid", "0"),
        ("unique", "1"),
        ("multiple", ">=3"),
        ("unique", "1"),
        ("none", "0"),
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(
        rows[1][3],
        "693784512487512936125963874932651487568247391741398625319475268856129743274836159"
    );
    assert_eq!(rows[4][3], grid);
    assert_eq!(
        objects[0],
        json!({ "puzzle": rows[1][0], "verdict": "unique", "solutions": 1, "solution": rows[1][3] })
    );
    assert_eq!(
        objects[4],
        json!({ "puzzle": ".".repeat(81), "verdict": "multiple", "solutions": 3, "cut": true })
    );
    for (object, row) in objects.iter().zip(output.lines().skip(1)).skip(1).take(2) {
        let problem = object["problem"].as_str().unwrap();
        assert!(!problem.is_empty() && row.ends_with(&format!(",\"{problem}\"")), "{object} {row}");
    }

    let progress = Progress { units: job.units(), done: job.units(), ..Progress::default() };
    let report = job.report(&tally, &progress).unwrap();
    let wrong = &report.json["wrong_lines"];
    assert_eq!(
        (&wrong[0]["line"], &wrong[1]["line"], wrong.as_array().unwrap().len()),
        (&json!(5), &json!(6), 2)
    );
    assert!(wrong[1]["what"].as_str().unwrap().contains("row 1, column 1"), "{wrong}");
    assert_eq!((&report.json["puzzles"], &report.json["cannot_be_unique"]), (&json!("6"), &json!("2")));
    assert!(report.table.contains("line 5: 8 characters"), "{}", report.table);
}

#[test]
fn large_files_are_cut_and_put_together_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a.txt"), dir.path().join("b.txt"));
    // More than two units; rows tell where they are from by the clue that they lack.
    let rows = 2 * (1 << 20) / 82 + 1000;
    let puzzle = |row: usize| {
        let mut cells = SEVENTEEN.as_bytes().to_vec();
        let clues: Vec<usize> = (0..81).filter(|&cell| cells[cell] != b'0').collect();
        cells[clues[row % clues.len()]] = b'0';
        String::from_utf8(cells).unwrap() + "\n"
    };
    fs::write(&first, (0..rows).map(puzzle).collect::<String>()).unwrap();
    fs::write(&second, puzzle(3) + "x").unwrap();
    let job = job(&[&first, &second], 2);
    assert_eq!(job.units(), 4);
    let parts = Parts::default();
    let tally = laws::run_with(&job, 0..job.units(), Some(&parts));
    let output = output(&job, &tally, &parts, Form::Csv);
    let written: Vec<&str> = output.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(written.len(), rows + 2);
    for (row, written) in written[..rows].iter().enumerate() {
        assert_eq!(written.replace('.', "0") + "\n", puzzle(row), "row {row}");
    }
    assert_eq!(tally.wrong, [partial::Wrong { unit: 3, line: 2, what: tally.wrong[0].what.clone() }]);
    laws::splits_agree(&job, 0..4, 1..4);
}

#[test]
fn a_file_that_has_changed_is_not_solved() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.txt");
    fs::write(&file, UNIQUE).unwrap();
    let job = job(&[&file], 2);
    assert!(job.run_unit(0, &UnitContext::free()).is_ok());
    fs::write(&file, SEVENTEEN.to_owned() + "\n" + UNIQUE).unwrap();
    let error = job.run_unit(0, &UnitContext::free()).unwrap_err();
    assert!(error.to_string().contains("a.txt: the file has changed"), "{error}");
    fs::remove_file(&file).unwrap();
    assert!(job.run_unit(0, &UnitContext::free()).unwrap_err().to_string().contains("a.txt"));
}

#[test]
fn settings_and_yields_that_cannot_be_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("empty");
    fs::write(&file, "").unwrap();
    let typed = Source::typed(file.to_str().unwrap()).unwrap();
    let source = Source::look_up(vec![typed.clone()], &Surroundings::local()).unwrap().remove(0);
    assert!(Solve::new(SolveArgs { corpora: vec![], limit: 2 }).is_err());
    assert!(Solve::new(SolveArgs { corpora: vec![typed], limit: 2 }).is_err());
    assert!(Solve::new(SolveArgs { corpora: vec![source], limit: 1 }).is_err());

    fs::write(&file, UNIQUE.to_owned() + "\n?\n").unwrap();
    let job = job(&[&file], 2);
    let good = job.run_unit(0, &UnitContext::free()).unwrap();
    assert!(job.check(0..1, &good).is_ok());
    assert!(job.check(0..2, &good).is_err());
    let changes: [fn(&mut Tally); 6] = [
        |tally| tally.unique += 1,
        |tally| tally.wrong.clear(),
        |tally| tally.wrong[0].line = 3,
        |tally| tally.wrong[0].what = "x".repeat(1000),
        |tally| assert_eq!(tally.lines.insert(1, 1), None),
        |tally| tally.unreadable = u64::MAX,
    ];
    for change in changes {
        let mut bad = good.clone();
        change(&mut bad);
        assert!(job.check(0..1, &bad).is_err(), "{bad:?}");
    }
    assert!(job.merge(&mut good.clone(), good).is_err());
}
