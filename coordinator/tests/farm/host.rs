//! Machines: this one, or network namespaces joined by a bridge, which can be cut off.

use std::process::{Command, Stdio};

/// Where a process runs.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its address.
    pub ip: String,
    /// Its namespace; `None`: that of the test.
    space: Option<String>,
}

impl Host {
    /// This machine, on loopback.
    pub fn here() -> Self {
        Self { ip: "127.0.0.1".into(), space: None }
    }

    /// A command that runs there.
    pub fn command(&self, program: &str) -> Command {
        match &self.space {
            None => Command::new(program),
            Some(space) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", space, program]);
                command
            }
        }
    }

    /// Whether the host is a machine of its own, with all ports free.
    pub fn is_apart(&self) -> bool {
        self.space.is_some()
    }
}

/// Hosts on one network. They and it are gone when the test is over.
pub struct Network {
    name: String,
    pub hosts: Vec<Host>,
}

impl Network {
    /// Makes `count` hosts; `None` where this process may not, unless `NONET_REQUIRE_NETNS` says that it must.
    pub fn new(count: usize) -> Option<Self> {
        let number = std::process::id() % 200;
        let name = format!("nn{number}");
        let bridge_ip = format!("10.77.{number}.254/24");
        let made = ip(&["link", "add", &name, "type", "bridge"])
            && ip(&["addr", "add", &bridge_ip, "dev", &name])
            && ip(&["link", "set", &name, "up"]);
        let mut network = Self { name, hosts: Vec::new() };
        let made = made && (0..count).all(|i| network.add(i, number));
        assert!(made || std::env::var_os("NONET_REQUIRE_NETNS").is_none(), "network namespaces are required");
        if !made {
            println!("SKIPPED: making network namespaces needs root and iproute2");
        }
        made.then_some(network)
    }

    fn add(&mut self, i: usize, number: u32) -> bool {
        let space = format!("{}h{i}", self.name);
        let (inside, outside) = (format!("{space}i"), self.wire(i));
        let address = format!("10.77.{number}.{}", i + 1);
        self.hosts.push(Host { ip: address.clone(), space: Some(space.clone()) });
        ip(&["netns", "add", &space])
            && ip(&["link", "add", &outside, "type", "veth", "peer", "name", &inside])
            && ip(&["link", "set", &inside, "netns", &space])
            && ip(&["link", "set", &outside, "master", &self.name])
            && ip(&["link", "set", &outside, "up"])
            && ip(&["-n", &space, "addr", "add", &format!("{address}/24"), "dev", &inside])
            && ip(&["-n", &space, "link", "set", &inside, "up"])
            && ip(&["-n", &space, "link", "set", "lo", "up"])
    }

    fn wire(&self, i: usize) -> String {
        format!("{}h{i}o", self.name)
    }

    /// Cuts a host off, or joins it again. Nobody is told: what is sent is lost.
    pub fn cut(&self, i: usize, cut: bool) {
        assert!(ip(&["link", "set", &self.wire(i), if cut { "down" } else { "up" }]));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for i in 0..self.hosts.len() {
            ip(&["link", "del", &self.wire(i)]);
            ip(&["netns", "del", &format!("{}h{i}", self.name)]);
        }
        ip(&["link", "del", &self.name]);
    }
}

fn ip(args: &[&str]) -> bool {
    let status = Command::new("ip").args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
