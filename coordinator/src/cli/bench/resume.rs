//! A large job: submitted, killed when most of it is done, taken up again.
//!
//! Units are committed one by one, so the coordinator finds as much of a past as the job can have.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use clap::Args;
use serde_json::Value;

use super::processes::{
    Place, etcd_nodes, free_address, in_new_folder, nonet, peak_mib, start, start_coordinator,
};
use crate::cli::{exit::Failure, format};

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

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Nothing takes so long.
const PATIENCE: Duration = Duration::from_secs(600);

/// Prints how long each step took, with what is asked of it.
pub fn bench(args: &ResumeArgs) -> Result<(), Failure> {
    in_new_folder("resume", |dir| bench_in(dir, args))
}

fn bench_in(dir: &Path, args: &ResumeArgs) -> Result<(), Failure> {
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
    let done = until(&url, |done| done >= mark)?;
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
    let first = until(&url, |_| true)?;
    say(&format!("after SIGKILL: knows {first} units"), begun.elapsed(), "5.0")?;
    until(&url, |done| done > first || done == args.units)?;
    say("after SIGKILL: more units are done", begun.elapsed(), "5.0")?;
    let peak = peak.max(peak_mib(coordinator.pid()));
    drop(workers);
    format::print(&format!("{:48}  {peak:6} MiB  at most 1024 MiB\n", "memory of the coordinator, at most"))
}

fn say(what: &str, took: Duration, at_most: &str) -> Result<(), Failure> {
    let at_most = if at_most.is_empty() { String::new() } else { format!("    at most {at_most} s") };
    format::print(&format!("{what:48}  {:6.2} s{at_most}\n", took.as_secs_f64()))
}

/// Asks until so many units are done; how many.
fn until(url: &str, enough: impl Fn(u64) -> bool) -> Result<u64, Failure> {
    let since = Instant::now();
    loop {
        let status = nonet(&["status", "noop", "--format", "json", "--coordinator", url])?;
        let status: Value =
            serde_json::from_str(&status).map_err(|e| Failure::failed(format!("not a status: {e}")))?;
        let done = status["done"].as_str().and_then(|done| done.parse().ok()).or(status["done"].as_u64());
        let done = done.ok_or_else(|| Failure::failed("a status without `done`".into()))?;
        if enough(done) {
            return Ok(done);
        }
        if since.elapsed() > PATIENCE {
            return Err(Failure::failed(format!("nothing moves: {done} units are done")));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
