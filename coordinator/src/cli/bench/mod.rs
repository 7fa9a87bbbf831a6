//! `nonet bench`: whole runs, measured and printed in the units that users care about.

mod burnside;
mod machinery;
mod processes;
mod recount;
mod resume;
mod swarm;

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
    #[command(
        after_help = "Examples:\n  nonet bench machinery --units 400000\n  nonet bench machinery --units 400000 --on etcd"
    )]
    Machinery(machinery::MachineryArgs),
    /// Thousands of workers that speak the real protocol and compute nothing: what they cost the coordinator
    #[command(after_help = "Example:\n  nonet bench swarm --workers 10000")]
    Swarm(swarm::SwarmArgs),
    /// A large job: how soon it is taken in, and taken up again after SIGKILL when much of it is done
    #[command(after_help = "Example:\n  nonet bench resume --units 10000000")]
    Resume(resume::ResumeArgs),
}

/// Runs a benchmark.
pub async fn bench(args: BenchArgs) -> Result<Outcome, Failure> {
    match args.what {
        What::Recount(args) => apart(move || recount::bench(&args)).await?,
        What::Burnside(args) => apart(move || burnside::bench(&args)).await?,
        What::Machinery(args) => apart(move || machinery::bench(&args)).await?,
        What::Swarm(args) => swarm::bench(&args).await?,
        What::Resume(args) => resume::bench(&args).await?,
    }
    Ok(Outcome::Done)
}

/// Runs what blocks.
async fn apart(what: impl FnOnce() -> Result<(), Failure> + Send + 'static) -> Result<(), Failure> {
    let done = tokio::task::spawn_blocking(what).await;
    done.map_err(|e| Failure::failed(format!("the benchmark failed: {e}")))?
}
