//! `nonet storm`: a job under kills, pauses and cuts, and what was lost or doubled by them.

mod line;
mod one;
mod stage;
mod strikes;

use std::{path::PathBuf, time::Duration};

use clap::{ArgMatches, Args, FromArgMatches, ValueEnum};
use futures_util::{StreamExt, stream};
use proto::v1::SubmitRequest;
use serde_json::json;
use worker::cli::stop_on_signal;

use self::{
    one::{Outcome as Weathered, Reference, Storm},
    stage::Size,
};
use super::{
    args::Format,
    exit::{Failure, Outcome},
    format, run,
};

/// Options of `nonet storm`, beside those of the kind.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Storm")]
pub struct StormArgs {
    /// Where the ledger is: a folder, or three nodes of etcd (which must be installed)
    #[arg(long, value_enum, default_value_t)]
    on: Place,
    /// How long a storm lasts; it ends sooner when the job does
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,
    /// What happens, and when; the same seed does the same, as far as processes and clocks allow [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Storms, of this seed and the following
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
    /// Storms at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    parallel: u64,
    /// Workers, with a thread each
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=64))]
    workers: u64,
    /// Workers that have to agree on each result
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3))]
    replicas: u32,
    /// Coordinators, of which one leads; only on etcd [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=8))]
    coordinators: Option<u64>,
    /// Keep ledgers and logs here; otherwise only those of a storm that went wrong are kept, in the folder for temporary files
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Where a ledger can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Place {
    /// In a folder
    #[default]
    Sled,
    /// In etcd
    Etcd,
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|s| (0.0..=86_400.0).contains(s));
    number.ok_or_else(|| "expected seconds, at most a day".into())
}

/// Storms, and what became of them.
pub async fn storm(matches: &ArgMatches) -> Result<Outcome, Failure> {
    let (kind, matches) = run::kind(matches)?;
    let args = StormArgs::from_arg_matches(matches).map_err(|e| Failure::usage(e.to_string()))?;
    if args.coordinators.is_some_and(|n| n > 1) && args.on == Place::Sled {
        return Err(Failure::usage("--coordinators: a ledger in a folder has one; add --on etcd".into()));
    }
    let stop = stop_on_signal()?;
    if u64::from(args.replicas) > args.workers {
        return Err(Failure::usage("--replicas: no more than --workers".into()));
    }
    let request = run::submission(kind, matches, None).await?;
    let request = SubmitRequest { replicas: args.replicas, ..request };
    let dir = match &args.dir {
        Some(dir) => dir.clone(),
        None => std::env::temp_dir().join(format!("nonet-storm-{}", std::process::id())),
    };
    let etcd = args.on == Place::Etcd;
    let coordinators = if etcd { args.coordinators.unwrap_or(2) } else { 1 };
    let size = Size { etcd, coordinators: small(coordinators), workers: small(args.workers) };
    let storm =
        Storm { request, size, length: Duration::from_secs_f64(args.seconds), dir, keep: args.dir.is_some() };
    let work = storms(&storm, &args);
    tokio::select! {
        outcome = work => outcome,
        () = stop.cancelled() => Ok(Outcome::Interrupted),
    }
}

fn small(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

async fn storms(storm: &Storm, args: &StormArgs) -> Result<Outcome, Failure> {
    let seed = args.seed.unwrap_or_else(|| u64::from(rand::random::<u32>()));
    let reference = storm.reference().await?;
    eprintln!("nonet: {} units without a storm: {}", reference.units, reference.digest);
    let reference = &reference;
    let mut weathered = stream::iter(seed..seed.saturating_add(args.repeat))
        .map(|seed| async move { (seed, storm.weather(seed, reference).await) })
        .buffer_unordered(small(args.parallel));
    let mut total = Total::default();
    while let Some((seed, outcome)) = weathered.next().await {
        total.add(&outcome);
        format::print(&line(seed, &outcome, reference, args.format))?;
    }
    total.end(args.format)
}

/// What is said of a storm.
fn line(seed: u64, outcome: &Result<Weathered, Failure>, reference: &Reference, format: Format) -> String {
    match (outcome, format) {
        (Ok(Weathered { struck, seconds, lost, doubled, same, commits, faults }), Format::Json) => {
            let line = json!({
                "seed": seed, "seconds": seconds, "kills": struck.kills, "pauses": struck.pauses, "cuts": struck.cuts,
                "units": reference.units.to_string(), "commits": commits.to_string(), "lost": lost.to_string(),
                "doubled": doubled.to_string(), "same_result": same, "faults": faults,
            });
            format!("{line}\n")
        }
        (Err(failure), Format::Json) => format!("{}\n", json!({ "seed": seed, "error": failure.text() })),
        (Ok(Weathered { struck, seconds, lost, doubled, same, commits, faults }), _) => {
            let result = if *same { "the same result" } else { "ANOTHER RESULT" };
            let said = format!(
                "storm {seed}: {seconds:.1} s, {} kills, {} pauses, {} cuts; {commits} commits; lost {lost}, doubled {doubled}, \
                 {result}",
                struck.kills, struck.pauses, struck.cuts
            );
            [&[said], faults.as_slice()].concat().join("; ") + "\n"
        }
        (Err(failure), _) => format!("storm {seed}: FAILED: {}\n", failure.text()),
    }
}

/// All storms.
#[derive(Default)]
struct Total {
    storms: u64,
    failed: u64,
    wrong: u64,
    lost: u64,
    doubled: u64,
    kills: u64,
    pauses: u64,
    cuts: u64,
}

impl Total {
    fn add(&mut self, outcome: &Result<Weathered, Failure>) {
        self.storms += 1;
        match outcome {
            Ok(weathered) => {
                self.lost += weathered.lost;
                self.doubled += weathered.doubled;
                self.kills += u64::from(weathered.struck.kills);
                self.pauses += u64::from(weathered.struck.pauses);
                self.cuts += u64::from(weathered.struck.cuts);
                self.wrong += u64::from(!weathered.is_good());
            }
            Err(_) => self.failed += 1,
        }
    }

    fn end(&self, format: Format) -> Result<Outcome, Failure> {
        let Self { storms, failed, wrong, lost, doubled, kills, pauses, cuts } = self;
        if format != Format::Json {
            format::print(&format!(
                "{storms} storms, {kills} kills, {pauses} pauses, {cuts} cuts: lost {lost}, doubled {doubled}\n"
            ))?;
        }
        if failed + wrong > 0 {
            return Err(Failure::failed(format!("{failed} storms did not end, {wrong} ended wrong")));
        }
        Ok(Outcome::Done)
    }
}
