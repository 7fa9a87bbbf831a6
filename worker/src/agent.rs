//! The worker itself: takes leases, computes them, hands results in, and keeps doing so through any interruption.
//!
//! One task owns all state. Computing threads report to it through a channel; the coordinator through a [`Link`].
//! A lost link stops nothing: leases in hand are computed to their end, results go to the spool and are handed in
//! over the next link.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use proto::v1::{Failure, Grant, LeaseEvent, Order, ToWorker, Verdict, lease_event::Event, order};
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

/// Results that took less than this to compute are not worth a write to disk while the coordinator is connected.
const SPOOL_FROM_BUSY_US: u64 = 50_000;
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
    reports: mpsc::Receiver<Report>,
    link: Option<Link>,
    connecting: Option<JoinHandle<Result<Link, LinkError>>>,
    backoff: Backoff,
    linked_at: Instant,
    refused: Option<LinkError>,
    heartbeat: Interval,
    last_sent: Instant,
    /// When a stopping worker leaves, whatever is still open.
    leave_at: Option<Instant>,
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
            reports,
            link: None,
            connecting: None,
            backoff: Backoff::new(BACKOFF_CAP_MS),
            linked_at: Instant::now(),
            refused: None,
            heartbeat: beat(Duration::from_secs(3)),
            last_sent: Instant::now(),
            leave_at: None,
        }
    }

    async fn run(mut self, shutdown: CancellationToken) -> Result<(), WorkerError> {
        let mut batch = Vec::new();
        loop {
            if self.leave_at.is_some_and(|at| self.may_leave(at)) {
                break;
            }
            if self.link.is_none() && self.connecting.is_none() && self.refused.is_none() {
                self.connecting = Some(self.connect());
            }
            let leave_at = self.leave_at;
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
        let hello = link::hello(self.spool.worker_id(), &self.config.name, slots, prefetch);
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
        self.link = Some(link);
    }

    /// Hands in what the spool has and nobody else will.
    fn hand_in(&mut self, pending: Vec<SpooledCommit>) {
        pending.iter().for_each(|kept| self.writer.found(kept));
        let in_care = self.outbox.unacknowledged();
        let mut in_care: HashSet<_> = in_care.map(|output| (output.job, output.range.start)).collect();
        // The longest of several checkpoints of one stretch comes last, and is the one to hand in.
        for kept in pending.into_iter().rev() {
            let growing = self.leases.values().any(|lease| lease.grows(&kept));
            if !growing && in_care.insert((kept.job, kept.range.start)) {
                self.outbox.commit(kept);
            }
        }
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

    fn reported(&mut self, report: Report) {
        match report {
            Report::Commit(output) => self.commit(output),
            Report::Keep(output) => self.writer.put(output),
            Report::Ended { key, last, failed } => {
                if let Some(output) = last {
                    self.commit(output);
                }
                if let Some((unit, error)) = failed {
                    tracing::error!("unit {unit}: {error}");
                    let error = proto::bounded_text(error);
                    self.say(key, Event::Failed(Failure { unit, error }));
                }
                self.say(key, Event::Returned(true));
                if let Some(lease) = self.leases.remove(&key) {
                    self.forget(&lease);
                }
            }
        }
    }

    fn commit(&mut self, output: SpooledCommit) {
        if self.link.is_none() || output.busy_us >= SPOOL_FROM_BUSY_US {
            self.writer.put(output.clone());
        }
        self.outbox.commit(output);
    }

    /// Queues an event of a lease, if the coordinator still knows the lease.
    fn say(&mut self, key: u64, event: Event) {
        let Some(lease) = self.leases.get(&key) else { return };
        if self.is_current(lease) {
            self.outbox.event(LeaseEvent { lease: lease.id, event: Some(event) });
        }
    }

    fn is_current(&self, lease: &Lease) -> bool {
        self.current.get(&lease.id).is_some_and(|current| current.key == lease.key)
    }

    fn forget(&mut self, lease: &Lease) {
        if self.is_current(lease) {
            self.current.remove(&lease.id);
        }
    }

    fn told(&mut self, message: ToWorker) {
        for job in message.jobs {
            if let Ok(id) = job.job.as_ref().try_into() {
                self.jobs.define(id, job.kind, job.revision, job.settings);
            }
        }
        for answer in message.answers {
            self.answered(answer.sequence, answer.verdict());
        }
        for order in message.orders {
            self.ordered(order);
        }
    }

    fn answered(&mut self, sequence: u64, verdict: Verdict) {
        let Some(output) = self.outbox.answered(sequence) else { return };
        let range = &output.range;
        match verdict {
            Verdict::Accepted | Verdict::Duplicate => {}
            Verdict::Overlap | Verdict::UnknownJob => {
                tracing::debug!(?range, "a result came too late and was not needed");
            }
            Verdict::Later => return self.writer.put(output),
            Verdict::Conflict => tracing::error!(?range, "another worker's result for this range differs"),
            Verdict::Malformed | Verdict::Unspecified => {
                tracing::error!(?range, "a result was refused as malformed");
            }
        }
        self.writer.remove(&output);
    }

    fn ordered(&mut self, order: Order) {
        match order.order {
            Some(order::Order::Grant(grant)) => self.granted(order.lease, &grant),
            Some(order::Order::Shrink(end)) => {
                let Some(lease) = self.current.get(&order.lease) else { return };
                let event = Event::Shrunk(lease.shrink(end));
                self.outbox.event(LeaseEvent { lease: order.lease, event: Some(event) });
            }
            Some(order::Order::Revoke(_)) => self.withdraw(order.lease, Lease::revoke, true),
            Some(order::Order::Abandon(_)) => self.withdraw(order.lease, Lease::abandon, false),
            None => tracing::debug!("an order this version does not know"),
        }
    }

    fn granted(&mut self, id: u64, grant: &Grant) {
        let Ok(job) = grant.job.as_ref().try_into() else { return };
        let Some(link) = &self.link else { return };
        let defined = self.jobs.get(&job).filter(|_| grant.start < grant.end && self.leave_at.is_none());
        let Some(open) = defined else {
            return self.outbox.event(LeaseEvent { lease: id, event: Some(Event::Returned(true)) });
        };
        self.last_key += 1;
        let lease =
            Lease::new(id, self.last_key, link.ledger, job, grant.start..grant.end).whole(grant.whole);
        let lease = Arc::new(lease);
        self.current.insert(id, Arc::clone(&lease));
        self.leases.insert(lease.key, Arc::clone(&lease));
        self.crew.add(lease, open);
    }

    /// Ends a lease early. One that has not begun is returned here and now; a running one by its thread.
    fn withdraw(&mut self, id: u64, how: fn(&Lease), answer: bool) {
        let Some(lease) = self.current.get(&id).cloned() else { return };
        how(&lease);
        let waited = self.crew.take_back(&lease);
        if waited {
            self.leases.remove(&lease.key);
            if answer {
                self.outbox.event(LeaseEvent { lease: id, event: Some(Event::Returned(true)) });
            }
        }
        if waited || !answer {
            self.current.remove(&id);
        }
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

    /// Commits the prefix of what runs, hands back what waits, and asks for nothing more.
    fn begin_to_leave(&mut self) {
        self.leave_at = Some(Instant::now() + self.config.drain);
        for lease in self.crew.take_back_all() {
            self.say(lease.key, Event::Returned(true));
            self.forget(&lease);
            self.leases.remove(&lease.key);
        }
        for lease in self.leases.values() {
            lease.revoke();
        }
        self.outbox.drain();
    }

    fn may_leave(&self, at: Instant) -> bool {
        let handed_in = self.outbox.settled() || self.link.is_none();
        (self.leases.is_empty() && handed_in) || Instant::now() >= at
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
