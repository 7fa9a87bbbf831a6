//! Reaching a coordinator: over TCP with or without TLS, or inside this process.

mod stream;

use std::{
    error::Error,
    io,
    net::IpAddr,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use hyper_util::rt::TokioIo;
use tokio::{io::DuplexStream, sync::mpsc};
use tonic::{
    Code, Request, Status,
    metadata::{Ascii, MetadataValue},
    service::interceptor::{InterceptedService, Interceptor},
    transport::{Channel, Endpoint, Uri},
};
use tower::service_fn;

pub use self::stream::{Duplex, stream};
use crate::{
    credentials::{Credentials, Token},
    tls::{Fault, TlsError, TlsTrouble},
};

/// Where the coordinator is.
#[derive(Debug)]
pub enum Dial {
    /// Addresses of one coordinator and its standbys, tried in turn.
    Tcp {
        /// What to try.
        endpoints: Vec<Place>,
        /// Which to try next.
        next: AtomicUsize,
        /// What to show there.
        credentials: Credentials,
        /// From which of this machine's addresses; none: the system chooses.
        source: Option<IpAddr>,
    },
    /// A coordinator in this process, which takes the other ends of the pipes from this channel.
    Memory(mpsc::Sender<DuplexStream>),
}

/// One address, and how it is dialled.
#[derive(Clone, Debug)]
pub struct Place {
    address: Uri,
    endpoint: Endpoint,
}

/// A connection that shows our token with every request.
pub type Wire = InterceptedService<Channel, Bearer>;

/// Shows a token, if there is one.
#[derive(Clone, Debug, Default)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

/// A coordinator that cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The address is none.
    #[error("{address:?} is not a coordinator address: expected http://HOST:PORT or https://HOST:PORT")]
    Address {
        /// As given.
        address: String,
    },
    /// The address is on another machine, and what is said would be readable on the way.
    #[error(
        "{address} is not encrypted: use https:// with --tls DIR, or add --allow-plaintext if everybody in that network \
         is trusted"
    )]
    Plaintext {
        /// As given.
        address: String,
    },
    /// TLS without anybody to trust.
    #[error(
        "{address} needs to know whose certificates to trust: --tls DIR, a folder that `nonet certs issue` made"
    )]
    NoTls {
        /// As given.
        address: String,
    },
    /// Options that cannot be used together, or a token that cannot be read.
    #[error("{0}")]
    Options(String),
    /// A certificate or a key that cannot be used.
    #[error(transparent)]
    Files(#[from] TlsError),
    /// Somebody answers, and one of us does not trust the other.
    #[error("no safe connection to {address}: {trouble}")]
    Tls {
        /// Where.
        address: String,
        /// Why.
        trouble: TlsTrouble,
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

impl DialError {
    /// Whether it is what was typed that is wrong.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Tls { .. } | Self::Absent { .. })
    }

    /// Whether the coordinator has refused our certificate: trying again is useless. What somebody else may have said on the
    /// way does not count.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Tls { trouble: TlsTrouble { fault: Fault::Ours, .. }, .. })
    }
}

/// Bytes in flight inside the process before a writer waits.
const PIPE_BYTES: usize = 1 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

impl Dial {
    /// Reads comma-separated addresses `http://HOST:PORT` or `https://HOST:PORT`.
    ///
    /// # Errors
    ///
    /// When one of them is no such address, or `credentials` do not do for it.
    pub fn tcp(addresses: &str, credentials: Credentials) -> Result<Self, DialError> {
        let place = |address| place(address, &credentials);
        let mut endpoints = addresses.split(',').map(str::trim).map(place).collect::<Result<Vec<_>, _>>()?;
        if endpoints.len() > 1 {
            endpoints = endpoints.into_iter().map(impatient).collect();
        }
        if let Some(files) =
            credentials.tls.as_ref().filter(|_| endpoints.iter().any(|place| is_https(&place.address)))
        {
            files.client()?;
        }
        credentials.token.as_ref().map(Token::read).transpose()?;
        credentials.warn_if_shared();
        Ok(Self::Tcp { endpoints, next: AtomicUsize::new(0), credentials, source: None })
    }

    /// The same, from this address of this machine.
    #[must_use]
    pub fn with_source(mut self, address: IpAddr) -> Self {
        if let Self::Tcp { source, .. } = &mut self {
            *source = Some(address);
        }
        self
    }

    /// Each address by itself, for those who try all of them at once.
    #[must_use]
    pub fn each(&self) -> Vec<Self> {
        match self {
            Self::Tcp { endpoints, credentials, source, .. } => {
                let one = |place: &Place| Self::Tcp {
                    endpoints: vec![place.clone()],
                    next: AtomicUsize::new(0),
                    credentials: credentials.clone(),
                    source: *source,
                };
                endpoints.iter().map(one).collect()
            }
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
    pub async fn connect(&self) -> Result<Wire, DialError> {
        match self {
            Self::Tcp { endpoints, next, credentials, source } => {
                let Place { address, endpoint } =
                    &endpoints[next.fetch_add(1, Ordering::Relaxed) % endpoints.len()];
                let tls = credentials.tls.clone().filter(|_| is_https(address));
                let source = *source;
                let connect = service_fn(move |uri: Uri| stream(uri, tls.clone(), source));
                let channel = endpoint.connect_with_connector(connect).await;
                let channel = channel.map_err(|e| absent(&address.to_string(), &e))?;
                Ok(InterceptedService::new(channel, bearer(credentials.token.as_ref())?))
            }
            Self::Memory(pipes) => {
                let pipes = pipes.clone();
                let connect = service_fn(move |_: Uri| {
                    let pipes = pipes.clone();
                    async move {
                        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
                        pipes.send(theirs).await.map_err(io::Error::other)?;
                        Ok::<_, io::Error>(TokioIo::new(ours))
                    }
                });
                let endpoint = Endpoint::from_static("http://in-process");
                let channel = endpoint.connect_with_connector(connect).await;
                let channel = channel.map_err(|e| absent("this process", &e))?;
                Ok(InterceptedService::new(channel, Bearer::default()))
            }
        }
    }
}

fn bearer(token: Option<&Token>) -> Result<Bearer, DialError> {
    let Some(token) = token else { return Ok(Bearer::default()) };
    let value = MetadataValue::try_from(format!("Bearer {}", token.read()?));
    let mut value = value.map_err(|e| DialError::Options(format!("this token cannot be sent: {e}")))?;
    value.set_sensitive(true);
    Ok(Bearer(Some(value)))
}

fn place(address: &str, credentials: &Credentials) -> Result<Place, DialError> {
    let bad = || DialError::Address { address: address.into() };
    let uri: Uri = address.parse().map_err(|_| bad())?;
    let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(bad)?;
    uri.port().ok_or_else(bad)?;
    match uri.scheme_str() {
        Some("http") if credentials.allow_plaintext || is_loopback(host) => {}
        Some("http") => return Err(DialError::Plaintext { address: address.into() }),
        Some("https") if credentials.tls.is_some() => {}
        Some("https") => return Err(DialError::NoTls { address: address.into() }),
        _ => return Err(bad()),
    }
    // Keep-alive finds a peer that vanished without a word within about ten seconds.
    let endpoint = endpoint(&uri)
        .ok_or_else(bad)?
        .connect_timeout(CONNECT_TIMEOUT)
        .http2_keep_alive_interval(Duration::from_secs(4))
        .keep_alive_timeout(Duration::from_secs(6))
        .keep_alive_while_idle(true);
    Ok(Place { address: uri, endpoint })
}

/// For connectors that encrypt by themselves, as [`stream`] does: tonic is told that this is `http`, for where it is built with
/// TLS of its own, it refuses `https` without it. The other end is told what it really is.
#[must_use]
pub fn endpoint(address: &Uri) -> Option<Endpoint> {
    let authority = address.authority()?.clone();
    let dialled = Uri::builder().scheme("http").authority(authority).path_and_query("/").build().ok()?;
    Some(Endpoint::from(dialled).origin(address.clone()))
}

/// Where another coordinator can take over, one that says nothing is given up sooner.
fn impatient(place: Place) -> Place {
    let endpoint = place
        .endpoint
        .connect_timeout(Duration::from_secs(2))
        .http2_keep_alive_interval(Duration::from_millis(1_500))
        .keep_alive_timeout(Duration::from_millis(1_500));
    Place { endpoint, ..place }
}

fn is_https(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https")
}

/// Whether a host is this machine. Of `localhost` a name server may say something else: [`stream`] looks where it has come to.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let address = bare(host).parse::<IpAddr>();
    is_localhost(host) || address.is_ok_and(|address| address.is_loopback())
}

fn is_localhost(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
}

/// A host without the brackets that an IPv6 address has in a URL.
fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

fn absent(address: &str, error: &(dyn Error + 'static)) -> DialError {
    let address = address.trim_end_matches('/').into();
    if let Some(trouble) = find::<TlsTrouble>(error) {
        return DialError::Tls { address, trouble: trouble.clone() };
    }
    if let Some(files) = find::<TlsError>(error) {
        return DialError::Files(files.clone());
    }
    DialError::Absent { address, reason: innermost(error).to_string() }
}

/// The cause of this type, if there is one.
fn find<'a, T: Error + 'static>(mut error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    loop {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // An I/O error passes over what it was made of when it tells its source.
        error = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => inner,
            None => error.source()?,
        };
    }
}

/// The outermost message is only "transport error"; the innermost one says what happened.
fn innermost<'a>(mut error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    while let Some(source) = error.source() {
        error = source;
    }
    error
}

/// What a status says, or what happened to the connection.
#[must_use]
pub fn words(status: &Status) -> String {
    match (status.source(), status.code()) {
        // What the coordinator says for itself has no source. INADEQUATE_SECURITY of HTTP/2 is told as this code.
        (Some(_), Code::PermissionDenied) => {
            "what answers there speaks TLS: use https:// with --tls DIR".into()
        }
        (Some(source), code) => format!("{} ({code})", innermost(source)),
        (None, code) if status.message().is_empty() => code.to_string(),
        (None, _) => status.message().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(addresses: &str) -> Result<Dial, DialError> {
        Dial::tcp(addresses, Credentials::default())
    }

    #[test]
    fn addresses_are_checked_before_anything_is_sent() {
        assert!(tcp("http://127.0.0.1:7700, http://[::1]:7701,http://localhost:1").is_ok());
        for bad in [
            "",
            "127.0.0.1:7700",
            "ftp://a:1",
            "http://nowhere",
            "http://localhost:1,,http://b:2",
            "http://a b:1",
        ] {
            assert!(matches!(tcp(bad), Err(DialError::Address { .. })), "{bad:?}");
        }
    }

    #[test]
    fn plain_text_stays_on_this_machine_unless_it_is_asked_for() {
        for far in [
            "http://10.0.0.1:7700",
            "http://head:7700",
            "http://[2001:db8::1]:1",
            "http://localhost.example:1",
        ] {
            assert!(matches!(tcp(far), Err(DialError::Plaintext { .. })), "{far}");
            assert!(
                Dial::tcp(far, Credentials { allow_plaintext: true, ..Credentials::default() }).is_ok(),
                "{far}"
            );
        }
        assert!(matches!(tcp("https://head:7700"), Err(DialError::NoTls { .. })));
    }
}
