//! One connection to the coordinator, from dialling to its first word.

use std::{collections::HashSet, sync::Arc, time::Duration};

use futures_util::{StreamExt, stream::FuturesUnordered};
use proto::v1::{FromWorker, Hello, KindVersion, Label, ToWorker, farm_client::FarmClient};
use tokio::{sync::mpsc, time::timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use crate::{
    backoff::Backoff,
    dial::{Dial, DialError, words},
    labels::Labels,
};

/// An open stream each way.
pub struct Link {
    /// To the coordinator.
    pub outgoing: mpsc::Sender<FromWorker>,
    /// From it.
    pub incoming: Streaming<ToWorker>,
    /// Which ledger it keeps.
    pub ledger: [u8; 16],
    /// How often it wants to hear from us.
    pub heartbeat: Duration,
}

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Nobody there, yet.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// Somebody there, and in trouble; trying again may help.
    #[error("the coordinator broke off: {0}")]
    Broken(String),
    /// The coordinator does not want this worker. Trying again is useless.
    #[error("the coordinator refuses this worker: {0}")]
    Refused(String),
    /// It does not believe who this worker is. Another one may: one that stands by may know less than the one that leads.
    #[error("the coordinator refuses this worker: {0}")]
    Stranger(String),
}

/// Messages under way to the coordinator before the worker waits for it.
const OUTGOING_MESSAGES: usize = 4;
const WELCOME_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest wait between two attempts.
pub const BACKOFF_CAP_MS: u64 = 5_000;
/// The same where another coordinator is about to take over.
const STANDBY_CAP_MS: u64 = 500;

/// Dials after `first_wait`, until it succeeds or is refused. Where there are several addresses, all are tried side by side:
/// one of them leads, and one that hangs must not keep the others waiting.
///
/// # Errors
///
/// Only [`LinkError::Refused`].
pub async fn open(dial: Arc<Dial>, hello: Hello, first_wait: Duration) -> Result<Link, LinkError> {
    tokio::time::sleep(first_wait).await;
    let cap_ms = if dial.has_standbys() { STANDBY_CAP_MS } else { BACKOFF_CAP_MS };
    let mut attempts: FuturesUnordered<_> =
        dial.each().into_iter().map(|dial| keep_knocking(dial, hello.clone(), cap_ms)).collect();
    let mut refusal = "there is no address to try".into();
    while let Some(ended) = attempts.next().await {
        match ended {
            Err(LinkError::Stranger(why)) => {
                if !attempts.is_empty() {
                    tracing::warn!("one of the coordinators refuses this worker: {why}; asking the others");
                }
                refusal = why;
            }
            ended => return ended,
        }
    }
    Err(LinkError::Refused(refusal))
}

/// Says once what it waits for, not at every attempt.
async fn keep_knocking(dial: Dial, hello: Hello, cap_ms: u64) -> Result<Link, LinkError> {
    let mut backoff = Backoff::new(cap_ms);
    let mut said = HashSet::new();
    loop {
        match knock(&dial, hello.clone()).await {
            Ok(link) => return Ok(link),
            Err(error @ (LinkError::Refused(_) | LinkError::Stranger(_))) => return Err(error),
            Err(error) => {
                let text = error.to_string();
                if said.insert(text.clone()) {
                    tracing::warn!("{text}; trying again until it does");
                }
                tokio::time::sleep(backoff.next_wait()).await;
            }
        }
    }
}

async fn knock(dial: &Dial, hello: Hello) -> Result<Link, LinkError> {
    let wire = dial.connect().await;
    let wire =
        wire.map_err(|e| if e.is_refusal() { LinkError::Stranger(e.to_string()) } else { e.into() })?;
    let mut client = FarmClient::new(wire)
        .max_decoding_message_size(proto::MAX_MESSAGE_BYTES)
        .max_encoding_message_size(proto::MAX_MESSAGE_BYTES);
    let (outgoing, messages) = mpsc::channel(OUTGOING_MESSAGES);
    let first = FromWorker { hello: Some(hello), ..FromWorker::default() };
    outgoing.try_send(first).map_err(|e| LinkError::Broken(e.to_string()))?;
    let open = async {
        let mut incoming = client.work(ReceiverStream::new(messages)).await?.into_inner();
        let first = incoming.message().await?;
        Ok::<_, Status>((incoming, first))
    };
    let (incoming, first) = match timeout(WELCOME_TIMEOUT, open).await {
        Ok(opened) => opened.map_err(|status| judge(&status))?,
        Err(_) => return Err(LinkError::Broken("no welcome within 10 s".into())),
    };
    let welcome = first.and_then(|m| m.welcome).ok_or_else(|| LinkError::Broken("no welcome".into()))?;
    // One of the first versions does not say what it speaks.
    let spoken = welcome.protocol.max(proto::OLDEST_PROTOCOL);
    if spoken > proto::PROTOCOL {
        let ours = proto::PROTOCOL;
        return Err(LinkError::Refused(format!(
            "it speaks protocol {spoken}, this worker {ours}: upgrade the worker"
        )));
    }
    let ledger = welcome.ledger_id.as_ref().try_into();
    let ledger = ledger.map_err(|_| LinkError::Broken("a ledger id that is not 16 bytes".into()))?;
    let heartbeat = Duration::from_millis(welcome.heartbeat_ms.clamp(10, 60_000).into());
    Ok(Link { outgoing, incoming, ledger, heartbeat })
}

/// What a status means for the one who wants a link.
#[must_use]
pub fn judge(status: &Status) -> LinkError {
    let text = words(status);
    match status.code() {
        Code::FailedPrecondition | Code::InvalidArgument => LinkError::Refused(text),
        Code::PermissionDenied | Code::Unauthenticated => LinkError::Stranger(text),
        Code::AlreadyExists => {
            LinkError::Refused(format!("{text}; is this state folder a copy of another worker's?"))
        }
        Code::Unimplemented => LinkError::Refused("it does not speak the protocol of Nonet workers".into()),
        _ => LinkError::Broken(text),
    }
}

/// The first message of a worker. It names the oldest protocol first: coordinators of the first versions know no other.
#[must_use]
pub fn hello(worker_id: [u8; 16], name: &str, labels: &Labels, slots: u32, prefetch: u32) -> Hello {
    let kinds = jobs::KINDS.iter();
    let kinds = kinds.map(|k| KindVersion { name: k.name().into(), revision: k.revision() }).collect();
    let labels = labels.iter();
    Hello {
        protocol: proto::OLDEST_PROTOCOL,
        newest_protocol: proto::PROTOCOL,
        labels: labels.map(|(name, value)| Label { name: name.clone(), value: value.clone() }).collect(),
        version: env!("CARGO_PKG_VERSION").into(),
        worker_id: worker_id.to_vec().into(),
        name: proto::bounded_text(name.to_owned()),
        slots,
        prefetch,
        kinds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinators_of_the_first_version_are_spoken_to_in_their_own() {
        let labels = [("pool".to_owned(), "a".to_owned())].into();
        let hello = hello([1; 16], "w", &labels, 1, 1);
        // They want exactly this, and look at nothing else.
        assert_eq!((hello.protocol, hello.newest_protocol), (1, proto::PROTOCOL));
        assert_eq!(hello.labels, [Label { name: "pool".into(), value: "a".into() }]);
    }
}
