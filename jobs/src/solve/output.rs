//! The output: the rows of all parts, as CSV or as JSON Lines.

use std::io::Write;

use serde::Serialize;
use shared::grid::line;

use super::rows::{Row, Verdict};
use crate::parts::{Form, OutputError};

/// The line with the names of columns.
pub const HEADER: &[u8] = b"puzzle,verdict,solutions,solution,problem\n";

/// Turns a part into text.
///
/// # Errors
///
/// When the part is no part.
pub fn render(form: Form, limit: u32, unit: u64, mut part: &[u8]) -> Result<Vec<u8>, OutputError> {
    let mut out = Vec::with_capacity(part.len() * 5 / 2);
    while !part.is_empty() {
        let Some(row) = Row::read(&mut part) else {
            return Err(OutputError::Part(format!("part {unit} is damaged; run it again with --fresh")));
        };
        match form {
            Form::Csv => csv(&row, limit, &mut out),
            Form::JsonLines => json(&row, limit, &mut out),
        }
    }
    Ok(out)
}

fn csv(row: &Row<'_>, limit: u32, out: &mut Vec<u8>) {
    write_cells(&row.cells, out);
    out.push(b',');
    out.extend_from_slice(row.verdict.word().as_bytes());
    out.push(b',');
    match row.verdict {
        Verdict::Unique => out.push(b'1'),
        Verdict::Multiple if row.solutions < limit.into() => put(out, format_args!("{}", row.solutions)),
        Verdict::Multiple => put(out, format_args!(">={}", row.solutions)),
        Verdict::None | Verdict::Invalid => out.push(b'0'),
        Verdict::Unreadable => {}
    }
    out.push(b',');
    write_cells(&row.solution, out);
    out.push(b',');
    if !row.problem.is_empty() {
        put(out, format_args!("\"{}\"", row.problem.replace('"', "\"\"")));
    }
    out.push(b'\n');
}

/// A row as an object. Fields that say nothing are left out.
#[derive(Serialize)]
struct Fields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    puzzle: Option<String>,
    verdict: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    solutions: Option<u64>,
    /// Whether there may be more solutions than were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
}

fn json(row: &Row<'_>, limit: u32, out: &mut Vec<u8>) {
    let text = |cells: &[u8]| (!cells.is_empty()).then(|| line::text(cells));
    let fields = Fields {
        puzzle: text(&row.cells),
        verdict: row.verdict.word(),
        solutions: (row.verdict != Verdict::Unreadable).then_some(row.solutions),
        cut: (row.verdict == Verdict::Multiple).then_some(row.solutions >= limit.into()),
        solution: text(&row.solution),
        problem: (!row.problem.is_empty()).then_some(&row.problem),
    };
    serde_json::to_writer(&mut *out, &fields).expect("vectors take everything");
    out.push(b'\n');
}

fn put(out: &mut Vec<u8>, words: std::fmt::Arguments<'_>) {
    out.write_fmt(words).expect("vectors take everything");
}

fn write_cells(cells: &[u8], out: &mut Vec<u8>) {
    if cells.len() == 81 {
        out.extend(cells.iter().map(|&digit| if digit == 0 { b'.' } else { b'0' + digit }));
    } else {
        out.extend_from_slice(line::text(cells).as_bytes());
    }
}
