//! No-op work units through real processes: a coordinator and two workers on loopback, every commit durable.

use std::time::Instant;

use clap::Args;

use super::processes::{Guard, NewFolder, Place, cpu_seconds, etcd_nodes, nonet, start, start_coordinator};
use crate::cli::{exit::Failure, format};

#[derive(Debug, Args)]
pub struct MachineryArgs {
    /// Work units in the batched run; a tenth of it in the run with one unit a lease
    #[arg(long, default_value_t = 400_000, value_parser = clap::value_parser!(u64).range(1000..))]
    units: u64,
    /// Threads, and leases at a time, of each of the two workers
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Leases that each worker keeps in stock
    #[arg(long, default_value_t = 512)]
    prefetch: usize,
    /// Where the coordinator keeps its ledger; `etcd` starts three nodes of it (`etcd` must be installed)
    #[arg(long, value_enum, default_value_t)]
    on: Place,
}

/// Runs with one unit and with 256 units a lease, and prints a table with what is asked of them.
pub fn bench(args: &MachineryArgs) -> Result<(), Failure> {
    format::print("lease, units     units  seconds   units/s   at least   CPU us/unit   at most\n")?;
    for (lease, units, at_least) in [(1, args.units / 10, 5_000), (256, args.units, 20_000)] {
        let Measured { seconds, cpu_seconds } = measure(args, lease, units)?;
        #[allow(clippy::cast_precision_loss, reason = "a rate to be looked at")]
        let units_f = units as f64;
        let (rate, cpu_us) = (units_f / seconds, cpu_seconds * 1e6 / units_f);
        let line = format!(
            "{lease:12}  {units:8}  {seconds:7.3}  {rate:8.0}  {at_least:9}  {cpu_us:12.2}  {:8}\n",
            50
        );
        format::print(&line)?;
    }
    Ok(())
}

struct Measured {
    seconds: f64,
    cpu_seconds: f64,
}

fn measure(args: &MachineryArgs, lease: u64, units: u64) -> Result<Measured, Failure> {
    let dir = NewFolder::make(&format!("machinery-{lease}"))?;
    let dir = dir.path();
    let lease = lease.to_string();
    let mut options = vec!["--fixed-lease-units", &lease];
    let etcd = etcd_nodes(dir, args.on)?;
    if let Some(etcd) = &etcd {
        options.extend(["--ledger", &etcd.url]);
    }
    let (coordinator, url) = start_coordinator(dir, "127.0.0.1:0", &options)?;
    let (threads, prefetch) = (args.threads.to_string(), args.prefetch.to_string());
    let worker = ["worker", "--coordinator", &url, "--threads", &threads, "--prefetch", &prefetch];
    let workers = [start(dir, &worker, "w1")?, start(dir, &worker, "w2")?];
    // The workers' start is not what is measured.
    let list = ["workers", "--coordinator", &url, "--format", "csv"];
    while nonet(&list)?.lines().count() < 3 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let nodes = etcd.iter().flat_map(|etcd| &etcd.nodes);
    let processes: Vec<u32> =
        std::iter::once(&coordinator).chain(&workers).chain(nodes).map(Guard::pid).collect();
    let cpu_before = cpu_seconds(&processes);
    let begun = Instant::now();
    let count = units.to_string();
    nonet(&["submit", "noop", "--units", &count, "--coordinator", &url, "--wait"])?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(Measured { seconds, cpu_seconds: cpu_seconds(&processes) - cpu_before })
}
