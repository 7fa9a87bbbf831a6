//! The command line.
//!
//! Reports go to standard output, everything else to standard error. Exit codes are in [`exit`].

mod args;
mod bench;
mod canonical;
mod compare;
mod daemon;
mod exit;
mod explain;
mod format;
mod ledger;
mod output;
mod progress;
mod remote;
mod run;

use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches};
use worker::cli::{WorkerArgs, init_log};

use exit::{Failure, Outcome};

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let matches = args::command().get_matches();
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Failure::failed(format!("cannot start: {error}")).tell(),
    };
    let outcome = runtime.block_on(dispatch(&matches));
    // Blocking tasks that are still at it (a store being closed) have nothing left to lose.
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    match outcome {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(failure) => failure.tell(),
    }
}

async fn dispatch(matches: &ArgMatches) -> Result<Outcome, Failure> {
    let Some((command, matches)) = matches.subcommand() else {
        return Err(Failure::usage("no command is given: `nonet --help` lists them".into()));
    };
    let daemon = matches!(command, "coordinator" | "worker");
    init_log(if daemon { "info,sled=warn" } else { "error,sled=off" });
    match command {
        "run" => run::run(matches).await,
        "submit" => remote::submit(matches).await,
        "coordinator" => daemon::coordinator(read(matches)?).await,
        "worker" => daemon::worker(read::<WorkerArgs>(matches)?).await,
        "canonical" => canonical::canonical(&read(matches)?),
        "compare" => compare::run(read(matches)?).await,
        "explain" => explain::run(read(matches)?).await,
        "bench" => bench::bench(read(matches)?).await,
        "ledger" => ledger::ledger(read(matches)?).await,
        "jobs" => remote::jobs(read(matches)?).await,
        "status" => remote::status(read(matches)?).await,
        "result" => remote::result(read(matches)?).await,
        "pause" | "resume" | "cancel" | "retry" => remote::control(command, read(matches)?).await,
        "workers" => remote::workers(read(matches)?).await,
        "drain" => remote::drain(read(matches)?).await,
        other => Err(Failure::usage(format!("no command {other:?}: `nonet --help` lists them"))),
    }
}

fn read<T: FromArgMatches>(matches: &ArgMatches) -> Result<T, Failure> {
    T::from_arg_matches(matches).map_err(|e| Failure::usage(e.to_string()))
}
