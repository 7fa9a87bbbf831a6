//! Which etcd, and where in it.

use std::fmt;

use worker::dial::is_loopback;

/// `etcd://HOST:PORT,HOST:PORT,HOST:PORT/NAME`: the nodes, and the name of the ledger in them (`nonet` if none is given).
/// `etcds://` with TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    encrypted: bool,
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
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// When it is none; says what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = |why: &str| {
            format!(
                "{text:?} is no address of a ledger: {why}; expected etcd://HOST:PORT,HOST:PORT,HOST:PORT or etcds://"
            )
        };
        let (encrypted, rest) = match (text.strip_prefix("etcds://"), text.strip_prefix("etcd://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return Err(bad("it does not begin with etcd://")),
        };
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
        Ok(Self { encrypted, nodes, name: name.into() })
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it is reached with TLS.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.encrypted
    }

    /// Whether a node is on another machine, whatever a name server says.
    #[must_use]
    pub fn is_far(&self) -> bool {
        self.nodes.iter().any(|node| !node.rsplit_once(':').is_some_and(|(host, _)| is_loopback(host)))
    }

    /// The URL of a node.
    pub(super) fn url(&self, node: usize) -> String {
        let scheme = if self.encrypted { "https" } else { "http" };
        format!("{scheme}://{}", self.nodes[node % self.nodes.len()])
    }

    /// The key of something in the ledger.
    pub(super) fn key(&self, what: &str) -> String {
        format!("/nonet/{}/{what}", self.name)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.encrypted { "etcds" } else { "etcd" };
        write!(f, "{scheme}://{}/{}", self.nodes.join(","), self.name)
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
        let secure = Address::parse("etcds://127.0.0.1,[::1]:1/x").expect("good");
        assert_eq!((secure.url(0), secure.is_far()), ("https://127.0.0.1:2379".into(), false));
        assert_eq!(secure.to_string(), "etcds://127.0.0.1:2379,[::1]:1/x");
        assert!(address.is_far());
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
