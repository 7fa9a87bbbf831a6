//! No-op work units through real processes: a coordinator and two workers on loopback, every commit durable.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

use clap::Args;

use super::cpu_seconds;
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

/// A process that does not outlive the benchmark.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn measure(args: &MachineryArgs, lease: u64, units: u64) -> Result<Measured, Failure> {
    let dir = std::env::temp_dir().join(format!("nonet-bench-{}-{lease}", std::process::id()));
    std::fs::create_dir_all(&dir)
        .map_err(|e| Failure::failed(format!("cannot create {}: {e}", dir.display())))?;
    let measured = measure_in(&dir, args, lease, units);
    drop(std::fs::remove_dir_all(&dir));
    measured
}

fn measure_in(dir: &Path, args: &MachineryArgs, lease: u64, units: u64) -> Result<Measured, Failure> {
    let lease = lease.to_string();
    let mut coordinator =
        start(dir, &["coordinator", "--listen", "127.0.0.1:0", "--fixed-lease-units", &lease], "c")?;
    let mut url = String::new();
    if let Some(stdout) = coordinator.0.stdout.take() {
        let read = BufReader::new(stdout).read_line(&mut url);
        read.map_err(|e| Failure::failed(format!("the coordinator does not start: {e}")))?;
    }
    let url = url.trim();
    let (threads, prefetch) = (args.threads.to_string(), args.prefetch.to_string());
    let worker = ["worker", "--coordinator", url, "--threads", &threads, "--prefetch", &prefetch];
    let workers = [start(dir, &worker, "w1")?, start(dir, &worker, "w2")?];
    // The workers' start is not what is measured.
    let list = ["workers", "--coordinator", url, "--format", "csv"];
    while nonet(&list)?.lines().count() < 3 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let processes: Vec<u32> =
        std::iter::once(&coordinator).chain(&workers).map(|guard| guard.0.id()).collect();
    let cpu_before = cpu_seconds(&processes);
    let begun = Instant::now();
    let count = units.to_string();
    nonet(&["submit", "noop", "--units", &count, "--coordinator", url, "--wait"])?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(Measured { seconds, cpu_seconds: cpu_seconds(&processes) - cpu_before })
}

fn start(dir: &Path, args: &[&str], name: &str) -> Result<Guard, Failure> {
    let mut command = this_program()?;
    command.args(args).arg("--state").arg(dir.join(name)).env("NONET_LOG", "error");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).stdin(Stdio::null()).spawn();
    child.map(Guard).map_err(|e| Failure::failed(format!("cannot start {args:?}: {e}")))
}

fn nonet(args: &[&str]) -> Result<String, Failure> {
    let output = this_program()?.args(args).stderr(Stdio::inherit()).output();
    let output = output.map_err(|e| Failure::failed(format!("cannot run {args:?}: {e}")))?;
    if !output.status.success() {
        return Err(Failure::failed(format!("{args:?} failed with {}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn this_program() -> Result<Command, Failure> {
    let path = std::env::current_exe().map_err(|e| Failure::failed(format!("where is this program? {e}")))?;
    Ok(Command::new(path))
}
