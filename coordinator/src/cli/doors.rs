//! Who may come to a coordinator: what its options say.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use worker::tls::TlsFiles;

use super::exit::Failure;
use crate::{
    access::tokens::Tokens,
    server::{Doors, MAX_CONNECTIONS, Reread},
    telemetry::Telemetry,
};

/// Files that are open for other things than connections.
const OTHER_FILES: u64 = 256;

/// Reads certificates and tokens.
pub fn doors(
    tls: Option<TlsFiles>,
    tokens: Option<PathBuf>,
    telemetry: Telemetry,
    stop: &CancellationToken,
) -> Result<Doors, Failure> {
    let tls = tls.map(|files| {
        files.warn_if_shared();
        let (cert, key) = files.own.clone().unzip();
        let paths = std::iter::once(files.ca.clone()).chain(cert).chain(key).collect();
        let counted = Arc::clone(&telemetry.counted);
        let read = move || {
            let server = files.server().map_err(|e| e.to_string())?;
            counted.certificate_expires(files.expires_unix_s());
            Ok(server)
        };
        Reread::open("certificates", paths, read, stop.clone())
    });
    let tokens = tokens.map(|path| {
        let read = move |path: &PathBuf| {
            Tokens::read(path)
                .map_err(|e| format!("{e} (`nonet tokens add NAME --role ROLE --file FILE` makes one)"))
        };
        Reread::open("tokens", vec![path.clone()], move || read(&path), stop.clone())
    });
    Ok(Doors {
        tls: tls.transpose().map_err(Failure::usage)?,
        tokens: tokens.transpose().map_err(Failure::usage)?,
        most_connections: most_connections(),
        telemetry,
    })
}

/// Connections for which this process may have files open.
fn most_connections() -> usize {
    let files = raise_file_limit();
    let files =
        files.map_or(usize::MAX, |most| usize::try_from(most.saturating_sub(OTHER_FILES)).unwrap_or(0));
    files.clamp(16, MAX_CONNECTIONS)
}

/// Asks for as many open files as this process may have; how many it has, if there is a limit.
pub fn raise_file_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum || limit.maximum.is_none() {
        let wanted = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
        // The system may say no; then it stays as it is.
        if setrlimit(Resource::Nofile, wanted).is_ok() {
            return getrlimit(Resource::Nofile).current;
        }
    }
    limit.current
}

/// Listens, with encryption anywhere, without it on this machine only, unless it is asked for by name.
pub async fn bind(listen: &str, encrypted: bool, allow_plaintext: bool) -> Result<TcpListener, Failure> {
    let addresses = look_up("--listen", listen).await?;
    if !encrypted && !allow_plaintext && addresses.iter().any(is_far) {
        return Err(Failure::usage(format!(
            "--listen {listen} can be reached from other machines, and there is no encryption: add --tls DIR (`nonet certs` \
             makes certificates), or --allow-plaintext if everybody in that network is trusted"
        )));
    }
    open(listen, &addresses).await
}

/// The addresses that `option` means by `text`.
pub async fn look_up(option: &str, text: &str) -> Result<Vec<SocketAddr>, Failure> {
    let addresses = tokio::net::lookup_host(text).await;
    let addresses =
        addresses.map_err(|e| Failure::usage(format!("{option} {text}: {e}; expected HOST:PORT")))?;
    Ok(addresses.collect())
}

/// Whether other machines can reach it.
pub fn is_far(address: &SocketAddr) -> bool {
    !address.ip().to_canonical().is_loopback()
}

/// Listens on the first of these addresses that is free.
pub async fn open(text: &str, addresses: &[SocketAddr]) -> Result<TcpListener, Failure> {
    TcpListener::bind(addresses).await.map_err(|e| {
        let hint = if e.kind() == std::io::ErrorKind::AddrInUse {
            " (does another coordinator run there?)"
        } else {
            ""
        };
        Failure::failed(format!("cannot listen on {text}: {e}{hint}"))
    })
}
