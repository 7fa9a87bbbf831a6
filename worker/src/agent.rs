//! The worker itself: takes leases, computes them, hands results in, and keeps doing so through any interruption.
//!
//! One task owns all state. Computing threads report to it through a channel; the coordinator through a [`Link`].
//! A lost link stops nothing: leases in hand are computed to their end, results go to the spool and are handed in
//! over the next link.

use std::{
    collections::{HashMap, VecDeque},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use proto::v1::{
    Failure, FromWorker, Grant, LeaseEvent, Order, ToWorker, Verdict, lease_event::Event, order,
};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, Interval, MissedTickBehavior, interval, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::{
    bridge::Pool,
    dial::Dial,
    job_cache::JobCache,
    lease::{Lease, Pace, Report, compute},
    link::{self, Link, LinkError},
    outbox::Outbox,
    spool::{Spool, SpoolError, SpooledCommit},
    spool_writer::SpoolWriter,
};

/// What a worker needs to know.
#[derive(Debug)]
pub struct Config {
    /// Where the coordinator is.
    pub dial: Arc<Dial>,
    /// Folder of checkpoint and spool.
    pub state: PathBuf,
    /// Leases computed at a time, one thread each.
    pub threads: usize,
    /// Further leases in stock, so that a thread never waits for the network.
    pub prefetch: usize,
    /// For people.
    pub name: String,
    /// How often progress becomes durable.
    pub pace: Pace,
    /// How long a stopping worker waits for the acknowledgement of its last results.
    pub drain: Duration,
}

/// Why a worker gave up.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Its own store does not work.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// The coordinator does not want it.
    #[error(transparent)]
    Refused(#[from] LinkError),
    /// No threads to compute with.
    #[error("cannot start {threads} computing threads: {reason}")]
    Threads {
        /// As asked for.
        threads: usize,
        /// What the system says.
        reason: String,
    },
}

/// Results that took less than this to compute are not worth a write to disk while the coordinator is connected.
const SPOOL_FROM_BUSY_US: u64 = 50_000;
/// Reports from computing threads before they wait.
const REPORTS: usize = 4096;

/// Runs a worker until `shutdown`, then hands in what it has and returns.
///
/// # Errors
///
/// When its store cannot be opened, or the coordinator refuses it.
pub async fn run(config: Config, shutdown: CancellationToken) -> Result<(), WorkerError> {
    let state = config.state.clone();
    // A panic while opening would be sled's; `Spool::open` turns it into an error.
    let spool = tokio::task::spawn_blocking(move || Spool::open(&state))
        .await
        .map_err(|e| WorkerError::Threads { threads: 1, reason: e.to_string() })??;
    let pool = Pool::new(config.threads)
        .map_err(|e| WorkerError::Threads { threads: config.threads, reason: e.to_string() })?;
    Agent::new(config, pool, Arc::new(spool)).run(shutdown).await
}

struct Agent {
    config: Config,
    pool: Pool,
    spool: Arc<Spool>,
    writer: SpoolWriter,
    jobs: JobCache,
    outbox: Outbox,
    waiting: VecDeque<Arc<Lease>>,
    running: HashMap<u64, Arc<Lease>>,
    /// Leases of the current link by the coordinator's number. Older ones are computed, but no longer spoken of.
    current: HashMap<u64, Arc<Lease>>,
    last_key: u64,
    report: mpsc::Sender<Report>,
    reports: mpsc::Receiver<Report>,
    link: Option<Link>,
    connecting: Option<JoinHandle<Result<Link, LinkError>>>,
    heartbeat: Interval,
    /// When a stopping worker leaves, whatever is still open.
    leave_at: Option<Instant>,
}

impl Agent {
    fn new(config: Config, pool: Pool, spool: Arc<Spool>) -> Self {
        let (report, reports) = mpsc::channel(REPORTS);
        let writer = SpoolWriter::start(Arc::clone(&spool));
        Self {
            config,
            pool,
            spool,
            writer,
            jobs: JobCache::default(),
            outbox: Outbox::default(),
            waiting: VecDeque::new(),
            running: HashMap::new(),
            current: HashMap::new(),
            last_key: 0,
            report,
            reports,
            link: None,
            connecting: None,
            heartbeat: beat(Duration::from_secs(3)),
            leave_at: None,
        }
    }

    async fn run(mut self, shutdown: CancellationToken) -> Result<(), WorkerError> {
        let mut batch = Vec::new();
        loop {
            if self.leave_at.is_some_and(|at| self.may_leave(at)) {
                break;
            }
            if self.link.is_none() && self.connecting.is_none() {
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
                    self.start_waiting();
                }
                message = receive(&mut self.link) => match message {
                    Ok(message) => self.told(message),
                    Err(reason) => self.unlinked(&reason),
                },
                permit = send_slot(outgoing), if sending => match permit {
                    Some(permit) => drop(permit.send(self.outbox.next_message())),
                    None => self.unlinked("the stream closed"),
                },
                opened = connected(&mut self.connecting) => {
                    self.connecting = None;
                    self.linked(opened?);
                }
                _ = self.heartbeat.tick(), if self.link.is_some() => self.beat(),
                () = shutdown.cancelled(), if leave_at.is_none() => self.begin_to_leave(),
                () = until(leave_at), if leave_at.is_some() => break,
            }
        }
        self.leave().await;
        Ok(())
    }

    fn connect(&self) -> JoinHandle<Result<Link, LinkError>> {
        let slots = u32::try_from(self.config.threads).unwrap_or(u32::MAX);
        let prefetch = u32::try_from(self.config.prefetch).unwrap_or(u32::MAX);
        let hello = link::hello(self.spool.worker_id(), &self.config.name, slots, prefetch);
        tokio::spawn(link::open(Arc::clone(&self.config.dial), hello))
    }

    /// A new link: leases of the old one are void there, so their threads stop, and hand in what they have.
    fn linked(&mut self, link: Link) {
        tracing::info!("connected to the coordinator");
        self.let_go();
        self.outbox.reconnect(&link.ledger);
        match self.spool.pending(link.ledger).collect::<Result<Vec<_>, _>>() {
            // The longest of several checkpoints of one stretch comes last, and is the one to hand in.
            Ok(pending) => pending.into_iter().rev().for_each(|kept| self.hand_in(kept)),
            Err(error) => tracing::error!("results of an earlier life cannot be handed in: {error}"),
        }
        self.heartbeat = beat(link.heartbeat);
        self.link = Some(link);
    }

    fn hand_in(&mut self, kept: SpooledCommit) {
        let growing = self.running.values().any(|lease| lease.grows(&kept));
        if !growing && !self.outbox.holds(&kept.job, kept.range.start) {
            self.outbox.commit(kept);
        }
    }

    fn let_go(&mut self) {
        self.waiting.clear();
        self.current.clear();
        for lease in self.running.values() {
            lease.revoke();
        }
    }

    fn unlinked(&mut self, reason: &str) {
        tracing::warn!("lost the coordinator: {reason}; leases in hand are computed on, their results kept");
        self.link = None;
        let unacknowledged: Vec<_> = self.outbox.unacknowledged().cloned().collect();
        for output in unacknowledged {
            self.writer.put(output);
        }
        if self.leave_at.is_some() {
            self.let_go();
        }
    }

    fn reported(&mut self, report: Report) {
        match report {
            Report::Commit(output) => {
                if self.link.is_none() || output.busy_us >= SPOOL_FROM_BUSY_US {
                    self.writer.put(output.clone());
                }
                self.outbox.commit(output);
            }
            Report::Keep(output) => self.writer.put(output),
            Report::Failed { key, unit, error } => {
                tracing::error!("unit {unit}: {error}");
                let error = proto::bounded_text(error);
                self.say(key, Event::Failed(Failure { unit, error }));
            }
            Report::Ended { key } => {
                self.say(key, Event::Returned(true));
                if let Some(lease) = self.running.remove(&key) {
                    self.forget(&lease);
                }
            }
        }
    }

    /// Queues an event of a running lease, if the coordinator still knows the lease.
    fn say(&mut self, key: u64, event: Event) {
        let Some(lease) = self.running.get(&key) else { return };
        if self.current.get(&lease.id).is_some_and(|current| current.key == key) {
            self.outbox.event(LeaseEvent { lease: lease.id, event: Some(event) });
        }
    }

    fn forget(&mut self, lease: &Lease) {
        if self.current.get(&lease.id).is_some_and(|current| current.key == lease.key) {
            self.current.remove(&lease.id);
        }
    }

    fn start_waiting(&mut self) {
        while self.running.len() < self.config.threads {
            let Some(lease) = self.waiting.pop_front() else { break };
            let Some(job) = self.jobs.get(&lease.job) else { continue };
            self.running.insert(lease.key, Arc::clone(&lease));
            let (spool, pace, report) = (Arc::clone(&self.spool), self.config.pace, self.report.clone());
            self.pool.start(move || {
                // When the agent is gone, the process is on its way out and nobody needs the report.
                compute(&lease, &job, &spool, pace, &mut |r| drop(report.blocking_send(r)));
            });
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
        self.start_waiting();
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
                tracing::error!(?range, "a result was refused as malformed")
            }
        }
        self.writer.remove(output);
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
        if grant.start >= grant.end || self.jobs.get(&job).is_none() || self.leave_at.is_some() {
            self.outbox.event(LeaseEvent { lease: id, event: Some(Event::Returned(true)) });
            return;
        }
        self.last_key += 1;
        let lease = Arc::new(Lease::new(id, self.last_key, link.ledger, job, grant.start..grant.end));
        self.current.insert(id, Arc::clone(&lease));
        self.waiting.push_back(lease);
    }

    /// Ends a lease early. One that has not begun is returned here and now; a running one by its thread.
    fn withdraw(&mut self, id: u64, how: fn(&Lease), answer: bool) {
        let Some(lease) = self.current.get(&id) else { return };
        how(lease);
        let key = lease.key;
        if !self.running.contains_key(&key) {
            self.waiting.retain(|lease| lease.key != key);
            self.current.remove(&id);
            if answer {
                self.outbox.event(LeaseEvent { lease: id, event: Some(Event::Returned(true)) });
            }
        } else if !answer {
            self.current.remove(&id);
        }
    }

    fn beat(&mut self) {
        for lease in self.running.values() {
            if self.current.get(&lease.id).is_some_and(|current| current.key == lease.key) {
                let event = Some(Event::Reached(lease.reached()));
                self.outbox.event(LeaseEvent { lease: lease.id, event });
            }
        }
        self.outbox.nudge();
    }

    /// Commits the prefix of what runs, hands back what waits, and asks for nothing more.
    fn begin_to_leave(&mut self) {
        self.leave_at = Some(Instant::now() + self.config.drain);
        for lease in std::mem::take(&mut self.waiting) {
            self.current.remove(&lease.id);
            self.outbox.event(LeaseEvent { lease: lease.id, event: Some(Event::Returned(true)) });
        }
        for lease in self.running.values() {
            lease.revoke();
        }
        self.outbox.drain();
    }

    fn may_leave(&self, at: Instant) -> bool {
        let handed_in = self.outbox.settled() || self.link.is_none();
        (self.running.is_empty() && handed_in) || Instant::now() >= at
    }

    /// Whatever was not acknowledged stays in the spool for the next life.
    async fn leave(self) {
        if let Some(connecting) = &self.connecting {
            connecting.abort();
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

fn beat(period: Duration) -> Interval {
    let mut beat = interval(period);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}

async fn receive(link: &mut Option<Link>) -> Result<ToWorker, String> {
    match link {
        Some(link) => match link.incoming.message().await {
            Ok(Some(message)) => Ok(message),
            Ok(None) => Err("it closed the stream".into()),
            Err(status) => Err(status.message().into()),
        },
        None => std::future::pending().await,
    }
}

async fn send_slot(outgoing: Option<mpsc::Sender<FromWorker>>) -> Option<mpsc::OwnedPermit<FromWorker>> {
    match outgoing {
        Some(outgoing) => outgoing.reserve_owned().await.ok(),
        None => std::future::pending().await,
    }
}

async fn connected(connecting: &mut Option<JoinHandle<Result<Link, LinkError>>>) -> Result<Link, LinkError> {
    match connecting {
        Some(task) => task.await.unwrap_or_else(|e| Err(LinkError::Broken(e.to_string()))),
        None => std::future::pending().await,
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
