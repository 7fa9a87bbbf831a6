//! The output: a row for each board, and for each photograph without one.

use std::fmt::Write;

use serde_json::{Map, Value, json};
use shared::unavoidable::CellSet;

use super::record::{Board, Record, text};

/// The line with the names of columns.
pub fn header(solve: bool) -> String {
    let solution = if solve { ",solution" } else { "" };
    format!("file,number,shape,board,verdict,problem,flagged,candidates,corners,confidence{solution}\n")
}

/// The rows of a photograph as CSV. Cells are counted from 0, row by row; lists have blanks between.
pub fn csv(record: &Record, solve: bool) -> String {
    let mut rows = String::new();
    let mut row = |fields: &[String]| {
        rows.push_str(&fields.join(","));
        rows.push('\n');
    };
    for (number, board) in (1..).zip(&record.boards) {
        let mut fields = vec![
            quoted(&record.file),
            format!("{number}"),
            board.shape.to_string(),
            text(&board.cells),
            board.verdict.word().into(),
            quoted(&board.problem),
            spaced(board.flagged.iter()),
            spaced(board.candidates.iter()),
            spaced(coordinates(board).map(|number| format!("{number:.1}"))),
            spaced(board.confidence.iter().map(|&share| share_text(share))),
        ];
        if solve {
            fields.push(board.solution.as_deref().map(text).unwrap_or_default());
        }
        row(&fields);
    }
    if record.boards.is_empty() {
        let mut fields = vec![String::new(); if solve { 11 } else { 10 }];
        fields[0] = quoted(&record.file);
        fields[4] = record.outcome.word().into();
        fields[5] = quoted(record.outcome.reason().unwrap_or_default());
        row(&fields);
    }
    rows
}

/// The rows of a photograph as JSON Lines.
pub fn json(record: &Record) -> String {
    let mut rows = String::new();
    let boards = (1..).zip(&record.boards).map(|(number, board)| {
        let mut row = board_json(board);
        row.insert("file".into(), json!(record.file));
        row.insert("number".into(), json!(number));
        row
    });
    for row in boards {
        writeln!(rows, "{}", Value::Object(row)).expect("strings take everything");
    }
    if record.boards.is_empty() {
        let (verdict, problem) = (record.outcome.word(), record.outcome.reason());
        let row = json!({ "file": record.file, "verdict": verdict, "problem": problem });
        writeln!(rows, "{row}").expect("strings take everything");
    }
    rows
}

/// A board as an object.
#[must_use]
pub fn board_json(board: &Board) -> Map<String, Value> {
    let cells = |set: CellSet| set.iter().collect::<Vec<_>>();
    let confidence: Vec<f64> = board.confidence.iter().map(|&share| f64::from(share) / 1000.0).collect();
    let mut row = json!({
        "shape": board.shape,
        "board": text(&board.cells),
        "verdict": board.verdict.word(),
        "flagged": cells(board.flagged),
        "candidates": cells(board.candidates),
        "corners": corners_json(&board.corners),
        "confidence": confidence,
    });
    if !board.problem.is_empty() {
        row["problem"] = json!(board.problem);
    }
    if let Some(solution) = &board.solution {
        row["solution"] = json!(text(solution));
    }
    match row {
        Value::Object(row) => row,
        _ => Map::new(),
    }
}

/// Corners as pairs of numbers with one decimal.
pub fn corners_json(corners: &[shared::photo::reading::Point; 4]) -> Value {
    let tenths = |number: f32| (f64::from(number) * 10.0).round() / 10.0 + 0.0;
    corners.iter().map(|corner| json!([tenths(corner.x), tenths(corner.y)])).collect()
}

fn coordinates(board: &Board) -> impl Iterator<Item = f32> {
    board.corners.iter().flat_map(|corner| [corner.x, corner.y])
}

fn share_text(thousandths: u16) -> String {
    if thousandths >= 1000 { "1".into() } else { format!("0.{thousandths:03}") }
}

fn spaced(items: impl Iterator<Item = impl ToString>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}
