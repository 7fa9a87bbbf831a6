//! The worker itself: takes leases, computes them, hands results in, and keeps doing so through any interruption.
//!
//! One task owns all state. Computing threads report to it through a channel; the coordinator through a [`Link`].
//! A lost link stops nothing: leases in hand are computed to their end, results go to the spool and are handed in
//! over the next link.

mod leaving;
mod orders;
mod results;

use std::{collections::HashMap, sync::Arc, time::Duration};

use proto::v1::{LeaseEvent, lease_event::Event};
use tokio::{
    runtime::Handle,
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, Interval},
};
use tokio_util::sync::CancellationToken;

use crate::{
    backoff::Backoff,
    bridge::Pool,
    config::{Config, WorkerError},
    crew::Crew,
    job_cache::JobCache,
    lease::{Lease, Means, Report},
    link::{self, BACKOFF_CAP_MS, Link, LinkError},
    outbox::Outbox,
    spool::{Spool, SpooledCommit},
    spool_writer::SpoolWriter,
    storage::Stores,
    waits::{beat, connected, receive, send_slot, until},
};

/// A link that lives shorter than this was hardly one.
const SHORT_LIFE: Duration = Duration::from_secs(5);
/// Messages are at least this far apart, so that many tiny results share one. A result that comes alone goes at once.
const SEND_EVERY: Duration = Duration::from_millis(1);
/// Reports from computing threads before they wait.
const REPORTS: usize = 4096;

/// Runs a worker until `shutdown`, then hands in what it has and returns.
///
/// # Errors
///
/// When its store cannot be opened, or the coordinator refuses it.
pub async fn run(config: Config, shutdown: CancellationToken) -> Result<(), WorkerError> {
    let state = config.state.clone();
    let spool = tokio::task::spawn_blocking(move || Spool::open(&state))
        .await
        .map_err(|e| WorkerError::Opening(e.to_string()))??;
    let pool = Pool::new(config.threads)
        .map_err(|e| WorkerError::Threads { threads: config.threads, reason: e.to_string() })?;
    Agent::new(config, pool, Arc::new(spool)).run(shutdown).await
}

struct Agent {
    config: Config,
    crew: Crew,
    spool: Arc<Spool>,
    writer: SpoolWriter,
    jobs: JobCache,
    outbox: Outbox,
    /// Leases that wait or are computed, by our own key.
    leases: HashMap<u64, Arc<Lease>>,
    /// Leases of the current link by the coordinator's number. Older ones are computed, but no longer spoken of.
    current: HashMap<u64, Arc<Lease>>,
    last_key: u64,
    /// What the checkpoint has of running leases, by our own key.
    kept: HashMap<u64, SpooledCommit>,
    reports: mpsc::Receiver<Report>,
    link: Option<Link>,
    connecting: Option<JoinHandle<Result<Link, LinkError>>>,
    backoff: Backoff,
    linked_at: Instant,
    refused: Option<LinkError>,
    heartbeat: Interval,
    last_sent: Instant,
    /// It leaves when it has finished what it computes.
    leaves_when_done: bool,
    /// When a stopping worker leaves, whatever is still open.
    leave_at: Option<Instant>,
    /// When a stopping worker lets go of what does not stop.
    let_go_at: Option<Instant>,
    /// When one that is through, and has results that nobody has acknowledged, waits for no other link.
    give_up_at: Option<Instant>,
}

impl Agent {
    fn new(config: Config, pool: Pool, spool: Arc<Spool>) -> Self {
        let (report, reports) = mpsc::channel(REPORTS);
        let writer = SpoolWriter::start(Arc::clone(&spool));
        let storage = Arc::new(Stores::new(Handle::current()));
        let means =
            Means { spool: Arc::clone(&spool), parts: config.parts.clone(), pace: config.pace, storage };
        let crew = Crew::new(pool, config.threads, means, report);
        Self {
            config,
            crew,
            spool,
            writer,
            jobs: JobCache::default(),
            outbox: Outbox::default(),
            leases: HashMap::new(),
            current: HashMap::new(),
            last_key: 0,
            kept: HashMap::new(),
            reports,
            link: None,
            connecting: None,
            backoff: Backoff::new(BACKOFF_CAP_MS),
            linked_at: Instant::now(),
            refused: None,
            heartbeat: beat(Duration::from_secs(3)),
            last_sent: Instant::now(),
            leaves_when_done: false,
            leave_at: None,
            let_go_at: None,
            give_up_at: None,
        }
    }

    async fn run(mut self, shutdown: CancellationToken) -> Result<(), WorkerError> {
        let mut batch = Vec::new();
        loop {
            if self.may_leave() {
                break;
            }
            if self.link.is_none() && self.connecting.is_none() && self.refused.is_none() {
                self.connecting = Some(self.connect());
            }
            let (leave_at, let_go_at, give_up_at) = (self.leave_at, self.let_go_at, self.give_up_at);
            let sending = self.outbox.wants_to_send();
            let outgoing = self.link.as_ref().map(|link| link.outgoing.clone());
            tokio::select! {
                _ = self.reports.recv_many(&mut batch, proto::MAX_BATCH) => {
                    for report in batch.drain(..) {
                        self.reported(report);
                    }
                }
                message = receive(&mut self.link) => match message {
                    Ok(message) => self.told(message),
                    Err(reason) => self.unlinked(reason),
                },
                permit = send_slot(outgoing, self.last_sent + SEND_EVERY), if sending => match permit {
                    Some(permit) => {
                        self.last_sent = Instant::now();
                        permit.send(self.outbox.next_message());
                    }
                    None => self.unlinked(LinkError::Broken("the stream closed".into())),
                },
                opened = connected(&mut self.connecting) => {
                    self.connecting = None;
                    match opened {
                        Ok(link) => self.linked(link),
                        Err(error) => self.refuse(error),
                    }
                }
                _ = self.heartbeat.tick(), if self.link.is_some() => self.beat(),
                () = shutdown.cancelled(), if leave_at.is_none() => self.begin_to_leave(),
                () = until(let_go_at), if let_go_at.is_some() => self.let_go_of_what_runs(),
                () = until(give_up_at), if give_up_at.is_some() => {}
                () = until(leave_at), if leave_at.is_some() => break,
            }
        }
        let refused = self.refused.take();
        self.leave().await;
        refused.map_or(Ok(()), |error| Err(error.into()))
    }

    fn connect(&mut self) -> JoinHandle<Result<Link, LinkError>> {
        let slots = u32::try_from(self.config.threads).unwrap_or(u32::MAX);
        let prefetch = u32::try_from(self.config.prefetch).unwrap_or(u32::MAX);
        let hello =
            link::hello(self.spool.worker_id(), &self.config.name, &self.config.labels, slots, prefetch);
        // A link that breaks as soon as it is made must not be made again as fast as the network allows.
        let first_wait =
            if self.linked_at.elapsed() < SHORT_LIFE { self.backoff.next_wait() } else { Duration::ZERO };
        if first_wait.is_zero() {
            self.backoff = Backoff::new(BACKOFF_CAP_MS);
        }
        tokio::spawn(link::open(Arc::clone(&self.config.dial), hello, first_wait))
    }

    /// A new link: leases of the old one are void there, so their threads stop, and hand in what they have.
    fn linked(&mut self, link: Link) {
        tracing::info!("connected to the coordinator");
        self.let_go();
        self.outbox.reconnect(&link.ledger);
        match self.spool.pending(link.ledger).collect::<Result<Vec<_>, _>>() {
            Ok(pending) => self.hand_in(pending),
            Err(error) => tracing::error!("results of an earlier life cannot be handed in: {error}"),
        }
        self.heartbeat = beat(link.heartbeat);
        self.linked_at = Instant::now();
        self.give_up_at = None;
        self.link = Some(link);
    }

    /// The leases of the link that is lost are void: those that wait are dropped, those that run stop and hand in what
    /// they have.
    fn let_go(&mut self) {
        for lease in self.crew.take_back_all() {
            self.leases.remove(&lease.key);
        }
        self.current.clear();
        for lease in self.leases.values() {
            lease.revoke();
        }
    }

    fn unlinked(&mut self, reason: LinkError) {
        self.link = None;
        for output in self.outbox.unacknowledged() {
            self.writer.put(output.clone());
        }
        if matches!(reason, LinkError::Refused(_)) {
            return self.refuse(reason);
        }
        tracing::warn!("{reason}; leases in hand are computed on, their results kept");
        if self.leave_at.is_some() {
            self.let_go();
        }
    }

    /// The coordinator does not want this worker: it leaves as if it had been told to stop.
    fn refuse(&mut self, error: LinkError) {
        self.refused = Some(error);
        self.let_go();
        self.leave_at.get_or_insert(Instant::now() + self.config.drain);
    }

    fn beat(&mut self) {
        for lease in self.leases.values() {
            let reached = lease.reached();
            if reached > lease.start && self.is_current(lease) {
                self.outbox.event(LeaseEvent { lease: lease.id, event: Some(Event::Reached(reached)) });
            }
        }
        self.outbox.nudge();
    }

    /// Whatever was not acknowledged stays in the spool for the next life.
    async fn leave(mut self) {
        if let Some(connecting) = &self.connecting {
            connecting.abort();
        }
        while let Ok(report) = self.reports.try_recv() {
            self.reported(report);
        }
        for output in self.outbox.unacknowledged() {
            self.writer.put(output.clone());
        }
        let writer = self.writer;
        if tokio::task::spawn_blocking(move || writer.finish()).await.is_err() {
            tracing::error!("the spool's writer failed; unacknowledged results will be computed again");
        }
    }
}
