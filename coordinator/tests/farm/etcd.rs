//! Three real nodes of etcd on loopback.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::{Command, Stdio},
    time::Duration,
};

use super::{Process, host::Host, until};

/// A cluster of etcd that ends with the test.
pub struct Etcd {
    dir: tempfile::TempDir,
    hosts: Vec<Host>,
    clients: Vec<String>,
    peers: Vec<String>,
    /// Where a node tells how it is, in plain words.
    health: Vec<String>,
    /// Folder of certificates, where clients must show one.
    tls: Option<String>,
    pub nodes: Vec<Option<Process>>,
}

/// Whether there is an etcd to test with. Where `NONET_REQUIRE_ETCD` is set, as in CI, there must be.
pub fn is_here() -> bool {
    let here = Command::new("etcd").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let here = here.is_ok_and(|status| status.success());
    assert!(here || std::env::var_os("NONET_REQUIRE_ETCD").is_none(), "etcd is required and not installed");
    if !here {
        println!("SKIPPED: etcd is not installed (Debian: apt-get install etcd-server)");
    }
    here
}

impl Etcd {
    /// Starts the nodes on this machine and waits until they agree on a leader.
    pub fn start(nodes: usize) -> Self {
        Self::start_on(&vec![Host::here(); nodes])
    }

    /// One node on each host.
    pub fn start_on(hosts: &[Host]) -> Self {
        Self::start_with(hosts, None)
    }

    /// Nodes that want certificates, and show that of this folder.
    pub fn start_encrypted(nodes: usize, tls: &str) -> Self {
        Self::start_with(&vec![Host::here(); nodes], Some(tls.into()))
    }

    fn start_with(hosts: &[Host], tls: Option<String>) -> Self {
        let nodes = hosts.len();
        let clients = hosts.iter().map(|host| host.address(2379)).collect();
        let peers = hosts.iter().map(|host| host.address(2380)).collect();
        let health = hosts.iter().map(|host| host.address(2381)).collect();
        let dir = tempfile::tempdir().expect("a folder");
        let mut etcd = Self { dir, hosts: hosts.to_vec(), clients, peers, health, tls, nodes: Vec::new() };
        etcd.nodes.resize_with(nodes, || None);
        (0..nodes).for_each(|node| etcd.start_node(node));
        (0..nodes).for_each(|node| etcd.until_healthy(node));
        etcd
    }

    pub fn start_node(&mut self, node: usize) {
        let members: Vec<String> =
            self.peers.iter().enumerate().map(|(i, peer)| format!("n{i}=http://{peer}")).collect();
        let (client, peer) = (self.url(node), format!("http://{}", self.peers[node]));
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.dir.path().join(format!("n{node}.log")));
        let mut command = self.hosts[node].command("etcd");
        command
            .args(["--name", &format!("n{node}"), "--initial-cluster", &members.join(",")])
            .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
            .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
            .args(["--listen-metrics-urls", &format!("http://{}", self.health[node])])
            .arg("--data-dir")
            .arg(self.dir.path().join(format!("n{node}")));
        if let Some(dir) = &self.tls {
            command.args(["--client-cert-auth", "--trusted-ca-file", &format!("{dir}/ca.pem")]).args([
                "--cert-file",
                &format!("{dir}/cert.pem"),
                "--key-file",
                &format!("{dir}/key.pem"),
            ]);
        }
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.expect("a log")).spawn();
        self.nodes[node] = Some(Process(child.expect("etcd starts")));
    }

    /// SIGKILL for one node.
    pub fn kill_node(&mut self, node: usize) {
        self.nodes[node].take().expect("a running node").kill();
    }

    pub fn until_healthy(&self, node: usize) {
        until("etcd is healthy", || self.is_healthy(node));
    }

    fn is_healthy(&self, node: usize) -> bool {
        let Ok(mut stream) = TcpStream::connect(&self.health[node]) else { return false };
        stream.set_read_timeout(Some(Duration::from_secs(2))).expect("a timeout");
        let mut answer = String::new();
        let asked = write!(stream, "GET /health HTTP/1.0\r\n\r\n");
        asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.contains("\"true\"")
    }

    /// The address of a ledger in it.
    pub fn ledger(&self, name: &str) -> String {
        let scheme = if self.tls.is_some() { "etcds" } else { "etcd" };
        format!("{scheme}://{}/{name}", self.clients.join(","))
    }

    /// The URL of one node.
    pub fn url(&self, node: usize) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.clients[node])
    }

    pub fn log(&self) -> String {
        let logs =
            (0..self.nodes.len()).map(|i| std::fs::read_to_string(self.dir.path().join(format!("n{i}.log"))));
        logs.map(Result::unwrap_or_default).collect::<Vec<_>>().join("\n---\n")
    }
}
