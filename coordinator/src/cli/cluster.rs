//! One of several coordinators: stands by, leads, stands by again.

use std::{sync::Arc, time::Duration};

use tokio::{net::TcpListener, runtime::Handle};
use tokio_util::sync::CancellationToken;

use super::exit::{Failure, Outcome};
use crate::{
    engine::{self, Engine, EngineConfig, EngineTask},
    ledger::{
        LedgerError,
        etcd::{Bounds, EtcdLedger, Leader, Term, Wire, campaign},
    },
    seat::{Seat, SeatHolder},
    server::{self, Doors},
    telemetry::Telemetry,
};

/// How long a coordinator whose ledger does not answer leaves the lead to others.
const AFTER_TROUBLE: Duration = Duration::from_millis(500);

/// A coordinator of a cluster.
pub struct Member {
    /// The way to the ledger.
    pub ledger: Arc<Wire>,
    /// Where workers and users reach this coordinator.
    pub url: String,
    /// How its engine behaves while it leads.
    pub config: EngineConfig,
    /// When it puts together what it has written.
    pub bounds: Bounds,
}

impl Member {
    /// Serves until `stop`.
    pub async fn serve(
        self,
        listener: TcpListener,
        doors: Doors,
        (holder, seat): (SeatHolder, Seat),
        stop: CancellationToken,
    ) -> Result<Outcome, Failure> {
        let telemetry = doors.telemetry.clone();
        let server = server::serve_tcp(seat, listener, doors, stop.clone());
        let leading = self.take_turns(&holder, telemetry, &stop);
        tokio::pin!(server, leading);
        tokio::select! {
            ended = &mut leading => ended?,
            served = &mut server => {
                served.map_err(|e| Failure::failed(format!("the server failed: {e}")))?;
                leading.await?;
            }
        }
        Ok(Outcome::Done)
    }

    async fn take_turns(
        &self,
        holder: &SeatHolder,
        telemetry: Telemetry,
        stop: &CancellationToken,
    ) -> Result<(), Failure> {
        let myself = Leader { url: self.url.clone(), pid: std::process::id() };
        let (mut heard, mut has_led) = (None, false);
        loop {
            let hear = |leader: Option<&Leader>| {
                if let Some(leader) = leader.filter(|leader| heard.as_ref() != Some(*leader)) {
                    tracing::info!("standing by: {} leads", leader.url);
                }
                heard = leader.cloned();
                holder.stand_by(leader.map(|leader| leader.url.clone()));
            };
            let term = tokio::select! {
                term = campaign(&self.ledger, &myself, hear) => term,
                () = stop.cancelled() => return Ok(()),
            };
            let term = match term {
                Ok(term) => term,
                // What it does not let us do after it has let us in once is etcd's trouble, and passes.
                Err(error) if has_led || heard.is_some() => {
                    tracing::error!("{error}; standing by");
                    tokio::time::sleep(AFTER_TROUBLE).await;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            has_led = true;
            let ended = self.lead(&term, (holder, &telemetry), stop).await;
            holder.stand_by(None);
            match ended {
                Ok(()) if stop.is_cancelled() => {
                    term.resign().await;
                    return Ok(());
                }
                Ok(()) | Err(LedgerError::Deposed) => {
                    tracing::warn!("this coordinator does not lead any more");
                }
                Err(error @ LedgerError::Remote { .. }) => {
                    tracing::error!("{error}; leaving the lead to others");
                    term.resign().await;
                    tokio::time::sleep(AFTER_TROUBLE).await;
                }
                Err(error) => {
                    term.resign().await;
                    return Err(error.into());
                }
            }
        }
    }

    /// Leads until the term is over, the ledger fails, or `stop`.
    async fn lead(
        &self,
        term: &Term,
        (holder, telemetry): (&SeatHolder, &Telemetry),
        stop: &CancellationToken,
    ) -> Result<(), LedgerError> {
        let (right, bounds) = (term.right(), self.bounds);
        let opened = tokio::task::spawn_blocking(move || {
            EtcdLedger::open(right, engine::merging(), bounds, Handle::current())
        });
        let ledger = opened
            .await
            .map_err(|e| LedgerError::inconsistent(format!("opening the ledger failed: {e}")))??;
        let EngineTask { engine, mut task, stop: stop_engine } =
            Engine::start_observed(Box::new(ledger), self.config.clone(), telemetry.clone())?;
        tracing::info!("this coordinator leads");
        holder.lead(engine);
        let ended = tokio::select! {
            ended = &mut task => ended,
            () = term.lost().cancelled() => hand_over(holder, &stop_engine, task).await,
            () = stop.cancelled() => hand_over(holder, &stop_engine, task).await,
        };
        ended.map_err(|e| LedgerError::inconsistent(format!("the engine failed: {e}")))?
    }
}

/// Ends the engine. Nobody is served by it while it still waits for its ledger.
async fn hand_over<T>(holder: &SeatHolder, stop: &CancellationToken, engine: T) -> T::Output
where
    T: Future,
{
    holder.stand_by(None);
    stop.cancel();
    engine.await
}
