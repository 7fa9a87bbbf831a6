//! The report: how many puzzles have how many solutions, and what is wrong with which lines.

use std::fmt::Write;

use serde_json::{Value, json};
use shared::solve::level::{Level, Technique};

use super::{Solve, args::Asked, partial::Tally, plots::plots, rows::Verdict};
use crate::kind::{Progress, Report};

/// A line with something wrong, where it is found.
struct Place {
    path: String,
    /// In the file, from 1; unknown as long as units before are missing.
    line: Option<u64>,
    what: String,
}

/// Words the report.
pub fn report(job: &Solve, tally: &Tally, progress: &Progress) -> Report {
    let wrong = places(job, tally);
    Report {
        json: json(job, tally, &wrong, progress),
        table: table(job, tally, &wrong, progress),
        csv: csv(tally),
        alarm: None,
        plots: plots(tally),
    }
}

fn places(job: &Solve, tally: &Tally) -> Vec<Place> {
    let place = |wrong: &super::partial::Wrong| {
        let (file, first) = job.corpus.file_of(wrong.unit.into());
        let before = (first..u64::from(wrong.unit)).map(|unit| {
            u32::try_from(unit).ok().and_then(|unit| tally.lines.get(&unit)).map(|&lines| u64::from(lines))
        });
        let before: Option<u64> = before.sum();
        Place {
            path: file.at.clone(),
            line: before.map(|before| before + u64::from(wrong.line)),
            what: wrong.what.clone(),
        }
    };
    tally.wrong.iter().map(place).collect()
}

pub fn by_verdict(tally: &Tally) -> impl Iterator<Item = (Verdict, u64)> {
    Verdict::ALL.into_iter().map(|verdict| (verdict, tally.with(verdict)))
}

fn json(job: &Solve, tally: &Tally, wrong: &[Place], progress: &Progress) -> Value {
    let mut json = json!({
        "complete": progress.complete(),
        "limit": job.args.limit,
        "method": job.args.method,
        "puzzles": tally.puzzles().to_string(),
        "cannot_be_unique": tally.hopeless.to_string(),
        "by_clues": tally.clues.iter().map(|(clues, count)| (clues.to_string(), json!(count.to_string()))).collect::<serde_json::Map<_, _>>(),
        "wrong_lines": wrong.iter().map(|place| json!({ "file": place.path, "line": place.line, "what": place.what })).collect::<Vec<_>>(),
        "parts": tally.parts.hex(),
    });
    if let Some(rate) = rate(tally, progress) {
        json["puzzles_per_thread_second"] = json!(rate);
        json["computing_ms"] = json!(progress.busy_us / 1000);
    }
    if Asked::of(&job.args.columns).redundant {
        json["minimal"] = json!(tally.minimal.to_string());
    }
    if Asked::of(&job.args.columns).level {
        let levels = tally.levels().map(|(level, count)| (level.to_string(), json!(count.to_string())));
        json["by_level"] = levels.collect::<serde_json::Map<_, _>>().into();
    }
    for (verdict, count) in by_verdict(tally) {
        json[verdict.word()] = json!(count.to_string());
    }
    json
}

fn table(job: &Solve, tally: &Tally, wrong: &[Place], progress: &Progress) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(words.trim_end());
        text.push('\n');
    };
    line(format!("{:>12}  puzzles", tally.puzzles()));
    for (verdict, count) in by_verdict(tally) {
        let meaning = match verdict {
            Verdict::Unique => "one solution".into(),
            Verdict::Multiple => format!("more than one (counted up to {})", job.args.limit),
            Verdict::None => "no solution".into(),
            Verdict::Invalid => "digits clash".into(),
            Verdict::Unreadable => "lines that are no puzzles".into(),
            Verdict::Unsolved | Verdict::Solved if count == 0 => continue,
            Verdict::Unsolved => format!("given up after {} guesses, nodes or iterations", job.cap()),
            Verdict::Solved => format!("solved; {} does not look for other solutions", job.args.method),
        };
        line(format!("{count:>12}  {:10}  {meaning}", verdict.word()));
    }
    if tally.hopeless > 0 {
        line(format!(
            "{:>12}  have fewer than 17 clues or lack two digits: they cannot have one solution",
            tally.hopeless
        ));
    }
    if Asked::of(&job.args.columns).redundant {
        line(format!("{:>12}  are minimal: no clue can be left out", tally.minimal));
    }
    for (level, count) in tally.levels() {
        line(format!("{count:>12}  {}", of_level(level)));
    }
    if let (Some(least), Some(most)) = (tally.clues.first_key_value(), tally.clues.last_key_value()) {
        line(format!("clues: {} to {}", least.0, most.0));
    }
    if let Some(rate) = rate(tally, progress) {
        line(format!("{rate:>12}  puzzles a second and thread, {:.1} s of computing", seconds(progress)));
    }
    if !progress.complete() {
        line(format!("unfinished: {} of {} units are done", progress.done, progress.units));
    }
    for place in wrong {
        let number = place.line.map_or("line unknown yet".into(), |line| format!("line {line}"));
        line(format!("{}, {number}: {}", place.path, place.what));
    }
    let untold =
        (tally.with(Verdict::Invalid) + tally.with(Verdict::Unreadable)).saturating_sub(wrong.len() as u64);
    if untold > 0 {
        line(format!("and {untold} lines more with something wrong"));
    }
    text
}

/// Puzzles a second of computing.
fn rate(tally: &Tally, progress: &Progress) -> Option<u64> {
    let puzzles = u128::from(tally.puzzles()) * 1_000_000;
    u64::try_from(puzzles.checked_div(progress.busy_us.into())?).ok()
}

#[allow(clippy::cast_precision_loss, reason = "for reading")]
fn seconds(progress: &Progress) -> f64 {
    progress.busy_us as f64 / 1e6
}

fn of_level(level: Level) -> String {
    match level.technique {
        Technique::Given => "are full".into(),
        Technique::Search => format!("need assumptions, {} within each other", level.depth),
        technique => format!("fall to {}", technique.name()),
    }
}

fn csv(tally: &Tally) -> String {
    let mut text = "verdict,lines\n".to_owned();
    for (verdict, count) in by_verdict(tally) {
        writeln!(text, "{},{count}", verdict.word()).expect("strings take everything");
    }
    text
}
