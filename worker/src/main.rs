//! `nonet-worker`: a worker and nothing else, for machines that only compute.

use std::process::ExitCode;

use clap::Parser;
use worker::{
    cli::{self, Usage, WorkerArgs},
    log::last_words,
};

/// A Nonet worker: takes leases from a coordinator, computes them, hands results in.
///
/// It may be killed at any time; the next start with the same --state hands in what was computed. SIGTERM commits
/// what is done and ends within ten seconds.
#[derive(Parser)]
#[command(name = "nonet-worker", version, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    args: WorkerArgs,
}

const EXAMPLES: &str = "Examples:\n  nonet-worker --coordinator http://head:7700 --state /var/lib/nonet\n  \
    nonet-worker --coordinator http://head:7700 --parts s3://bucket/parts\n  \
    nonet-worker --coordinator http://head:7700 --pool spot --notice file:/run/preempted";

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("cannot start: {error}"), 1),
    };
    match runtime.block_on(cli::run(cli.args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("{error:#}"), if error.is::<Usage>() { 2 } else { 1 }),
    }
}

fn fail(text: &str, code: u8) -> ExitCode {
    last_words("nonet-worker", text);
    ExitCode::from(code)
}
