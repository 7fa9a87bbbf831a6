//! `nonet compare`: methods side by side on the same puzzles, measured.

mod measure;
mod plots;
mod summary;
mod table;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args;
use jobs::{
    Report,
    input::{Source, Surroundings},
    page::Page,
    solve::{Method, sample},
};
use shared::grid::Shape;
use tokio::runtime::Handle;
use worker::{cli::stop_on_signal, storage::Stores};

use super::{
    args::ReportFormat,
    exit::{Failure, Outcome},
    format,
};
use measure::{Limits, Runs, run_all};
use summary::Summary;

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Puzzles: a file, folder or URL, as for `nonet run solve`; several are compared with each other
    #[arg(long, required = true, value_name = "CORPUS", value_parser = Source::typed)]
    pub corpus: Vec<Source>,
    /// Methods to compare [default: all]
    #[arg(long, value_delimiter = ',', value_name = "METHOD,...", value_parser = Method::parser())]
    pub methods: Vec<Method>,
    /// Take N puzzles of each corpus, evenly spread over it
    #[arg(long, default_value_t = 32, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub puzzles: u32,
    /// Read puzzles of this shape only, rows by columns of a box, like 3x3 or 2x5 [default: by the number of cells]
    #[arg(long, value_name = "RxC")]
    pub shape: Option<Shape>,
    /// Solutions that searches look for; 2 prove that there is one only
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub limit: u32,
    /// Give up a puzzle after N nodes or iterations [default: 1000000 for bitslice, 20000000 for other searches and
    /// annealing, 20000 for projections]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub cap: Option<u64>,
    /// Where the methods that begin anywhere begin
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
}

/// A method that takes so long is told of when it is through.
const TOLD_FROM: Duration = Duration::from_secs(1);

/// What a corpus gave.
struct Compared {
    /// As it was typed.
    name: String,
    /// Puzzles compared, and how many there are.
    puzzles: usize,
    of: u64,
    /// Lines that are no puzzles to compare with.
    others: u64,
    runs: Vec<Runs>,
}

/// Measures and prints.
pub async fn run(args: CompareArgs) -> Result<Outcome, Failure> {
    let (stop, runtime, format) = (stop_on_signal()?, Handle::current(), args.format);
    let stopped = stop.clone();
    let compared = tokio::task::spawn_blocking(move || compare(args, runtime, &|| stopped.is_cancelled()));
    let compared = tokio::select! {
        // Whatever it is at, be it a corpus that takes its time to read: there is nothing to keep.
        () = stop.cancelled() => return Ok(Outcome::Interrupted),
        compared = compared => compared.map_err(|e| Failure::failed(format!("comparing failed: {e}")))??,
    };
    // Both may have ended at once, and then either may have been taken.
    let Some(compared) = compared else { return Ok(Outcome::Interrupted) };
    let report = table::report(&compared);
    format::print(&match format {
        ReportFormat::Table => report.table.clone(),
        ReportFormat::Csv => report.csv.clone(),
        ReportFormat::Json => report.json.to_string() + "\n",
        ReportFormat::Html => page(&report),
    })?;
    report.alarm.map_or(Ok(Outcome::Done), |alarm| Err(Failure::failed(alarm)))
}

fn page(report: &Report) -> String {
    let about = format!("Each puzzle on one thread. Nonet {}.", env!("CARGO_PKG_VERSION"));
    Page { heading: "nonet compare", about: &about, warnings: &[], report, json: &report.json, pictures: &[] }
        .html()
}

/// What each corpus gave, or `None` if it was stopped.
fn compare(
    args: CompareArgs,
    runtime: Handle,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Vec<Compared>>, Failure> {
    let tell = |what: &str| eprintln!("nonet: {what}");
    let around = Surroundings { storage: Arc::new(Stores::new(runtime)), inputs: None, tell: &tell };
    let methods = if args.methods.is_empty() { Method::all().collect() } else { args.methods };
    let limits = Limits { solutions: args.limit, cap: args.cap, seed: args.seed };
    let mut compared = Vec::new();
    for source in args.corpus {
        let name = if let Source::Typed(text) = &source { text.clone() } else { String::new() };
        let most = usize::try_from(args.puzzles).unwrap_or(usize::MAX);
        let sample = sample(vec![source], args.shape, most, &around)
            .map_err(|error| Failure::usage(error.to_string()))?;
        if sample.puzzles.is_empty() {
            return Err(Failure::usage(format!("{name}: there is no puzzle in it that could be compared")));
        }
        let mut runs = Vec::new();
        for &method in &methods {
            let began = Instant::now();
            let Some(of_method) = run_all(method, &sample.puzzles, limits, stop) else { return Ok(None) };
            if began.elapsed() >= TOLD_FROM {
                let (solved, of) = (Summary::of(&of_method).solved, sample.puzzles.len());
                let seconds = began.elapsed().as_secs_f64();
                tell(&format!("{name}: {method} solved {solved} of {of} in {seconds:.1} s"));
            }
            runs.push(of_method);
        }
        let puzzles = sample.puzzles.len();
        compared.push(Compared { name, puzzles, of: sample.of, others: sample.others, runs });
    }
    Ok(Some(compared))
}
