//! The report: how many puzzles there are, and what it took.

use std::fmt::Write;

use serde_json::{Value, json};
use shared::{grid::notation::text, literature::SIXTEEN_CLUES_CORE_HOURS};

use super::{
    Hitting,
    pace::{Pace, Projected, all_grids, hours, time},
    partial::Partial,
    plots::plots,
};
use crate::kind::{Progress, Report};

/// Words the report.
pub fn report(job: &Hitting, partial: &Partial, progress: &Progress) -> Report {
    let pace = Pace::of(job, partial, progress);
    Report {
        json: json(job, partial, progress, pace),
        table: table(job, partial, progress, pace),
        csv: csv(job, partial),
        alarm: None,
        plots: plots(job, partial, pace),
    }
}

/// Grids in which puzzles have been found.
fn grids_with_puzzles(job: &Hitting, partial: &Partial) -> u64 {
    if job.parts == 1 { partial.with_puzzles } else { partial.grids_with_puzzles.len() as u64 }
}

fn puzzles(job: &Hitting, partial: &Partial) -> Vec<String> {
    let puzzle = |&(unit, clues): &(u64, _)| {
        let grid = &job.list.grids[job.grid_of(unit)];
        text(grid.shape(), &grid.puzzle(clues))
    };
    partial.puzzles.iter().map(puzzle).collect()
}

fn json(job: &Hitting, partial: &Partial, progress: &Progress, pace: Option<Pace>) -> Value {
    let projected = Projected::of(job, partial, pace);
    let published = SIXTEEN_CLUES_CORE_HOURS;
    let published = json!({
        "core_hours": published.value().to_string(), "what": published.what, "source": published.source,
    });
    let by_clues =
        partial.by_clues.iter().map(|(clues, count)| (clues.to_string(), json!(count.to_string())));
    json!({
        "complete": progress.complete(),
        "clues": [job.clues.from, job.clues.to],
        "range": [job.list.first, job.list.last()],
        "grids_in_list": job.list.all.to_string(),
        "grids": job.list.grids.len().to_string(),
        "grids_done": partial.work.grids_done(job.parts).to_string(),
        "grids_with_puzzles": grids_with_puzzles(job, partial).to_string(),
        "puzzles_found": partial.count().to_string(),
        "by_clues": by_clues.collect::<serde_json::Map<_, _>>(),
        "puzzles": puzzles(job, partial),
        "nodes": partial.nodes.to_string(),
        "tested": partial.tested.to_string(),
        "nodes_per_grid": pace.map(|pace| pace.nodes),
        "tested_per_grid": pace.map(|pace| pace.tested),
        "seconds_per_grid": pace.and_then(|pace| pace.seconds),
        "projected_core_hours": { "list": projected.list, "all_grids": projected.all_grids },
        "published_core_hours": all_grids(job).map(|_| published),
        "parts": partial.parts.hex(),
    })
}

fn table(job: &Hitting, partial: &Partial, progress: &Progress, pace: Option<Pace>) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(words.trim_end());
        text.push('\n');
    };
    let puzzles = puzzles(job, partial);
    puzzles.iter().for_each(|puzzle| line(puzzle.clone()));
    let untold = partial.count().saturating_sub(puzzles.len() as u64);
    if untold > 0 {
        line(format!("and {untold} more (see --output)"));
    }
    let clues = if job.clues.from == job.clues.to {
        job.clues.from.to_string()
    } else {
        format!("{} to {}", job.clues.from, job.clues.to)
    };
    line(format!(
        "{} puzzles with {clues} clues, in {} of {} grids",
        partial.count(),
        grids_with_puzzles(job, partial),
        job.list.grids.len()
    ));
    job.list.words().into_iter().for_each(&mut line);
    if progress.complete() {
        line("all possibilities were searched: there are no others".into());
    } else {
        let done = partial.work.grids_done(job.parts);
        let units = format!(", {} of {} units", progress.done, progress.units);
        let units = if job.parts == 1 { "" } else { &units };
        line(format!("unfinished: {done} of {} grids are done{units}", job.list.grids.len()));
    }
    line(format!("{} nodes, {} hitting sets tested", partial.nodes, partial.tested));
    work(job, partial, pace).into_iter().for_each(line);
    text
}

/// What a grid took on average, and what others would take.
fn work(job: &Hitting, partial: &Partial, pace: Option<Pace>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(pace) = pace {
        let seconds = pace.seconds.map(|seconds| format!(", {} on one core", time(seconds)));
        lines.push(format!(
            "a grid on average: {:.0} nodes, {:.1} hitting sets tested{}",
            pace.nodes,
            pace.tested,
            seconds.unwrap_or_default()
        ));
    }
    let projected = Projected::of(job, partial, pace);
    if let Some(list) = projected.list {
        lines.push(format!(
            "at this pace the {} grids of the list take {} core-hours",
            job.list.all,
            hours(list)
        ));
    }
    if let (Some(time), Some(all)) = (projected.all_grids, all_grids(job)) {
        let (all, time) = (all.grouped(), hours(time));
        lines.push(format!(
            "all {all} essentially different grids would take {time} core-hours, if they are like these"
        ));
        let published = SIXTEEN_CLUES_CORE_HOURS;
        lines.push(format!(
            "published for 16 clues: about {} core-hours ({})",
            published.digits, published.source
        ));
    }
    lines
}

fn csv(job: &Hitting, partial: &Partial) -> String {
    let mut text = "puzzle,clues\n".to_owned();
    for (puzzle, (_, clues)) in puzzles(job, partial).iter().zip(&partial.puzzles) {
        writeln!(text, "{puzzle},{}", clues.0.count_ones()).expect("strings take everything");
    }
    text
}
