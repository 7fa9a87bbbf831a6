//! The gate: every request passes here, and nowhere else is asked who may do what.

use std::{
    net::IpAddr,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::sync::watch;
use tonic::{
    Code, Status,
    body::Body,
    codegen::{BoxFuture, http},
};
use tower::{Layer, Service};

use super::{
    brief::Brief,
    connection::Peer,
    pass::Pass,
    places::{Who, neighbourhood},
    reread::Reread,
};
use crate::{
    access::{
        Caller, Right,
        rates::{Rate, Rates},
        right_for,
        tokens::Tokens,
    },
    telemetry::Telemetry,
    traces::{RequestSpan, Traces},
};

/// Requests of users, of one name or (without names) from one address.
const REQUESTS: Rate = Rate::new(100, 200);
/// Streams of workers opened from one address: a whole farm may come back at once from behind one.
const STREAMS: Rate = Rate::new(500, 2_000);
/// Requests that are refused, as far as the log tells of them.
const COMPLAINTS: Rate = Rate::new(1, 10);

/// Who may pass.
#[derive(Clone)]
pub struct Gate(Arc<Inner>);

struct Inner {
    telemetry: Telemetry,
    tokens: Option<Arc<Reread<Tokens>>>,
    requests: Rates<Who>,
    streams: Rates<IpAddr>,
    complaints: Rates<IpAddr>,
}

impl Gate {
    /// Asks for one of `tokens`, if there are some, and for certificates on connections that have TLS. What it does is told
    /// to `telemetry`.
    pub fn new(tokens: Option<Arc<Reread<Tokens>>>, telemetry: Telemetry) -> Self {
        let (requests, streams, complaints) =
            (Rates::new(REQUESTS), Rates::new(STREAMS), Rates::new(COMPLAINTS));
        Self(Arc::new(Inner { telemetry, tokens, requests, streams, complaints }))
    }

    /// Where spans of requests go.
    pub(super) fn traces(&self) -> &Traces {
        &self.0.telemetry.traces
    }

    fn judge(&self, path: &str, peer: &Peer, headers: &http::HeaderMap) -> Result<(Caller, Pass), Status> {
        let right = right_for(path).ok_or_else(|| Status::unimplemented("there is no such method"))?;
        let secret = headers.get("authorization").map(|value| value.to_str().unwrap_or_default());
        let secret = secret.map(|value| value.strip_prefix("Bearer ").unwrap_or_default());
        let pass = Pass { gate: self.clone(), peer: peer.clone(), right, token: secret.map(Tokens::hash) };
        let caller = self.identify(peer, pass.token.as_ref());
        self.within_rate(right, caller.as_ref().ok(), peer)?;
        let caller = caller?;
        caller.may(right).map_err(Status::permission_denied)?;
        Ok((caller, pass))
    }

    fn identify(&self, peer: &Peer, token: Option<&blake3::Hash>) -> Result<Caller, Status> {
        let mut identities = Vec::new();
        if let Some(tokens) = &self.0.tokens {
            let token = token.ok_or_else(|| {
                Status::unauthenticated(
                    "this coordinator asks for a token: its operator makes one with `nonet tokens add NAME --role ROLE`; \
                     give it with --token-file or NONET_TOKEN",
                )
            })?;
            let known = tokens.get().find_hash(token).cloned();
            identities.push(known.ok_or_else(|| {
                Status::unauthenticated(
                    "this coordinator does not know the token, or no longer: `nonet tokens list` shows whose it knows",
                )
            })?);
        }
        match &peer.certificate {
            Some(Ok(identity)) => identities.push(identity.clone()),
            // A certificate of somebody's own CA may leave it to the token.
            Some(Err(_)) if !identities.is_empty() => {}
            Some(Err(why)) => return Err(Status::permission_denied(why.clone())),
            None => {}
        }
        Ok(Caller { identities, peer: peer.address })
    }

    /// Whether whoever was let in would be let in now.
    pub(super) fn admits(&self, pass: &Pass) -> Result<(), Status> {
        let caller = self.identify(&pass.peer, pass.token.as_ref())?;
        caller.may(pass.right).map_err(Status::permission_denied)
    }

    /// Tells when it may have changed whom it admits; none where that never changes.
    pub(super) fn changes(&self) -> Option<watch::Receiver<Arc<Tokens>>> {
        self.0.tokens.as_ref().map(|tokens| tokens.changes())
    }

    fn within_rate(&self, right: Right, caller: Option<&Caller>, peer: &Peer) -> Result<(), Status> {
        // Inside this process nobody floods anybody.
        let Some(address) = peer.address else { return Ok(()) };
        let address = neighbourhood(address.ip());
        let within = match (right, caller) {
            (Right::Work, Some(_)) => self.0.streams.take(address),
            (_, caller) => self.0.requests.take(caller.map_or(Who::Address(address), Who::of)),
        };
        if within {
            Ok(())
        } else {
            Err(Status::resource_exhausted("too many requests at a time: ask less often"))
        }
    }

    /// Tells of a refusal, but of one stranger only so often.
    fn complain(&self, path: &str, peer: &Peer, status: &Status) {
        self.0.telemetry.counted.requests_refused.count(code_name(status.code()));
        if let Some(address) = peer.address
            && self.0.complaints.take(neighbourhood(address.ip()))
        {
            tracing::warn!("{address} was refused {path}: {}", status.message());
            // A collector is not told names that strangers make up.
            if right_for(path).is_some() {
                self.traces().request(path, peer.address).end(status.code());
            }
        }
    }
}

/// As gRPC names it, in lower case.
fn code_name(code: Code) -> &'static str {
    match code {
        Code::Unauthenticated => "unauthenticated",
        Code::PermissionDenied => "permission_denied",
        Code::ResourceExhausted => "resource_exhausted",
        Code::Unimplemented => "unimplemented",
        _ => "other",
    }
}

impl<S> Layer<S> for Gate {
    type Service = Gated<S>;

    fn layer(&self, inner: S) -> Gated<S> {
        Gated { gate: self.clone(), inner }
    }
}

/// A service behind the gate.
#[derive(Clone)]
pub struct Gated<S> {
    gate: Gate,
    inner: S,
}

impl<S> Service<http::Request<Body>> for Gated<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<Self::Response, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        let Some(peer) = request.extensions().get::<Peer>().cloned() else {
            let status = Status::internal("a request without a connection");
            return Box::pin(async move { Ok(status.into_http()) });
        };
        let path = request.uri().path();
        match self.gate.judge(path, &peer, request.headers()) {
            Ok((caller, pass)) => {
                peer.admit();
                self.gate.0.telemetry.counted.request(path);
                // A worker's stream is open for weeks; its leases have spans of their own.
                let span = match pass.right {
                    Right::Work => RequestSpan::none(),
                    Right::View | Right::Operate => self.gate.traces().request(path, peer.address),
                };
                if pass.right != Right::Work {
                    request = request.map(|body| Body::new(Brief::new(body)));
                }
                request.extensions_mut().insert(caller);
                request.extensions_mut().insert(pass);
                if let Some(within) = span.within() {
                    request.extensions_mut().insert(within);
                }
                let answer = self.inner.call(request);
                Box::pin(async move {
                    let answer = answer.await;
                    let status = answer.as_ref().ok().and_then(|a| Status::from_header_map(a.headers()));
                    span.end(status.map_or(Code::Ok, |status| status.code()));
                    answer
                })
            }
            Err(status) => {
                self.gate.complain(path, &peer, &status);
                Box::pin(async move { Ok(status.into_http()) })
            }
        }
    }
}
