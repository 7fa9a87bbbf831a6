//! What goes wrong, and when.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use coordinator::scheduler::{
    Abilities, Comparison, Event, JobId, LeaseId, Need, Policy, SessionId, Token, WorkerId,
};
use rand::RngExt;

use crate::{
    farmhand::{Farmhand, Shrinks, Timer, Watch},
    ledger::Book,
    world::{Happening, Parcel, Up, World},
};

/// What computing a job is like.
#[derive(Clone, Debug)]
pub struct JobPlan {
    pub cost_ms: u64,
    /// Units that fail wherever they run.
    pub bad_permille: u64,
    /// Units that fail on a given worker.
    pub flaky_permille: u64,
}

/// A fault, or a command by a user. Numbers name workers and jobs.
#[derive(Clone, Copy, Debug)]
pub enum Chaos {
    Kill(usize),
    Hang(usize),
    Cut(usize),
    /// The worker comes by a second stream while the first seems to be alive.
    Twin(usize),
    Drain(usize),
    Repeat(usize),
    Lie(usize),
    Nonsense(usize),
    Crash,
    Pause(JobId),
    Cancel(JobId),
    Retry(JobId),
    /// Somebody wants committed ranges computed again.
    Verify(JobId),
    VerifyStopped(JobId),
    /// A pool is to become smaller; of all workers, if it has no name.
    Release(&'static str, u32),
    /// A job asks for something else in its workers.
    Need(JobId),
    /// No more faults from here on: everything has to end well.
    Calm,
}

/// Folds bytes into a number (FNV-1a, then mixed).
pub fn hash(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().copied().flatten();
    let fnv = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    (fnv ^ (fnv >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11
}

/// The right digest of a range.
pub fn digest(job: JobId, range: &Range<u64>) -> [u8; 32] {
    let hash = hash(&[&job.0, &range.start.to_le_bytes(), &range.end.to_le_bytes()]);
    std::array::from_fn(|at| hash.to_le_bytes()[at % 8])
}

/// Makes a lie of a digest. No two workers tell the same one.
pub fn falsify(digest: &mut [u8; 32], worker: WorkerId) {
    digest[0] ^= 1;
    digest[1] = worker.0[0];
}

/// Sets the stage: policy, jobs, workers, and the faults to come.
pub fn arrange(world: &mut World) {
    let sole = world.rng.random_bool(0.1);
    world.policy = Policy {
        sole_worker: sole,
        max_lease_units: if world.rng.random_bool(0.2) { 7 } else { u64::MAX },
        fixed_lease_units: world.rng.random_bool(0.1).then_some(3),
        max_suspect_units: if world.rng.random_bool(0.2) { 3 } else { 10_000 },
        ..Policy::default()
    };
    world.latency_ms = [0, 5, 100, 3_000][world.rng.random_range(0..4)];
    world.calm_ms = world.rng.random_range(20_000..150_000);
    let jobs = world.rng.random_range(1..=4);
    for number in 0..jobs {
        add_plan(world, number);
    }
    // Of a range that two liars and one that fails are of no use to, three others can be heard.
    let replicated = !sole && world.ledger.books.values().any(|book| book.replicas > 1);
    let hands = match (sole, replicated) {
        (true, _) => 1,
        (_, true) => world.rng.random_range(6..=9),
        _ => world.rng.random_range(3..=8),
    };
    // On top of them: such as lack what some jobs need, or on which nothing works.
    let others = if sole { 0 } else { world.rng.random_range(0..=4) };
    for number in 0..hands + others {
        let mut hand = hand(world, number);
        if number >= hands {
            hand.broken = world.rng.random_bool(0.4);
            hand.abilities = lesser(world);
        }
        hand.lies_permille = match number {
            0 | 1 if replicated => [0, 0, 20, 300, 1_000][world.rng.random_range(0..5)],
            _ => 0,
        };
        world.hands.push(hand);
        let delay = world.rng.random_range(0..20_000);
        world.set_timer(usize::from(number), delay, Timer::Connect);
        world.set_timer(usize::from(number), delay, Timer::Beat);
    }
    for kind in 0..16 {
        if world.rng.random_bool(0.4) {
            schedule(world, kind);
        }
    }
    world.at(world.calm_ms, Happening::Chaos(Chaos::Calm));
}

/// Sets a stage on which nothing goes wrong: one job, and workers with one slot, as fast as `cost_percent` says.
pub fn arrange_calm(world: &mut World, units: u64, cost_ms: u64, cost_percent: &[u64]) {
    let job = JobId([1; 16]);
    world.latency_ms = 20;
    world.plans.insert(job, JobPlan { cost_ms, bad_permille: 0, flaky_permille: 0 });
    world.ledger.books.insert(job, Book { units, weight: 1, ..Book::default() });
    for (worker, (&cost_percent, number)) in cost_percent.iter().zip(0..).enumerate() {
        let (shrinks, watch) = (Shrinks::AtOnce, Watch::Right);
        let hand = Farmhand { slots: 1, prefetch: 1, cost_percent, shrinks, watch, ..hand(world, number) };
        world.hands.push(hand);
        world.set_timer(worker, 0, Timer::Connect);
        world.set_timer(worker, 0, Timer::Beat);
    }
}

fn add_plan(world: &mut World, number: u8) {
    let job = JobId([number + 1; 16]);
    let most = [0, 1, 9, 80, 600][world.rng.random_range(0..5)];
    let units = world.rng.random_range(0..=most);
    let plan = JobPlan {
        cost_ms: world.rng.random_range(1..=(240_000 / units.max(1)).clamp(2, 6_000)),
        bad_permille: [0, 0, 20][world.rng.random_range(0..3)],
        flaky_permille: [0, 0, 50][world.rng.random_range(0..3)],
    };
    world.plans.insert(job, plan);
    let weight = world.rng.random_range(1..=4);
    let replicas = if world.policy.sole_worker { 1 } else { [1, 1, 2, 2, 3][world.rng.random_range(0..5)] };
    let need = need(world);
    world.ledger.books.insert(job, Book { units, weight, replicas, need, ..Book::default() });
}

/// What a job may need: most of the workers have all but the last.
fn need(world: &mut World) -> Need {
    let asked = [None, None, Some("big"), Some("memory_gib>=16"), Some("gpu")];
    let asked = asked[world.rng.random_range(0..asked.len())];
    let requirements = asked.into_iter().map(|text| text.parse().expect("a requirement")).collect();
    Need { kind: "sum".into(), revision: 1, requirements }
}

fn abilities(revision: u32, labels: &[(&str, &str)]) -> Arc<Abilities> {
    let labels = labels.iter().map(|&(name, value)| (name.into(), value.into())).collect();
    Arc::new(Abilities { kinds: BTreeMap::from([("sum".into(), revision)]), labels })
}

/// Those of a worker that lacks something, or not.
fn lesser(world: &mut World) -> Arc<Abilities> {
    match world.rng.random_range(0..5) {
        0 => abilities(2, &[("big", "yes"), ("memory_gib", "32"), ("pool", "odd")]),
        1 => abilities(1, &[]),
        2 => abilities(1, &[("memory_gib", "8"), ("pool", "odd")]),
        3 => abilities(1, &[("big", "yes")]),
        _ => abilities(1, &[("big", "yes"), ("memory_gib", "32")]),
    }
}

fn hand(world: &mut World, number: u8) -> Farmhand {
    let rng = &mut world.rng;
    Farmhand {
        id: WorkerId([number + 1; 16]),
        alive: true,
        life: 0,
        link: None,
        slots: rng.random_range(1..=3),
        prefetch: rng.random_range(0..=2),
        cost_percent: [50, 100, 100, 400][rng.random_range(0..4)],
        hung_until: 0,
        tasks: Vec::new(),
        spool: std::collections::BTreeMap::new(),
        history: Vec::new(),
        last_number: 0,
        draining: false,
        shrinks: [Shrinks::AtOnce, Shrinks::AtOnce, Shrinks::Late, Shrinks::Never][rng.random_range(0..4)],
        watch: [Watch::Right, Watch::Right, Watch::Right, Watch::Stopped, Watch::Absurd]
            [rng.random_range(0..5)],
        goes_on_after_failure: rng.random_bool(0.5),
        lies_permille: 0,
        abilities: abilities(
            1,
            &[
                ("big", "yes"),
                ("memory_gib", "32"),
                ("pool", if number.is_multiple_of(2) { "even" } else { "odd" }),
            ],
        ),
        broken: false,
    }
}

fn schedule(world: &mut World, kind: u8) {
    let jobs: Vec<_> = world.plans.keys().copied().collect();
    // Lies stop jobs: rare, or nothing else would be seen.
    let times = match kind {
        6 => u32::from(world.rng.random_bool(0.3)),
        // Few of the ranges that are looked at again were lied about.
        12 => world.rng.random_range(4..=12),
        _ => world.rng.random_range(1..=6),
    };
    for _ in 0..times {
        let replicated = world.ledger.books.values().any(|book| book.replicas > 1);
        // Where liars are told by the others, there are two at most.
        let among = if kind == 6 && replicated { 2.min(world.hands.len()) } else { world.hands.len() };
        let worker = world.rng.random_range(0..among);
        let job = jobs[world.rng.random_range(0..jobs.len())];
        let chaos = match kind {
            0 => Chaos::Kill(worker),
            1 => Chaos::Hang(worker),
            2 => Chaos::Cut(worker),
            3 => Chaos::Twin(worker),
            4 => Chaos::Drain(worker),
            5 => Chaos::Repeat(worker),
            6 => Chaos::Lie(worker),
            7 => Chaos::Nonsense(worker),
            8 => Chaos::Crash,
            9 => Chaos::Pause(job),
            10 => Chaos::Cancel(job),
            11 => Chaos::Retry(job),
            // A farm whose only worker is found to lie has nobody left; such farms are not asked to verify.
            12 if world.policy.sole_worker => Chaos::Retry(job),
            12 => Chaos::Verify(job),
            13 => Chaos::VerifyStopped(job),
            14 => {
                let pool = ["", "odd", "even", "nobody"][world.rng.random_range(0..4)];
                Chaos::Release(pool, world.rng.random_range(0..4))
            }
            _ => Chaos::Need(job),
        };
        let time = world.rng.random_range(0..world.calm_ms);
        world.at(time, Happening::Chaos(chaos));
    }
}

impl World {
    pub fn chaos(&mut self, chaos: Chaos) -> Result<(), String> {
        match chaos {
            Chaos::Kill(worker) => self.kill(worker),
            Chaos::Hang(worker) => {
                self.hands[worker].hung_until = self.now + self.rng.random_range(1_000..60_000);
            }
            Chaos::Cut(worker) => {
                if let Some(link) = self.hands[worker].link {
                    self.cut(link);
                    let delay = self.rng.random_range(0..30_000);
                    self.after(delay, Happening::WorkerNotices(link));
                }
            }
            Chaos::Twin(worker) => {
                if self.hands[worker].alive {
                    self.hands[worker].tasks.clear();
                    self.say_hello(worker);
                }
            }
            Chaos::Drain(worker) => {
                self.hands[worker].draining = true;
                self.say(worker, Event::Draining);
            }
            Chaos::Repeat(worker) => self.repeat(worker, false),
            Chaos::Lie(worker) => self.repeat(worker, true),
            Chaos::Nonsense(worker) => (0..20).for_each(|_| self.nonsense(worker)),
            Chaos::Crash => self.crash(),
            Chaos::Pause(job) => return self.user(job, |book| book.paused = !book.paused),
            // Put off until after the last fault: a job revived then would come too late to be waited for.
            Chaos::Cancel(_) if self.now >= self.calm_ms => {}
            Chaos::Cancel(job) => {
                // At the worst moment: with a commit on its way to the disk, and often thought better of before it is there.
                let quiet = !self.offers.values().any(|offer| offer.persisting.is_some() && offer.job == job);
                if quiet && self.rng.random_bool(0.99) {
                    self.after(7, Happening::Chaos(Chaos::Cancel(job)));
                    return Ok(());
                }
                if self.rng.random_bool(0.3) {
                    let soon = self.rng.random_range(0..15);
                    self.after(soon, Happening::Chaos(Chaos::Cancel(job)));
                }
                return self.user(job, |book| book.removed = !book.removed);
            }
            Chaos::Retry(job) => {
                if self.scheduler.as_ref().is_some_and(|scheduler| scheduler.job(job).is_some()) {
                    self.ledger.retry(job);
                    return self.step(Event::JobRetried(job));
                }
            }
            Chaos::Verify(job) => {
                let book = &self.ledger.books[&job];
                let all: Vec<_> = book
                    .commits
                    .iter()
                    .filter_map(|(&start, commit)| book.committed(&(start..commit.0)))
                    .collect();
                let some = (0..4)
                    .filter(|_| !all.is_empty())
                    .map(|_| all[self.rng.random_range(0..all.len())].clone());
                let ranges = some.collect();
                return self.step(Event::Verify { job, ranges });
            }
            Chaos::VerifyStopped(job) => return self.step(Event::VerifyStopped(job)),
            Chaos::Release(pool, keep) => return self.step(Event::Release { pool: pool.into(), keep }),
            Chaos::Need(job) => {
                let need = need(self);
                self.ledger.books.get_mut(&job).expect("a book").need = need.clone();
                return self.step(Event::JobNeeds(job, need));
            }
            Chaos::Calm => return self.calm(),
        }
        Ok(())
    }

    fn kill(&mut self, worker: usize) {
        let hand = &mut self.hands[worker];
        (hand.alive, hand.life) = (false, hand.life + 1);
        hand.tasks.clear();
        if let Some(link) = hand.link.take() {
            self.cut(link);
        }
        if self.rng.random_bool(0.7) {
            self.hands[worker].alive = true;
            let down = self.rng.random_range(100..40_000);
            self.set_timer(worker, down, Timer::Connect);
            self.set_timer(worker, down, Timer::Beat);
        }
    }

    fn say(&mut self, worker: usize, event: impl FnOnce(SessionId) -> Event) {
        if let Some(link) = self.hands[worker].link {
            self.send_up(link, Up::Say(event(link)));
        }
    }

    /// Sends results again that are answered already, or something else for the same range.
    fn repeat(&mut self, worker: usize, lie: bool) {
        let Some(link) = self.hands[worker].link else { return };
        let again: Vec<Parcel> =
            self.hands[worker].history.iter().chain(self.hands[worker].spool.values()).cloned().collect();
        for mut parcel in again {
            if lie {
                falsify(&mut parcel.digest, self.hands[worker].id);
            }
            self.send_up(link, Up::Offer(parcel));
        }
    }

    fn nonsense(&mut self, worker: usize) {
        let Some(session) = self.hands[worker].link else { return };
        let rng = &mut self.rng;
        let edge = [0, 1, 3, 50, 599, u64::MAX - 1, u64::MAX];
        let mut any = || edge[rng.random_range(0..edge.len())];
        let (start, end, unit, number) = (any(), any(), any(), any());
        let lease = LeaseId(rng.random_range(0..200));
        let job = JobId([rng.random_range(0..7); 16]);
        let other = SessionId(rng.random_range(0..30));
        let token = Token(number);
        let event = match rng.random_range(0..13) {
            0 => Event::Progress { session, lease, reached: end },
            1 => Event::Progress { session: other, lease, reached: end },
            2 => Event::Returned { session, lease },
            3 => Event::Shrunk { session, lease, end },
            // A failure that did not happen, of a unit that may be in the worker's hands.
            4 => Event::Failed { session, lease, unit, error: String::new() },
            5 => Event::SessionOpened {
                session,
                worker: WorkerId([9; 16]),
                slots: u32::MAX,
                prefetch: u32::MAX,
                abilities: Arc::default(),
            },
            6 => Event::Persisted(Token(number.max(1 << 40))),
            7 => Event::Compared(Token(number.max(1 << 40)), Comparison::Different([9; 32])),
            8 => Event::JobPaused(JobId([99; 16])),
            9 => Event::JobRetried(JobId([99; 16])),
            10 => Event::SessionClosed(SessionId(u64::MAX)),
            _ => {
                let digest = digest(job, &(start..end));
                let parcel = Parcel { number: token.0, job, range: start..end, digest, busy_us: number };
                return self.send_up(session, Up::Offer(parcel));
            }
        };
        self.send_up(session, Up::Say(event));
    }

    /// A user changes a job: in the ledger, then in the scheduler.
    fn user(&mut self, job: JobId, change: impl FnOnce(&mut Book)) -> Result<(), String> {
        let Some(book) = self.ledger.books.get_mut(&job).filter(|book| !book.conflicted) else {
            return Ok(());
        };
        let before = (book.paused, book.removed);
        change(book);
        match (before, (book.paused, book.removed)) {
            ((_, false), (_, true)) => self.step(Event::JobRemoved(job)),
            ((_, true), (_, false)) if self.scheduler.is_some() => self.add_job(job),
            ((false, _), (true, _)) => self.step(Event::JobPaused(job)),
            ((true, _), (false, _)) => self.step(Event::JobResumed(job)),
            _ => Ok(()),
        }
    }

    fn calm(&mut self) -> Result<(), String> {
        for worker in 0..self.hands.len() {
            let hand = &mut self.hands[worker];
            hand.hung_until = hand.hung_until.min(self.now);
            if !hand.alive || hand.draining {
                (hand.alive, hand.draining, hand.life) = (true, false, hand.life + 1);
                hand.tasks.clear();
                if let Some(link) = hand.link.take() {
                    self.cut(link);
                }
                self.set_timer(worker, 100, Timer::Connect);
                self.set_timer(worker, 100, Timer::Beat);
            }
        }
        for job in self.plans.keys().copied().collect::<Vec<_>>() {
            self.user(job, |book| book.paused = false)?;
        }
        Ok(())
    }
}
