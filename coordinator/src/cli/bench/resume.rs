//! A large job: submitted, killed when most of it is done, taken up again.
//!
//! Units are committed one by one, so the coordinator finds as much of a past as the job can have.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args;
use tokio::time::timeout;
use worker::{credentials::Credentials, dial::Dial};

use super::processes::{
    NewFolder, Place, etcd_nodes, free_address, nonet, peak_mib, start, start_coordinator,
};
use crate::{
    cli::{exit::Failure, format},
    client::{Client, ClientError},
};

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Work units
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(10_000..))]
    units: u64,
    /// Work units in a lease, and so in a commit
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    lease: u64,
    /// Kill the coordinator when so many hundredths of it are done
    #[arg(long, default_value_t = 95, value_parser = clap::value_parser!(u64).range(1..100))]
    percent: u64,
    /// Where the coordinator keeps its ledger; `etcd` starts three nodes of it (`etcd` must be installed)
    #[arg(long, value_enum, default_value_t)]
    on: Place,
}

/// Nothing takes so long.
const PATIENCE: Duration = Duration::from_secs(600);

/// Prints how long each step took, with what is asked of it.
pub async fn bench(args: &ResumeArgs) -> Result<(), Failure> {
    let dir = NewFolder::make("resume")?;
    bench_in(dir.path(), args).await
}

async fn bench_in(dir: &Path, args: &ResumeArgs) -> Result<(), Failure> {
    let listen = free_address()?;
    let lease = args.lease.to_string();
    let mut options = vec!["--fixed-lease-units", &lease];
    let etcd = etcd_nodes(dir, args.on)?;
    if let Some(etcd) = &etcd {
        options.extend(["--ledger", &etcd.url]);
    }
    let (coordinator, url) = start_coordinator(dir, &listen, &options)?;

    let units = args.units.to_string();
    let begun = Instant::now();
    nonet(&["submit", "noop", "--units", &units, "--coordinator", &url])?;
    say("submitted", begun.elapsed(), "2.0")?;

    let worker = ["worker", "--coordinator", &url, "--threads", "1", "--prefetch", "512"];
    let workers = [start(dir, &worker, "w1")?, start(dir, &worker, "w2")?];
    let mark = args.units / 100 * args.percent;
    let begun = Instant::now();
    let done = until(&url, |done| done >= mark).await?;
    if done == args.units {
        return Err(Failure::failed(
            "the job was finished before it could be killed: give more --units".into(),
        ));
    }
    let text = format!("{done} units done, in leases of {lease}");
    say(&text, begun.elapsed(), "")?;
    let peak = peak_mib(coordinator.pid());
    coordinator.kill();

    let begun = Instant::now();
    let (coordinator, url) = start_coordinator(dir, &listen, &options)?;
    say("after SIGKILL: listens again", begun.elapsed(), "")?;
    let first = until(&url, |_| true).await?;
    say(&format!("after SIGKILL: knows {first} units"), begun.elapsed(), "5.0")?;
    until(&url, |done| done > first || done == args.units).await?;
    say("after SIGKILL: more units are done", begun.elapsed(), "5.0")?;
    let peak = peak.max(peak_mib(coordinator.pid()));
    drop(workers);
    format::print(&format!("{:48}  {peak:6} MiB  at most 1024 MiB\n", "memory of the coordinator, at most"))
}

fn say(what: &str, took: Duration, at_most: &str) -> Result<(), Failure> {
    let at_most = if at_most.is_empty() { String::new() } else { format!("    at most {at_most} s") };
    format::print(&format!("{what:48}  {:6.2} s{at_most}\n", took.as_secs_f64()))
}

/// Watches until so many units are done; how many.
async fn until(url: &str, enough: impl Fn(u64) -> bool) -> Result<u64, Failure> {
    let watching = async {
        let mut client = Client::connect(&Arc::new(Dial::tcp(url, Credentials::default())?)).await?;
        let mut told = client.watch("noop").await?;
        while let Some(status) = told.message().await.map_err(ClientError::from)? {
            if enough(status.done) {
                return Ok(status.done);
            }
        }
        Err(Failure::failed("the job ended too soon".into()))
    };
    let patience = || Failure::failed(format!("nothing has come of it within {} s", PATIENCE.as_secs()));
    timeout(PATIENCE, watching).await.map_err(|_| patience())?
}
