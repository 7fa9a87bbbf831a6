//! The report of a sample: minimal puzzles of 9x9 by number of clues, each with its error, beside what is published.

use std::io;

use serde_json::{Map, Value, json};
use shared::{
    literature::{MINIMAL_3X3, MINIMAL_SHARES_3X3},
    unavoidable::{draw::GRIDS, sample::Estimate},
};

use super::sample::Sample;
use crate::{
    kind::{Progress, Report},
    parts::OutputError,
    plot::{Axis, Curve, Marks, Plot},
};

/// An estimate of which a single population makes more than this is called unsure.
const SHARE_OF_ONE: f64 = 0.1;
/// 9! * 3,359,232: renamings of the digits times symmetries of the cells. A puzzle that is its own image under some of
/// them is so rare that it does not matter here.
const IMAGES: f64 = 362_880.0 * 3_359_232.0;

/// Words the report.
pub fn report(job: &Sample, estimate: &Estimate, progress: &Progress) -> Report {
    let rows: Vec<Row> = estimate.clues().map(|clues| Row::of(estimate, clues)).collect();
    let json = json(job, estimate, &rows, progress);
    Report {
        table: table(job, estimate, &rows, progress),
        csv: csv(&json),
        plots: plot(&rows).into_iter().collect(),
        alarm: None,
        json,
    }
}

/// A number, and its standard error.
#[derive(Clone, Copy)]
struct Number {
    mean: f64,
    error: f64,
}

impl Number {
    /// Of all grids, from the mean over them.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    fn of_all((mean, error): (f64, f64)) -> Self {
        let grids = GRIDS as f64;
        Self { mean: mean * grids, error: error * grids }
    }

    /// A share.
    fn share((mean, error): (f64, f64)) -> Self {
        Self { mean, error }
    }

    fn scaled(self, factor: f64) -> Self {
        Self { mean: self.mean * factor, error: self.error * factor }
    }

    /// JSON has no infinity: the error of a single population is null.
    fn json(self) -> Value {
        json!({ "estimate": self.mean, "standard_error": self.error })
    }

    /// As 3.102e37 +- 2.1 %.
    fn words(self) -> [String; 2] {
        [format!("{:.3e}", self.mean), percent(self.error / self.mean)]
    }
}

fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.3} %", 100.0 * share) } else { "unknown".into() }
}

/// Puzzles with a number of clues.
struct Row {
    clues: usize,
    puzzles: Number,
    /// Of all minimal puzzles, from 0 to 1.
    share: Number,
    /// In per cent.
    published: Option<f64>,
    /// Whether a single population makes much of it.
    unsure: bool,
}

impl Row {
    fn of(estimate: &Estimate, clues: usize) -> Self {
        let published = MINIMAL_SHARES_3X3.iter().find(|(of, _)| *of == clues).map(|(_, percent)| *percent);
        Self {
            clues,
            puzzles: Number::of_all(estimate.with_clues(clues)),
            share: Number::share(estimate.share(clues)),
            published,
            unsure: estimate.largest_share(clues) > SHARE_OF_ONE,
        }
    }
}

fn json(job: &Sample, estimate: &Estimate, rows: &[Row], progress: &Progress) -> Value {
    let total = Number::of_all(estimate.total());
    let by_clues = rows.iter().map(|row| {
        let of_clues = json!({
            "minimal_puzzles": row.puzzles.json(),
            "essentially_different": row.puzzles.scaled(1.0 / IMAGES).json(),
            "share_percent": 100.0 * row.share.mean,
            "share_standard_error_percent": 100.0 * row.share.error,
            "published_share_percent": row.published,
            "unsure": row.unsure,
        });
        (row.clues.to_string(), of_clues)
    });
    json!({
        "complete": progress.complete(),
        "shape": "3x3",
        "seed": job.seed.to_string(),
        "most_clues": job.plan.clues.to_string(),
        "populations": estimate.populations().to_string(),
        "minimal_puzzles": total.json(),
        "up_to_relabelling": total.scaled(1.0 / 362_880.0).json(),
        "essentially_different": total.scaled(1.0 / IMAGES).json(),
        "minimal_puzzles_of_a_grid": {
            "estimate": estimate.total().0,
            "standard_error": estimate.total().1,
        },
        "largest_share_of_a_population": estimate.largest_share_of_total(),
        "published": { "minimal_puzzles": MINIMAL_3X3.digits, "source": MINIMAL_3X3.source },
        "by_clues": by_clues.collect::<Map<_, _>>(),
    })
}

/// What the output has, too.
fn csv(json: &Value) -> String {
    let mut text = "clues,minimal_puzzles,standard_error,essentially_different,standard_error_different,\
        share_percent,share_standard_error_percent,published_share_percent\n"
        .to_owned();
    for (clues, of_clues) in json["by_clues"].as_object().into_iter().flatten() {
        let (all, different) = (&of_clues["minimal_puzzles"], &of_clues["essentially_different"]);
        let columns = [
            &all["estimate"],
            &all["standard_error"],
            &different["estimate"],
            &different["standard_error"],
            &of_clues["share_percent"],
            &of_clues["share_standard_error_percent"],
            &of_clues["published_share_percent"],
        ];
        let columns = columns.map(|value| if value.is_null() { String::new() } else { value.to_string() });
        text.push_str(&format!("{clues},{}\n", columns.join(",")));
    }
    text
}

/// Writes the estimates as CSV.
pub fn assemble(json: &Value, out: &mut (dyn io::Write + Send)) -> Result<(), OutputError> {
    Ok(out.write_all(csv(json).as_bytes())?)
}

fn table(job: &Sample, estimate: &Estimate, rows: &[Row], progress: &Progress) -> String {
    let mut text = String::new();
    let mut line = |cells: [String; 7]| {
        let [clues, puzzles, error, different, share, share_error, published] = cells;
        let words = format!(
            "{clues:>5}  {puzzles:>15}  {error:>14}  {different:>10}  {share:>12}  {share_error:>12}  {published:>12}"
        );
        text.push_str(words.trim_end());
        text.push('\n');
    };
    let head = ["clues", "minimal puzzles", "standard error", "different", "share", "its error", "published"];
    line(head.map(str::to_owned));
    for row in rows {
        let [puzzles, error] = row.puzzles.words();
        let [different, _] = row.puzzles.scaled(1.0 / IMAGES).words();
        let published = row.published.map(|percent| format!("{percent} %")).unwrap_or_default();
        let share = format!("{} %", significant(100.0 * row.share.mean));
        let share_error = percent(row.share.error / row.share.mean);
        let clues = marked(row.unsure, &row.clues.to_string());
        line([clues, puzzles, error, different, share, share_error, published]);
    }
    if estimate.populations() > 0 {
        let total = Number::of_all(estimate.total());
        let ([puzzles, error], [different, _]) = (total.words(), total.scaled(1.0 / IMAGES).words());
        let all = marked(estimate.largest_share_of_total() > SHARE_OF_ONE, "all");
        line([all, puzzles, error, different, String::new(), String::new(), String::new()]);
    }
    let mut say = |words: String| text.push_str(&(words + "\n"));
    say(String::new());
    say(format!("published: {} ({})", MINIMAL_3X3.digits, MINIMAL_3X3.source));
    let (populations, clues, seed) = (estimate.populations(), job.plan.clues, job.seed);
    say(format!(
        "{populations} populations from {clues} clues on, seed {seed}; different: up to all symmetries"
    ));
    if rows.iter().any(|row| row.unsure) || estimate.largest_share_of_total() > SHARE_OF_ONE {
        let much = 100.0 * SHARE_OF_ONE;
        say(format!(
            "? one population makes more than {much} % of it: take neither it nor its error as known"
        ));
    }
    if !progress.complete() {
        say(format!("unfinished: {} of {} populations are done", progress.done, progress.units));
    }
    text
}

/// The head of a row.
fn marked(unsure: bool, head: &str) -> String {
    if unsure { format!("? {head}") } else { head.into() }
}

/// With four digits or so.
fn significant(number: f64) -> String {
    if number >= 0.001 {
        let digits = if number >= 10.0 {
            2
        } else if number >= 1.0 {
            3
        } else {
            5
        };
        return format!("{number:.digits$}");
    }
    format!("{number:.2e}")
}

fn plot(rows: &[Row]) -> Option<Plot> {
    let with = |name: &str, of: &dyn Fn(&Row) -> Option<f64>| {
        #[allow(clippy::cast_precision_loss, reason = "at most 81")]
        let points = rows.iter().filter_map(|row| Some((row.clues as f64, of(row)?))).collect();
        Curve { name: name.into(), points }
    };
    let curves = vec![
        with("estimate", &|row| Some(100.0 * row.share.mean)),
        with("two standard errors more", &|row| away(row, 2.0)),
        with("two standard errors less", &|row| away(row, -2.0)),
        with("published", &|row| row.published),
    ];
    (!rows.is_empty()).then(|| Plot {
        title: "Minimal puzzles of 9x9 by number of clues".into(),
        caption: "Per cent of all, estimated and published.".into(),
        x: Axis::linear("clues"),
        y: Axis::log("per cent"),
        marks: Marks::Lines(curves),
    })
}

/// The share so many standard errors away, in per cent; of nothing there is none.
fn away(row: &Row, errors: f64) -> Option<f64> {
    let share = 100.0 * (row.share.mean + errors * row.share.error);
    (share.is_finite() && share > 0.0).then_some(share)
}
