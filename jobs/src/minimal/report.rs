//! The report: minimal puzzles by number of clues, of all grids together and of each of the different ones.

use std::fmt::Write;

use serde_json::{Map, Value, json};
use shared::{catalogue::small::GridClass, count::Exact, grid::notation::text};

use super::{
    every::{Every, place},
    partial::{Counted, OfGrid},
};
use crate::{
    kind::{Progress, Report},
    plot::Plot,
};

/// Words the report.
pub fn report(job: &Every, partial: &Counted, progress: &Progress) -> Report {
    let sums = Sums::of(job, partial);
    Report {
        json: json(job, partial, &sums, progress),
        table: table(job, partial, &sums, progress),
        csv: csv(&sums),
        alarm: None,
        plots: plots(&sums),
    }
}

/// Puzzles with a number of clues.
#[derive(Default)]
struct Sum {
    clues: usize,
    /// Up to renaming digits.
    minimal: u128,
    different: u64,
    /// Those with one solution, up to renaming digits.
    valid: u128,
}

struct Sums {
    /// For numbers of clues of which there are puzzles.
    by_clues: Vec<Sum>,
    renamings: u128,
}

impl Sums {
    fn of(job: &Every, partial: &Counted) -> Self {
        let mut by_clues: Vec<Sum> = (0..=job.cells()).map(|clues| Sum { clues, ..Sum::default() }).collect();
        for (class, of_grid) in classes(job, partial) {
            for sum in &mut by_clues {
                sum.minimal += u128::from(of_grid.minimal[sum.clues]) * u128::from(class.grids);
                sum.different += of_grid.different[sum.clues];
                let valid = of_grid.valid.get(sum.clues).copied().unwrap_or(0);
                sum.valid += u128::from(valid) * u128::from(class.grids);
            }
        }
        by_clues.retain(|sum| sum.minimal > 0 || sum.valid > 0);
        Self { by_clues, renamings: job.grids().renamings().into() }
    }

    fn minimal(&self) -> u128 {
        self.by_clues.iter().map(|sum| sum.minimal).sum()
    }

    fn different(&self) -> u64 {
        self.by_clues.iter().map(|sum| sum.different).sum()
    }

    fn valid(&self) -> u128 {
        self.by_clues.iter().map(|sum| sum.valid).sum()
    }
}

/// The grids that are done, with their puzzles.
fn classes<'a>(job: &'a Every, partial: &'a Counted) -> impl Iterator<Item = (&'a GridClass, &'a OfGrid)> {
    partial.grids.iter().map(|(&unit, of_grid)| (&job.grids().classes()[place(unit)], of_grid))
}

fn by_clues(counts: &[u64]) -> Map<String, Value> {
    let there = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    there.map(|(clues, count)| (clues.to_string(), json!(count.to_string()))).collect()
}

fn json(job: &Every, partial: &Counted, sums: &Sums, progress: &Progress) -> Value {
    let grids: u64 = classes(job, partial).map(|(class, _)| class.grids).sum();
    let with_clues = sums.by_clues.iter().map(|sum| {
        let mut entry = json!({
            "minimal_puzzles": (sum.minimal * sums.renamings).to_string(),
            "up_to_relabelling": sum.minimal.to_string(),
            "essentially_different": sum.different.to_string(),
        });
        if job.valid {
            entry["with_one_solution"] = json!((sum.valid * sums.renamings).to_string());
        }
        (sum.clues.to_string(), entry)
    });
    let each = classes(job, partial).map(|(class, of_grid)| {
        json!({
            "grid": text(job.shape, &job.grids().all()[class.first]),
            "grids_alike_up_to_relabelling": class.grids.to_string(),
            "automorphisms": class.automorphisms.len().to_string(),
            "minimal_puzzles": of_grid.minimal.iter().sum::<u64>().to_string(),
            "by_clues": by_clues(&of_grid.minimal),
            "essentially_different": of_grid.different.iter().sum::<u64>().to_string(),
            "with_one_solution": job.valid.then(|| of_grid.valid.iter().sum::<u64>().to_string()),
        })
    });
    json!({
        "complete": progress.complete(),
        "shape": job.shape,
        "grids": (u128::from(grids) * sums.renamings).to_string(),
        "grids_up_to_relabelling": grids.to_string(),
        "grids_essentially_different": partial.grids.len().to_string(),
        "minimal_puzzles": (sums.minimal() * sums.renamings).to_string(),
        "up_to_relabelling": sums.minimal().to_string(),
        "essentially_different": sums.different().to_string(),
        "with_one_solution": job.valid.then(|| (sums.valid() * sums.renamings).to_string()),
        "by_clues": with_clues.collect::<Map<_, _>>(),
        "by_grid": each.collect::<Vec<_>>(),
        "parts": partial.parts.hex(),
    })
}

fn grouped(number: u128) -> String {
    Exact::from(number).grouped()
}

fn table(job: &Every, partial: &Counted, sums: &Sums, progress: &Progress) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(words.trim_end());
        text.push('\n');
    };
    let row = |cells: [String; 5]| {
        let [clues, minimal, renamed, different, valid] = cells;
        format!("{clues:>5}  {minimal:>24}  {renamed:>20}  {different:>16}  {valid:>26}")
    };
    let valid = |number: u128| if job.valid { grouped(number * sums.renamings) } else { String::new() };
    let head = ["clues", "minimal puzzles", "up to renaming", "different", "with one solution"];
    let head = head.map(|word| if word.starts_with("with") && !job.valid { "" } else { word }.to_owned());
    line(row(head));
    for sum in &sums.by_clues {
        line(row([
            sum.clues.to_string(),
            grouped(sum.minimal * sums.renamings),
            grouped(sum.minimal),
            grouped(sum.different.into()),
            valid(sum.valid),
        ]));
    }
    line(row([
        "all".into(),
        grouped(sums.minimal() * sums.renamings),
        grouped(sums.minimal()),
        grouped(sums.different().into()),
        valid(sums.valid()),
    ]));
    line(String::new());
    let grids: u64 = classes(job, partial).map(|(class, _)| class.grids).sum();
    line(format!(
        "shape {}: {} grids, {} up to renaming digits, {} essentially different",
        job.shape,
        grouped(u128::from(grids) * sums.renamings),
        grouped(grids.into()),
        partial.grids.len()
    ));
    let each = || classes(job, partial).map(|(_, of_grid)| of_grid.minimal.iter().sum::<u64>());
    if let (Some(least), Some(most)) = (each().min(), each().max()) {
        line(format!("minimal puzzles of a grid: {} to {}", grouped(least.into()), grouped(most.into())));
    }
    if !progress.complete() {
        line(format!("unfinished: {} of {} grids are done", progress.done, progress.units));
    }
    text
}

fn csv(sums: &Sums) -> String {
    let mut text =
        "clues,minimal_puzzles,up_to_relabelling,essentially_different,with_one_solution\n".to_owned();
    for sum in &sums.by_clues {
        let all = (sum.minimal * sums.renamings, sum.valid * sums.renamings);
        writeln!(text, "{},{},{},{},{}", sum.clues, all.0, sum.minimal, sum.different, all.1)
            .expect("strings take everything");
    }
    text
}

fn plots(sums: &Sums) -> Vec<Plot> {
    let counts = sums.by_clues.iter().map(|sum| (sum.clues as u64, sum.different));
    let plot = Plot::distribution("Minimal puzzles by number of clues", "clues", "puzzles", counts);
    plot.map(|plot| plot.with_caption("Essentially different ones.")).into_iter().collect()
}
