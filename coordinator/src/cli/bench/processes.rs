//! The processes of a benchmark: started in a folder that goes with them, looked at through `/proc`.

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use clap::ValueEnum;

use crate::cli::exit::Failure;

/// Where the ledger of a benchmark is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Place {
    /// A folder
    #[default]
    Folder,
    /// Three nodes of etcd on this machine
    Etcd,
}

/// A process that does not outlive the benchmark.
pub struct Guard(Child);

impl Guard {
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// SIGKILL.
    pub fn kill(mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A folder that goes with the benchmark, after its processes: declare it before them.
pub struct NewFolder(PathBuf);

impl NewFolder {
    pub fn make(name: &str) -> Result<Self, Failure> {
        let dir = std::env::temp_dir().join(format!("nonet-bench-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir)
            .map_err(|e| Failure::failed(format!("cannot create {}: {e}", dir.display())))?;
        Ok(Self(dir))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Starts a coordinator with its ledger in `dir`, or where `options` say; it, and its address, when it leads.
pub fn start_coordinator(dir: &Path, listen: &str, options: &[&str]) -> Result<(Guard, String), Failure> {
    let mut args = vec!["coordinator", "--web", "off", "--listen", listen];
    args.extend(options);
    let mut coordinator = start(dir, &args, "c")?;
    let mut url = String::new();
    if let Some(stdout) = coordinator.0.stdout.take() {
        let read = BufReader::new(stdout).read_line(&mut url);
        read.map_err(|e| Failure::failed(format!("the coordinator does not start: {e}")))?;
    }
    let url = url.trim();
    if url.is_empty() {
        return Err(Failure::failed("the coordinator has ended".into()));
    }
    if options.contains(&"--ledger") {
        // One of several coordinators is waited for until it leads, and so is one that is named twice.
        nonet(&["jobs", "--coordinator", &format!("{url},{url}")])?;
    }
    Ok((coordinator, url.into()))
}

/// Starts this program with its state in `dir`.
pub fn start(dir: &Path, args: &[&str], name: &str) -> Result<Guard, Failure> {
    let mut command = this_program()?;
    command.args(args).arg("--state").arg(dir.join(name)).env("NONET_LOG", "error");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).stdin(Stdio::null()).spawn();
    child.map(Guard).map_err(|e| Failure::failed(format!("cannot start {args:?}: {e}")))
}

/// Runs this program to its end; what it prints.
pub fn nonet(args: &[&str]) -> Result<String, Failure> {
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

/// Nodes of etcd, and the URL of a ledger in them.
pub struct Etcd {
    pub nodes: Vec<Guard>,
    pub url: String,
}

const ETCD_NODES: usize = 3;
const ETCD_START: Duration = Duration::from_secs(30);

/// Starts etcd, if the ledger is to be there.
pub fn etcd_nodes(dir: &Path, place: Place) -> Result<Option<Etcd>, Failure> {
    if place == Place::Folder {
        return Ok(None);
    }
    let addresses = free_addresses(2 * ETCD_NODES)?;
    let (clients, peers) = addresses.split_at(ETCD_NODES);
    let members: Vec<_> = peers.iter().enumerate().map(|(i, peer)| format!("n{i}=http://{peer}")).collect();
    let mut nodes = Vec::new();
    for (i, (client, peer)) in clients.iter().zip(peers).enumerate() {
        let mut command = Command::new("etcd");
        command.arg(format!("--name=n{i}")).arg("--data-dir").arg(dir.join(format!("etcd-{i}")));
        for (option, address) in [
            ("listen-client-urls", client),
            ("advertise-client-urls", client),
            ("listen-peer-urls", peer),
            ("initial-advertise-peer-urls", peer),
        ] {
            command.arg(format!("--{option}=http://{address}"));
        }
        command.arg(format!("--initial-cluster={}", members.join(",")));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        nodes.push(Guard(child.map_err(|e| Failure::failed(format!("cannot start etcd: {e}")))?));
    }
    let since = Instant::now();
    for client in clients {
        while std::net::TcpStream::connect(client).is_err() {
            if since.elapsed() > ETCD_START {
                return Err(Failure::failed(format!("etcd does not answer at {client}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(Some(Etcd { nodes, url: format!("etcd://{}/bench", clients.join(",")) }))
}

/// Addresses on loopback where nobody listens.
fn free_addresses(count: usize) -> Result<Vec<String>, Failure> {
    let failed = |e: std::io::Error| Failure::failed(format!("no free port: {e}"));
    let listeners: Vec<_> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>().map_err(failed)?;
    listeners.iter().map(|listener| Ok(listener.local_addr().map_err(failed)?.to_string())).collect()
}

/// An address on loopback where nobody listens.
pub fn free_address() -> Result<String, Failure> {
    free_addresses(1).map(|mut one| one.remove(0))
}

/// User and system time of processes, from `/proc/PID/stat` in ticks of 1/100 s (proc(5), fields 14 and 15).
pub fn cpu_seconds(pids: &[u32]) -> f64 {
    let ticks = |pid: &u32| -> Option<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in brackets may hold blanks; what follows it does not.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
    };
    pids.iter().filter_map(ticks).sum::<f64>() / 100.0
}

/// The most memory that a process has had, in MiB, from `/proc/PID/status` (`VmHWM`).
pub fn peak_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
