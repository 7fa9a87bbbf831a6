//! Which coordinator leads.
//!
//! The leader is who wrote the key `leader` last, and it says so twice a second in the key `beat`. Everything that it writes is
//! written on condition that `leader` has not changed since (its revision is the term's number), so a leader that was
//! stopped, cut off or forgotten, and does not know it yet, writes nothing. A coordinator that stands by reads both keys; when
//! neither has changed for two seconds of its own clock, it writes `leader`, on condition that nobody else did meanwhile.
//! No clock is compared with another. Kubernetes elects its controllers in the same way; a lease of etcd would be
//! prolonged whenever etcd elects a leader of its own, and a machine with both leaders on it would be missed for longer.

use std::{sync::Arc, time::Duration};

use proto::etcd::{Compare, KeyValue, TxnRequest};
use serde::{Deserialize, Serialize};
use tokio::{task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    layout::{BEAT, LEADER},
    office::Office,
    ops,
    wire::{self, PAUSE, Trouble, Wire},
};
use crate::ledger::LedgerError;

/// How often a leader says that it leads.
const BEAT_EVERY: Duration = Duration::from_millis(500);
/// After so many beats etcd is to forget the past: a ledger in which nothing happens must not fill it with beats.
const BEATS_KEPT: u32 = 1_000;
/// How long a node may take to hear it: there must be time to tell another one before somebody else takes over.
const BEAT_TIMEOUT: Duration = Duration::from_millis(700);
/// How long it must have said nothing before another one takes over.
const SILENCE: Duration = Duration::from_secs(2);
/// Part of that in which etcd must have answered all the time: a leader that was kept from speaking by etcd itself speaks first.
const STEADY: Duration = Duration::from_secs(1);
/// How often those who stand by look.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long a leader goes on without knowing that it leads. Others may lead before, and what it writes is then refused: this
/// is only so that its workers look elsewhere.
const PATIENCE: Duration = Duration::from_millis(4_500);

/// What the key says of the leader, as JSON: people look at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leader {
    /// Where it is reached.
    pub url: String,
    /// Where its page is, if others can reach that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub page: String,
    /// Its process.
    pub pid: u32,
}

/// The value of the key.
#[derive(Serialize, Deserialize)]
struct Crown {
    #[serde(flatten)]
    leader: Leader,
    /// Another one for each attempt, so that one without an answer is recognised.
    attempt: String,
}

/// A time of leading. Ends when it is dropped or given up, and when another one leads.
#[derive(Debug)]
pub struct Term {
    office: Arc<Office>,
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

    /// Gives up, so that another one leads at once. Without an answer that happens a little later.
    pub async fn resign(self) {
        let Office { wire, key, .. } = &*self.office;
        let txn = TxnRequest {
            compare: vec![self.office.holds()],
            success: vec![ops::delete(key.clone())],
            ..TxnRequest::default()
        };
        drop(wire.ask(|etcd| async move { etcd.kv().txn(txn).await }).await);
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        self.office.lost.cancel();
        self.keeper.abort();
    }
}

/// What those who stand by see.
#[derive(Clone, Debug)]
struct Sight {
    leader: Option<KeyValue>,
    /// Revision of the last beat.
    beat: i64,
}

impl Sight {
    /// Revision of the leader's key; 0: there is none.
    fn term(&self) -> i64 {
        self.leader.as_ref().map_or(0, |kv| kv.mod_revision)
    }
}

/// Waits until this coordinator leads. `heard` is told who leads instead, whenever it looks.
///
/// # Errors
///
/// When etcd refuses what it is asked. While it does not answer, this waits.
pub async fn campaign(
    wire: &Arc<Wire>,
    myself: &Leader,
    mut heard: impl FnMut(Option<&Leader>),
) -> Result<Term, LedgerError> {
    let failed = |trouble: Trouble| trouble.into_error(&wire.address);
    let (mut said, mut last) = (None, None);
    let (mut changed, mut steady) = (Instant::now(), None);
    loop {
        match look(wire).await {
            Ok(sight) => {
                let now = Instant::now();
                said = None;
                let since = *steady.get_or_insert(now);
                let signs = (sight.term(), sight.beat);
                if last != Some(signs) {
                    (last, changed) = (Some(signs), now);
                }
                let silent = now - changed >= SILENCE && now - since >= STEADY;
                if silent || sight.leader.is_none() {
                    match take(wire, myself, sight.term()).await {
                        Ok(Some(term)) => return Ok(term),
                        Ok(None) | Err(Trouble::Silence(_)) => {}
                        Err(trouble) => return Err(failed(trouble)),
                    }
                }
                heard(sight.leader.as_ref().and_then(|kv| read(&kv.value)).as_ref());
            }
            Err(Trouble::Silence(why)) => {
                steady = None;
                heard(None);
                if said.as_ref() != Some(&why) {
                    tracing::warn!("{} does not answer ({why}); trying again until it does", wire.address);
                    said = Some(why);
                }
            }
            Err(trouble) => return Err(failed(trouble)),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn look(wire: &Wire) -> Result<Sight, Trouble> {
    let both = [LEADER, BEAT].map(|what| ops::get(wire.address.key(what)));
    let txn = TxnRequest { success: both.into(), ..TxnRequest::default() };
    let answer = wire.ask(|etcd| async move { etcd.kv().txn(txn).await }).await?.into_inner();
    let mut found = answer.responses.into_iter().map(|found| ops::got(found)?.kvs.into_iter().next());
    let (leader, beat) = (found.next().flatten(), found.next().flatten());
    Ok(Sight { leader, beat: beat.map_or(0, |kv| kv.mod_revision) })
}

/// Takes over from the leader of a term, if it is still that one.
async fn take(wire: &Arc<Wire>, myself: &Leader, from: i64) -> Result<Option<Term>, Trouble> {
    let (key, beat) = (wire.address.key(LEADER), wire.address.key(BEAT));
    let crown = Crown { leader: myself.clone(), attempt: uuid::Uuid::new_v4().to_string() };
    let value = serde_json::to_vec(&crown).map_err(|e| Trouble::Refusal(e.to_string()))?;
    let since = Instant::now();
    let txn = TxnRequest {
        compare: vec![ops::changed_at(key.clone(), from)],
        success: vec![ops::put(key.clone(), value.clone()), ops::put(beat, Vec::new())],
        failure: vec![ops::get(key.clone())],
    };
    let answer = wire.insist(|etcd| {
        let txn = txn.clone();
        async move { etcd.kv().txn(txn).await }
    });
    let answer = answer.await?.into_inner();
    let found =
        answer.responses.into_iter().find_map(ops::got).and_then(|found| found.kvs.into_iter().next());
    let revision = match found {
        _ if answer.succeeded => wire::revision(answer.header.as_ref()),
        // An attempt without an answer had its effect.
        Some(kv) if kv.value == value => kv.mod_revision,
        _ => return Ok(None),
    };
    let office = Office { wire: Arc::clone(wire), key, revision, lost: CancellationToken::new() };
    let office = Arc::new(office);
    let keeper = tokio::spawn(keep(Arc::clone(&office), since));
    Ok(Some(Term { office, keeper }))
}

fn read(value: &[u8]) -> Option<Leader> {
    serde_json::from_slice::<Crown>(value).ok().map(|crown| crown.leader)
}

/// Says that this coordinator leads, until it does not any more or could not say so for [`PATIENCE`].
async fn keep(office: Arc<Office>, since: Instant) {
    let (mut good, mut next) = (since, since + BEAT_EVERY);
    let (mut beats, mut past) = (0, 0);
    loop {
        let end = good + PATIENCE;
        tokio::time::sleep_until(next.min(end)).await;
        let asked = Instant::now();
        if asked >= end {
            tracing::error!("{} could not be told in time that this coordinator leads", office.wire.address);
            return office.lost.cancel();
        }
        match tokio::time::timeout_at(end, beat(&office)).await {
            Ok(Ok(Some(revision))) => {
                (good, next) = (asked, asked + BEAT_EVERY);
                beats += 1;
                if beats % BEATS_KEPT == 0 {
                    // Up to the last time: somebody may be reading what has been since.
                    let (office, before) = (Arc::clone(&office), std::mem::replace(&mut past, revision));
                    if before > 0 {
                        tokio::spawn(async move { office.forget_past(before).await });
                    }
                }
            }
            Ok(Ok(None)) => {
                tracing::error!("another coordinator has taken over");
                return office.lost.cancel();
            }
            Ok(Err(trouble)) => {
                tracing::warn!(
                    "{} was not told that this coordinator leads: {trouble:?}",
                    office.wire.address
                );
                next = Instant::now() + PAUSE;
            }
            Err(_) => {}
        }
    }
}

/// Says it once, and at which revision; `None` when this coordinator leads no more.
async fn beat(office: &Office) -> Result<Option<i64>, Trouble> {
    let holds: Compare = office.holds();
    let success = vec![ops::put(office.wire.address.key(BEAT), Vec::new())];
    let txn = TxnRequest { compare: vec![holds], success, failure: Vec::new() };
    let asked = office.wire.ask_within(BEAT_TIMEOUT, |etcd| async move { etcd.kv().txn(txn).await });
    let answer = asked.await?.into_inner();
    Ok(answer.succeeded.then(|| wire::revision(answer.header.as_ref())))
}
