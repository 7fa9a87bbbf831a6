//! `nonet certificate`.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{BufReader, BufWriter},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Args, Subcommand};
use jobs::input::Storage;
use serde_json::json;
use shared::random::Random;
use tokio::runtime::Handle;
use worker::{
    cli::{stop_on_signal, threads},
    storage::Stores,
};

use super::{
    args::Format,
    each::each,
    exit::{Failure, Outcome},
    format,
    output::whole,
    source::LedgerAt,
};
use crate::certificate::{self, Checked, RangeOfJob, Recomputed, SEVERAL, check, recompute};

/// Arguments of `nonet certificate`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct CertificateArgs {
    /// Start of the name of a finished job, or its kind if there is only one of it
    #[arg(required = true)]
    job: Option<String>,
    #[command(flatten)]
    at: LedgerAt,
    /// Write the certificate to FILE, not to standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(subcommand)]
    check: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check a certificate, without the cluster that made it: that nothing in it was changed, that its ranges cover the job
    /// and add up to its report
    #[command(
        after_help = "Exit code 1 when something is wrong.\n\nExample:\n  nonet certificate check recount.cert --sample 1%"
    )]
    Check(CheckArgs),
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// The certificate
    file: PathBuf,
    /// Compute a random share of the work units again, such as 1%: whole ranges, at least one
    #[arg(long, value_name = "SHARE", value_parser = share)]
    sample: Option<f64>,
    /// Where the choice of the sample begins [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Computing threads [default: one per core]
    #[arg(long, env = "NONET_THREADS", value_name = "N")]
    threads: Option<usize>,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A share of the work units.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number <= unit => Ok(number / unit),
        _ => Err("expected a share such as 1% or 0.01, more than nothing and at most all".into()),
    }
}

/// Runs it.
pub async fn run(args: CertificateArgs) -> Result<Outcome, Failure> {
    let stop = stop_on_signal()?;
    let stopped = stop.clone();
    let storage: Arc<dyn Storage> = Arc::new(Stores::new(Handle::current()));
    let work = tokio::task::spawn_blocking(move || match (args.check, args.job) {
        (Some(Action::Check(check)), _) => check_file(&check, &storage, &|| stopped.is_cancelled()),
        (None, job) => make(&args.at, &job.unwrap_or_default(), args.output.as_deref()),
    });
    tokio::select! {
        () = stop.cancelled() => Ok(Outcome::Interrupted),
        done = work => done.map_err(|error| Failure::failed(format!("it failed: {error}")))?,
    }
}

fn make(at: &LedgerAt, job: &str, output: Option<&Path>) -> Result<Outcome, Failure> {
    let ledger = at.read()?;
    let made = match output {
        None => certificate::make(ledger.as_ref(), job, &mut BufWriter::new(std::io::stdout().lock())),
        Some(path) => whole(path, |out| certificate::make(ledger.as_ref(), job, out)),
    };
    let made = made.map_err(|error| Failure::failed(error.to_string()))?;
    eprintln!("nonet: certificate of {} with {} ranges: {}", made.kind, made.ranges, made.chain);
    Ok(Outcome::Done)
}

fn check_file(
    args: &CheckArgs,
    storage: &Arc<dyn Storage>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Outcome, Failure> {
    let threads = threads(args.threads).map_err(Failure::usage)?;
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", args.file.display());
    let file = File::open(&args.file).map_err(|error| Failure::usage(named(&error)))?;
    let checked = check(BufReader::new(file)).map_err(|error| Failure::failed(named(&error)))?;
    let sample = args.sample.map(|share| {
        let seed = args.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().1);
        (seed, chosen(&checked.ranges, share, seed))
    });
    let mut again: Vec<(RangeOfJob, Recomputed)> = Vec::new();
    if let Some((seed, ranges)) = &sample {
        let units: u64 = ranges.iter().map(length).sum();
        eprintln!("nonet: computing {} ranges of {units} work units again (seed {seed})", ranges.len());
        let results =
            each(ranges, threads, stop, |range| (range.clone(), recompute(&checked, range, storage, stop)));
        if stop() {
            return Ok(Outcome::Interrupted);
        }
        again = results;
    }
    match args.format {
        Format::Json => format::print(&(json_of(&checked, sample.as_ref(), &again).to_string() + "\n"))?,
        Format::Table | Format::Csv => format::print(&words(&checked, &again))?,
    }
    let wrong = again.iter().find(|(_, result)| *result != Recomputed::Same);
    wrong.map_or(Ok(Outcome::Done), |(range, result)| {
        let job = &checked.jobs[range.job];
        let which = format!("range {:?} of the {} job, of {}", range.units, job.kind, who(range));
        Err(Failure::failed(named(&match result {
            Recomputed::Failed(why) => format!("{which}, cannot be computed here: {why}"),
            _ => format!("{which}, yields something else when it is computed again"),
        })))
    })
}

fn length(range: &RangeOfJob) -> u64 {
    range.units.end - range.units.start
}

/// Ranges at random until they have this share of all work units.
#[allow(clippy::cast_precision_loss, reason = "a share")]
fn chosen(ranges: &[RangeOfJob], share: f64, seed: u64) -> Vec<RangeOfJob> {
    let all: u64 = ranges.iter().map(length).sum();
    let mut left: Vec<&RangeOfJob> = ranges.iter().collect();
    let mut random = Random::new(seed);
    let (mut chosen, mut units) = (Vec::new(), 0);
    while !left.is_empty() && (units as f64) < share * all as f64 {
        let range = left.swap_remove(random.below(left.len()));
        units += length(range);
        chosen.push(range.clone());
    }
    chosen
}

/// Who computed a range.
fn who(range: &RangeOfJob) -> String {
    if range.worker == SEVERAL { "several workers".into() } else { format!("worker {}", range.worker) }
}

/// How many workers computed these ranges, as far as is known.
fn workers(ranges: &[&RangeOfJob]) -> String {
    let all = ranges.iter().flat_map(|range| std::iter::once(&range.worker).chain(&range.also));
    let mut known: BTreeSet<&str> = all.map(String::as_str).collect();
    let of_several = known.remove(SEVERAL);
    match (of_several, known.len()) {
        (false, 1) => "1 worker".into(),
        (false, count) => format!("{count} workers"),
        (true, 0) => "several workers".into(),
        (true, count) => format!("several workers ({count} of them known)"),
    }
}

fn words(checked: &Checked, again: &[(RangeOfJob, Recomputed)]) -> String {
    let mut text = String::new();
    for (number, job) in checked.jobs.iter().enumerate() {
        let ranges: Vec<&RangeOfJob> = checked.ranges.iter().filter(|range| range.job == number).collect();
        text += &format!(
            "{} job {}: {} work units in {} ranges by {} add up to its report\n",
            job.kind,
            job.name,
            job.units,
            ranges.len(),
            workers(&ranges)
        );
        text += &format!("  settings {}\n", job.settings);
        if !job.quarantined.is_empty() {
            text += &format!("  {} work units were given up\n", job.quarantined.len());
        }
    }
    if let Some(job) = checked.jobs.last() {
        text += &format!("\n{}\n", job.report.table.trim_end());
    }
    let same = again.iter().filter(|(_, result)| *result == Recomputed::Same).count();
    if !again.is_empty() {
        text += &format!("computed again: {same} of {} ranges yield the same\n", again.len());
    }
    text + &format!("chain {} (nonet {})\n", checked.chain, checked.program)
}

fn json_of(
    checked: &Checked,
    sample: Option<&(u64, Vec<RangeOfJob>)>,
    again: &[(RangeOfJob, Recomputed)],
) -> serde_json::Value {
    let jobs = checked.jobs.iter().map(|job| {
        json!({
            "kind": job.kind, "name": job.name, "settings": job.settings, "units": job.units.to_string(),
            "quarantined": job.quarantined.len(), "report": job.report.json,
        })
    });
    let results = again.iter().map(|(range, result)| {
        json!({
            "job": checked.jobs[range.job].name, "start": range.units.start.to_string(),
            "end": range.units.end.to_string(), "worker": range.worker, "also": range.also,
            "same": *result == Recomputed::Same,
        })
    });
    json!({
        "chain": checked.chain, "program": checked.program, "jobs": jobs.collect::<Vec<_>>(),
        "ranges": checked.ranges.len(), "seed": sample.map(|(seed, _)| seed.to_string()),
        "computed_again": results.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_counted_as_far_as_they_are_known() {
        let range = |worker: &str, also: &[&str]| RangeOfJob {
            job: 0,
            units: 0..1,
            digest: [0; 32],
            worker: worker.into(),
            also: also.iter().map(ToString::to_string).collect(),
        };
        let said = |ranges: &[RangeOfJob]| workers(&ranges.iter().collect::<Vec<_>>());
        assert_eq!(said(&[range("a", &[]), range("a", &[])]), "1 worker");
        assert_eq!(said(&[range("a", &["b"]), range("b", &["c"])]), "3 workers");
        assert_eq!(said(&[range(SEVERAL, &[])]), "several workers");
        assert_eq!(said(&[range("a", &["b"]), range(SEVERAL, &[])]), "several workers (2 of them known)");
        assert_eq!(who(&range("a", &[])), "worker a");
        assert_eq!(who(&range(SEVERAL, &[])), "several workers");
    }
}
