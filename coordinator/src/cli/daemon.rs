//! `nonet coordinator` and `nonet worker`.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use worker::{
    cli::{WorkerArgs, stop_on_signal},
    config_file::ConfigFile,
    credentials::TlsArgs,
    log::{self, LogArgs},
};

use super::{
    cluster::Member,
    doors::{bind, doors},
    exit::{Failure, Outcome},
    format,
    run::open_ledger,
    source::{EtcdArgs, wire},
    web::{Wanted, announce, open_web, seen_from_elsewhere, url_of},
};
use crate::{
    engine::{Engine, EngineConfig, EngineTask},
    ledger::{
        Ledger,
        etcd::{Address, Bounds},
    },
    metrics::Counted,
    scheduler::Policy,
    seat::{Seat, SeatHolder},
    server::{self, Doors},
    telemetry::Telemetry,
    traces::Collector,
    web,
};

/// Arguments of the coordinator.
#[derive(Debug, Args)]
pub struct CoordinatorArgs {
    /// Address to listen on; port 0 takes a free one [default: 127.0.0.1:7700]
    #[arg(long, env = "NONET_LISTEN", value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Where the page for browsers listens, with `/metrics`, `/healthz` and `/readyz`; or `off`. From other machines it can be
    /// reached only with --tokens, and with --tls or --allow-plaintext [default: 127.0.0.1:7780, or any free port if that is
    /// taken]
    #[arg(long, env = "NONET_WEB", value_name = "HOST:PORT|off")]
    web: Option<String>,
    /// Folder of the ledger [default: ./nonet-state]; of no use with --ledger
    #[arg(long, env = "NONET_STATE", value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    etcd: EtcdArgs,
    /// Where workers and users reach this coordinator, if not where it listens; shown by the others
    #[arg(long, env = "NONET_ADVERTISE", value_name = "URL")]
    advertise: Option<String>,
    /// Computing time that a lease aims at
    #[arg(long, value_name = "MS", default_value_t = 15_000)]
    lease_ms: u64,
    /// A worker that is silent for so long has lost its leases
    #[arg(long, value_name = "MS", default_value_t = 15_000)]
    silence_ms: u64,
    /// Work units in every lease, instead of measuring: for benchmarks
    #[arg(long, value_name = "UNITS", hide = true)]
    fixed_lease_units: Option<u64>,
    /// Groups in etcd before they are put together: for storms
    #[arg(long, value_name = "GROUPS", hide = true)]
    compact_after: Option<usize>,
    /// TOML file with defaults for these options
    #[arg(long, env = "NONET_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    log: LogArgs,
    /// Send traces to the OTLP collector at URL, its gRPC port: <http://127.0.0.1:4317>. The variables `OTEL_EXPORTER_OTLP_HEADERS`,
    /// `_TIMEOUT` and `_CERTIFICATE` (a CA), `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_TRACES_SAMPLER` count, where it is given
    #[arg(long, env = "NONET_OTLP", value_name = "URL")]
    otlp: Option<String>,
    #[command(flatten)]
    tls: TlsArgs,
    /// File of the tokens that callers must show one of, from `nonet tokens add`; read again when it changes, and on SIGHUP
    #[arg(long, env = "NONET_TOKENS", value_name = "FILE", help_heading = "Security")]
    tokens: Option<PathBuf>,
}

/// Beats within the time after which a worker counts as lost.
const BEATS_PER_SILENCE: u64 = 5;

/// Serves until SIGINT or SIGTERM.
pub async fn coordinator(args: CoordinatorArgs) -> Result<Outcome, Failure> {
    let file = ConfigFile::read(args.config.as_deref())?;
    log::init(log::OF_DAEMONS, args.log.log_format.or(file.log_format).unwrap_or_default());
    let allow_plaintext = args.tls.allow_plaintext || file.allow_plaintext.unwrap_or(false);
    let tls = args.tls.files(&file).map_err(Failure::usage)?;
    let listen = args.listen.or(file.listen).unwrap_or_else(|| "127.0.0.1:7700".into());
    let state = args.state.or(file.state).unwrap_or_else(|| "nonet-state".into());
    let stop = stop_on_signal()?;
    let ledger = match (args.etcd.ledger, &file.ledger) {
        (None, Some(text)) => Some(Address::parse(text).map_err(|e| Failure::usage(format!("ledger: {e}")))?),
        (ledger, _) => ledger,
    };
    let files = args.etcd.ledger_tls.or(file.ledger_tls);
    let ledger = ledger.map(|ledger| wire(ledger, files.as_deref(), allow_plaintext)).transpose()?;
    let telemetry = telemetry(args.otlp.or(file.otlp), allow_plaintext)?;
    let doors = doors(tls.clone(), args.tokens.or(file.tokens), telemetry.clone(), &stop)?;
    let listener = bind(&listen, doors.tls.is_some(), allow_plaintext).await?;
    let advertise = args.advertise.or(file.advertise);
    let wanted = Wanted {
        web: args.web.or(file.web),
        listen: listen.clone(),
        advertise: advertise.clone(),
        allow_plaintext,
    };
    let web = open_web(wanted, tls, &doors, &stop).await?;
    let address = listener.local_addr().map_err(|e| Failure::failed(format!("{listen}: {e}")))?;
    let policy = Policy {
        target_lease_ms: args.lease_ms.max(1),
        silence_ms: args.silence_ms.max(100),
        fixed_lease_units: args.fixed_lease_units,
        ..Policy::default()
    };
    let heartbeat_ms = u32::try_from(policy.silence_ms / BEATS_PER_SILENCE).unwrap_or(u32::MAX).min(3_000);
    let config = EngineConfig { policy, heartbeat_ms, start_unfinished: true };
    let scheme = if doors.tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{address}");
    warn(&doors, address);
    let advertised = advertise.unwrap_or_else(|| url.clone());
    let page = web.as_ref().map_or(String::new(), |web| seen_from_elsewhere(web, &advertised));
    let chair = Seat::empty();
    let page_url = web.as_ref().and_then(url_of);
    if let Some(web) = web {
        // Probes are answered while a long ledger is still being opened.
        tokio::spawn(web::serve(chair.1.clone(), web, stop.clone()));
    }
    let served = match ledger.map(Arc::new) {
        Some(ledger) => {
            format::print(&format!("{url}\n"))?;
            tracing::info!("coordinator at {url}");
            announce(page_url.as_deref());
            let mut bounds = Bounds::default();
            bounds.tail_groups = args.compact_after.unwrap_or(bounds.tail_groups);
            Member { ledger, url: advertised, page, config, bounds }.serve(listener, doors, chair, stop).await
        }
        None => alone(open_ledger(state).await?, config, (listener, url, page_url), doors, chair, stop).await,
    };
    // It blocks, for a second at most.
    drop(tokio::task::spawn_blocking(move || telemetry.traces.end()).await);
    served
}

/// Counters, and spans for whoever is at `otlp`.
fn telemetry(otlp: Option<String>, allow_plaintext: bool) -> Result<Telemetry, Failure> {
    let counted = Arc::<Counted>::default();
    let collector = otlp.map(|url| Collector::parse(&url, allow_plaintext)).transpose();
    let traces = collector.and_then(|found| found.map(|collector| collector.collect(&counted)).transpose());
    Ok(Telemetry { traces: traces.map_err(Failure::usage)?.unwrap_or_default(), counted })
}

/// The only coordinator: leads as long as it lives.
async fn alone(
    ledger: Box<dyn Ledger>,
    config: EngineConfig,
    (listener, url, page_url): (TcpListener, String, Option<String>),
    doors: Doors,
    (holder, seat): (SeatHolder, Seat),
    stop: CancellationToken,
) -> Result<Outcome, Failure> {
    let EngineTask { engine, mut task, stop: stop_engine } =
        Engine::start_observed(ledger, config, doors.telemetry.clone())?;
    // Whoever is told where it is finds it ready.
    holder.lead(engine);
    format::print(&format!("{url}\n"))?;
    tracing::info!("coordinator at {url}");
    announce(page_url.as_deref());
    let server = server::serve_tcp(seat, listener, doors, stop.clone());
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

/// Says what an operator may not have meant.
fn warn(doors: &Doors, address: std::net::SocketAddr) {
    match (&doors.tls, &doors.tokens) {
        (None, None) if !address.ip().is_loopback() => {
            tracing::warn!(
                "no encryption and no passwords: everybody who reaches {address} may do everything"
            );
        }
        (None, Some(_)) if !address.ip().is_loopback() => {
            tracing::warn!("no encryption: everybody on the way to {address} can read the tokens");
        }
        _ => {}
    }
}

/// Computes until SIGINT or SIGTERM.
pub async fn worker(args: WorkerArgs) -> Result<Outcome, Failure> {
    worker::cli::run(args).await?;
    Ok(Outcome::Done)
}
