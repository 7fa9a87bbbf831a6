//! The report: sets by size and MCN, for the first grids and for all together.

use std::{fmt::Write, iter};

use serde_json::{Map, Value, json};
use shared::{
    grid::notation,
    unavoidable::{CellSet, CompleteGrid},
};

use super::{
    Unavoidable,
    partial::{OfGrid, Partial},
};
use crate::{
    kind::{Progress, Report},
    plot::Plot,
};

/// Grids of which the table has a line each; of more it has sums only.
const MOST_LINES: usize = 30;

/// Words the report.
pub fn report(job: &Unavoidable, partial: &Partial, progress: &Progress) -> Report {
    Report {
        json: json(job, partial, progress),
        table: table(job, partial, progress),
        csv: csv(job, partial),
        alarm: None,
        plots: plots(partial),
    }
}

fn grid(job: &Unavoidable, of: &OfGrid) -> String {
    let grid = &job.list.grids[of.grid as usize];
    notation::text(grid.shape(), grid.digits())
}

fn by_size(counts: impl IntoIterator<Item = u64>) -> Map<String, Value> {
    (4..).zip(counts).map(|(size, count): (u32, u64)| (size.to_string(), json!(count))).collect()
}

fn json(job: &Unavoidable, partial: &Partial, progress: &Progress) -> Value {
    let with_sets = if job.sets { partial.kept() } else { 0 };
    let grids = partial.first.iter().enumerate().map(|(at, of)| {
        let mut json = json!({
            "grid": grid(job, of),
            "sets_by_size": by_size(of.by_size.iter().map(|&count| count.into())),
            "mcn": of.mcn,
        });
        if at < with_sets {
            json["sets"] = of.sets.iter().map(|set| set.iter().collect::<Vec<_>>()).collect();
        }
        json
    });
    let by_mcn = partial.by_mcn.iter().map(|(mcn, grids)| (mcn.to_string(), json!(grids.to_string())));
    json!({
        "complete": progress.complete(),
        "max_size": job.max_size,
        "range": [job.list.first, job.list.last()],
        "grids_in_list": job.list.all.to_string(),
        "grids_done": partial.grids.to_string(),
        "sets_by_size": by_size(partial.by_size.iter().copied()),
        "grids_by_mcn": by_mcn.collect::<Map<_, _>>(),
        "grids": grids.collect::<Vec<_>>(),
        "parts": partial.parts.hex(),
    })
}

fn table(job: &Unavoidable, partial: &Partial, progress: &Progress) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(words.trim_end());
        text.push('\n');
    };
    let sizes = columns(4..=job.max_size);
    if partial.first.len() <= MOST_LINES {
        let width = job.list.grids.iter().map(CompleteGrid::cells).max().unwrap_or(4);
        line(format!("{:width$}  MCN{sizes}", "grid"));
        for of in &partial.first {
            line(format!("{:width$}  {:>3}{}", grid(job, of), of.mcn, columns(&of.by_size)));
        }
        line(String::new());
    }
    job.list.words().into_iter().for_each(&mut line);
    line(format!("sets of {} grids by size", partial.grids));
    line(sizes);
    line(columns(&partial.by_size));
    line("grids by MCN, the most pairwise disjoint sets".into());
    for (mcn, grids) in &partial.by_mcn {
        line(format!("{mcn:>7}  {grids}"));
    }
    if job.sets {
        sets(job, partial).into_iter().for_each(&mut line);
    }
    if !progress.complete() {
        line(format!("unfinished: {} of {} units are done", progress.done, progress.units));
    }
    text
}

/// A line for each set of a single grid, or where the sets are.
fn sets(job: &Unavoidable, partial: &Partial) -> Vec<String> {
    match (partial.first.as_slice(), partial.kept()) {
        ([], _) => Vec::new(),
        ([of], 1) => {
            let grid = &job.list.grids[of.grid as usize];
            let lines = of.sets.iter().map(|&set| format!("{:>4}  {}", set.len(), cells(grid, set)));
            iter::once("sets: size and cells".into()).chain(lines).collect()
        }
        (_, 0) => vec!["the sets are in the output only (--output): they are too many here".into()],
        (_, kept) => {
            vec![format!("sets: all in the output (--output), of the first {kept} grids with --format json")]
        }
    }
}

/// The cells of a set with their digits: `r1c1=4 r1c5=7`.
fn cells(grid: &CompleteGrid, set: CellSet) -> String {
    let side = grid.shape().side();
    let cell = |cell: usize| format!("r{}c{}={}", cell / side + 1, cell % side + 1, grid.digits()[cell]);
    set.iter().map(cell).collect::<Vec<_>>().join(" ")
}

fn plots(partial: &Partial) -> Vec<Plot> {
    let by_size = (4u32..).zip(partial.by_size.iter().copied());
    let by_mcn = partial.by_mcn.iter().map(|(&mcn, &grids)| (mcn, grids));
    let sizes = Plot::distribution("Unavoidable sets by size", "cells", "sets", by_size);
    let mcns = Plot::distribution("Grids by MCN", "MCN", "grids", by_mcn);
    let sizes = sizes.map(|plot| plot.with_caption("Minimal unavoidable sets of all grids together."));
    let mcns = mcns.map(|plot| plot.with_caption("The MCN of a grid is the most pairwise disjoint sets."));
    [sizes, mcns].into_iter().flatten().collect()
}

/// Numbers below each other.
fn columns(numbers: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    numbers.into_iter().fold(String::new(), |line, number| line + &format!("{number:>7}"))
}

fn csv(job: &Unavoidable, partial: &Partial) -> String {
    let mut text = "grid,mcn".to_owned();
    (4..=job.max_size).for_each(|size| write!(text, ",size_{size}").expect("strings take everything"));
    for of in &partial.first {
        write!(text, "\n{},{}", grid(job, of), of.mcn).expect("strings take everything");
        of.by_size.iter().for_each(|count| write!(text, ",{count}").expect("strings take everything"));
    }
    text + "\n"
}
