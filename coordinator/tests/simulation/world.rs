//! The clock, the network, and an engine around the scheduler.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use coordinator::scheduler::{
    Abilities, Command, Comparison, Event, JobId, Policy, Scheduler, SessionId, Token, WorkerId,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    chaos::{self, Chaos, JobPlan},
    engine::Report,
    farmhand::{Farmhand, Timer},
    ledger::Ledger,
    model::Model,
};

/// A known way to break the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    WriteTwice,
    AnswerEarly,
    ForgetUnit,
    LoseReturn,
    BelieveAnyone,
    ForgetNeeds,
}

/// A result on its way, named by the worker's own number.
#[derive(Clone, Debug)]
pub struct Parcel {
    pub number: u64,
    pub job: JobId,
    pub range: Range<u64>,
    pub digest: [u8; 32],
    pub busy_us: u64,
}

/// A result for which the engine owes an answer.
#[derive(Clone, Debug)]
pub struct Offered {
    pub session: SessionId,
    pub worker: WorkerId,
    pub number: u64,
    pub job: JobId,
    pub range: Range<u64>,
    pub digest: [u8; 32],
    pub persisting: Option<Persisting>,
    pub since: u64,
}

/// What a result is written down as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persisting {
    Commit,
    Claim,
    Confirm,
}

#[derive(Clone, Debug)]
pub enum Up {
    Hello { slots: u32, prefetch: u32, abilities: Arc<Abilities> },
    Say(Event),
    Offer(Parcel),
}

#[derive(Clone, Debug)]
pub enum Down {
    Order(Command),
    Verdict(u64),
}

#[derive(Clone, Debug)]
pub enum Happening {
    Up(SessionId, Up),
    Down(SessionId, Down),
    CoordinatorNotices(SessionId),
    WorkerNotices(SessionId),
    Timer(usize, u32, Timer),
    Flush,
    Persisted(u32, Vec<Token>),
    Compared(u32, Token),
    Tick(u32),
    Restart,
    Remove(u32, JobId),
    /// The ledger looks for what liars have committed.
    Sweep(u32),
    Chaos(Chaos),
}

/// A stream: in order each way, until it is cut and what is on it is lost.
#[derive(Debug)]
pub struct Link {
    pub worker: usize,
    last_up: u64,
    last_down: u64,
    pub cut: bool,
}

pub struct World {
    pub rng: ChaCha8Rng,
    pub now: u64,
    queue: BTreeMap<(u64, u64), Happening>,
    sequence: u64,
    pub scheduler: Option<Scheduler>,
    /// Incarnation of the coordinator: what was under way in an earlier one is void.
    pub epoch: u32,
    pub policy: Policy,
    pub model: Model,
    pub ledger: Ledger,
    pub offers: BTreeMap<Token, Offered>,
    pub acknowledged: Vec<Offered>,
    /// Workers that have told a lie.
    pub liars: BTreeSet<WorkerId>,
    /// Workers that the coordinator does not let in.
    pub banned: BTreeSet<WorkerId>,
    pub links: BTreeMap<SessionId, Link>,
    pub plans: BTreeMap<JobId, JobPlan>,
    pub hands: Vec<Farmhand>,
    last_session: u64,
    last_token: u64,
    pub latency_ms: u64,
    pub calm_ms: u64,
    pub sabotage: Option<Sabotage>,
    pub report: Report,
}

/// Simulated time after the last fault in which everything must be finished.
const PATIENCE_MS: u64 = 2 * 3_600_000;

impl World {
    /// A world full of mishaps.
    pub fn new(seed: u64, sabotage: Option<Sabotage>) -> Self {
        let mut world = Self::bare(seed, sabotage);
        chaos::arrange(&mut world);
        world
    }

    /// A world with nobody in it.
    pub fn bare(seed: u64, sabotage: Option<Sabotage>) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            now: 0,
            queue: BTreeMap::new(),
            sequence: 0,
            scheduler: None,
            epoch: 0,
            policy: Policy::default(),
            model: Model::default(),
            ledger: Ledger::default(),
            offers: BTreeMap::new(),
            acknowledged: Vec::new(),
            liars: BTreeSet::new(),
            banned: BTreeSet::new(),
            links: BTreeMap::new(),
            plans: BTreeMap::new(),
            hands: Vec::new(),
            last_session: 0,
            last_token: 0,
            latency_ms: 0,
            calm_ms: 0,
            sabotage,
            report: Report::default(),
        }
    }

    /// Lets everything happen until all jobs are finished, then audits the ledger.
    pub fn run(mut self) -> Result<Report, String> {
        self.at(0, Happening::Restart);
        let mut end = self.calm_ms + PATIENCE_MS;
        let mut settled = false;
        while let Some(((time, _), happening)) = self.queue.pop_first() {
            if time > end {
                break;
            }
            self.now = time;
            self.happen(happening.clone())
                .map_err(|error| format!("at {time} ms, {happening:?}: {error}"))?;
            if settled && !self.all_finished() {
                // A liar was found out late: what it had done is done again.
                (settled, end) = (false, self.calm_ms + PATIENCE_MS);
            }
            if !settled && time > self.calm_ms && self.all_finished() {
                // What is still on its way must not disturb what is finished.
                settled = true;
                self.report.settled_ms = time;
                end = time + 20_000;
            }
        }
        if settled { self.audit().map(|()| self.report) } else { Err(self.stuck()) }
    }

    /// Every job is, and where results differ it is decided who was wrong.
    fn all_finished(&self) -> bool {
        let Some(scheduler) = &self.scheduler else { return false };
        let is_finished = |job: &JobId| {
            !self.is_met(*job)
                || self.model.is_finished(*job)
                    && scheduler.job(*job).is_some_and(|status| status.disputes == 0)
        };
        self.live_jobs().iter().all(is_finished)
    }

    fn stuck(&self) -> String {
        let status: Vec<_> = self.scheduler.iter().flat_map(Scheduler::jobs).collect();
        let sessions: Vec<_> = self.scheduler.iter().flat_map(Scheduler::sessions).collect();
        format!(
            "not finished in time: {status:#?} {sessions:#?}; liars {:?}, quarantined {:?}",
            self.liars, self.banned
        )
    }

    pub fn live_jobs(&self) -> Vec<JobId> {
        let live = self.ledger.books.iter().filter(|(_, book)| !book.removed && !book.conflicted);
        live.map(|(&job, _)| job).collect()
    }

    /// Whether any worker has what the job needs. The others are not expected to end.
    fn is_met(&self, job: JobId) -> bool {
        self.hands.iter().any(|hand| self.ledger.books[&job].need.met_by(&hand.abilities))
    }

    /// The end of all: each unit once, and everything that was acknowledged.
    fn audit(&self) -> Result<(), String> {
        for (job, book) in &self.ledger.books {
            let done = book.done().map_err(|error| format!("{job:?}: {error}"))?;
            let mut all = done.clone();
            all.extend(book.quarantined.iter().map(|&unit| unit..unit + 1));
            if !book.removed
                && !book.conflicted
                && self.is_met(*job)
                && (all.units() != book.units || !all.contains(&(0..book.units)))
            {
                return Err(format!("{job:?}: finished with {all:?} of {}", book.units));
            }
        }
        for offer in &self.acknowledged {
            self.is_written(offer)?;
        }
        self.audit_lies()
    }

    /// Nothing counts that a liar made up, where others had to agree, and whoever's lie was looked into is quarantined.
    fn audit_lies(&self) -> Result<(), String> {
        for (&job, book) in &self.ledger.books {
            let believed = book.commits.iter().find(|(start, (end, digest, by))| {
                let believed = by.iter().filter(|worker| !self.banned.contains(worker)).count();
                let unswept = believed < book.replicas as usize;
                book.replicas > 1 && !unswept && *digest != chaos::digest(job, &(**start..*end))
            });
            if let Some(lie) = believed {
                return Err(format!("{job:?}: {lie:?} is a lie"));
            }
        }
        let told = self.acknowledged.iter().find(|offer| {
            let book = &self.ledger.books[&offer.job];
            book.replicas > 1
                && !book.removed
                && self.is_met(offer.job)
                && offer.digest != chaos::digest(offer.job, &offer.range)
                && !self.banned.contains(&offer.worker)
                && !book.withdrawn.intersects(&offer.range)
        });
        told.map_or(Ok(()), |lie| Err(format!("{lie:?} was not found out")))
    }

    pub fn is_written(&self, offer: &Offered) -> Result<(), String> {
        let book = self.ledger.books.get(&offer.job).ok_or("acknowledged for no job")?;
        let claimed = book.claims.iter().any(|vote| {
            vote.range == offer.range && vote.worker == offer.worker && vote.digest == offer.digest
        });
        let lost = book.withdrawn.intersects(&offer.range) || self.banned.contains(&offer.worker);
        match book.compare(&offer.range, &offer.digest) {
            Comparison::Same => Ok(()),
            _ if claimed || lost => Ok(()),
            other => Err(format!("{offer:?} was acknowledged, but the ledger says {other:?}")),
        }
    }

    pub fn at(&mut self, time: u64, happening: Happening) {
        self.sequence += 1;
        self.queue.insert((time.max(self.now), self.sequence), happening);
    }

    pub fn after(&mut self, ms: u64, happening: Happening) {
        self.at(self.now + ms, happening);
    }

    fn happen(&mut self, happening: Happening) -> Result<(), String> {
        match happening {
            Happening::Up(session, up) => return self.arrived(session, up),
            Happening::Down(session, down) => {
                if let Some(link) = self.links.get(&session).filter(|link| !link.cut) {
                    self.told(link.worker, session, down);
                }
            }
            Happening::CoordinatorNotices(session) => return self.step(Event::SessionClosed(session)),
            Happening::WorkerNotices(session) => {
                if let Some(link) = self.links.get(&session) {
                    self.lost_link(link.worker, session);
                }
            }
            Happening::Timer(worker, life, timer) => self.timer(worker, life, timer),
            Happening::Flush => {
                let tokens = self.ledger.flush(self.sabotage == Some(Sabotage::WriteTwice));
                // The coordinator may die after the write and before it knows.
                let delay = self.rng.random_range(0..=5);
                self.after(delay, Happening::Persisted(self.epoch, tokens));
                if !self.ledger.unswept.is_empty() {
                    let delay = self.rng.random_range(5..=200);
                    self.after(delay, Happening::Sweep(self.epoch));
                }
            }
            Happening::Persisted(epoch, tokens) if epoch == self.epoch => {
                for token in tokens {
                    self.step(Event::Persisted(token))?;
                }
            }
            Happening::Compared(epoch, token) if epoch == self.epoch => {
                let offer = &self.offers[&token];
                let comparison = self.ledger.books[&offer.job].compare(&offer.range, &offer.digest);
                return self.step(Event::Compared(token, comparison));
            }
            Happening::Tick(epoch) if epoch == self.epoch => {
                self.after(1_000, Happening::Tick(epoch));
                if let Some(late) = self.offers.values().find(|offer| offer.since + 5_000 < self.now) {
                    return Err(format!("{late:?} got no answer"));
                }
                return self.step(Event::Tick);
            }
            Happening::Sweep(epoch) if epoch == self.epoch => {
                for (job, ranges) in self.ledger.sweep() {
                    self.report.withdrawn += ranges.len() as u64;
                    self.step(Event::Withdrawn { job, ranges })?;
                }
            }
            Happening::Remove(epoch, job) if epoch == self.epoch => return self.step(Event::JobRemoved(job)),
            Happening::Restart => return self.restart(),
            Happening::Chaos(chaos) => return self.chaos(chaos),
            Happening::Persisted(..)
            | Happening::Compared(..)
            | Happening::Tick(_)
            | Happening::Sweep(_)
            | Happening::Remove(..) => {}
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<(), String> {
        self.epoch += 1;
        self.scheduler = Some(Scheduler::new(self.policy.clone()));
        self.model = Model::default();
        self.after(1_000, Happening::Tick(self.epoch));
        self.ledger.sweep();
        self.banned = self.ledger.quarantined.clone();
        for worker in self.banned.clone() {
            self.step(Event::WorkerQuarantined(worker))?;
        }
        for job in self.live_jobs() {
            self.add_job(job)?;
        }
        Ok(())
    }

    pub fn add_job(&mut self, job: JobId) -> Result<(), String> {
        let mut spec = self.ledger.books[&job].spec()?;
        if self.sabotage == Some(Sabotage::ForgetUnit) && spec.units > 0 {
            spec.done.insert_merged(0..1);
        }
        self.step(Event::JobAdded { job, spec })
    }

    /// The process dies: what is not on the disk is gone.
    pub fn crash(&mut self) {
        if self.scheduler.take().is_none() {
            return;
        }
        self.report.crashes += 1;
        self.epoch += 1;
        self.ledger.waiting.clear();
        self.offers.clear();
        let open: Vec<_> = self.links.iter().filter(|(_, link)| !link.cut).map(|(&id, _)| id).collect();
        for session in open {
            self.links.get_mut(&session).expect("listed").cut = true;
            let delay = self.rng.random_range(0..3_000);
            self.after(delay, Happening::WorkerNotices(session));
        }
        let down_ms = self.rng.random_range(0..8_000);
        self.after(down_ms, Happening::Restart);
    }

    /// A new stream from a worker.
    pub fn connect(&mut self, worker: usize) -> SessionId {
        self.last_session += 1;
        let session = SessionId(self.last_session);
        self.links.insert(session, Link { worker, last_up: 0, last_down: 0, cut: false });
        session
    }

    /// Breaks a stream. The coordinator may notice, or not.
    pub fn cut(&mut self, session: SessionId) {
        let Some(link) = self.links.get_mut(&session).filter(|link| !link.cut) else { return };
        link.cut = true;
        if self.rng.random_bool(0.6) {
            let delay = self.rng.random_range(0..4_000);
            self.after(delay, Happening::CoordinatorNotices(session));
        }
    }

    pub fn send_up(&mut self, session: SessionId, up: Up) {
        let delay = self.rng.random_range(0..=self.latency_ms);
        let Some(link) = self.links.get_mut(&session).filter(|link| !link.cut) else { return };
        link.last_up = link.last_up.max(self.now + delay);
        let arrival = link.last_up;
        self.at(arrival, Happening::Up(session, up));
    }

    pub fn send_down(&mut self, session: SessionId, down: Down) {
        let delay = self.rng.random_range(0..=self.latency_ms);
        let Some(link) = self.links.get_mut(&session).filter(|link| !link.cut) else { return };
        link.last_down = link.last_down.max(self.now + delay);
        let arrival = link.last_down;
        self.at(arrival, Happening::Down(session, down));
    }

    fn arrived(&mut self, session: SessionId, up: Up) -> Result<(), String> {
        let Some(link) = self.links.get(&session).filter(|link| !link.cut) else { return Ok(()) };
        let (hand, worker) = (link.worker, self.hands[link.worker].id);
        let event = match up {
            Up::Hello { .. } if self.banned.contains(&worker) => {
                // It is told so, and leaves.
                self.cut(session);
                let hand = &mut self.hands[hand];
                (hand.alive, hand.life, hand.link) = (false, hand.life + 1, None);
                hand.tasks.clear();
                return Ok(());
            }
            Up::Hello { slots, prefetch, abilities } => {
                Event::SessionOpened { session, worker, slots, prefetch, abilities }
            }
            Up::Say(event) => event,
            Up::Offer(parcel) => {
                self.last_token += 1;
                let token = Token(self.last_token);
                let Parcel { number, job, range, digest, busy_us } = parcel;
                if digest != chaos::digest(job, &range) {
                    self.liars.insert(worker);
                }
                let offer = Offered {
                    session,
                    worker,
                    number,
                    job,
                    range: range.clone(),
                    digest,
                    persisting: None,
                    since: self.now,
                };
                self.offers.insert(token, offer);
                Event::Commit { session, worker, token, job, range, digest, busy_us }
            }
        };
        self.step(event)
    }
}
