//! A connection to one host: over TCP, with TLS where that is asked for.

use std::{
    error::Error,
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader},
    net::{TcpSocket, TcpStream, lookup_host},
    time::timeout,
};
use tokio_rustls::TlsConnector;
use tonic::transport::Uri;

use super::{bare, is_localhost};
use crate::tls::{TlsFiles, TlsTrouble};

/// How long the coordinator's first word is waited for. It comes at once, unless there is a proxy that waits for ours.
const FIRST_WORD: Duration = Duration::from_secs(1);

/// Both kinds of connection.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// Opens a connection to a host and port, with TLS where there are files for it, and from `source` where one is named.
///
/// # Errors
///
/// When nobody answers, or one of both does not trust the other.
pub async fn stream(
    uri: Uri,
    tls: Option<TlsFiles>,
    source: Option<IpAddr>,
) -> Result<TokioIo<Box<dyn Duplex>>, Box<dyn Error + Send + Sync>> {
    let host = bare(uri.host().unwrap_or_default()).to_owned();
    let target = (host.as_str(), uri.port_u16().unwrap_or_default());
    let stream = match source {
        None => TcpStream::connect(target).await?,
        Some(source) => connect_from(source, target).await?,
    };
    // Without it small messages wait for one another.
    stream.set_nodelay(true)?;
    let Some(files) = tls else {
        check_stays(&host, stream.peer_addr()?)?;
        return Ok(TokioIo::new(Box::new(stream)));
    };
    let name = ServerName::try_from(host.clone())?;
    let explain = |error: io::Error, trouble: Option<TlsTrouble>| match trouble {
        Some(trouble) => Box::<dyn Error + Send + Sync>::from(trouble),
        None => error.into(),
    };
    let connector = TlsConnector::from(files.client()?);
    let stream = connector.connect(name, stream).await.map_err(|e| {
        let trouble = TlsTrouble::in_handshake(&e, &host, &files);
        explain(e, trouble)
    })?;
    let mut stream = BufReader::new(stream);
    // The coordinator judges our certificate when our handshake is over: its first word tells.
    if let Ok(heard) = timeout(FIRST_WORD, stream.fill_buf()).await {
        heard.map_err(|e| {
            let trouble = TlsTrouble::after_handshake(&e, &host, &files);
            explain(e, trouble)
        })?;
    }
    Ok(TokioIo::new(Box::new(stream)))
}

async fn connect_from(source: IpAddr, target: (&str, u16)) -> io::Result<TcpStream> {
    let mut targets = lookup_host(target).await?.filter(|target| target.is_ipv4() == source.is_ipv4());
    let target = targets.next().ok_or_else(|| {
        io::Error::other(format!("{} has no address that can be reached from {source}", target.0))
    })?;
    let socket = if source.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.bind((source, 0).into())?;
    socket.connect(target).await
}

/// Plain text to `localhost` is let through because it stays on this machine, so it has to.
fn check_stays(host: &str, peer: SocketAddr) -> io::Result<()> {
    if is_localhost(host) && !peer.ip().to_canonical().is_loopback() {
        let ip = peer.ip();
        return Err(io::Error::other(format!(
            "{host} is {ip} here, which is not this machine: use 127.0.0.1"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn localhost_is_this_machine_or_is_not_spoken_to_in_plain_text() {
        let check = |host, peer: &str| check_stays(host, peer.parse().expect("an address"));
        for here in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert!(check("localhost", here).is_ok(), "{here}");
        }
        for far in ["10.0.0.1:1", "[2001:db8::1]:1"] {
            let error = check("LocalHost", far).expect_err("refused");
            assert!(error.to_string().contains("not this machine"), "{error}");
            // What was asked for by name or address was allowed for what it is.
            assert!(check("head", far).is_ok() && check("10.0.0.1", far).is_ok());
        }
    }
}
