//! Which coordinator leads.
//!
//! The leader is who has made the key `leader`, under a lease that it renews. Everything that it writes is written on
//! condition that this very key is still there (its revision is the term's number), so a leader that was stopped, cut off
//! or forgotten, and does not know it yet, writes nothing. No clock is compared with another: the lease's time is
//! measured by etcd, and a leader's doubts about its own lease by its own clock.

use std::{sync::Arc, time::Duration};

use proto::etcd::{
    LeaseGrantRequest, LeaseKeepAliveRequest, LeaseRevokeRequest, TxnRequest, WatchCreateRequest,
    WatchRequest, watch_create_request::FilterType, watch_request::RequestUnion,
};
use serde::{Deserialize, Serialize};
use tokio::{task::JoinHandle, time::Instant};
use tokio_stream::StreamExt;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Status, metadata::MetadataValue};

use super::{
    layout::LEADER,
    office::Office,
    ops,
    wire::{self, Node, PAUSE, Trouble, Wire},
};
use crate::ledger::LedgerError;

/// A leader that has not renewed its lease for so long is none any more, for etcd. The least that etcd grants; when its own
/// leader is lost too, it is this on top of an election of its own.
const LEASE_S: i64 = 2;
/// And for itself. Longer, because etcd prolongs all leases while it elects a leader of its own and answers nobody; what a
/// leader without a lease writes meanwhile is refused.
pub const PATIENCE: Duration = Duration::from_millis(4_500);
/// How often it is renewed.
const BEAT: Duration = Duration::from_millis(500);
/// How long a candidate trusts its watch before it looks. A node that died ends the watch sooner.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// What the key says of the leader, as JSON: people look at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leader {
    /// Where it is reached.
    pub url: String,
    /// Its process.
    pub pid: u32,
}

/// A time of leading. Ends when it is dropped or given up, and when the lease could not be renewed.
#[derive(Debug)]
pub struct Term {
    office: Arc<Office>,
    lease: i64,
    keeper: JoinHandle<()>,
}

impl Term {
    /// Is cancelled when this coordinator can no longer be sure that it leads.
    #[must_use]
    pub fn lost(&self) -> &CancellationToken {
        &self.office.lost
    }

    /// What the ledger is opened with.
    #[must_use]
    pub fn right(&self) -> Arc<Office> {
        Arc::clone(&self.office)
    }

    /// Gives up, so that another one leads at once.
    pub async fn resign(self) {
        revoke(&self.office.wire, self.lease).await;
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        self.office.lost.cancel();
        self.keeper.abort();
    }
}

/// What came of an attempt.
enum Attempt {
    Won(Term),
    /// Another one leads, since this revision at the latest.
    Taken(Leader, i64),
}

/// Waits until this coordinator leads. `heard` is told who leads instead, whenever that changes.
///
/// # Errors
///
/// When etcd refuses what it is asked. While it does not answer, this waits.
pub async fn campaign(
    wire: &Arc<Wire>,
    myself: &Leader,
    mut heard: impl FnMut(Option<&Leader>),
) -> Result<Term, LedgerError> {
    let mut said = None;
    loop {
        match attempt(wire, myself).await {
            Ok(Attempt::Won(term)) => return Ok(term),
            Ok(Attempt::Taken(leader, revision)) => {
                said = None;
                heard(Some(&leader));
                vacancy(wire, revision).await;
            }
            Err(Trouble::Silence(why)) => {
                heard(None);
                if said.as_ref() != Some(&why) {
                    tracing::warn!("{} does not answer ({why}); trying again until it does", wire.address);
                    said = Some(why);
                }
                tokio::time::sleep(PAUSE).await;
            }
            Err(trouble) => return Err(trouble.into_error(&wire.address)),
        }
    }
}

async fn attempt(wire: &Arc<Wire>, myself: &Leader) -> Result<Attempt, Trouble> {
    let key = wire.address.key(LEADER);
    let look = ops::one(key.clone());
    let found = wire.ask(|etcd| async move { etcd.kv().range(look).await }).await?.into_inner();
    if let Some(kv) = found.kvs.first() {
        return Ok(Attempt::Taken(read(&kv.value), wire::revision(found.header.as_ref())));
    }
    // Before it is asked for: the lease may have begun then.
    let since = Instant::now();
    let wanted = LeaseGrantRequest { ttl: LEASE_S };
    let lease = wire.ask(|etcd| async move { etcd.lease().lease_grant(wanted).await }).await?.into_inner().id;
    let value = serde_json::to_vec(myself).map_err(|e| Trouble::Refusal(e.to_string()))?;
    let txn = TxnRequest {
        compare: vec![ops::made_at(key.clone(), 0)],
        success: vec![ops::put_leased(key.clone(), value, lease)],
        failure: vec![ops::get(key.clone())],
    };
    // Asked again after a silence it finds its own key, if the first time had its effect after all.
    let answer = wire.insist(|etcd| {
        let txn = txn.clone();
        async move { etcd.kv().txn(txn).await }
    });
    let answer = answer.await?.into_inner();
    let revision = wire::revision(answer.header.as_ref());
    let found =
        answer.responses.into_iter().find_map(ops::got).and_then(|found| found.kvs.into_iter().next());
    let made = match found {
        _ if answer.succeeded => revision,
        Some(kv) if kv.lease == lease => kv.create_revision,
        other => {
            revoke(wire, lease).await;
            let leader = read(other.as_ref().map_or(&[], |kv| &kv.value));
            return Ok(Attempt::Taken(leader, revision));
        }
    };
    let lost = CancellationToken::new();
    let keeper = tokio::spawn(keep(Arc::clone(wire), lease, since, lost.clone()));
    let office = Office { wire: Arc::clone(wire), key, revision: made, lost };
    Ok(Attempt::Won(Term { office: Arc::new(office), lease, keeper }))
}

/// Ends a lease. Without an answer it ends by itself a little later.
async fn revoke(wire: &Wire, lease: i64) {
    let ended = LeaseRevokeRequest { id: lease };
    drop(wire.ask(|etcd| async move { etcd.lease().lease_revoke(ended).await }).await);
}

fn read(value: &[u8]) -> Leader {
    serde_json::from_slice(value).unwrap_or_else(|_| Leader { url: "somewhere".into(), pid: 0 })
}

/// Renews the lease until that has not worked for [`PATIENCE`].
async fn keep(wire: Arc<Wire>, lease: i64, since: Instant, lost: CancellationToken) {
    let mut good = since;
    let mut next = since + BEAT;
    loop {
        let end = good + PATIENCE;
        tokio::time::sleep_until(next.min(end)).await;
        let asked = Instant::now();
        if asked >= end {
            tracing::error!("the lease of the leader could not be renewed in time");
            return lost.cancel();
        }
        match tokio::time::timeout_at(end, renew(&wire, lease)).await {
            Ok(Ok(true)) => {
                good = asked;
                next = asked + BEAT;
            }
            Ok(Ok(false)) => {
                tracing::error!("the lease of the leader has ended");
                return lost.cancel();
            }
            Ok(Err(trouble)) => {
                tracing::warn!("the lease of the leader was not renewed: {trouble:?}");
                next = Instant::now() + PAUSE;
            }
            Err(_) => {}
        }
    }
}

/// Renews the lease once; false when there is no such lease any more.
async fn renew(wire: &Wire, lease: i64) -> Result<bool, Trouble> {
    let answer = wire.ask(|etcd| async move {
        let once = tokio_stream::once(LeaseKeepAliveRequest { id: lease });
        etcd.lease().lease_keep_alive(once).await?.into_inner().message().await
    });
    match answer.await? {
        Some(renewed) => Ok(renewed.ttl > 0),
        None => Err(Trouble::Silence("the stream of the lease ended".into())),
    }
}

/// Waits until the leader's key is gone, or for a while.
async fn vacancy(wire: &Wire, revision: i64) {
    let wanted = WatchCreateRequest {
        key: wire.address.key(LEADER).into(),
        start_revision: revision + 1,
        filters: vec![FilterType::Noput.into()],
        ..WatchCreateRequest::default()
    };
    let wanted = WatchRequest { request_union: Some(RequestUnion::CreateRequest(wanted)) };
    let watch = async {
        let (node, etcd) = wire.node()?;
        let watched = watch_once(&etcd, wanted).await;
        if watched.is_err() {
            wire.leave(node);
            tokio::time::sleep(PAUSE).await;
        }
        Ok::<_, Trouble>(())
    };
    drop(tokio::time::timeout(LOOK_AGAIN, watch).await);
}

/// Waits for the first event.
async fn watch_once(etcd: &Node, wanted: WatchRequest) -> Result<(), Status> {
    // The stream of wishes stays open: its end would be that of the watch.
    let mut wishes = Request::new(tokio_stream::once(wanted).chain(tokio_stream::pending()));
    // A node that has lost its cluster ends the watch.
    wishes.metadata_mut().insert("hasleader", MetadataValue::from_static("true"));
    let mut events = etcd.watch().watch(wishes).await?.into_inner();
    while let Some(said) = events.message().await? {
        if said.canceled || !said.events.is_empty() {
            break;
        }
    }
    Ok(())
}
