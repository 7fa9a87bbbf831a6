//! Which etcd, and where in it.

use std::fmt;

/// `etcd://HOST:PORT,HOST:PORT,HOST:PORT/NAME`: the nodes, and the name of the ledger in them (`nonet` if none is given).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    nodes: Vec<String>,
    name: String,
}

/// Where etcd listens unless it is told otherwise.
const PORT: u16 = 2379;
const NAME: &str = "nonet";
/// More nodes than anybody has.
const MAX_NODES: usize = 16;
const MAX_NAME_BYTES: usize = 64;

impl Address {
    /// Whether a node is on another machine.
    pub fn is_remote(&self) -> bool {
        let host = |node: &str| node.rsplit_once(':').map_or(node, |(host, _)| host).to_owned();
        self.nodes.iter().any(|node| !worker::dial::is_loopback(&host(node)))
    }

    /// Reads an address.
    ///
    /// # Errors
    ///
    /// When it is none; says what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = |why: &str| {
            format!(
                "{text:?} is no address of a ledger: {why}; expected etcd://HOST:PORT,HOST:PORT,HOST:PORT"
            )
        };
        let rest = text.strip_prefix("etcd://").ok_or_else(|| bad("it does not begin with etcd://"))?;
        let (hosts, name) = rest.split_once('/').unwrap_or((rest, NAME));
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(fits) {
            return Err(bad("a name is 1 to 64 letters, digits, dots, - or _"));
        }
        let nodes: Vec<String> = hosts
            .split(',')
            .map(node)
            .collect::<Option<_>>()
            .ok_or_else(|| bad("a node is HOST or HOST:PORT"))?;
        if nodes.len() > MAX_NODES {
            return Err(bad("at most 16 nodes"));
        }
        Ok(Self { nodes, name: name.into() })
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The URL of a node.
    pub(super) fn url(&self, node: usize) -> String {
        format!("http://{}", self.nodes[node % self.nodes.len()])
    }

    /// The key of something in the ledger.
    pub(super) fn key(&self, what: &str) -> String {
        format!("/nonet/{}/{what}", self.name)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "etcd://{}/{}", self.nodes.join(","), self.name)
    }
}

fn node(text: &str) -> Option<String> {
    let text = text.trim();
    // What is behind the last colon is a port, unless that is inside the brackets of an IPv6 address.
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok().filter(|&p: &u16| p > 0)?),
        _ => (text, PORT),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let bracketed = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let fits = match bracketed {
        Some(v6) => v6.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(plain),
    };
    fits.then(|| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_or_refused_with_what_is_expected() {
        let address = Address::parse("etcd://a,b.example:2380, [::1]:99/mine").expect("good");
        assert_eq!(address.to_string(), "etcd://a:2379,b.example:2380,[::1]:99/mine");
        assert_eq!((address.nodes(), address.url(2)), (3, "http://[::1]:99".into()));
        assert_eq!(address.key("head"), "/nonet/mine/head");
        assert_eq!(Address::parse("etcd://a").expect("good").key("x"), "/nonet/nonet/x");
        let remote = |text| Address::parse(text).expect("good").is_remote();
        assert!(
            !remote("etcd://127.0.0.1:1,[::1],localhost")
                && remote("etcd://localhost,a")
                && remote("etcd://10.0.0.1")
        );
        for bad in [
            "",
            "a:2379",
            "http://a:1",
            "etcd://",
            "etcd://a,,b",
            "etcd://a:0",
            "etcd://a:99999",
            "etcd://a b",
            "etcd://a/",
            "etcd://a/b/c",
            "etcd://[::1",
            "etcd://::1",
            "etcd://user@a:1",
        ] {
            let error = Address::parse(bad).expect_err(bad);
            assert!(error.contains("expected etcd://HOST:PORT"), "{error}");
        }
    }
}
