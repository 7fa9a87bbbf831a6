//! The comparison as a report.

use std::{fmt::Write, time::Duration};

use jobs::Report;
use serde_json::{Value, json};

use super::{
    Compared,
    measure::Runs,
    plots::plots,
    summary::{Spread, Summary, contradiction},
};
use crate::cli::format;

/// Words what was measured.
pub fn report(compared: &[Compared]) -> Report {
    let contradictions = compared.iter().filter_map(|corpus| {
        contradiction(&corpus.runs).map(|what| format!("{}: {what} of those compared", corpus.name))
    });
    Report {
        json: json!({ "corpora": compared.iter().map(json_of).collect::<Vec<_>>() }),
        table: compared.iter().map(table).collect::<Vec<_>>().join("\n"),
        csv: csv(compared),
        alarm: contradictions.into_iter().next(),
        plots: plots(compared),
    }
}

fn table(corpus: &Compared) -> String {
    let mut text = format!("{}: {} of {} puzzles", corpus.name, corpus.puzzles, corpus.of);
    if corpus.others > 0 {
        write!(text, " ({} lines are none)", corpus.others).expect("strings take everything");
    }
    let row = |of: &Runs| {
        let summary = Summary::of(of);
        let spread = |spread: Option<Spread<u64>>, of: fn(Spread<u64>) -> u64| {
            spread.map_or_else(String::new, |spread| of(spread).to_string())
        };
        [
            of.method.name().to_owned(),
            format!("{}/{}", summary.solved, corpus.puzzles),
            spread(summary.steps, |steps| steps.median),
            spread(summary.steps, |steps| steps.most),
            spread(summary.guesses, |guesses| guesses.median),
            duration(summary.time.median),
            duration(summary.time.nine_in_ten),
            duration(summary.time.most),
        ]
    };
    let head = ["METHOD", "SOLVED", "STEPS", "AT MOST", "GUESSES", "TIME", "9 IN 10", "AT MOST"];
    let rows: Vec<_> = corpus.runs.iter().map(row).collect();
    text + "\n" + &format::table(head, &rows)
}

/// Three digits and a unit.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (number, unit) = match seconds {
        0.0..1e-6 => (seconds * 1e9, "ns"),
        1e-6..1e-3 => (seconds * 1e6, "us"),
        1e-3..1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    let decimals = match number {
        0.0..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    format!("{number:.decimals$} {unit}")
}

fn csv(compared: &[Compared]) -> String {
    let mut text = "corpus,method,puzzles,solved,steps_median,steps_most,guesses_median,guesses_most,\
                    time_median_ns,time_nine_in_ten_ns,time_most_ns,time_total_ns\n"
        .to_owned();
    for corpus in compared {
        let name = format!("\"{}\"", corpus.name.replace('"', "\"\""));
        for of in &corpus.runs {
            let Summary { solved, steps, guesses, time } = Summary::of(of);
            let counts = |spread: Option<Spread<u64>>| {
                spread.map_or_else(|| ",".into(), |spread| format!("{},{}", spread.median, spread.most))
            };
            let times = [time.median, time.nine_in_ten, time.most, time.sum].map(|time| time.as_nanos());
            writeln!(
                text,
                "{name},{},{},{solved},{},{},{},{},{},{}",
                of.method,
                corpus.puzzles,
                counts(steps),
                counts(guesses),
                times[0],
                times[1],
                times[2],
                times[3]
            )
            .expect("strings take everything");
        }
    }
    text
}

fn json_of(corpus: &Compared) -> Value {
    let count = |spread: Option<Spread<u64>>| {
        spread.map(|spread| json!({ "median": spread.median, "nine_in_ten": spread.nine_in_ten, "most": spread.most }))
    };
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let method = |of: &Runs| {
        let Summary { solved, steps, guesses, time } = Summary::of(of);
        let run = |run: &super::measure::Run| {
            json!({
                "solutions": run.solutions,
                "finished": run.finished,
                "nodes": run.effort.map(|effort| effort.nodes),
                "guesses": run.effort.map(|effort| effort.guesses),
                "iterations": run.effort.map(|effort| effort.iterations),
                "time_ns": nanos(run.time),
            })
        };
        json!({
            "method": of.method,
            "about": of.method.about(),
            "proves": of.method.proves(),
            "solved": solved,
            "steps": count(steps),
            "guesses": count(guesses),
            "time_ns": {
                "median": nanos(time.median), "nine_in_ten": nanos(time.nine_in_ten), "most": nanos(time.most),
                "total": nanos(time.sum),
            },
            "puzzles": of.runs.iter().map(run).collect::<Vec<_>>(),
        })
    };
    json!({
        "corpus": corpus.name,
        "puzzles": corpus.puzzles,
        "of": corpus.of,
        "other_lines": corpus.others,
        "methods": corpus.runs.iter().map(method).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        let words = |ns| duration(Duration::from_nanos(ns));
        assert_eq!(
            [words(7), words(999), words(1000), words(12_340)],
            ["7.00 ns", "999 ns", "1.00 us", "12.3 us"]
        );
        assert_eq!([words(4_560_000), words(90_000_000_000)], ["4.56 ms", "90.0 s"]);
    }
}
