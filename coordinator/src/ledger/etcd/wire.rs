//! One question to a cluster of etcd, and one answer.
//!
//! Each question goes to the node that answered last; when it does not answer, the next one is asked from then on. A client
//! that spreads its questions over all nodes would meet a dead one again and again.

use std::{
    future::Future,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use proto::etcd::{ResponseHeader, kv_client::KvClient};
use rand::RngExt;
use tonic::{Code, Status, transport::Channel};
use tower::service_fn;
use worker::tls::TlsFiles;

use super::Address;
use crate::ledger::LedgerError;

/// How long a node may take to answer. Three of its elections fit in, so that a cluster that has just lost its leader
/// answers the next attempt.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_millis(1_500);
const CONNECT_TIMEOUT: Duration = Duration::from_millis(800);
/// How soon a node that died without a word is noticed by an open stream.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Between attempts, so that a cluster in trouble is not flooded.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// What went wrong with a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Nobody answered, or not in time: the question may have had its effect or not. Asking again may help.
    Silence(String),
    /// The revision that was asked for is not kept any more.
    Compacted,
    /// An answer that will be the same next time.
    Refusal(String),
}

impl Trouble {
    /// The words for it, with the addresses.
    pub fn into_error(self, address: &Address) -> LedgerError {
        let etcd = address.to_string();
        let reason = match self {
            Self::Silence(reason) | Self::Refusal(reason) => reason,
            Self::Compacted => "its past was compacted meanwhile; try again".into(),
        };
        LedgerError::Remote { etcd, reason }
    }
}

/// The cluster.
#[derive(Debug)]
pub struct Wire {
    pub(super) address: Address,
    tls: Option<TlsFiles>,
    seat: Mutex<Seat>,
}

/// Who is asked.
#[derive(Debug)]
struct Seat {
    node: usize,
    channel: Option<Channel>,
}

/// A node, to be asked something.
pub(super) struct Node(Channel);

/// Answers are no longer: 32 values of the largest size.
const MOST_BYTES: usize = 64 << 20;

impl Node {
    pub fn kv(&self) -> KvClient<Channel> {
        KvClient::new(self.0.clone()).max_decoding_message_size(MOST_BYTES)
    }
}

impl Wire {
    /// Nothing is sent yet. `tls` is for `etcds://`.
    #[must_use]
    pub fn new(address: Address, tls: Option<TlsFiles>) -> Self {
        // Not all coordinators at the same one.
        let node = rand::rng().random_range(0..address.nodes());
        Self { address, tls, seat: Mutex::new(Seat { node, channel: None }) }
    }

    /// The node whose turn it is, and its number.
    pub(super) fn node(&self) -> Result<(usize, Node), Trouble> {
        let mut seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner);
        let node = seat.node;
        if let Some(channel) = &seat.channel {
            return Ok((node, Node(channel.clone())));
        }
        let url = self.address.url(node);
        let endpoint = url.parse().ok().and_then(|url| worker::dial::endpoint(&url));
        let endpoint = endpoint.ok_or_else(|| Trouble::Refusal(format!("{url:?} is no address")))?;
        let tls = self.tls.clone().filter(|_| self.address.is_encrypted());
        let connect = move |uri| worker::dial::stream(uri, tls.clone(), None);
        let channel = endpoint
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .keep_alive_while_idle(true)
            .connect_with_connector_lazy(service_fn(connect));
        seat.channel = Some(channel.clone());
        Ok((node, Node(channel)))
    }

    /// Asks another node from now on, if `node` is the one that is asked.
    pub(super) fn leave(&self, node: usize) {
        let mut seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner);
        if seat.node == node {
            *seat = Seat { node: (node + 1) % self.address.nodes(), channel: None };
        }
    }

    /// Asks once.
    pub(super) async fn ask<T, F>(&self, question: impl FnOnce(Node) -> F) -> Result<T, Trouble>
    where
        F: Future<Output = Result<T, Status>>,
    {
        self.ask_within(ANSWER_TIMEOUT, question).await
    }

    /// Asks once, and waits no longer than that.
    pub(super) async fn ask_within<T, F>(
        &self,
        patience: Duration,
        question: impl FnOnce(Node) -> F,
    ) -> Result<T, Trouble>
    where
        F: Future<Output = Result<T, Status>>,
    {
        let (node, channel) = self.node()?;
        let answer = tokio::time::timeout(patience, question(channel)).await;
        let trouble = match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(status)) => judge(&status),
            Err(_) => Trouble::Silence(format!("no answer from {}", self.address.url(node))),
        };
        if matches!(trouble, Trouble::Silence(_)) {
            self.leave(node);
        }
        Err(trouble)
    }

    /// Asks every node until one answers, at most twice each. For questions that change nothing.
    pub(super) async fn insist<T, F>(&self, mut question: impl FnMut(Node) -> F) -> Result<T, Trouble>
    where
        F: Future<Output = Result<T, Status>>,
    {
        let mut last = Trouble::Silence("it was not asked".into());
        for _ in 0..2 * self.address.nodes() {
            match self.ask(&mut question).await {
                Err(trouble @ Trouble::Silence(_)) => {
                    last = trouble;
                    tokio::time::sleep(PAUSE).await;
                }
                answered => return answered,
            }
        }
        Err(last)
    }
}

/// Tells what may help from what does not.
fn judge(status: &Status) -> Trouble {
    let text = status.message().to_owned();
    match status.code() {
        Code::OutOfRange if text.contains("compacted") => Trouble::Compacted,
        Code::ResourceExhausted if text.contains("database space exceeded") => Trouble::Refusal(format!(
            "{text}: compact and defragment it, then `etcdctl alarm disarm`; everything acknowledged is safe"
        )),
        Code::ResourceExhausted if text.contains("larger than max") => Trouble::Refusal(text),
        // Any other want of resources passes: a node that catches up says "too many requests".
        Code::InvalidArgument | Code::PermissionDenied | Code::Unauthenticated | Code::Unimplemented => {
            Trouble::Refusal(text)
        }
        _ => Trouble::Silence(if text.is_empty() { innermost(status) } else { text }),
    }
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// The revision of an answer.
pub(super) fn revision(header: Option<&ResponseHeader>) -> i64 {
    header.map_or(0, |header| header.revision)
}
