//! The page, and what else is asked over plain HTTP: health, readiness, metrics.
//!
//! A port of its own beside that of gRPC, so that browsers and probes need no client certificate. Its limits are those of
//! [`crate::server`]: places by address, time for what arrives, rates.
//!
//! Counts are strings in JSON. What needs a right asks for the same one as the rpc of that name.
//!
//! | path | right | what |
//! |---|---|---|
//! | `/healthz` | none | 200 while this process answers |
//! | `/readyz` | none | 200 while it leads, or knows who does |
//! | `/metrics` | view | how everything stands, for Prometheus |
//! | `/`, `/app.js` and other `.js`, `/style.css`, `/icon.svg` | none | the page |
//! | `/api/v1/whoami` | none | who asks and what they may, who leads, the version |
//! | `POST /api/v1/login` `{"token": "..."}`, `/api/v1/logout` `{}` | none | a cookie for a token, and its end |
//! | `/api/v1/jobs?q=&state=&skip=&limit=` | view | jobs: running and paused ones, then the newest; at most 500 |
//! | `/api/v1/jobs/JOB` | view | one, with the units that were given up |
//! | `/api/v1/jobs/JOB/ranges` | view | where its units are, in at most 400 stretches |
//! | `/api/v1/jobs/JOB/report`, `.html`, `.csv`, `.txt` | view | its report, finished or not |
//! | `/api/v1/workers?q=&skip=&limit=` | view | workers and what they do, and the last hundred that went |
//! | `/api/v1/events` | view | all of that, as server-sent events: `standing`, `jobs`, `workers`, `pulse`, `over` |
//! | `POST /api/v1/jobs/JOB/pause`, `resume`, `cancel`, `retry` `{}` | operate | |
//! | `POST /api/v1/workers/WORKER/drain`, `readmit` `{}` | operate | |
//!
//! `guard.rs` says who may, `feed.rs` tells everybody who watches, `api.rs` answers, `page/` is what a browser shows.

mod answers;
mod api;
mod assets;
mod feed;
mod guard;
mod headers;
mod health;
mod logins;
mod metrics;
mod pictures;
mod shapes;

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state, map_response},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::{
    net::TcpListener,
    sync::{Notify, watch},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use self::{answers::Trouble, feed::Frames, guard::Guard, pictures::Pictures};
use crate::{
    access::{
        Right,
        rates::{Rate, Rates},
        tokens::Tokens,
    },
    seat::Seat,
    server::{
        Reread,
        connection::{Connection, Peer},
        listen::{Speech, listen},
        places::{Places, Who, neighbourhood},
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
/// Questions from one address that nobody needs a right for. Each costs a message to the engine at most.
const PROBES: Rate = Rate::new(50, 100);
/// Files of the page from one address.
const FILES: Rate = Rate::new(50, 200);
/// Who watches at a time, in all and of one name or (without names) from one address.
const MAX_WATCHERS: usize = 256;
const MAX_WATCHERS_OF_ONE: usize = 64;

/// What listens, and who may come.
pub struct Web {
    /// Where it listens.
    pub listener: TcpListener,
    /// Certificates, if connections are to be encrypted.
    pub tls: Option<Arc<Reread<Arc<ServerConfig>>>>,
    /// Tokens, if callers are to show one.
    pub tokens: Option<Arc<Reread<Tokens>>>,
    /// Names that others call this machine by.
    pub names: Vec<String>,
    /// Connections at a time, for which the system must have room.
    pub most_connections: usize,
    /// What `/metrics` tells, and who is told what happens here.
    pub telemetry: Telemetry,
}

/// What all requests share.
struct Site {
    seat: Seat,
    guard: Guard,
    pictures: Pictures,
    /// What is told to everybody who watches.
    frames: watch::Receiver<Frames>,
    /// Somebody has begun to watch.
    somebody: Notify,
    watchers: Arc<Places<Who>>,
    telemetry: Telemetry,
    probes: Rates<IpAddr>,
    files: Rates<IpAddr>,
    stop: CancellationToken,
}

/// Serves who sits in `seat` until `stop`.
pub async fn serve(seat: Seat, web: Web, stop: CancellationToken) {
    let Web { listener, tls, tokens, names, most_connections, telemetry } = web;
    let counted = Arc::clone(&telemetry.counted);
    let (frames, told) = watch::channel(Frames::default());
    let site = Arc::new(Site {
        seat,
        telemetry,
        guard: Guard::new(tokens, tls.is_some(), listener.local_addr().ok(), names),
        pictures: Pictures::default(),
        frames: told,
        somebody: Notify::new(),
        watchers: Places::new(MAX_WATCHERS, MAX_WATCHERS_OF_ONE),
        probes: Rates::new(PROBES),
        files: Rates::new(FILES),
        stop: stop.clone(),
    });
    tokio::spawn(feed::tell(Arc::clone(&site), frames, stop.clone()));
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
        .layer(from_fn_with_state(Arc::clone(site), probing));
    let files = assets::routes().layer(from_fn_with_state(Arc::clone(site), fetching));
    let open = Router::new()
        .route("/api/v1/whoami", get(api::whoami))
        .route("/api/v1/login", post(api::login))
        .route("/api/v1/logout", post(api::logout));
    let viewing = Router::new()
        .route("/api/v1/jobs", get(api::jobs))
        .route("/api/v1/jobs/{job}", get(api::job))
        .route("/api/v1/jobs/{job}/ranges", get(api::ranges))
        .route("/api/v1/jobs/{job}/{what}", get(api::report))
        .route("/api/v1/workers", get(api::workers))
        .route("/api/v1/events", get(api::events))
        .route("/metrics", get(metrics::metrics))
        .layer(from_fn_with_state(Arc::clone(site), viewing));
    let operating = Router::new()
        .route("/api/v1/jobs/{job}/{what}", post(api::control))
        .route("/api/v1/workers/{worker}/{verb}", post(api::worker))
        .layer(from_fn_with_state(Arc::clone(site), operating));
    probes
        .merge(files)
        .merge(open)
        .merge(viewing)
        .merge(operating)
        .fallback(async || Trouble::absent("there is nothing of this name".into()))
        .layer(map_response(headers::secure))
        .with_state(Arc::clone(site))
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
    limited(&site.probes, request, next).await
}

/// Lets browsers have the page, as far as they are no flood.
async fn fetching(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    limited(&site.files, request, next).await
}

async fn limited(rates: &Rates<IpAddr>, request: Request, next: Next) -> Response {
    if rates.take(address(&request)) { next.run(request).await } else { Trouble::too_many().into_response() }
}

/// Lets those through who may see.
async fn viewing(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    guarded(&site, Right::View, request, next).await
}

/// Lets those through who may change.
async fn operating(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    guarded(&site, Right::Operate, request, next).await
}

async fn guarded(site: &Site, right: Right, mut request: Request, next: Next) -> Response {
    let meant = site.guard.is_meant(request.method(), request.headers());
    let asker = meant.and_then(|()| site.guard.admit(request.headers(), peer_of(&request), right));
    match asker {
        Ok(asker) => {
            request.extensions_mut().insert(asker);
            next.run(request).await
        }
        Err(trouble) => trouble.into_response(),
    }
}

/// Where a request comes from.
fn peer_of(request: &Request) -> Option<SocketAddr> {
    request.extensions().get::<Peer>().and_then(|peer| peer.address)
}

/// Whose requests are counted together.
fn address(request: &Request) -> IpAddr {
    peer_of(request).map_or(IpAddr::from([0, 0, 0, 0]), |peer| neighbourhood(peer.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::right_for;

    #[test]
    fn the_page_asks_for_the_rights_of_grpc() {
        for seen in ["List", "Status", "Result", "Workers", "Leader"] {
            assert_eq!(right_for(&format!("/nonet.v1.Jobs/{seen}")), Some(Right::View), "{seen}");
        }
        for done in ["Control", "Drain", "Readmit"] {
            assert_eq!(right_for(&format!("/nonet.v1.Jobs/{done}")), Some(Right::Operate), "{done}");
        }
    }
}
