//! Writing as the leader: on condition that it still is, and once, however often etcd has to be asked.

use std::sync::Arc;

use proto::etcd::{CompactionRequest, Compare, RequestOp, TxnRequest};
use tokio_util::sync::CancellationToken;

use super::{
    ops,
    wire::{self, PAUSE, Trouble, Wire},
};
use crate::ledger::LedgerError;

/// The leader's right to write.
#[derive(Debug)]
pub struct Office {
    pub(super) wire: Arc<Wire>,
    /// The leader's key.
    pub(super) key: String,
    /// Revision at which it was written: no other term has it.
    pub(super) revision: i64,
    /// Is cancelled when this coordinator can no longer be sure that it leads.
    pub(super) lost: CancellationToken,
}

/// What a write depends on beside leadership: a key that it changes from one value to another. Whether that has happened
/// tells whether an attempt without an answer had its effect.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub key: String,
    /// `None`: the key is not there yet.
    pub from: Option<Vec<u8>>,
    pub to: Vec<u8>,
}

impl Office {
    /// Makes a step, and `beside` together with it. Asks until there is an answer or the term is over.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Deposed`] when it is over; when somebody else has changed the key; when etcd refuses.
    pub(super) async fn step(&self, step: &Step, beside: Vec<RequestOp>) -> Result<i64, LedgerError> {
        let expected = match &step.from {
            Some(value) => ops::has(step.key.clone(), value.clone()),
            None => ops::changed_at(step.key.clone(), 0),
        };
        let mut success = vec![ops::put(step.key.clone(), step.to.clone())];
        success.extend(beside);
        let failure = vec![ops::get(self.key.clone()), ops::get(step.key.clone())];
        let answer = self.ask(TxnRequest { compare: vec![self.holds(), expected], success, failure }).await?;
        let revision = answer.revision;
        match (answer.done, answer.found.as_slice()) {
            (true, _) => Ok(revision),
            // An earlier attempt, which was not answered, had its effect.
            (false, [Some(leader), Some((_, value))]) if leader.0 == self.revision && *value == step.to => {
                Ok(revision)
            }
            (false, [Some(leader), _]) if leader.0 == self.revision => Err(LedgerError::inconsistent(
                format!("somebody else writes to {}: nothing but Nonet may", self.wire.address),
            )),
            _ => Err(self.deposed()),
        }
    }

    /// Does things that may be done any number of times.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    pub(super) async fn repeatable(&self, then: Vec<RequestOp>) -> Result<i64, LedgerError> {
        let txn = TxnRequest { compare: vec![self.holds()], success: then, failure: Vec::new() };
        let answer = self.ask(txn).await?;
        if answer.done { Ok(answer.revision) } else { Err(self.deposed()) }
    }

    /// What went wrong: that another one leads, if one does. Whoever reads what it has just replaced finds it torn.
    pub(super) async fn explain(&self, error: LedgerError) -> LedgerError {
        if error.is_refusal() || matches!(error, LedgerError::Deposed) {
            return error;
        }
        match self.repeatable(Vec::new()).await {
            Err(LedgerError::Deposed) => LedgerError::Deposed,
            _ => error,
        }
    }

    /// Forgets the past of all keys up to a revision. Not being able to is no harm: the next time will do.
    pub(super) async fn forget_past(&self, revision: i64) {
        if let Err(trouble) =
            self.wire.ask(|etcd| async move { etcd.kv().compact(CompactionRequest { revision }).await }).await
        {
            tracing::debug!("{} was not compacted: {trouble:?}", self.wire.address);
        }
    }

    /// What every write is on condition of.
    pub(super) fn holds(&self) -> Compare {
        ops::changed_at(self.key.clone(), self.revision)
    }

    fn deposed(&self) -> LedgerError {
        self.lost.cancel();
        LedgerError::Deposed
    }

    async fn ask(&self, txn: TxnRequest) -> Result<Answer, LedgerError> {
        loop {
            let asked = self.wire.ask(|etcd| {
                let txn = txn.clone();
                async move { etcd.kv().txn(txn).await }
            });
            let answered = tokio::select! {
                biased;
                () = self.lost.cancelled() => return Err(LedgerError::Deposed),
                answered = asked => answered,
            };
            match answered {
                Ok(answer) => {
                    let answer = answer.into_inner();
                    let revision = wire::revision(answer.header.as_ref());
                    let found = answer.responses.into_iter().map(|response| {
                        let kv = ops::got(response)?.kvs.into_iter().next()?;
                        Some((kv.mod_revision, kv.value.to_vec()))
                    });
                    return Ok(Answer { done: answer.succeeded, revision, found: found.collect() });
                }
                Err(Trouble::Silence(why)) => {
                    tracing::warn!("{} does not take a write ({why}); trying again", self.wire.address);
                    tokio::time::sleep(PAUSE).await;
                }
                Err(trouble) => return Err(trouble.into_error(&self.wire.address)),
            }
        }
    }
}

struct Answer {
    done: bool,
    revision: i64,
    /// Of the keys that were asked for: the revision that wrote them, and their value.
    found: Vec<Option<(i64, Vec<u8>)>>,
}
