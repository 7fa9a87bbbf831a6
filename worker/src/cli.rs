//! The worker's command line, shared by `nonet worker` and `nonet-worker`.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use clap::Args;
use tokio::{
    runtime::Handle,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{
    agent,
    config::Config,
    config_file::ConfigFile,
    credentials::CredentialArgs,
    labels::{self, Labels},
    lease::Pace,
    log::{self, LogArgs},
    notice::{self, Notice},
    objects::Objects,
};

/// Arguments of a worker.
#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// Coordinator, or several with commas between
    #[arg(long, env = "NONET_COORDINATOR", value_name = "URL")]
    pub coordinator: Option<String>,
    /// Folder for checkpoint and unacknowledged results [default: ./nonet-worker-state]
    #[arg(long, env = "NONET_WORKER_STATE", value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Where results too large for the ledger go: a folder that all workers share, or a URL as <s3://bucket/parts>
    /// (gs://, az://, file://); `nonet result --output` reads them
    #[arg(long, env = "NONET_PARTS", value_name = "DIR|URL")]
    pub parts: Option<String>,
    /// Computing threads [default: one per core]
    #[arg(long, env = "NONET_THREADS", value_name = "N")]
    pub threads: Option<usize>,
    /// Leases kept in stock, so that no thread waits for the network [default: as many as threads]
    #[arg(long, env = "NONET_PREFETCH", value_name = "N")]
    pub prefetch: Option<usize>,
    /// Name shown to people [default: host name and process id]
    #[arg(long, env = "NONET_WORKER_NAME", value_name = "NAME")]
    pub name: Option<String>,
    /// What jobs may ask for in this worker, beside what it tells by itself: os, arch, cores, `memory_gib`, and avx2 and avx512
    /// if it has them (may be repeated)
    #[arg(long = "label", env = "NONET_LABELS", value_name = "NAME=VALUE", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// Pool that this worker belongs to; the same as --label pool=NAME. `nonet release` makes pools smaller
    #[arg(long, env = "NONET_POOL", value_name = "NAME")]
    pub pool: Option<String>,
    /// Where it is told that this machine goes (may be repeated): `file:PATH`, when the file exists; `command:COMMAND`, when it ends
    /// with 0 (else it is run again after 5 s); http://... or https://..., when it answers 200; aws, gcp or azure, when the
    /// cloud takes a spot machine back. The worker then does what it does on SIGTERM
    #[arg(long, env = "NONET_NOTICE", value_name = "HOW")]
    pub notice: Vec<Notice>,
    /// Where a cloud's machines ask about themselves, for tests
    #[arg(long, env = "NONET_NOTICE_ENDPOINT", value_name = "URL", hide = true)]
    pub notice_endpoint: Option<Url>,
    /// Commit the finished part of a running lease this often
    #[arg(long, env = "NONET_COMMIT_EVERY_MS", value_name = "MS", default_value_t = 10_000)]
    pub commit_every_ms: u64,
    /// TOML file with defaults for these options
    #[arg(long, env = "NONET_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What is told meanwhile.
    #[command(flatten)]
    pub log: LogArgs,
    /// What is shown to the coordinator.
    #[command(flatten)]
    pub credentials: CredentialArgs,
}

/// Default address of the coordinator.
pub const DEFAULT_COORDINATOR: &str = "http://127.0.0.1:7700";

/// More computing threads than this are a mistake.
const MAX_THREADS: usize = 1024;

/// Computing threads for `wanted`, by default one a core.
///
/// # Errors
///
/// When the number is out of bounds.
pub fn threads(wanted: Option<usize>) -> Result<usize, String> {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match wanted.unwrap_or_else(cores) {
        n @ 1..=MAX_THREADS => Ok(n),
        n => Err(format!("--threads {n}: expected 1 to {MAX_THREADS}")),
    }
}

/// An argument that cannot be used: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Runs a worker until SIGINT or SIGTERM.
///
/// # Errors
///
/// [`Usage`] for bad arguments; otherwise what keeps the worker from working.
pub async fn run(args: WorkerArgs) -> anyhow::Result<()> {
    let file = ConfigFile::read(args.config.as_deref()).map_err(|e| Usage(e.to_string()))?;
    log::init(log::OF_DAEMONS, args.log.log_format.or(file.log_format).unwrap_or_default());
    let coordinator = args.coordinator.or_else(|| file.coordinator.clone());
    let coordinator = coordinator.unwrap_or_else(|| DEFAULT_COORDINATOR.into());
    let dial = args.credentials.dial(&coordinator, &file).map_err(|e| Usage(e.to_string()))?;
    let threads = threads(args.threads.or(file.threads)).map_err(Usage)?;
    let parts = args.parts.or(file.parts).map(|place| Objects::open(&place, &Handle::current()));
    let parts = parts.transpose().map_err(|error| Usage(format!("--parts: {error}")))?;
    let labels = labels_of(&args.labels, args.pool.or(file.pool).as_deref(), file.labels).map_err(Usage)?;
    let notices = if args.notice.is_empty() {
        let texts = file.notice.unwrap_or_default();
        texts.iter().map(|text| text.parse()).collect::<Result<_, _>>().map_err(Usage)?
    } else {
        args.notice
    };
    let config = Config {
        dial: Arc::new(dial),
        state: args.state.or(file.state).unwrap_or_else(|| "nonet-worker-state".into()),
        parts,
        threads,
        prefetch: args.prefetch.or(file.prefetch).unwrap_or(threads),
        name: args.name.or(file.name).unwrap_or_else(default_name),
        labels,
        pace: Pace { commit_every: Duration::from_millis(args.commit_every_ms.max(1)), ..Pace::default() },
        drain: Duration::from_secs(8),
    };
    // A signal after a notice is the first signal, not the second one, which would end the process on the spot.
    let leave = stop_on_signal()?.child_token();
    notice::watch(notices, args.notice_endpoint.as_ref(), &leave).map_err(Usage)?;
    agent::run(config, leave).await?;
    Ok(())
}

/// What this machine is, then what the file says, then what was typed.
fn labels_of(
    typed: &[String],
    pool: Option<&str>,
    file: Option<std::collections::BTreeMap<String, String>>,
) -> Result<Labels, String> {
    let mut all = labels::of_this_machine();
    for (name, value) in file.unwrap_or_default() {
        labels::set(&mut all, &name, &value).map_err(|error| format!("labels: {error}"))?;
    }
    if let Some(pool) = pool {
        labels::add_pool(&mut all, pool)?;
    }
    labels::add(&mut all, typed)?;
    Ok(all)
}

/// A token that is cancelled by the first SIGINT or SIGTERM. A SIGINT after that ends the process on the spot; a SIGTERM does
/// not: Slurm sends it to a script and to what the script has started, and the script passes it on.
///
/// # Errors
///
/// When signals cannot be listened to.
pub fn stop_on_signal() -> anyhow::Result<CancellationToken> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen to SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen to SIGTERM")?;
    let stop = CancellationToken::new();
    let first = stop.clone();
    tokio::spawn(async move {
        loop {
            let impatient = tokio::select! {
                _ = interrupt.recv() => true,
                _ = terminate.recv() => false,
            };
            if impatient && first.is_cancelled() {
                std::process::exit(130);
            }
            first.cancel();
        }
    });
    Ok(stop)
}

fn default_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    format!("{}-{}", if host.is_empty() { "worker" } else { host }, std::process::id())
}
