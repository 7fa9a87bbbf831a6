//! `nonet explain`: a puzzle solved by pencil and paper, step by step.

use std::{fs, io::Read, path::Path};

use clap::{Args, ValueEnum};
use serde_json::json;
use shared::{
    grid::{
        Shape,
        notation::{self, Layout, Puzzle},
    },
    solve::methods::crook::{Explanation, Limits, explain},
};
use worker::cli::stop_on_signal;

use super::{
    exit::{Failure, Outcome},
    format,
};

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A puzzle (its cells in one line, . or 0 for an empty one), a file that begins with one, or - for standard input
    pub puzzle: String,
    /// Read a puzzle of this shape, rows by columns of a box, like 3x3 or 2x5 [default: by the number of cells]
    #[arg(long, value_name = "RxC")]
    pub shape: Option<Shape>,
    /// Solutions to look for; 2 tell whether there is one only
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,
    /// Give up after N digits are written
    #[arg(long, default_value_t = 1_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub cap: u64,
    /// Steps to print at most
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub steps: usize,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: StepsFormat,
}

/// How steps are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StepsFormat {
    /// The puzzle, a line for each step, the solution
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// Bytes of a file that may hold a puzzle.
const MOST_BYTES: u64 = 1 << 20;

/// Prints the steps.
pub async fn run(args: ExplainArgs) -> Result<Outcome, Failure> {
    let stop = stop_on_signal()?;
    let stopped = stop.clone();
    let explained = tokio::task::spawn_blocking(move || explained(&args, &|| stopped.is_cancelled()));
    let text = tokio::select! {
        // Whatever it is at, be it a read that takes its time: there is nothing to keep.
        () = stop.cancelled() => return Ok(Outcome::Interrupted),
        text = explained => text.map_err(|e| Failure::failed(format!("explaining failed: {e}")))??,
    };
    if stop.is_cancelled() {
        // Both may have ended at once, and then either may have been taken; this text says that it was cut short.
        return Ok(Outcome::Interrupted);
    }
    format::print(&text)?;
    Ok(Outcome::Done)
}

fn explained(args: &ExplainArgs, stop: &dyn Fn() -> bool) -> Result<String, Failure> {
    let Puzzle { shape, cells, candidates } = read(&args.puzzle, args.shape)?;
    if candidates.is_some() {
        return Err(Failure::usage("pencil marks cannot be explained: give the clues only".into()));
    }
    let limits = Limits { solutions: args.limit, nodes: args.cap, steps: args.steps };
    let explanation =
        explain(shape, &cells, limits, stop).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(match args.format {
        StepsFormat::Text => format!("{}\n{explanation}", notation::drawing(shape, &cells)),
        StepsFormat::Json => json_of(shape, &cells, &explanation).to_string() + "\n",
    })
}

/// The puzzle that was named.
fn read(named: &str, shape: Option<Shape>) -> Result<Puzzle, Failure> {
    let (name, bytes) = if named == "-" {
        ("standard input".into(), beginning(std::io::stdin().lock()))
    } else if Path::new(named).is_file() {
        (named.to_owned(), fs::File::open(named).and_then(beginning))
    } else {
        ("this is neither a file nor a puzzle".into(), Ok(named.as_bytes().to_vec()))
    };
    let wrong = |why: &dyn std::fmt::Display| Failure::usage(format!("{name}: {why}"));
    let bytes = bytes.map_err(|error| wrong(&error))?;
    let layout = Layout::detect(&bytes).map_err(|e| wrong(&e))?;
    let first = layout.first(&bytes, shape).ok_or_else(|| wrong(&"there is no puzzle in it"))?;
    first.map_err(|error| wrong(&error))
}

fn beginning(input: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn json_of(shape: Shape, cells: &[u8], explanation: &Explanation) -> serde_json::Value {
    let outcome = &explanation.outcome;
    let steps = explanation.steps.iter().map(|step| {
        json!({ "colour": step.colour.to_string(), "guesses": step.colour.0, "text": step.deed.to_string() })
    });
    json!({
        "puzzle": notation::text(shape, cells),
        "shape": shape.to_string(),
        "steps": steps.collect::<Vec<_>>(),
        "steps_not_shown": explanation.dropped,
        "solutions": outcome.solutions,
        "all_solutions": outcome.finished && outcome.solutions < explanation.limits.solutions,
        "solution": outcome.first.as_ref().map(|grid| notation::text(shape, grid)),
        "nodes": outcome.effort.nodes,
        "guesses": outcome.effort.guesses,
    })
}
