//! `nonet bench`: whole runs, measured and printed in the units that users care about.

mod burnside;
mod machinery;
mod recount;

use clap::{Args, Subcommand};

use super::exit::{Failure, Outcome};

/// Arguments of `nonet bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Recounts in process: seconds per method and shape, beside what is asked of them
    #[command(after_help = "Example:\n  nonet bench recount")]
    Recount(recount::RecountArgs),
    /// What the classes of a shape cost, estimated from a few seconds of each
    #[command(
        after_help = "Examples:\n  nonet bench burnside --shape 2x5\n  nonet bench burnside --shape 3x4 --seconds 20"
    )]
    Burnside(burnside::BurnsideArgs),
    /// No-op work units a second through a coordinator and two workers on loopback, durable, and CPU per unit
    #[command(after_help = "Example:\n  nonet bench machinery --units 400000")]
    Machinery(machinery::MachineryArgs),
}

/// Runs a benchmark.
pub async fn bench(args: BenchArgs) -> Result<Outcome, Failure> {
    let done = tokio::task::spawn_blocking(move || match args.what {
        What::Recount(args) => recount::bench(&args),
        What::Burnside(args) => burnside::bench(&args),
        What::Machinery(args) => machinery::bench(&args),
    });
    done.await.map_err(|e| Failure::failed(format!("the benchmark failed: {e}")))??;
    Ok(Outcome::Done)
}

/// User and system time of processes, from `/proc/PID/stat` in ticks of 1/100 s (proc(5), fields 14 and 15).
fn cpu_seconds(pids: &[u32]) -> f64 {
    let ticks = |pid: &u32| -> Option<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in brackets may hold blanks; what follows it does not.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
    };
    pids.iter().filter_map(ticks).sum::<f64>() / 100.0
}
