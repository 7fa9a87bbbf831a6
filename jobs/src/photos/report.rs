//! The report: how many photographs were read, what is doubtful, and the first boards.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{
    output::corners_json,
    partial::Tally,
    plots::plots,
    record::{Board, Record, Verdict, text},
};
use crate::{
    kind::{Progress, Report},
    page::Picture,
};

/// Boards in the table for people, the first ones.
const SHOWN_BOARDS: usize = 10;

/// Words the report.
pub fn report(tally: &Tally, progress: &Progress) -> Report {
    Report {
        json: json(tally, progress),
        table: table(tally, progress),
        csv: csv(tally),
        alarm: None,
        plots: plots(tally),
    }
}

fn by_verdict(tally: &Tally) -> impl Iterator<Item = (Verdict, u64)> {
    Verdict::ALL.into_iter().zip(tally.verdicts)
}

fn json(tally: &Tally, progress: &Progress) -> Value {
    let boards = tally.boards.iter().map(|first| {
        json!({
            "file": first.file,
            "number": u16::from(first.number) + 1,
            "shape": first.shape,
            "board": text(&first.cells),
            "verdict": first.verdict.word(),
            "flagged": first.flagged.iter().collect::<Vec<_>>(),
            "corners": corners_json(&first.corners),
        })
    });
    let failed = tally.failed.iter().map(|failed| {
        let verdict = if failed.unreadable { "unreadable" } else { "refused" };
        json!({ "file": failed.file, "verdict": verdict, "problem": failed.why })
    });
    let refused = tally.refused.iter().map(|(why, count)| (why.clone(), json!(count.to_string())));
    let verdicts =
        by_verdict(tally).map(|(verdict, count)| (verdict.word().into(), json!(count.to_string())));
    let mut json = json!({
        "complete": progress.complete(),
        "photos": tally.photos.to_string(),
        "read": tally.read.to_string(),
        "refused": tally.refused().to_string(),
        "unreadable": tally.unreadable.to_string(),
        "refused_by_reason": refused.collect::<serde_json::Map<_, _>>(),
        "boards_read": tally.boards().to_string(),
        "verdicts": verdicts.collect::<serde_json::Map<_, _>>(),
        "flagged_cells": tally.flagged_cells.to_string(),
        "candidate_cells": tally.candidate_cells.to_string(),
        "boards": boards.collect::<Vec<_>>(),
        "without_board": failed.collect::<Vec<_>>(),
        "sheet": tally.sheet().collect::<Vec<_>>(),
        "parts": tally.parts.hex(),
    });
    if let Some(ms) = (progress.busy_us / 1000).checked_div(tally.photos).filter(|_| progress.busy_us > 0) {
        json["ms_per_photo"] = json!(ms);
    }
    json
}

fn table(tally: &Tally, progress: &Progress) -> String {
    let mut table = String::new();
    let mut line = |words: String| {
        table.push_str(words.trim_end());
        table.push('\n');
    };
    line(format!("{:>8}  photographs", tally.photos));
    line(format!("{:>8}  read", tally.read));
    line(format!("{:>8}  refused", tally.refused()));
    for (why, count) in &tally.refused {
        line(format!("{count:>8}    {why}"));
    }
    line(format!("{:>8}  unreadable", tally.unreadable));
    line(format!("{:>8}  boards", tally.boards()));
    for (verdict, count) in by_verdict(tally).filter(|&(_, count)| count > 0) {
        let meaning = match verdict {
            Verdict::Unique => "one solution",
            Verdict::Multiple => "more than one",
            Verdict::None => "no solution",
            Verdict::Invalid => "digits clash",
            Verdict::Unsolved => "given up",
        };
        line(format!("{count:>8}    {verdict:10}  {meaning}"));
    }
    line(format!("{:>8}  doubtful cells", tally.flagged_cells));
    if let Some(ms) = (progress.busy_us / 1000).checked_div(tally.photos).filter(|_| progress.busy_us > 0) {
        line(format!("{ms:>8}  ms of computing a photograph"));
    }
    if !progress.complete() {
        line(format!("unfinished: {} of {} photographs are done", progress.done, progress.units));
    }
    for first in tally.boards.iter().take(SHOWN_BOARDS) {
        let flagged = match first.flagged.len() {
            0 => String::new(),
            1 => ", 1 doubtful cell".into(),
            cells => format!(", {cells} doubtful cells"),
        };
        line(format!("{}: {} ({}{flagged})", first.file, text(&first.cells), first.verdict));
    }
    let more = tally.boards().saturating_sub(tally.boards.len().min(SHOWN_BOARDS) as u64);
    if more > 0 {
        line(format!("and {more} boards more"));
    }
    for failed in &tally.failed {
        line(format!("{}: {}", failed.file, failed.why));
    }
    let more = (tally.unreadable + tally.refused()).saturating_sub(tally.failed.len() as u64);
    if more > 0 {
        line(format!("and {more} photographs more without a board"));
    }
    table
}

fn csv(tally: &Tally) -> String {
    let mut csv = "outcome,photographs\n".to_owned();
    for (outcome, count) in
        [("read", tally.read), ("refused", tally.refused()), ("unreadable", tally.unreadable)]
    {
        writeln!(csv, "{outcome},{count}").expect("strings take everything");
    }
    csv
}

/// A photograph on the sheet.
pub fn picture(record: Record) -> Picture {
    let boards = record.boards.iter().map(|board: &Board| {
        let flagged = board.flagged.len();
        format!("\n{}, {flagged} doubtful", board.verdict)
    });
    let why = record.outcome.reason().map(|why| format!("\n{}: {why}", record.outcome.word()));
    let caption = record.file.clone() + &boards.collect::<String>() + &why.unwrap_or_default();
    Picture { caption, jpeg: record.thumbnail }
}
