//! A request is let in once, and what it has opened may stay open for weeks: meanwhile its token may have been removed.

use std::future::pending;

use futures_util::stream::unfold;
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Status};

use super::{Replies, connection::Peer, gate::Gate};
use crate::access::Right;

/// What a request was let in with.
#[derive(Clone)]
pub struct Pass {
    pub(super) gate: Gate,
    pub(super) peer: Peer,
    pub(super) right: Right,
    /// Of the token that was shown.
    pub(super) token: Option<blake3::Hash>,
}

impl Pass {
    /// That of a request. The gate has put it there.
    pub fn of<T>(request: &Request<T>) -> Option<Self> {
        request.extensions().get().cloned()
    }

    /// Ends when the gate lets its owner in no longer, with the reason.
    pub async fn withdrawn(self) -> Status {
        let Some(mut changes) = self.gate.changes() else { return pending().await };
        loop {
            changes.mark_unchanged();
            if let Err(status) = self.gate.admits(&self) {
                return status;
            }
            if changes.changed().await.is_err() {
                return pending().await;
            }
        }
    }
}

/// Ends when the server does, or when the owner of a pass would be let in no longer.
pub async fn over(pass: Option<Pass>, stop: CancellationToken) {
    let withdrawn = async {
        match pass {
            Some(pass) => drop(pass.withdrawn().await),
            None => pending().await,
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = withdrawn => {}
    }
}

/// A stream that ends, with the reason, when its owner would be let in no longer.
pub fn while_admitted<T: Send + 'static>(
    pass: Option<Pass>,
    replies: impl Stream<Item = Result<T, Status>> + Send + Unpin + 'static,
) -> Replies<T> {
    let Some(pass) = pass else { return Box::pin(replies) };
    let open = Some((replies, Box::pin(pass.withdrawn())));
    Box::pin(unfold(open, |open| async move {
        let (mut replies, mut withdrawn) = open?;
        tokio::select! {
            // First: what ends the stream may have ended what it tells of as well.
            biased;
            status = &mut withdrawn => Some((Err(status), None)),
            reply = replies.next() => reply.map(|reply| (reply, Some((replies, withdrawn)))),
        }
    }))
}
