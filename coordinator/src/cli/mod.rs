//! The command line.
//!
//! Reports go to standard output, everything else to standard error. Exit codes are in [`exit`].

mod args;
mod audit;
mod bench;
mod canonical;
mod certificate;
mod certs;
mod cluster;
mod compare;
mod daemon;
mod doors;
mod each;
mod exit;
mod explain;
mod format;
mod ledger;
mod output;
mod photos_eval;
mod progress;
mod read;
mod remote;
mod run;
mod scale;
mod source;
mod storm;
mod tokens;
mod verify;
mod web;
mod workers;

use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches};
use worker::{
    cli::WorkerArgs,
    log::{self, LogFormat},
};

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
    // The daemons begin when they have read how.
    if !matches!(command, "coordinator" | "worker") {
        log::init("error,sled=off", LogFormat::Text);
    }
    match command {
        "run" => run::run(matches).await,
        "storm" => storm::storm(matches).await,
        "submit" => remote::submit(matches).await,
        "coordinator" => daemon::coordinator(read_args(matches)?).await,
        "worker" => daemon::worker(read_args::<WorkerArgs>(matches)?).await,
        "canonical" => canonical::canonical(&read_args(matches)?),
        "compare" => compare::run(read_args(matches)?).await,
        "explain" => explain::run(read_args(matches)?).await,
        "read" => read::run(read_args(matches)?).await,
        "photos-eval" => photos_eval::run(read_args(matches)?).await,
        "bench" => bench::bench(read_args(matches)?).await,
        "certificate" => certificate::run(read_args(matches)?).await,
        "certs" => certs::certs(read_args(matches)?),
        "tokens" => tokens::tokens(read_args(matches)?),
        "audit" => audit::audit(read_args(matches)?).await,
        "ledger" => ledger::ledger(read_args(matches)?).await,
        "jobs" => remote::jobs(read_args(matches)?).await,
        "status" => remote::status(read_args(matches)?).await,
        "result" => remote::result(read_args(matches)?).await,
        "pause" | "resume" | "cancel" | "retry" => remote::control(command, read_args(matches)?).await,
        "verify" => verify::run(read_args(matches)?).await,
        "workers" => workers::workers(read_args(matches)?).await,
        "drain" => workers::drain(read_args(matches)?).await,
        "scale" => scale::scale(read_args(matches)?).await,
        "release" => workers::release(read_args(matches)?).await,
        "readmit" => workers::readmit(read_args(matches)?).await,
        other => Err(Failure::usage(format!("no command {other:?}: `nonet --help` lists them"))),
    }
}

fn read_args<T: FromArgMatches>(matches: &ArgMatches) -> Result<T, Failure> {
    T::from_arg_matches(matches).map_err(|e| Failure::usage(e.to_string()))
}
