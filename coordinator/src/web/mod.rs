//! The page, and what else is asked over plain HTTP: health, readiness, metrics.
//!
//! A port of its own beside that of gRPC, so that browsers and probes need no client certificate. Its limits are those of
//! [`crate::server`]: places by address, time for what arrives, rates.
//!
//! | path | who may | what |
//! |---|---|---|
//! | `/healthz` | anybody | 200 while this process answers |
//! | `/readyz` | anybody | 200 while it leads, or knows who does |

mod headers;
mod health;
mod metrics;

use std::{convert::Infallible, net::IpAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::get,
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::{net::TcpListener, time::timeout};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::{
    access::{
        rates::{Rate, Rates},
        tokens::Tokens,
    },
    seat::Seat,
    server::{
        Reread,
        connection::{Connection, Peer},
        listen::{Speech, listen},
        places::neighbourhood,
    },
    telemetry::Telemetry,
};

/// Connections at a time: people and probes, no workers.
pub const MAX_CONNECTIONS: usize = 1024;
/// How long a request's head may take, and a connection rest between two.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Largest head of a request, which is also what is read ahead of a connection; and its lines.
const MAX_HEAD_BYTES: usize = 16 << 10;
const MAX_HEAD_LINES: usize = 64;
/// How long what is being answered may take to end when the coordinator stops.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);
/// Questions about health and readiness from one address. Each costs a message to the engine at most.
const PROBES: Rate = Rate::new(50, 100);

/// What listens, and who may come.
pub struct Web {
    /// Where it listens.
    pub listener: TcpListener,
    /// Certificates, if connections are to be encrypted.
    pub tls: Option<Arc<Reread<Arc<ServerConfig>>>>,
    /// Tokens, if callers are to show one.
    pub tokens: Option<Arc<Reread<Tokens>>>,
    /// Connections at a time, for which the system must have room.
    pub most_connections: usize,
    /// What `/metrics` tells, and who is told what happens here.
    pub telemetry: Telemetry,
}

/// What all requests share.
struct Site {
    seat: Seat,
    telemetry: Telemetry,
    probes: Rates<IpAddr>,
}

/// Serves who sits in `seat` until `stop`.
pub async fn serve(seat: Seat, web: Web, stop: CancellationToken) {
    let Web { listener, tls, tokens: _, most_connections, telemetry } = web;
    let counted = Arc::clone(&telemetry.counted);
    let site = Arc::new(Site { seat, telemetry, probes: Rates::new(PROBES) });
    let router = router(&site);
    let most = most_connections.min(MAX_CONNECTIONS);
    let mut connections = listen(listener, tls, (Speech::Http1, most), counted, stop.clone());
    while let Some(connection) = connections.recv().await {
        tokio::spawn(speak(connection, router.clone(), stop.clone()));
    }
}

fn router(site: &Arc<Site>) -> Router {
    let probes = Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics::metrics))
        .layer(from_fn_with_state(Arc::clone(site), probing));
    // `/metrics` belongs here, beside the probes.
    probes.layer(axum::middleware::map_response(headers::secure)).with_state(Arc::clone(site))
}

/// Serves one connection to its end.
async fn speak(connection: Connection, router: Router, stop: CancellationToken) {
    let peer = connection.peer();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        // Whoever brings a request is no stranger any more; what it may ask is another matter.
        peer.admit();
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer.clone());
        let answer = router.clone().oneshot(request);
        async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEAD_LINES)
        .serve_connection(TokioIo::new(connection), service);
    tokio::pin!(served);
    tokio::select! {
        ended = &mut served => drop(ended),
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            drop(timeout(STOP_TIMEOUT, served).await);
        }
    }
}

/// Lets probes through, as far as they are no flood.
async fn probing(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    if site.probes.take(address(&request)) { next.run(request).await } else { headers::too_many() }
}

/// Whose requests are counted together.
fn address(request: &Request) -> IpAddr {
    let peer = request.extensions().get::<Peer>().and_then(|peer| peer.address);
    peer.map_or(IpAddr::from([0, 0, 0, 0]), |peer| neighbourhood(peer.ip()))
}
