//! Where the page listens: what `--web` says.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use worker::{dial::is_loopback, tls::TlsFiles};

use super::{
    doors::{is_far, look_up, open},
    exit::Failure,
};
use crate::{
    server::{Doors, Reread},
    web::Web,
};

/// Where the page is, unless it is said.
const DEFAULT: &str = "127.0.0.1:7780";
const ANY_PORT: &str = "127.0.0.1:0";
/// The page may have one connection in this many.
const SHARE: usize = 8;

/// What an operator wants.
pub struct Wanted {
    /// `--web`.
    pub web: Option<String>,
    /// `--listen`.
    pub listen: String,
    /// `--advertise`.
    pub advertise: Option<String>,
    /// Whether the page may go over a network unencrypted.
    pub allow_plaintext: bool,
}

/// Opens the page's port, with the certificates and tokens of `doors`; none where it is off.
pub async fn open_web(
    wanted: Wanted,
    files: Option<TlsFiles>,
    doors: &Doors,
    stop: &CancellationToken,
) -> Result<Option<Web>, Failure> {
    let listener = match wanted.web.as_deref() {
        Some("off") => None,
        Some(text) => {
            let addresses = look_up("--web", text).await?;
            if addresses.iter().any(is_far) {
                may_be_far(text, doors, wanted.allow_plaintext)?;
            }
            Some(open(text, &addresses).await?)
        }
        None => by_default(&wanted.listen).await,
    };
    let Some(listener) = listener else { return Ok(None) };
    let tls = files.map(|files| {
        let (cert, key) = files.own.clone().unzip();
        let paths = std::iter::once(files.ca.clone()).chain(cert).chain(key).collect();
        let read = move || files.page_server().map_err(|e| e.to_string());
        Reread::open("certificates of the page", paths, read, stop.clone())
    });
    let tls = tls.transpose().map_err(Failure::usage)?;
    let most_connections = (doors.most_connections / SHARE).max(1);
    let names = wanted.advertise.as_deref().and_then(host).into_iter().collect();
    Ok(Some(Web {
        listener,
        tls,
        tokens: doors.tokens.clone(),
        names,
        most_connections,
        telemetry: doors.telemetry.clone(),
    }))
}

/// The host of a URL.
fn host(url: &str) -> Option<String> {
    Some(url::Url::parse(url).ok()?.host_str()?.trim_matches(['[', ']']).to_owned())
}

/// Where others reach the page of the coordinator at `advertised`; empty where they do not.
pub fn seen_from_elsewhere(web: &Web, advertised: &str) -> String {
    let (Ok(address), Some(host)) = (web.listener.local_addr(), host(advertised)) else {
        return String::new();
    };
    if !is_far(&address) && !is_loopback(&host) {
        return String::new();
    }
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    format!("{}://{host}:{}", if web.tls.is_some() { "https" } else { "http" }, address.port())
}

/// Tells people where the page is: once the ledger is open, so that what hinders that stands alone.
pub fn announce(page: Option<&str>) {
    if let Some(page) = page {
        tracing::info!("page at {page}");
    }
}

/// Where the page is.
pub fn url_of(web: &Web) -> Option<String> {
    Some(url(web.tls.is_some(), web.listener.local_addr().ok()?))
}

fn url(encrypted: bool, address: SocketAddr) -> String {
    format!("{}://{address}", if encrypted { "https" } else { "http" })
}

/// Whether the page may be where other machines reach it.
fn may_be_far(text: &str, doors: &Doors, allow_plaintext: bool) -> Result<(), Failure> {
    if doors.tls.is_none() && !allow_plaintext {
        return Err(Failure::usage(format!(
            "--web {text} can be reached from other machines, and there is no encryption: add --tls DIR (`nonet certs` makes \
             certificates), or --allow-plaintext if everybody in that network is trusted"
        )));
    }
    if doors.tokens.is_none() {
        return Err(Failure::usage(format!(
            "--web {text} can be reached from other machines, and browsers show no certificate: add --tokens FILE (`nonet tokens \
             add NAME --role viewer --file FILE` makes one), or take an address of this machine"
        )));
    }
    Ok(())
}

/// Nobody has asked for the page, so nothing fails for its lack.
async fn by_default(listen: &str) -> Option<TcpListener> {
    // Whoever takes any port starts many.
    let wanted = if listen.ends_with(":0") { ANY_PORT } else { DEFAULT };
    let trouble = match TcpListener::bind(wanted).await {
        Ok(listener) => return Some(listener),
        Err(trouble) => trouble,
    };
    if let Ok(listener) = TcpListener::bind(ANY_PORT).await {
        tracing::warn!("cannot listen on {wanted} ({trouble}): the page is elsewhere; --web says where");
        Some(listener)
    } else {
        tracing::warn!("no page: cannot listen on {wanted}: {trouble}");
        None
    }
}
