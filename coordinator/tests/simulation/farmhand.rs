//! A simulated worker: computes at its own speed, keeps what is not acknowledged, and has bad manners.

use std::{collections::BTreeMap, sync::Arc};

use coordinator::scheduler::{Abilities, Command, Event, JobId, LeaseId, SessionId, WorkerId};
use rand::RngExt;

use crate::{
    chaos,
    world::{Down, Happening, Parcel, Up, World},
};

/// A lease in the worker's hands.
#[derive(Clone, Debug)]
pub struct Task {
    lease: LeaseId,
    job: JobId,
    /// Start of what is computed and not committed.
    stretch: u64,
    /// First unit that is not computed.
    at: u64,
    end: u64,
    whole: bool,
    /// Where the running chunk ends.
    target: Option<u64>,
}

/// What a worker waits for.
#[derive(Clone, Debug)]
pub enum Timer {
    Connect,
    Beat,
    Chunk {
        link: SessionId,
        lease: LeaseId,
    },
    Shrink {
        link: SessionId,
        lease: LeaseId,
        end: u64,
    },
    /// It was told to leave.
    Leave {
        link: SessionId,
    },
}

/// How a worker answers [`Command::Shrink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shrinks {
    AtOnce,
    Late,
    Never,
}

/// Which computing times a worker reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    Right,
    Stopped,
    Absurd,
}

#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a manner of its own")]
pub struct Farmhand {
    pub id: WorkerId,
    pub alive: bool,
    /// Counts deaths: timers of an earlier life are void.
    pub life: u32,
    pub link: Option<SessionId>,
    pub slots: u32,
    pub prefetch: u32,
    /// Cost of a unit here, in percent of the usual.
    pub cost_percent: u64,
    pub hung_until: u64,
    pub tasks: Vec<Task>,
    /// Results without an answer: on the worker's disk.
    pub spool: BTreeMap<u64, Parcel>,
    /// The last results with an answer.
    pub history: Vec<Parcel>,
    pub last_number: u64,
    pub draining: bool,
    pub shrinks: Shrinks,
    pub watch: Watch,
    pub goes_on_after_failure: bool,
    /// Results that are made up.
    pub lies_permille: u64,
    pub abilities: Arc<Abilities>,
    /// Nothing works on it.
    pub broken: bool,
}

impl World {
    pub fn timer(&mut self, worker: usize, life: u32, timer: Timer) {
        let hand = &self.hands[worker];
        if hand.life != life || !hand.alive {
            return;
        }
        if hand.hung_until > self.now {
            return self.at(hand.hung_until, Happening::Timer(worker, life, timer));
        }
        match timer {
            Timer::Connect if hand.link.is_none() => self.say_hello(worker),
            Timer::Beat => {
                if let Some(link) = hand.link {
                    self.send_up(link, Up::Say(Event::Heard(link)));
                }
                let beat = self.rng.random_range(2_000..5_000);
                self.set_timer(worker, beat, Timer::Beat);
            }
            Timer::Chunk { link, lease } if hand.link == Some(link) => self.chunk_done(worker, link, lease),
            Timer::Shrink { link, lease, end } if hand.link == Some(link) => {
                self.shorten(worker, link, lease, end);
            }
            Timer::Leave { link } if hand.link == Some(link) => self.leave(worker, link),
            Timer::Connect | Timer::Chunk { .. } | Timer::Shrink { .. } | Timer::Leave { .. } => {}
        }
    }

    pub fn set_timer(&mut self, worker: usize, ms: u64, timer: Timer) {
        let life = self.hands[worker].life;
        self.after(ms, Happening::Timer(worker, life, timer));
    }

    /// Connects, and sends again what has no answer.
    pub fn say_hello(&mut self, worker: usize) {
        let link = self.connect(worker);
        let hand = &mut self.hands[worker];
        (hand.link, hand.draining) = (Some(link), false);
        let (slots, prefetch, abilities) = (hand.slots, hand.prefetch, Arc::clone(&hand.abilities));
        let spooled: Vec<_> = hand.spool.values().cloned().collect();
        self.send_up(link, Up::Hello { slots, prefetch, abilities });
        for parcel in spooled {
            self.send_up(link, Up::Offer(parcel));
        }
        // Nobody there: tries again.
        if self.scheduler.is_none() {
            self.links.get_mut(&link).expect("just made").cut = true;
            self.after(500, Happening::WorkerNotices(link));
        }
    }

    /// The worker learns that its stream is gone: what it has computed goes to the spool, or is lost.
    pub fn lost_link(&mut self, worker: usize, link: SessionId) {
        if self.hands[worker].link != Some(link) || !self.hands[worker].alive {
            return;
        }
        self.hands[worker].link = None;
        let tasks = std::mem::take(&mut self.hands[worker].tasks);
        if self.rng.random_bool(0.7) {
            for task in tasks {
                self.deliver(worker, &task);
            }
        }
        let backoff = self.rng.random_range(50..5_000);
        self.set_timer(worker, backoff, Timer::Connect);
    }

    /// Commits what is computed of a task.
    fn deliver(&mut self, worker: usize, task: &Task) {
        if task.at <= task.stretch || (task.whole && task.at < task.end) {
            return;
        }
        let range = task.stretch..task.at;
        let cost_ms = self.cost_ms(worker, task.job);
        let lies = self.rng.random_range(0..1_000) < self.hands[worker].lies_permille;
        let hand = &mut self.hands[worker];
        hand.last_number += 1;
        let mut digest = chaos::digest(task.job, &range);
        if lies {
            chaos::falsify(&mut digest, hand.id);
        }
        let parcel = Parcel {
            number: hand.last_number,
            job: task.job,
            digest,
            busy_us: match hand.watch {
                Watch::Right => (range.end - range.start) * cost_ms * 1_000,
                Watch::Stopped => 0,
                Watch::Absurd => u64::MAX,
            },
            range,
        };
        hand.spool.insert(parcel.number, parcel.clone());
        if let Some(link) = hand.link {
            self.send_up(link, Up::Offer(parcel));
        }
    }

    fn cost_ms(&self, worker: usize, job: JobId) -> u64 {
        (self.plans[&job].cost_ms * self.hands[worker].cost_percent / 100).max(1)
    }

    pub fn told(&mut self, worker: usize, link: SessionId, down: Down) {
        let hand = &mut self.hands[worker];
        if !hand.alive || hand.link != Some(link) {
            return;
        }
        if hand.hung_until > self.now {
            return self.at(self.hands[worker].hung_until, Happening::Down(link, down));
        }
        match down {
            Down::Verdict(number) => {
                if let Some(parcel) = hand.spool.remove(&number) {
                    hand.history.push(parcel);
                    hand.history.drain(..hand.history.len().saturating_sub(8));
                }
            }
            Down::Order(Command::Grant { lease, job, range, whole, .. }) => {
                let task = Task {
                    lease,
                    job,
                    stretch: range.start,
                    at: range.start,
                    end: range.end,
                    whole,
                    target: None,
                };
                hand.tasks.push(task);
                self.start_chunks(worker, link);
            }
            Down::Order(Command::Shrink { lease, end, .. }) => match hand.shrinks {
                Shrinks::AtOnce => self.shorten(worker, link, lease, end),
                Shrinks::Late => {
                    let late = self.rng.random_range(100..20_000);
                    self.set_timer(worker, late, Timer::Shrink { link, lease, end });
                }
                Shrinks::Never => {}
            },
            Down::Order(Command::Revoke { lease, .. }) => {
                if let Some(task) = self.drop_task(worker, lease) {
                    self.deliver(worker, &task);
                    self.send_up(link, Up::Say(Event::Returned { session: link, lease }));
                }
                self.start_chunks(worker, link);
            }
            Down::Order(Command::Abandon { lease, .. }) => {
                self.drop_task(worker, lease);
                self.start_chunks(worker, link);
            }
            Down::Order(Command::Leave(_)) => {
                hand.draining = true;
                self.set_timer(worker, 0, Timer::Leave { link });
            }
            Down::Order(_) => {}
        }
    }

    /// Ends when it has finished what it holds; whoever looks after it starts it again.
    fn leave(&mut self, worker: usize, link: SessionId) {
        if !self.hands[worker].tasks.is_empty() || !self.hands[worker].spool.is_empty() {
            return self.set_timer(worker, 500, Timer::Leave { link });
        }
        self.report.left += 1;
        self.cut(link);
        let hand = &mut self.hands[worker];
        (hand.life, hand.link) = (hand.life + 1, None);
        let down_ms = self.rng.random_range(100..20_000);
        self.set_timer(worker, down_ms, Timer::Connect);
        self.set_timer(worker, down_ms, Timer::Beat);
    }

    fn drop_task(&mut self, worker: usize, lease: LeaseId) -> Option<Task> {
        let tasks = &mut self.hands[worker].tasks;
        let at = tasks.iter().position(|task| task.lease == lease)?;
        Some(tasks.remove(at))
    }

    fn shorten(&mut self, worker: usize, link: SessionId, lease: LeaseId, end: u64) {
        let tasks = &mut self.hands[worker].tasks;
        let Some(task) = tasks.iter_mut().find(|task| task.lease == lease && !task.whole) else { return };
        task.end = task.end.min(end.max(task.target.map_or(task.at, |target| target.max(task.at + 1))));
        let (end, over) = (task.end, task.target.is_none() && task.at >= task.end);
        if over && let Some(task) = self.drop_task(worker, lease) {
            self.deliver(worker, &task);
        }
        self.send_up(link, Up::Say(Event::Shrunk { session: link, lease, end }));
    }

    /// Gives every slot something to do.
    fn start_chunks(&mut self, worker: usize, link: SessionId) {
        let slots = self.hands[worker].slots as usize;
        for at in 0..slots.min(self.hands[worker].tasks.len()) {
            let task = &self.hands[worker].tasks[at];
            if task.target.is_some() {
                continue;
            }
            let cost_ms = self.cost_ms(worker, task.job);
            let most = (2_000 / cost_ms).clamp(1, 400).min(task.end - task.at);
            let good = (task.at..task.at + most)
                .take_while(|&unit| !self.fails(worker, task.job, unit))
                .count() as u64;
            let (lease, target) = (task.lease, task.at + good);
            let jitter = self.rng.random_range(50..150);
            self.hands[worker].tasks[at].target = Some(target);
            self.set_timer(worker, good.max(1) * cost_ms * jitter / 100, Timer::Chunk { link, lease });
        }
    }

    fn fails(&self, worker: usize, job: JobId, unit: u64) -> bool {
        let plan = &self.plans[&job];
        let by_chance =
            |salt: &[u8], permille: u64| chaos::hash(&[&job.0, &unit.to_le_bytes(), salt]) % 1_000 < permille;
        self.hands[worker].broken
            || by_chance(b"everywhere", plan.bad_permille)
            || by_chance(&self.hands[worker].id.0, plan.flaky_permille)
    }

    fn chunk_done(&mut self, worker: usize, link: SessionId, lease: LeaseId) {
        let Some(at) = self.hands[worker].tasks.iter().position(|task| task.lease == lease) else { return };
        let mut task = self.hands[worker].tasks[at].clone();
        let Some(target) = task.target.take() else { return };
        let failed = target == task.at && task.at < task.end;
        task.at = target;
        if failed {
            self.deliver(worker, &task);
            let (unit, error) = (task.at, String::from("does not work"));
            self.send_up(link, Up::Say(Event::Failed { session: link, lease, unit, error }));
            (task.at, task.stretch) = (unit + 1, unit + 1);
            if task.whole || !self.hands[worker].goes_on_after_failure {
                task.end = task.at;
            }
        }
        let long = !task.whole && (task.at - task.stretch) * self.cost_ms(worker, task.job) > 10_000;
        if task.at >= task.end || long {
            self.deliver(worker, &task);
            task.stretch = task.at;
        } else if self.rng.random_bool(0.3) {
            self.send_up(link, Up::Say(Event::Progress { session: link, lease, reached: task.at }));
        }
        if task.at >= task.end {
            self.hands[worker].tasks.remove(at);
            self.send_up(link, Up::Say(Event::Returned { session: link, lease }));
        } else {
            self.hands[worker].tasks[at] = task;
        }
        self.start_chunks(worker, link);
    }
}
