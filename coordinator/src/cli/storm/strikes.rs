//! What a storm does, by chance: kills, pauses, cuts; and takes back.

use std::{io, time::Duration};

use rand::{RngExt, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use tokio::time::{Instant, sleep_until};

use super::stage::{Condition, Part, Stage};

/// How often each was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Struck {
    pub kills: u32,
    pub pauses: u32,
    pub cuts: u32,
}

/// What is to be taken back, and when.
#[derive(Clone, Copy, Debug)]
enum Mend {
    Start(usize),
    Wake(usize),
    Join(usize),
}

/// Between strikes.
const GAP_MS: std::ops::Range<u64> = 50..500;
/// How long a process is down before it is started again.
const DOWN_MS: std::ops::Range<u64> = 0..1_000;
/// How long a process is stopped, or a cable cut: from hardly noticed to given up for dead, with a lease of 2 s and silence
/// of 1.5 s.
const AWAY_MS: std::ops::Range<u64> = 50..4_000;

/// A storm over a stage.
pub struct Strikes<'a> {
    pub stage: &'a mut Stage,
    pub rng: ChaCha8Rng,
    pub struck: Struck,
    mends: Vec<(Instant, Mend)>,
}

impl<'a> Strikes<'a> {
    pub fn new(stage: &'a mut Stage, rng: ChaCha8Rng) -> Self {
        Self { stage, rng, struck: Struck::default(), mends: Vec::new() }
    }

    /// Strikes until `end`. Can be dropped at any moment.
    ///
    /// # Errors
    ///
    /// When a process cannot be started or has ended by itself.
    pub async fn rage(&mut self, end: Instant) -> io::Result<()> {
        let mut next = Instant::now() + self.within(GAP_MS);
        loop {
            let mend = self.mends.iter().map(|(at, _)| *at).min();
            let now = mend.unwrap_or(next).min(next).min(end);
            sleep_until(now).await;
            if now >= end {
                return Ok(());
            }
            self.mend(now)?;
            if now >= next {
                self.strike(now)?;
                next = now + self.within(GAP_MS);
            }
            for actor in &mut self.stage.actors {
                if actor.has_ended()? {
                    return Err(io::Error::other(format!("{} ended by itself", actor.name)));
                }
            }
        }
    }

    fn mend(&mut self, now: Instant) -> io::Result<()> {
        let (due, later) = self.mends.drain(..).partition(|(at, _)| *at <= now);
        self.mends = later;
        let due: Vec<(Instant, Mend)> = due;
        for (_, mend) in due {
            match mend {
                Mend::Start(i) => self.stage.actors[i].start()?,
                Mend::Wake(i) => self.stage.actors[i].pause(false)?,
                Mend::Join(i) => self.stage.cables[i].set(false),
            }
        }
        Ok(())
    }

    fn strike(&mut self, now: Instant) -> io::Result<()> {
        match self.rng.random_range(0..5) {
            0 | 1 => {
                let Some(i) = self.victim() else { return Ok(()) };
                tracing::info!("{} is killed", self.stage.actors[i].name);
                self.stage.actors[i].kill()?;
                self.struck.kills += 1;
                self.later(now, DOWN_MS, Mend::Start(i));
            }
            2 | 3 => {
                let Some(i) = self.victim() else { return Ok(()) };
                tracing::info!("{} is stopped", self.stage.actors[i].name);
                self.stage.actors[i].pause(true)?;
                self.struck.pauses += 1;
                self.later(now, AWAY_MS, Mend::Wake(i));
            }
            _ => {
                let whole: Vec<usize> =
                    (0..self.stage.cables.len()).filter(|&i| !self.stage.cables[i].cut).collect();
                let Some(&i) = whole.choose(&mut self.rng) else { return Ok(()) };
                tracing::info!("{} is cut", self.stage.cables[i].name);
                self.stage.cables[i].set(true);
                self.struck.cuts += 1;
                self.later(now, AWAY_MS, Mend::Join(i));
            }
        }
        Ok(())
    }

    /// A process that runs. While a node of etcd is away, the others are mostly left alone: without a majority nothing happens
    /// at all.
    fn victim(&mut self) -> Option<usize> {
        let actors = &self.stage.actors;
        let etcd_away = actors.iter().any(|a| a.part == Part::Etcd && a.condition != Condition::Up);
        let spared = etcd_away && self.rng.random_range(0..8) > 0;
        let up: Vec<usize> = (0..actors.len())
            .filter(|&i| actors[i].condition == Condition::Up && !(spared && actors[i].part == Part::Etcd))
            .collect();
        up.choose(&mut self.rng).copied()
    }

    fn later(&mut self, now: Instant, within: std::ops::Range<u64>, mend: Mend) {
        let at = now + self.within(within);
        self.mends.push((at, mend));
    }

    fn within(&mut self, range_ms: std::ops::Range<u64>) -> Duration {
        Duration::from_millis(self.rng.random_range(range_ms))
    }
}
