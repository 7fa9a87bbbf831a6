//! `nonet coordinator` and `nonet worker`.

use std::path::PathBuf;

use clap::Args;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use worker::{
    cli::{WorkerArgs, stop_on_signal},
    config_file::ConfigFile,
};

use super::{
    cluster::Member,
    exit::{Failure, Outcome},
    format,
    run::open_ledger,
};
use crate::{
    engine::{Engine, EngineConfig, EngineTask},
    ledger::{Ledger, etcd::Address},
    scheduler::Policy,
    seat::Seat,
    server,
};

/// Arguments of the coordinator.
#[derive(Debug, Args)]
pub struct CoordinatorArgs {
    /// Address to listen on; port 0 takes a free one [default: 127.0.0.1:7700]
    #[arg(long, env = "NONET_LISTEN", value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Folder of the ledger [default: ./nonet-state]; of no use with --ledger
    #[arg(long, env = "NONET_STATE", value_name = "DIR")]
    state: Option<PathBuf>,
    /// Ledger in etcd, for several coordinators of which one leads: etcd://HOST:PORT,HOST:PORT,HOST:PORT
    #[arg(long, env = "NONET_LEDGER", value_name = "URL")]
    ledger: Option<String>,
    /// Where workers and users reach this coordinator, if not where it listens; shown by the others
    #[arg(long, env = "NONET_ADVERTISE", value_name = "URL")]
    advertise: Option<String>,
    /// Listen off loopback without encryption: only in a network where everybody is trusted
    #[arg(long, env = "NONET_ALLOW_PLAINTEXT")]
    allow_plaintext: bool,
    /// Computing time that a lease aims at
    #[arg(long, value_name = "MS", default_value_t = 15_000)]
    lease_ms: u64,
    /// A worker that is silent for so long has lost its leases
    #[arg(long, value_name = "MS", default_value_t = 15_000)]
    silence_ms: u64,
    /// Work units in every lease, instead of measuring: for benchmarks
    #[arg(long, value_name = "UNITS", hide = true)]
    fixed_lease_units: Option<u64>,
    /// TOML file with defaults for these options
    #[arg(long, env = "NONET_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Beats within the time after which a worker counts as lost.
const BEATS_PER_SILENCE: u64 = 5;

/// Serves until SIGINT or SIGTERM.
pub async fn coordinator(args: CoordinatorArgs) -> Result<Outcome, Failure> {
    let file = ConfigFile::read(args.config.as_deref())?;
    let listen = args.listen.or(file.listen).unwrap_or_else(|| "127.0.0.1:7700".into());
    let allow_plaintext = args.allow_plaintext || file.allow_plaintext.unwrap_or(false);
    let state = args.state.or(file.state).unwrap_or_else(|| "nonet-state".into());
    let stop = stop_on_signal()?;
    let listener = bind(&listen, allow_plaintext).await?;
    let address = listener.local_addr().map_err(|e| Failure::failed(format!("{listen}: {e}")))?;
    let policy = Policy {
        target_lease_ms: args.lease_ms.max(1),
        silence_ms: args.silence_ms.max(100),
        fixed_lease_units: args.fixed_lease_units,
        ..Policy::default()
    };
    let heartbeat_ms = u32::try_from(policy.silence_ms / BEATS_PER_SILENCE).unwrap_or(u32::MAX).min(3_000);
    let config = EngineConfig { policy, heartbeat_ms, start_unfinished: true };
    let url = format!("http://{address}");
    match args.ledger.or(file.ledger) {
        Some(ledger) => {
            let ledger = Address::parse(&ledger).map_err(|e| Failure::usage(format!("--ledger {e}")))?;
            format::print(&format!("{url}\n"))?;
            tracing::info!("coordinator at {url}");
            let url = args.advertise.or(file.advertise).unwrap_or(url);
            Member { ledger, url, config }.serve(listener, stop).await
        }
        None => alone(open_ledger(state).await?, config, listener, stop).await,
    }
}

/// The only coordinator: leads as long as it lives.
async fn alone(
    ledger: Box<dyn Ledger>,
    config: EngineConfig,
    listener: TcpListener,
    stop: CancellationToken,
) -> Result<Outcome, Failure> {
    let address = listener.local_addr().map_err(|e| Failure::failed(e.to_string()))?;
    let EngineTask { engine, mut task, stop: stop_engine } = Engine::start(ledger, config)?;
    format::print(&format!("http://{address}\n"))?;
    tracing::info!("coordinator at http://{address}");
    let server = server::serve_tcp(Seat::of(engine), listener, stop.clone());
    tokio::pin!(server);
    let ended = tokio::select! {
        ended = &mut task => ended,
        served = &mut server => {
            served.map_err(|e| Failure::failed(format!("the server failed: {e}")))?;
            stop_engine.cancel();
            task.await
        }
    };
    ended.map_err(|e| Failure::failed(format!("the engine failed: {e}")))??;
    // A daemon that was told to stop has done what it was told.
    Ok(Outcome::Done)
}

async fn bind(listen: &str, allow_plaintext: bool) -> Result<TcpListener, Failure> {
    let addresses = tokio::net::lookup_host(listen).await;
    let addresses =
        addresses.map_err(|e| Failure::usage(format!("--listen {listen}: {e}; expected HOST:PORT")))?;
    let addresses: Vec<_> = addresses.collect();
    if !allow_plaintext && addresses.iter().any(|address| !address.ip().is_loopback()) {
        return Err(Failure::usage(format!(
            "--listen {listen} can be reached from other machines, without encryption or passwords: add \
             --allow-plaintext if everybody in that network is trusted"
        )));
    }
    TcpListener::bind(addresses.as_slice()).await.map_err(|e| {
        let hint = if e.kind() == std::io::ErrorKind::AddrInUse {
            " (does another coordinator run there?)"
        } else {
            ""
        };
        Failure::failed(format!("cannot listen on {listen}: {e}{hint}"))
    })
}

/// Computes until SIGINT or SIGTERM.
pub async fn worker(args: WorkerArgs) -> Result<Outcome, Failure> {
    worker::cli::run(args).await?;
    Ok(Outcome::Done)
}
