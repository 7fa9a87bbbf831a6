//! The report: how many puzzles there are, and what it took.

use std::fmt::Write;

use serde_json::{Value, json};
use shared::grid::notation::text;

use super::{Hitting, partial::Partial};
use crate::{
    kind::{Progress, Report},
    plot::Plot,
};

/// Words the report.
pub fn report(job: &Hitting, partial: &Partial, progress: &Progress) -> Report {
    Report {
        json: json(job, partial, progress),
        table: table(job, partial, progress),
        csv: csv(job, partial),
        alarm: None,
        plots: plots(partial),
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

fn json(job: &Hitting, partial: &Partial, progress: &Progress) -> Value {
    let by_clues =
        partial.by_clues.iter().map(|(clues, count)| (clues.to_string(), json!(count.to_string())));
    json!({
        "complete": progress.complete(),
        "clues": [job.clues.from, job.clues.to],
        "range": [job.list.first, job.list.last()],
        "grids_in_list": job.list.all.to_string(),
        "grids": job.list.grids.len().to_string(),
        "grids_with_puzzles": grids_with_puzzles(job, partial).to_string(),
        "puzzles_found": partial.count().to_string(),
        "by_clues": by_clues.collect::<serde_json::Map<_, _>>(),
        "puzzles": puzzles(job, partial),
        "nodes": partial.nodes.to_string(),
        "tested": partial.tested.to_string(),
        "parts": partial.parts.hex(),
    })
}

fn table(job: &Hitting, partial: &Partial, progress: &Progress) -> String {
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
        line(format!("unfinished: {} of {} units are done", progress.done, progress.units));
    }
    line(format!("{} nodes, {} hitting sets tested", partial.nodes, partial.tested));
    text
}

fn plots(partial: &Partial) -> Vec<Plot> {
    let by_clues = partial.by_clues.iter().map(|(&clues, &count)| (clues, count));
    let plot = Plot::distribution("Puzzles by number of clues", "clues", "puzzles", by_clues);
    plot.map(|plot| plot.with_caption("Those found inside the grids.")).into_iter().collect()
}

fn csv(job: &Hitting, partial: &Partial) -> String {
    let mut text = "puzzle,clues\n".to_owned();
    for (puzzle, (_, clues)) in puzzles(job, partial).iter().zip(&partial.puzzles) {
        writeln!(text, "{puzzle},{}", clues.0.count_ones()).expect("strings take everything");
    }
    text
}
