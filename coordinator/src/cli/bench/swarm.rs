//! Thousands of workers in one process. They speak the real protocol over connections of their own, with the real
//! worker's way of dialling, and pretend to compute: what is measured is the coordinator.

mod puppet;

use std::{
    net::Ipv4Addr,
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use clap::Args;
use tokio::time::{Instant, sleep};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use worker::{credentials::Credentials, dial::Dial};

use self::puppet::{Counts, Puppet};
use super::processes::{Guard, NewFolder, cpu_seconds, free_address, nonet, peak_mib, start_coordinator};
use crate::cli::{exit::Failure, format};

#[derive(Debug, Args)]
pub struct SwarmArgs {
    /// Workers, with one connection each
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    workers: u32,
    /// Length of each phase: heartbeats alone, then work
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Pretended computing time of a work unit
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    unit_ms: u64,
    /// Work units in the job
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    units: u64,
}

/// A coordinator takes a share of its connections from one address: workers come from so many.
const ADDRESSES: u32 = 16;
/// Nothing takes so long.
const PATIENCE: Duration = Duration::from_secs(300);

/// Prints what each phase costs the coordinator.
pub async fn bench(args: &SwarmArgs) -> Result<(), Failure> {
    crate::cli::doors::raise_file_limit();
    let dir = NewFolder::make("swarm")?;
    bench_in(dir.path(), args).await
}

/// The swarm and who it works for.
struct Swarm {
    coordinator: Guard,
    counts: Arc<Counts>,
    workers: u64,
}

async fn bench_in(dir: &Path, args: &SwarmArgs) -> Result<(), Failure> {
    let listen = free_address()?;
    let (coordinator, url) = start_coordinator(dir, &listen, &[])?;
    let counts = Arc::new(Counts::default());
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    for i in 0..args.workers {
        let [_, _, _, last] = (1 + i % ADDRESSES).to_be_bytes();
        let dial =
            Dial::tcp(&url, Credentials::default())?.with_source(Ipv4Addr::new(127, 0, 1, last).into());
        let puppet = Puppet::new(i, dial, Duration::from_millis(args.unit_ms), Arc::clone(&counts));
        let stop = stop.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = puppet.run() => {}
                () = stop.cancelled() => {}
            }
        });
    }
    let mut swarm = Swarm { coordinator, counts, workers: args.workers.into() };
    format::print(
        "phase                                 seconds  cores of the coordinator  messages/s  commits/s  peak MiB\n",
    )?;
    swarm.connect("connecting").await?;
    let length = Duration::from_secs(args.seconds);
    swarm.phase("heartbeats alone", length).await?;
    let units = args.units.to_string();
    nonet(&["submit", "noop", "--units", &units, "--coordinator", &url])?;
    swarm.phase("work begins", length).await?;
    swarm.phase("work", length).await?;

    let Swarm { coordinator, counts, workers } = swarm;
    coordinator.kill();
    let killed = Instant::now();
    while counts.connected.load(Ordering::Relaxed) > 0 {
        if killed.elapsed() > PATIENCE {
            return Err(Failure::failed("workers do not notice that their coordinator is gone".into()));
        }
        sleep(Duration::from_millis(10)).await;
    }
    let (coordinator, _) = start_coordinator(dir, &listen, &[])?;
    let mut swarm = Swarm { coordinator, counts, workers };
    swarm.connect("all back after SIGKILL").await?;
    swarm.phase("work", length).await?;
    let refused = swarm.counts.refused.load(Ordering::Relaxed);
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    if refused > 0 {
        return Err(Failure::failed(format!("{refused} workers were refused")));
    }
    Ok(())
}

impl Swarm {
    /// Waits until everybody is connected.
    async fn connect(&mut self, name: &str) -> Result<(), Failure> {
        let measure = Measure::begin(self);
        while self.counts.connected.load(Ordering::Relaxed) < self.workers {
            if measure.begun.elapsed() > PATIENCE {
                let connected = self.counts.connected.load(Ordering::Relaxed);
                return Err(Failure::failed(format!(
                    "{connected} of {} workers are connected",
                    self.workers
                )));
            }
            sleep(Duration::from_millis(5)).await;
        }
        measure.end(self, name)
    }

    async fn phase(&mut self, name: &str, length: Duration) -> Result<(), Failure> {
        let measure = Measure::begin(self);
        sleep(length).await;
        measure.end(self, name)?;
        let lost = self.workers - self.counts.connected.load(Ordering::Relaxed).min(self.workers);
        if lost > 0 {
            return Err(Failure::failed(format!("{lost} workers have lost their connection")));
        }
        Ok(())
    }
}

/// What things were at the beginning of a phase.
struct Measure {
    begun: Instant,
    cpu_seconds: f64,
    messages: u64,
    commits: u64,
}

impl Measure {
    fn begin(swarm: &Swarm) -> Self {
        Self {
            begun: Instant::now(),
            cpu_seconds: cpu_seconds(&[swarm.coordinator.pid()]),
            messages: swarm.counts.messages.load(Ordering::Relaxed),
            commits: swarm.counts.acknowledged.load(Ordering::Relaxed),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "rates to be looked at")]
    fn end(self, swarm: &Swarm, name: &str) -> Result<(), Failure> {
        let now = Self::begin(swarm);
        let seconds = self.begun.elapsed().as_secs_f64();
        let cores = (now.cpu_seconds - self.cpu_seconds) / seconds;
        let messages = (now.messages - self.messages) as f64 / seconds;
        let commits = (now.commits - self.commits) as f64 / seconds;
        let peak = peak_mib(swarm.coordinator.pid());
        let name = format!("{name}, {} workers", swarm.workers);
        format::print(&format!(
            "{name:36}  {seconds:7.1}  {cores:24.2}  {messages:10.0}  {commits:9.0}  {peak:8}\n"
        ))
    }
}
