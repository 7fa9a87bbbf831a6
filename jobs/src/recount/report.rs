//! The report: classes or completion numbers, the total beside the published one, and numbers to compare it with.

use std::fmt::Write;

use serde_json::{Value, json};
use shared::{
    count::{AuditCount, ClassCount, Classes, Comparison, Exact, compare},
    grid::Shape,
    literature,
};

use super::{ClassPartial, Engine, Method, Partial, Recount};
use crate::kind::{BadPartial, Progress, Report};

/// What a partial amounts to.
struct Found {
    /// The key of the main table in JSON, its headings there, and its lines.
    key: &'static str,
    headings: [&'static str; 3],
    lines: Vec<[String; 3]>,
    /// Grids accounted for, and fillings of the first band once its first box is filled.
    total: Exact,
    fillings: Exact,
    /// What the number of lines should be read as.
    summary: String,
}

/// Words the report.
pub fn report(job: &Recount, partial: &Partial, progress: &Progress) -> Result<Report, BadPartial> {
    let found = match (partial, &job.engine, job.classes()) {
        (Partial::Classes(list), _, Some((classes, choices))) => of_classes(list, classes, choices)?,
        (Partial::Choices(list), Engine::Audit(audit), None) => {
            of_choices(list, job.fillings, audit.total(list))
        }
        _ => return Err(BadPartial("the partial belongs to another method".into())),
    };
    let shape = job.shape;
    let published = literature::grids(shape);
    let agrees = published.filter(|_| progress.complete()).map(|number| number.value() == found.total);
    let comparison = Comparison::new(shape);
    let table = table(job, &found, progress, published.as_ref(), agrees, &comparison);
    Ok(Report {
        json: json!({
            "shape": shape.to_string(),
            "method": method(job.method()),
            "fillings": job.fillings,
            "complete": progress.complete(),
            "total": found.total.to_string(),
            "published": published.map(|number| json!({
                "total": number.value().to_string(), "what": number.what, "source": number.source,
            })),
            "agrees": agrees,
            found.key: lines_as_json(&found),
            "comparisons": comparisons(shape, progress.complete().then_some(&found.total), &comparison),
        }),
        table,
        csv: csv(&found),
        alarm: alarm(shape, &found, progress, agrees),
        plots: Vec::new(),
    })
}

/// Finished classes only: what a class lacks can be any number.
fn of_classes(list: &[ClassPartial], classes: &Classes, choices: u64) -> Result<Found, BadPartial> {
    let finished = list.iter().filter(|count| count.units == choices);
    let counts: Vec<ClassCount> = finished
        .map(|&ClassPartial { class, bands, completions, .. }| ClassCount { class, bands, completions })
        .collect();
    let wrong = |error: &dyn std::error::Error| BadPartial(error.to_string());
    let mut lines = Vec::with_capacity(counts.len());
    let mut fillings = Exact::default();
    for count in &counts {
        let class = count.class as usize;
        if class >= classes.len() {
            return Err(BadPartial(format!("there is no class {class}")));
        }
        let of_class = classes.fillings(class, count.bands).map_err(|error| wrong(&error))?;
        lines.push([classes.representative(class), of_class.to_string(), count.completions.to_string()]);
        fillings = fillings.plus(&of_class);
    }
    Ok(Found {
        key: "classes",
        headings: ["representative", "fillings", "completions"],
        total: classes.total(&counts).map_err(|error| wrong(&error))?,
        fillings,
        summary: format!("{} of {} classes", lines.len(), classes.len()),
        lines,
    })
}

fn of_choices(list: &[AuditCount], fillings: bool, total: Exact) -> Found {
    let lines = list
        .iter()
        .map(|count| [count.completions.to_string(), count.choices.to_string(), count.fillings.to_string()]);
    let choices: u128 = list.iter().map(|count| u128::from(count.choices)).sum();
    let what = if fillings { "fillings of the first band" } else { "choices of column sets" };
    Found {
        key: "completions",
        headings: ["completions", if fillings { "bands" } else { "column_sets" }, "fillings"],
        lines: lines.collect(),
        total,
        fillings: list.iter().map(|count| Exact::from(count.fillings)).sum(),
        summary: format!("{choices} {what}, with {} different numbers of completions", list.len()),
    }
}

/// What is wrong with a complete result.
fn alarm(shape: Shape, found: &Found, progress: &Progress, agrees: Option<bool>) -> Option<String> {
    if !progress.complete() {
        return None;
    }
    if agrees == Some(false) {
        return Some(format!("the total {} is not the published one", found.total.grouped()));
    }
    // Fillings of the first band, counted by another formula. 2xC is counted on its side.
    let upright = shape.counted().unwrap_or(shape);
    let band = if upright == Shape::NINE { upright } else { upright.transposed() };
    let fillings = found.fillings.times(&Exact::factorial(shape.side() as u64));
    let expected = compare::bands(band);
    (fillings != expected).then(|| {
        format!("{} fillings of the first band, but there are {}", fillings.grouped(), expected.grouped())
    })
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Gangster => "gangster",
        Method::Search => "search",
        Method::Audit => "audit",
    }
}

fn lines_as_json(found: &Found) -> Value {
    let line = |cells: &[String; 3]| {
        let pairs = found.headings.iter().zip(cells).map(|(&key, cell)| (key.to_owned(), json!(cell)));
        Value::Object(pairs.collect())
    };
    found.lines.iter().map(line).collect()
}

/// The numbers to compare a total with, as `(JSON key, words, number)`.
fn numbers(shape: Shape, comparison: &Comparison) -> Vec<(&'static str, String, &Exact)> {
    let n = shape.side();
    let mut list = vec![
        ("cells_free", format!("any digit in any cell, {n}^{}", n * n), &comparison.cells_free),
        ("rows_permuted", format!("rows permuted, ({n}!)^{n}"), &comparison.rows_permuted),
        ("three_table_minimum", "three-table minimum".to_owned(), &comparison.three_table_minimum),
    ];
    if let Some(squares) = &comparison.latin_squares {
        list.push(("latin_squares", format!("Latin squares of order {n}"), squares));
    }
    list.push(("band_stack_estimate", "band/stack estimate".to_owned(), &comparison.band_stack_estimate));
    list
}

/// The numbers, and how many times the total they are once that is known.
fn comparisons(shape: Shape, total: Option<&Exact>, comparison: &Comparison) -> Value {
    let pairs = numbers(shape, comparison).into_iter().map(|(key, _, number)| {
        let value = json!({ "value": number.to_string(), "value_over_total": total.and_then(|total| number.ratio(total, 6)) });
        (key.to_owned(), value)
    });
    Value::Object(pairs.collect())
}

fn table(
    job: &Recount,
    found: &Found,
    progress: &Progress,
    published: Option<&literature::Published>,
    agrees: Option<bool>,
    comparison: &Comparison,
) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(words.trim_end());
        text.push('\n');
    };
    let width = |column: usize| {
        let cells = found.lines.iter().map(|cells| cells[column].len());
        cells.chain([found.headings[column].len()]).max().unwrap_or(0)
    };
    let [a, b, c] = [width(0), width(1), width(2)];
    let row = |cells: [&str; 3]| format!("{:<a$}  {:>b$}  {:>c$}", cells[0], cells[1], cells[2]);
    line(row(found.headings));
    for cells in &found.lines {
        line(row([&cells[0], &cells[1], &cells[2]]));
    }
    line(String::new());
    line(format!(
        "shape {} ({}), method {}: {}",
        job.shape,
        job.shape.words(),
        method(job.method()),
        found.summary
    ));
    if !progress.complete() {
        line(format!(
            "unfinished: {} of {} units; the total is what is known so far",
            progress.done, progress.units
        ));
    }
    line(format!("total      {}", found.total.grouped()));
    if let Some(number) = published {
        line(format!("published  {}  ({})", number.digits, number.source));
    }
    match agrees {
        Some(true) => line("they agree".to_owned()),
        Some(false) => line("THEY DO NOT AGREE".to_owned()),
        None => {}
    }
    line(String::new());
    for (_, words, number) in numbers(job.shape, comparison) {
        // Of an unfinished total there is nothing to say yet.
        let ratio = number.ratio(&found.total, 6).filter(|_| progress.complete());
        let ratio = ratio.map(|ratio| format!("  = total * {ratio}")).unwrap_or_default();
        line(format!("{words:<34} {:>12}{ratio}", number.scientific(6)));
    }
    text
}

fn csv(found: &Found) -> String {
    let mut text = String::new();
    writeln!(text, "{}", found.headings.join(",")).expect("strings take everything");
    for cells in &found.lines {
        writeln!(text, "{}", cells.join(",")).expect("strings take everything");
    }
    text
}
