//! The kind as the machinery sees it: real files, every cut of the units, every kind of line.

mod methods;
mod notations;

use std::{fs, path::Path};

use serde_json::json;
use shared::grid::Shape;

use super::{args::Column, method::Method, *};
use crate::{laws, parts::memory::Parts};

const UNIQUE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const SEVENTEEN: &str = "000000010400000000020000000000050407008000300001090000300400200050100000000806000";

fn typed(files: &[&Path], limit: u32) -> SolveArgs {
    let corpora = files.iter().map(|file| Source::typed(file.to_str().unwrap()).unwrap()).collect();
    let columns = Column::USUAL.to_vec();
    SolveArgs {
        corpora,
        layouts: vec![],
        limit,
        shape: None,
        columns,
        method: Method::Bitslice,
        seed: 1,
        cap: Some(1000),
    }
}

fn args(files: &[&Path], limit: u32) -> SolveArgs {
    Solve::prepare(typed(files, limit), &Surroundings::local()).unwrap()
}

fn job(files: &[&Path], limit: u32) -> Solve {
    Solve::new(args(files, limit)).unwrap()
}

fn output(job: &Solve, tally: &Tally, parts: &Parts, form: Form) -> String {
    String::from_utf8(output_bytes(job, tally, parts, form)).unwrap()
}

fn output_bytes(job: &Solve, tally: &Tally, parts: &Parts, form: Form) -> Vec<u8> {
    let progress = Progress { units: job.units(), done: job.units(), ..Progress::default() };
    let report = job.report(tally, &progress).unwrap();
    let mut out = Vec::new();
    job.assemble(&Finished { report: &report.json, parts, form }, &mut out).unwrap();
    out
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
        json!({
            "puzzle": ".".repeat(81), "verdict": "multiple", "solutions": 3, "cut": true,
            "problem": "fewer than 17 clues: there cannot be one solution"
        })
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
    assert!(report.table.contains("line 5: field 1: 8 characters"), "{}", report.table);
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

fn file_of(args: &mut SolveArgs) -> &mut File {
    match &mut args.corpora[0] {
        Source::Found(files) => &mut files.files[0],
        Source::Typed(text) => panic!("{text} was not looked up"),
    }
}

#[test]
fn settings_and_yields_that_cannot_be_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("empty");
    fs::write(&file, "").unwrap();
    let changes: [fn(&mut SolveArgs); 8] = [
        |args| args.corpora.clear(),
        |args| args.layouts.clear(),
        |args| args.limit = 1,
        |args| args.cap = Some(0),
        |args| args.columns.clear(),
        |args| args.columns.push(Column::Puzzle),
        |args| file_of(args).at = "here".into(),
        |args| {
            args.layouts[0] = Layout::Blocks;
            file_of(args).stored_bytes = 1 << 30;
        },
    ];
    for change in changes {
        let mut args = args(&[&file], 2);
        change(&mut args);
        assert!(Solve::new(args).is_err());
    }

    fs::write(&file, UNIQUE.to_owned() + "\n?\n").unwrap();
    let job = job(&[&file], 2);
    let good = job.run_unit(0, &UnitContext::free()).unwrap();
    assert!(job.check(0..1, &good).is_ok());
    assert!(job.check(0..2, &good).is_err());
    let changes: [fn(&mut Tally); 6] = [
        |tally| tally.verdicts[0] += 1,
        |tally| tally.wrong.clear(),
        |tally| tally.wrong[0].line = 3,
        |tally| tally.wrong[0].what = "x".repeat(1000),
        |tally| assert_eq!(tally.lines.insert(1, 1), None),
        |tally| tally.verdicts[4] = u64::MAX,
    ];
    for change in changes {
        let mut bad = good.clone();
        change(&mut bad);
        assert!(job.check(0..1, &bad).is_err(), "{bad:?}");
    }
    assert!(job.merge(&mut good.clone(), good).is_err());
}

/// The rows of a file in CSV, without the names.
fn rows(job: &Solve) -> (Vec<String>, Tally) {
    let parts = Parts::default();
    let tally = laws::run_with(job, 0..job.units(), Some(&parts));
    let output = output(job, &tally, &parts, Form::Csv);
    (output.lines().skip(1).map(str::to_owned).collect(), tally)
}

/// Rows of a file with this text, with some columns.
fn rows_of(text: &str, columns: &[Column]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("puzzles");
    fs::write(&file, text).unwrap();
    rows(&Solve::new(SolveArgs { columns: columns.to_vec(), ..args(&[&file], 2) }).unwrap()).0
}

#[test]
fn large_shapes_are_solved_or_given_up() {
    let regular = |shape: Shape| -> Vec<u8> {
        let side = shape.side();
        let digit = |cell: usize| {
            let (row, column) = (cell / side, cell % side);
            (shape.columns() * (row % shape.rows()) + row / shape.rows() + column) % side + 1
        };
        (0..side * side).map(|cell| u8::try_from(digit(cell)).unwrap()).collect()
    };
    for (rows, columns) in [(2, 2), (2, 3), (2, 4), (2, 5), (3, 4), (3, 5), (4, 4), (4, 5), (5, 5)] {
        let shape = Shape::new(rows, columns).unwrap();
        let grid = regular(shape);
        let mut puzzle = grid.clone();
        puzzle[0] = 0;
        puzzle[shape.side() + 1] = 0;
        let written = |cells: &[u8]| shared::grid::notation::text(shape, cells);
        let rows = rows_of(&written(&puzzle), &Column::USUAL);
        assert_eq!(rows, [format!("{},unique,1,{},", written(&puzzle), written(&grid))]);
    }
    // Two clues of 625: no proof within one guess that there are several solutions.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("large");
    fs::write(&file, "A".to_owned() + &".".repeat(623) + "B\n").unwrap();
    let job = Solve::new(SolveArgs { cap: Some(1), ..args(&[&file], 2) }).unwrap();
    let (rows, tally) = rows(&job);
    assert!(rows[0].contains(",unsolved,>=0,,"), "{rows:?}");
    assert_eq!((tally.with(rows::Verdict::Unsolved), tally.puzzles()), (1, 1));
}

#[test]
fn clues_that_can_be_left_out_are_found_by_leaving_them_out() {
    use shared::solve::reference;
    let columns = [Column::Puzzle, Column::Clues, Column::Minimal, Column::Redundant];
    let grid = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
    // One with redundant clues: the puzzle and some cells of its solution.
    let more: String =
        (0..81).map(|cell| if cell % 7 == 0 { &grid[cell..=cell] } else { &UNIQUE[cell..=cell] }).collect();
    let small = "1.....3..2.....4\n1...34...2...1.4";
    let nines = format!("{SEVENTEEN}\n{UNIQUE}\n{more}\n{}\n", ".".repeat(81));
    let rows = [rows_of(&nines, &columns), rows_of(small, &columns)].concat();
    let mut minimal = 0;
    for row in &rows {
        let [puzzle, clues, is_minimal, redundant] = row.split(',').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let side = if puzzle.len() == 81 { 9 } else { 4 };
        let shape = if side == 9 { Shape::NINE } else { Shape::FOUR };
        let digits: Vec<u8> = puzzle.bytes().map(|byte| if byte == b'.' { 0 } else { byte - b'0' }).collect();
        assert_eq!(clues, digits.iter().filter(|&&digit| digit > 0).count().to_string());
        let solutions = |digits: &[u8]| reference::solve(shape, digits, 2).unwrap().solutions;
        if solutions(&digits) != 1 {
            assert_eq!((is_minimal, redundant), ("", ""), "{row}");
            continue;
        }
        let can_go = |&cell: &usize| {
            let mut less = digits.clone();
            less[cell] = 0;
            digits[cell] > 0 && solutions(&less) == 1
        };
        let expected: Vec<String> = (0..digits.len())
            .filter(can_go)
            .map(|cell| format!("r{}c{}", cell / side + 1, cell % side + 1))
            .collect();
        assert_eq!(
            (is_minimal, redundant),
            (&*expected.is_empty().to_string(), &*expected.join(" ")),
            "{row}"
        );
        minimal += usize::from(expected.is_empty());
    }
    assert!(minimal >= 2 && minimal + 2 <= rows.len(), "both kinds are among them: {rows:?}");
}

#[test]
fn puzzles_that_look_alike_are_in_one_group() {
    let columns = [Column::Group, Column::Minlex, Column::Automorphisms];
    // Renamed, and with bands 2 and 3 and columns 1 and 2 changed.
    let renamed: Vec<char> = SEVENTEEN
        .chars()
        .map(|c| c.to_digit(10).filter(|&d| d > 0).map_or('0', |d| char::from_digit(10 - d, 10).unwrap()))
        .collect();
    let cell = |at: usize| {
        let (row, column) = (at / 9, at % 9);
        let row = if row < 3 { row } else { 9 - 3 * (row / 3) + row % 3 };
        let column = [1, 0, 2, 3, 4, 5, 6, 7, 8][column];
        renamed[9 * row + column]
    };
    let alike: String = (0..81).map(cell).collect();
    let rows = rows_of(&format!("{SEVENTEEN}\n{UNIQUE}\n{alike}\n"), &columns);
    assert_eq!(rows[0], rows[2]);
    assert_ne!(rows[0].split(',').next(), rows[1].split(',').next());
    let group = rows[0].split(',').next().unwrap();
    assert!(group.len() == 16 && group.bytes().all(|byte| byte.is_ascii_hexdigit()), "{group}");
    let small = rows_of("1.....3..2.....4\n..1..4..3......2\n", &columns);
    assert!(small.iter().all(|row| row.split(',').nth(2).unwrap().parse::<u32>().unwrap() >= 1), "{small:?}");
}

#[test]
fn files_that_hold_no_puzzles_are_refused_or_said_to_be_empty() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(rows(&job(&[&file], 2)).0, Vec::<String>::new());
    fs::write(&file, b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\0").unwrap();
    let refused = Solve::prepare(typed(&[&file], 2), &Surroundings::local()).unwrap_err().to_string();
    assert!(refused.contains("file: ") && refused.contains("PNG"), "{refused}");
    // Lines that never end cost a row each, and nothing else.
    fs::write(&file, format!("{}\n{UNIQUE}\n{}", "1".repeat(100_000), "2".repeat(100_000))).unwrap();
    let verdicts = |row: &String| row.split(',').nth(1).map(str::to_owned);
    let verdicts: Vec<_> = rows(&job(&[&file], 2)).0.iter().filter_map(verdicts).collect();
    assert_eq!(verdicts, ["unreadable", "unique", "unreadable"]);
}

#[test]
fn parquet_has_what_csv_has() {
    use ::parquet::file::{reader::FileReader, serialized_reader::SerializedFileReader};
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("puzzles");
    let clash = "55".to_owned() + &".".repeat(79);
    fs::write(&file, format!("{SEVENTEEN}\nno\n{UNIQUE}\n{clash}\n{}\n1.....3..2.....4\n", ".".repeat(81)))
        .unwrap();
    let columns = <Column as clap::ValueEnum>::value_variants().to_vec();
    let job = Solve::new(SolveArgs { columns: columns.clone(), ..args(&[&file], 2) }).unwrap();
    let parts = Parts::default();
    let tally = laws::run_with(&job, 0..job.units(), Some(&parts));
    let csv = output(&job, &tally, &parts, Form::Csv);
    let parquet = output_bytes(&job, &tally, &parts, Form::Parquet);
    let reader = SerializedFileReader::new(bytes::Bytes::from(parquet)).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let mut cut = false;
        let mut values = Vec::new();
        for (name, value) in row.unwrap().get_column_iter() {
            let text = match value {
                ::parquet::record::Field::Null => String::new(),
                ::parquet::record::Field::Str(text) if name == "problem" => format!("\"{text}\""),
                other => other.to_string().trim_matches('"').to_owned(),
            };
            if name == "cut" {
                cut = text == "true";
            } else {
                values.push((name.clone(), text));
            }
        }
        let value = |(name, text)| if cut && name == "solutions" { format!(">={text}") } else { text };
        values.into_iter().map(value).collect::<Vec<_>>().join(",")
    });
    let rows: Vec<String> = rows.collect();
    assert_eq!(rows, csv.lines().skip(1).collect::<Vec<_>>());
    assert_eq!(rows.len(), 6);
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    assert_eq!(csv.lines().next(), Some(&*names.join(",")));
}
