//! A worker that pretends to compute.

use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use jobs::{ErasedJob, UnitContext};
use proto::v1::{Commit, FromWorker, LeaseEvent, Order, ToWorker, Verdict, lease_event::Event, order};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use worker::{
    dial::Dial,
    labels::Labels,
    link::{self, Link, LinkError},
};

/// What all of them have done.
#[derive(Default)]
pub struct Counts {
    pub connected: AtomicU64,
    pub messages: AtomicU64,
    pub acknowledged: AtomicU64,
    pub refused: AtomicU64,
}

/// One of them.
pub struct Puppet {
    id: [u8; 16],
    name: String,
    dial: Arc<Dial>,
    unit: Duration,
    counts: Arc<Counts>,
}

/// How often the finished part of a running lease is committed, as workers do.
const COMMIT_EVERY: Duration = Duration::from_secs(10);
/// After a connection was lost, so that not everybody comes back in the same millisecond.
const RETRY: Duration = Duration::from_millis(50);

impl Puppet {
    pub fn new(number: u32, dial: Dial, unit: Duration, counts: Arc<Counts>) -> Self {
        let mut id = [0x5a; 16];
        id[12..].copy_from_slice(&number.to_be_bytes());
        Self { id, name: format!("swarm-{number}"), dial: Arc::new(dial), unit, counts }
    }

    /// Works until it is dropped or refused.
    pub async fn run(self) {
        loop {
            let hello = link::hello(self.id, &self.name, &Labels::new(), 1, 1);
            match link::open(Arc::clone(&self.dial), hello, RETRY).await {
                Ok(link) => {
                    self.counts.connected.fetch_add(1, Ordering::Relaxed);
                    let ended = Session::new(&self, link).work().await;
                    self.counts.connected.fetch_sub(1, Ordering::Relaxed);
                    tracing::debug!("{}: {ended}", self.name);
                }
                Err(error) => {
                    tracing::warn!("{}: {error}", self.name);
                    self.counts.refused.fetch_add(1, Ordering::Relaxed);
                    return;
                }
            }
        }
    }
}

/// A lease in its hands.
struct Lease {
    id: u64,
    job: [u8; 16],
    range: Range<u64>,
    /// All units below are committed.
    committed: u64,
    whole: bool,
    began: Instant,
}

/// One connection.
struct Session<'a> {
    puppet: &'a Puppet,
    link: Link,
    jobs: HashMap<[u8; 16], Arc<dyn ErasedJob>>,
    /// The first one is computed, the others wait.
    leases: VecDeque<Lease>,
    sequence: u64,
    committed_at: Instant,
}

impl<'a> Session<'a> {
    fn new(puppet: &'a Puppet, link: Link) -> Self {
        let (jobs, leases) = (HashMap::new(), VecDeque::new());
        Self { puppet, link, jobs, leases, sequence: 0, committed_at: Instant::now() }
    }

    async fn work(mut self) -> LinkError {
        let mut beat = interval(self.link.heartbeat);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let due = self.due();
            let said = tokio::select! {
                message = self.link.incoming.message() => match message {
                    Ok(Some(message)) => self.told(message),
                    Ok(None) => return LinkError::Broken("the stream closed".into()),
                    Err(status) => return link::judge(&status),
                },
                _ = beat.tick() => Some(self.heartbeat()),
                () = sleep_until(due) => self.commit(),
            };
            let Some(message) = said else { continue };
            self.puppet.counts.messages.fetch_add(1, Ordering::Relaxed);
            if self.link.outgoing.send(message).await.is_err() {
                return LinkError::Broken("the stream closed".into());
            }
        }
    }

    /// When the running lease has something to hand in.
    fn due(&self) -> Instant {
        let never = Instant::now() + Duration::from_secs(3600);
        let Some(lease) = self.leases.front() else { return never };
        let units = u32::try_from(lease.range.end - lease.range.start).unwrap_or(u32::MAX);
        let end = lease.began + self.puppet.unit.saturating_mul(units);
        if lease.whole { end } else { end.min(self.committed_at + COMMIT_EVERY) }
    }

    fn reached(&self, lease: &Lease) -> u64 {
        let units = lease.began.elapsed().as_nanos() / self.puppet.unit.as_nanos().max(1);
        lease.range.end.min(lease.range.start.saturating_add(u64::try_from(units).unwrap_or(u64::MAX)))
    }

    fn heartbeat(&self) -> FromWorker {
        let running = self.leases.front().map(|lease| (lease.id, self.reached(lease)));
        let events =
            running.map(|(lease, reached)| LeaseEvent { lease, event: Some(Event::Reached(reached)) });
        FromWorker { events: events.into_iter().collect(), ..FromWorker::default() }
    }

    /// Commits what the running lease has, and returns the lease if that was all of it.
    fn commit(&mut self) -> Option<FromWorker> {
        let mut message = FromWorker::default();
        self.committed_at = Instant::now();
        let lease = self.leases.front()?;
        let reached = self.reached(lease);
        let is_over = reached == lease.range.end;
        if reached > lease.committed && (is_over || !lease.whole) {
            let range = lease.committed..reached;
            message.commits.extend(self.result(lease.job, range));
            self.leases.front_mut()?.committed = reached;
        }
        if is_over {
            let lease = self.leases.pop_front()?;
            message.events.push(LeaseEvent { lease: lease.id, event: Some(Event::Returned(true)) });
            if let Some(next) = self.leases.front_mut() {
                next.began = Instant::now();
            }
        }
        Some(message)
    }

    fn result(&mut self, job: [u8; 16], range: Range<u64>) -> Option<Commit> {
        let mut sum = Arc::clone(self.jobs.get(&job)?).accumulator();
        range.clone().try_for_each(|unit| sum.run_unit(unit, &UnitContext::free())).ok()?;
        let partial = sum.bytes().ok()?;
        self.sequence += 1;
        let units = u32::try_from(range.end - range.start).unwrap_or(u32::MAX);
        let busy_us = self.puppet.unit.saturating_mul(units).as_micros();
        Some(Commit {
            sequence: self.sequence,
            job: job.to_vec().into(),
            start: range.start,
            end: range.end,
            digest: blake3::hash(&partial).as_bytes().to_vec().into(),
            partial: partial.into(),
            busy_us: u64::try_from(busy_us).unwrap_or(u64::MAX),
        })
    }

    fn told(&mut self, message: ToWorker) -> Option<FromWorker> {
        for job in message.jobs {
            let opened = jobs::find(&job.kind).and_then(|kind| kind.open(&job.settings).ok());
            if let (Ok(id), Some(opened)) = (job.job.as_ref().try_into(), opened) {
                self.jobs.insert(id, opened);
            }
        }
        let good = message.answers.iter().filter(|answer| answer.verdict() == Verdict::Accepted).count();
        self.puppet.counts.acknowledged.fetch_add(good as u64, Ordering::Relaxed);
        let mut said = FromWorker::default();
        for order in message.orders {
            self.ordered(order, &mut said);
        }
        (!said.events.is_empty() || !said.commits.is_empty()).then_some(said)
    }

    fn ordered(&mut self, Order { lease: id, order }: Order, said: &mut FromWorker) {
        let at = self.leases.iter().position(|lease| lease.id == id);
        match (order, at) {
            (Some(order::Order::Grant(grant)), _) => {
                let Ok(job) = grant.job.as_ref().try_into() else { return };
                let (range, began) = (grant.start..grant.end, Instant::now());
                if self.leases.is_empty() {
                    self.committed_at = began;
                }
                let committed = grant.start;
                self.leases.push_back(Lease { id, job, range, committed, whole: grant.whole, began });
            }
            (Some(order::Order::Shrink(wanted)), Some(at)) => {
                let reached =
                    if at == 0 { self.reached(&self.leases[0]) } else { self.leases[at].range.start };
                let lease = &mut self.leases[at];
                // A unit that is begun is computed to its end.
                let end = wanted.max(reached.saturating_add(1)).min(lease.range.end);
                lease.range.end = end;
                said.events.push(LeaseEvent { lease: id, event: Some(Event::Shrunk(end)) });
            }
            (Some(order::Order::Revoke(_)), Some(at)) => {
                if at == 0 {
                    self.leases[0].range.end = self.reached(&self.leases[0]);
                    said.commits.extend(self.commit().into_iter().flat_map(|message| message.commits));
                }
                self.leases.retain(|lease| lease.id != id);
                said.events.push(LeaseEvent { lease: id, event: Some(Event::Returned(true)) });
            }
            (Some(order::Order::Abandon(_)), Some(at)) => drop(self.leases.remove(at)),
            _ => {}
        }
    }
}
