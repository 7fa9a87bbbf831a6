//! Recounts through the job kind itself, without coordinator, ledger and network: what the mathematics costs.

use std::{sync::Arc, time::Instant};

use clap::Args;
use jobs::{ErasedJob, Progress, UnitContext};

use crate::cli::{exit::Failure, format};

#[derive(Debug, Args)]
pub struct RecountArgs {
    /// Runs of each case; the median counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
}

/// Shape, method, and the seconds it may take on one core. `search` on 3x3 counts all 44 classes; `audit` all 78,400
/// pairs of column sets.
const CASES: &[(&str, &str, f64)] = &[
    ("3x3", "gangster", 0.003),
    ("3x3", "search", 30.0),
    ("3x3", "audit", 2.0),
    ("2x4", "gangster", 0.1),
    ("2x5", "gangster", 10.0),
];

/// Runs every case and prints a table.
pub fn bench(args: &RecountArgs) -> Result<(), Failure> {
    let title = "shape  method    units   1 thread, ms   at most, ms   2 threads, ms   ratio  total\n";
    format::print(title)?;
    for &(shape, method, at_most_s) in CASES {
        let settings = format!(r#"{{"shape":"{shape}","method":"{method}","fillings":false}}"#);
        let one = median(args.runs, &settings, 1)?;
        let two = median(args.runs, &settings, 2)?;
        let Measured { units, total, .. } = &one;
        let line = format!(
            "{shape:5}  {method:8}  {units:6}  {:13.3}  {:12.0}  {:14.3}  {:6.2}  {total}\n",
            one.seconds * 1e3,
            at_most_s * 1e3,
            two.seconds * 1e3,
            one.seconds / two.seconds
        );
        format::print(&line)?;
    }
    Ok(())
}

struct Measured {
    units: u64,
    seconds: f64,
    total: String,
}

fn median(runs: u32, settings: &str, threads: usize) -> Result<Measured, Failure> {
    let mut all = (0..runs).map(|_| measure(settings, threads)).collect::<Result<Vec<_>, _>>()?;
    all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(all.swap_remove(all.len() / 2))
}

/// Opens the job anew, so that building its tables counts too, and computes all units.
fn measure(settings: &str, threads: usize) -> Result<Measured, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::failed(format!("recount {settings}: {e}"));
    let begun = Instant::now();
    let kind = jobs::find("recount").ok_or_else(|| failed(&"no such kind"))?;
    let job = kind.open(settings).map_err(|e| failed(&e))?;
    let units = job.units();
    let partials = compute(&job, threads).map_err(|e| failed(&e))?;
    let mut sum = Arc::clone(&job).accumulator();
    for partial in &partials {
        sum.absorb(partial).map_err(|e| failed(&e))?;
    }
    let bytes = sum.bytes().map_err(|e| failed(&e))?;
    let seconds = begun.elapsed().as_secs_f64();
    let progress = Progress { units, done: units, ..Progress::default() };
    let report = job.report(&bytes, &progress).map_err(|e| failed(&e))?;
    if let Some(alarm) = report.alarm {
        return Err(failed(&alarm));
    }
    let total = report.json["total"].as_str().unwrap_or("?").to_owned();
    Ok(Measured { units, seconds, total })
}

/// Units are dealt out like cards, as they are to workers that take small leases.
fn compute(job: &Arc<dyn ErasedJob>, threads: usize) -> Result<Vec<Vec<u8>>, String> {
    let next = std::sync::atomic::AtomicU64::new(0);
    let one = || {
        let mut sum = Arc::clone(job).accumulator();
        loop {
            let unit = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if unit >= job.units() {
                return sum.bytes().map_err(|e| e.to_string());
            }
            sum.run_unit(unit, &UnitContext::free()).map_err(|e| e.to_string())?;
        }
    };
    if threads == 1 {
        return Ok(vec![one()?]);
    }
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked".to_owned())?).collect()
    })
}
