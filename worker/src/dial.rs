//! Reaching a coordinator: over TCP, or inside this process.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use hyper_util::rt::TokioIo;
use tokio::{io::DuplexStream, sync::mpsc};
use tonic::transport::{Channel, Endpoint, Uri};
use tower::service_fn;

/// Where the coordinator is.
#[derive(Debug)]
pub enum Dial {
    /// Addresses of one coordinator and its standbys, tried in turn.
    Tcp {
        /// What to try.
        endpoints: Vec<Endpoint>,
        /// Which to try next.
        next: AtomicUsize,
    },
    /// A coordinator in this process, which takes the other ends of the pipes from this channel.
    Memory(mpsc::Sender<DuplexStream>),
}

/// A coordinator that cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The address is none.
    #[error("{address:?} is not a coordinator address: expected http://HOST:PORT")]
    Address {
        /// As given.
        address: String,
    },
    /// Nobody answers.
    #[error("no coordinator answers at {address}: {reason}")]
    Absent {
        /// Where it was looked for.
        address: String,
        /// What the system says.
        reason: String,
    },
}

/// Bytes in flight inside the process before a writer waits.
const PIPE_BYTES: usize = 1 << 20;

impl Dial {
    /// Reads comma-separated addresses `http://HOST:PORT`.
    ///
    /// # Errors
    ///
    /// When one of them is no such address.
    pub fn tcp(addresses: &str) -> Result<Self, DialError> {
        let endpoints: Result<Vec<_>, _> = addresses.split(',').map(str::trim).map(endpoint).collect();
        let mut endpoints = endpoints?;
        if endpoints.len() > 1 {
            endpoints = endpoints.into_iter().map(impatient).collect();
        }
        Ok(Self::Tcp { endpoints, next: AtomicUsize::new(0) })
    }

    /// Each address by itself, for those who try all of them at once.
    #[must_use]
    pub fn each(&self) -> Vec<Self> {
        match self {
            Self::Tcp { endpoints, .. } => endpoints
                .iter()
                .map(|endpoint| Self::Tcp { endpoints: vec![endpoint.clone()], next: AtomicUsize::new(0) })
                .collect(),
            Self::Memory(pipes) => vec![Self::Memory(pipes.clone())],
        }
    }

    /// Whether there are several coordinators, of which one leads.
    #[must_use]
    pub fn has_standbys(&self) -> bool {
        matches!(self, Self::Tcp { endpoints, .. } if endpoints.len() > 1)
    }

    /// Opens a connection.
    ///
    /// # Errors
    ///
    /// When nobody answers at the address whose turn it is.
    pub async fn connect(&self) -> Result<Channel, DialError> {
        match self {
            Self::Tcp { endpoints, next } => {
                let endpoint = &endpoints[next.fetch_add(1, Ordering::Relaxed) % endpoints.len()];
                endpoint.connect().await.map_err(|e| absent(&endpoint.uri().to_string(), &e))
            }
            Self::Memory(pipes) => {
                let pipes = pipes.clone();
                let connect = service_fn(move |_: Uri| {
                    let pipes = pipes.clone();
                    async move {
                        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
                        pipes.send(theirs).await.map_err(std::io::Error::other)?;
                        Ok::<_, std::io::Error>(TokioIo::new(ours))
                    }
                });
                let endpoint = Endpoint::from_static("http://in-process");
                endpoint.connect_with_connector(connect).await.map_err(|e| absent("this process", &e))
            }
        }
    }
}

fn endpoint(address: &str) -> Result<Endpoint, DialError> {
    let bad = || DialError::Address { address: address.into() };
    let endpoint = Endpoint::from_shared(address.to_owned()).map_err(|_| bad())?;
    if endpoint.uri().scheme_str() != Some("http") || endpoint.uri().port().is_none() {
        return Err(bad());
    }
    // Keep-alive finds a peer that vanished without a word within about ten seconds.
    Ok(endpoint
        .connect_timeout(Duration::from_secs(5))
        .tcp_nodelay(true)
        .http2_keep_alive_interval(Duration::from_secs(4))
        .keep_alive_timeout(Duration::from_secs(6))
        .keep_alive_while_idle(true))
}

/// Where another coordinator can take over, one that says nothing is given up sooner.
fn impatient(endpoint: Endpoint) -> Endpoint {
    endpoint
        .connect_timeout(Duration::from_secs(2))
        .http2_keep_alive_interval(Duration::from_millis(1_500))
        .keep_alive_timeout(Duration::from_millis(1_500))
}

fn absent(address: &str, error: &dyn std::error::Error) -> DialError {
    // The outermost message is only "transport error"; the innermost says what happened.
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    DialError::Absent { address: address.trim_end_matches('/').into(), reason: innermost.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_before_anything_is_sent() {
        assert!(Dial::tcp("http://127.0.0.1:7700, http://[::1]:7701").is_ok());
        for bad in
            ["", "127.0.0.1:7700", "https://a:1", "http://nowhere", "http://a:1,,http://b:2", "http://a b:1"]
        {
            assert!(matches!(Dial::tcp(bad), Err(DialError::Address { .. })), "{bad:?}");
        }
    }
}
