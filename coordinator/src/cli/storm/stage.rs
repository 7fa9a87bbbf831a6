//! The processes of a storm: coordinators, workers and, for a ledger in etcd, its nodes; and the lines between them.

use std::{
    fs::File,
    io,
    net::{IpAddr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU16, Ordering},
};

use rustix::process::{Pid, Signal, kill_process};

use super::line::Line;
use crate::ledger::etcd::Address;

/// What a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Etcd,
    Coordinator,
    Worker,
}

/// How a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Up,
    Stopped,
    Down,
}

/// A process that is started, killed and stopped.
pub struct Actor {
    pub part: Part,
    pub name: String,
    pub condition: Condition,
    program: PathBuf,
    args: Vec<String>,
    log: PathBuf,
    child: Option<Child>,
}

impl Actor {
    fn new(part: Part, name: String, program: &Path, args: Vec<String>, dir: &Path) -> Self {
        let log = dir.join(format!("{name}.log"));
        Self { part, name, condition: Condition::Down, program: program.into(), args, log, child: None }
    }

    pub fn start(&mut self) -> io::Result<()> {
        let log = File::options().create(true).append(true).open(&self.log)?;
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("NONET_"))
        {
            command.env_remove(name);
        }
        command.args(&self.args).env("NONET_LOG", "info,sled=warn");
        let child = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn();
        let named =
            |e: io::Error| io::Error::new(e.kind(), format!("cannot start {}: {e}", self.program.display()));
        self.child = Some(child.map_err(named)?);
        self.condition = Condition::Up;
        Ok(())
    }

    /// SIGKILL.
    pub fn kill(&mut self) -> io::Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        self.condition = Condition::Down;
        Ok(())
    }

    /// SIGSTOP, or SIGCONT.
    pub fn pause(&mut self, pause: bool) -> io::Result<()> {
        if let Some(child) = &self.child {
            let signal = if pause { Signal::STOP } else { Signal::CONT };
            kill_process(Pid::from_child(child), signal)?;
            self.condition = if pause { Condition::Stopped } else { Condition::Up };
        }
        Ok(())
    }

    /// Whether it ended by itself, which nothing in a storm should make it do.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.as_mut().map(Child::try_wait).transpose()?.flatten().is_some())
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        drop(self.kill());
    }
}

/// Lines that are cut together, and what they join.
pub struct Cable {
    pub name: String,
    pub lines: Vec<Line>,
    pub cut: bool,
}

/// All of it.
pub struct Stage {
    pub actors: Vec<Actor>,
    pub cables: Vec<Cable>,
    /// Where the coordinators are.
    pub coordinators: String,
    pub ledger: LedgerPlace,
    /// Keeps what was given out from being given out again, until those it is meant for listen there.
    reserved: Vec<TcpListener>,
}

/// Where the ledger of a storm is.
#[derive(Clone, Debug)]
pub enum LedgerPlace {
    Folder(PathBuf),
    Etcd(Address),
}

/// How large it is.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub etcd: bool,
    pub coordinators: usize,
    pub workers: usize,
}

const ETCD_NODES: usize = 3;

impl Stage {
    /// Sets everything up in `dir`; nothing runs yet.
    ///
    /// # Errors
    ///
    /// When a port or a file cannot be had.
    pub async fn set(dir: &Path, size: Size) -> io::Result<Self> {
        let host = own_host();
        let mut stage = Self {
            actors: Vec::new(),
            cables: Vec::new(),
            coordinators: String::new(),
            ledger: LedgerPlace::Folder(dir.join("ledger")),
            reserved: Vec::new(),
        };
        let nodes = if size.etcd { stage.set_etcd(dir, host).await? } else { Vec::new() };
        let program = std::env::current_exe()?;
        let mut listen = Vec::new();
        for i in 0..size.coordinators {
            let address = stage.reserve(host)?;
            let mut args: Vec<String> =
                ["coordinator", "--lease-ms", "300", "--silence-ms", "1500", "--listen"]
                    .map(String::from)
                    .into();
            args.push(address.to_string());
            if size.etcd {
                let lines = lines(&nodes, host).await?;
                let url = format!("etcd://{}/storm", joined(lines.iter().map(|line| line.address), ""));
                stage.cables.push(Cable { name: format!("coordinator {i} to etcd"), lines, cut: false });
                // So that new bases are made all the time.
                args.extend(["--ledger".into(), url, "--compact-after".into(), "20".into()]);
            } else {
                args.extend(["--state".into(), dir.join("ledger").display().to_string()]);
            }
            stage.actors.push(Actor::new(Part::Coordinator, format!("coordinator-{i}"), &program, args, dir));
            listen.push(address);
        }
        for i in 0..size.workers {
            let lines = lines(&listen, host).await?;
            let urls = joined(lines.iter().map(|line| line.address), "http://");
            let args =
                ["worker", "--threads", "1", "--commit-every-ms", "200", "--coordinator", &urls, "--name"];
            let mut args: Vec<String> = args.map(String::from).into();
            let state = dir.join(format!("worker-{i}")).display().to_string();
            args.extend([
                format!("w{i}"),
                "--state".into(),
                state,
                "--parts".into(),
                dir.join("parts").display().to_string(),
            ]);
            stage.actors.push(Actor::new(Part::Worker, format!("worker-{i}"), &program, args, dir));
            stage.cables.push(Cable { name: format!("worker {i} to the coordinators"), lines, cut: false });
        }
        stage.coordinators = joined(listen.into_iter(), "http://");
        Ok(stage)
    }

    /// Nodes of etcd, each of which is reached by the others through lines; where clients find them.
    async fn set_etcd(&mut self, dir: &Path, host: IpAddr) -> io::Result<Vec<SocketAddr>> {
        let mut nodes = Vec::new();
        for i in 0..ETCD_NODES {
            let (client, peer) = (self.reserve(host)?, self.reserve(host)?);
            nodes.push((i, client, peer, Line::to(peer, host).await?));
        }
        let members: Vec<_> =
            nodes.iter().map(|(i, _, _, line)| format!("n{i}=http://{}", line.address)).collect();
        for (i, client, peer, line) in &nodes {
            let args = [
                ("name", format!("n{i}")),
                ("data-dir", dir.join(format!("etcd-{i}")).display().to_string()),
                ("listen-client-urls", format!("http://{client}")),
                ("advertise-client-urls", format!("http://{client}")),
                ("listen-peer-urls", format!("http://{peer}")),
                ("initial-advertise-peer-urls", format!("http://{}", line.address)),
                ("initial-cluster", members.join(",")),
            ];
            let args = args.into_iter().map(|(name, value)| format!("--{name}={value}")).collect();
            self.actors.push(Actor::new(Part::Etcd, format!("etcd-{i}"), Path::new("etcd"), args, dir));
        }
        let clients: Vec<SocketAddr> = nodes.iter().map(|(_, client, ..)| *client).collect();
        let address = format!("etcd://{}/storm", joined(clients.iter().copied(), ""));
        self.ledger = LedgerPlace::Etcd(Address::parse(&address).map_err(io::Error::other)?);
        for (i, _, _, line) in nodes {
            self.cables.push(Cable {
                name: format!("the others to etcd {i}"),
                lines: vec![line],
                cut: false,
            });
        }
        Ok(clients)
    }

    /// An address where nobody listens.
    fn reserve(&mut self, host: IpAddr) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind((host, 0))?;
        let address = listener.local_addr()?;
        self.reserved.push(listener);
        Ok(address)
    }

    /// Starts everything.
    pub fn start(&mut self) -> io::Result<()> {
        self.reserved.clear();
        self.actors.iter_mut().try_for_each(Actor::start)
    }

    /// Brings everything back: joined, woken, started.
    pub fn calm(&mut self) -> io::Result<()> {
        self.cables.iter_mut().for_each(|cable| cable.set(false));
        for actor in &mut self.actors {
            match actor.condition {
                Condition::Up => {}
                Condition::Stopped => actor.pause(false)?,
                Condition::Down => actor.start()?,
            }
        }
        Ok(())
    }
}

impl Cable {
    /// Cuts it or joins it.
    pub fn set(&mut self, cut: bool) {
        self.cut = cut;
        self.lines.iter().for_each(|line| line.cut(cut));
    }
}

async fn lines(targets: &[SocketAddr], host: IpAddr) -> io::Result<Vec<Line>> {
    let mut lines = Vec::with_capacity(targets.len());
    for target in targets {
        lines.push(Line::to(*target, host).await?);
    }
    Ok(lines)
}

fn joined(addresses: impl Iterator<Item = SocketAddr>, scheme: &str) -> String {
    addresses.map(|address| format!("{scheme}{address}")).collect::<Vec<_>>().join(",")
}

/// A loopback address that no other storm has, where the system has more than one: ports that were free stay free.
fn own_host() -> IpAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    if !cfg!(target_os = "linux") {
        return [127, 0, 0, 1].into();
    }
    let [_, _, _, process] = std::process::id().to_be_bytes();
    let [high, low] = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    // The last number is neither 0 nor 255.
    [127, 64 + process % 128, high % 128 * 2 + low / 128, low % 128 + 1].into()
}
