//! One lease: a shard in this worker's hands, and the thread that computes it.
//!
//! The session task and the computing thread share a [`Lease`]. The thread claims one unit at a time under the lease's
//! lock, so a lease can be shortened at any moment without a unit being computed twice or skipped.

use std::{
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::{Duration, Instant},
};

use jobs::{Accumulator, PartSink, UnitCheckpoint, UnitContext, UnitError, input::Storage};

use crate::{
    bridge::guarded,
    job_cache::OpenJob,
    objects::Objects,
    part_writer::PartWriter,
    parts::Parts,
    spool::{Spool, SpooledCommit as Output},
};

/// How a lease is to end before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Stop {
    /// It is not.
    No = 0,
    /// Stop now, commit what there is.
    Revoked = 1,
    /// Stop now, drop what there is.
    Abandoned = 2,
}

/// A shard being computed, or waiting to be.
#[derive(Debug)]
pub struct Lease {
    /// The coordinator's number for it.
    pub id: u64,
    /// The worker's own number for it: unlike `id` it never repeats, not even when a coordinator starts anew.
    pub key: u64,
    /// The ledger that gave it.
    pub ledger: [u8; 16],
    /// The run.
    pub job: [u8; 16],
    /// First unit.
    pub start: u64,
    /// Its result is compared with another worker's: it is handed in whole, or not at all.
    whole: bool,
    claims: Mutex<Claims>,
    stop: AtomicU8,
}

#[derive(Debug)]
struct Claims {
    /// First unit that no one has begun.
    next: u64,
    /// All units below are computed.
    reached: u64,
    end: u64,
}

impl Lease {
    /// A lease over `range`.
    #[must_use]
    pub fn new(id: u64, key: u64, ledger: [u8; 16], job: [u8; 16], range: Range<u64>) -> Self {
        let Range { start, end } = range;
        let claims = Mutex::new(Claims { next: start, reached: start, end });
        Self { id, key, ledger, job, start, whole: false, claims, stop: AtomicU8::new(Stop::No as u8) }
    }

    /// The same, to be handed in whole or not at all.
    #[must_use]
    pub fn whole(self, whole: bool) -> Self {
        Self { whole, ..self }
    }

    fn claims(&self) -> MutexGuard<'_, Claims> {
        // Nothing in here can panic half-way, so a poisoned lock still holds consistent numbers.
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shortens the lease to `end`, or to the first unit that no one has begun, and returns its new end.
    pub fn shrink(&self, end: u64) -> u64 {
        let mut claims = self.claims();
        if !self.whole {
            claims.end = end.max(claims.next).min(claims.end);
        }
        claims.end
    }

    /// All units below are computed.
    pub fn reached(&self) -> u64 {
        self.claims().reached
    }

    /// Whether `kept` is the checkpoint of a stretch that this lease's thread will hand in itself, grown on.
    pub fn grows(&self, kept: &Output) -> bool {
        self.job == kept.job
            && self.ledger == kept.ledger
            && (self.start..self.claims().end).contains(&kept.range.start)
    }

    /// Stops the lease; what is computed will be committed.
    pub fn revoke(&self) {
        self.stop.fetch_max(Stop::Revoked as u8, Ordering::Relaxed);
    }

    /// Stops the lease; what is computed and not yet committed is dropped.
    pub fn abandon(&self) {
        self.stop.fetch_max(Stop::Abandoned as u8, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) != Stop::No as u8
    }

    /// Whether its results are void.
    pub fn abandoned(&self) -> bool {
        self.stop.load(Ordering::Relaxed) == Stop::Abandoned as u8
    }

    fn claim(&self) -> Option<u64> {
        let mut claims = self.claims();
        if claims.next >= claims.end || self.stopped() {
            return None;
        }
        claims.next += 1;
        Some(claims.next - 1)
    }

    fn finish(&self, unit: u64) {
        self.claims().reached = unit + 1;
    }
}

/// What a computing thread tells the session.
#[derive(Debug)]
pub enum Report {
    /// A finished stretch of a lease, to be committed.
    Commit {
        /// Key of the lease.
        key: u64,
        /// The stretch.
        output: Output,
    },
    /// A finished stretch that will grow on: for the worker's own checkpoint only.
    Keep {
        /// Key of the lease.
        key: u64,
        /// The stretch.
        output: Output,
    },
    /// The thread has let go of the lease.
    Ended {
        /// Key of the lease.
        key: u64,
        /// Its last finished stretch, to be committed.
        last: Option<Output>,
        /// The unit that failed, and why: the lease went no further.
        failed: Option<Failure>,
    },
}

/// How often a running lease makes its progress durable.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Commit what is done to the coordinator this often.
    pub commit_every: Duration,
    /// Write what is done to the worker's own checkpoint this often.
    pub keep_every: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { commit_every: Duration::from_secs(10), keep_every: Duration::from_secs(1) }
    }
}

/// What it takes to compute a lease.
pub struct Means {
    /// The worker's checkpoint.
    pub spool: Arc<Spool>,
    /// Where the parts of all runs go, if they are kept.
    pub parts: Option<Objects>,
    /// How often progress becomes durable.
    pub pace: Pace,
    /// Reads what jobs are about.
    pub storage: Arc<dyn Storage>,
}

/// The place of one unit in the worker's checkpoint.
struct UnitSlot<'a> {
    spool: &'a Spool,
    job: [u8; 16],
    unit: u64,
    used: AtomicBool,
}

impl UnitCheckpoint for UnitSlot<'_> {
    fn load(&self) -> Option<Vec<u8>> {
        let progress = self.spool.load(self.job, self.unit).unwrap_or_else(|error| {
            tracing::warn!("progress of unit {} is lost: {error}", self.unit);
            None
        });
        self.used.fetch_or(progress.is_some(), Ordering::Relaxed);
        progress
    }

    fn save(&self, progress: Vec<u8>) {
        self.used.store(true, Ordering::Relaxed);
        if let Err(error) = self.spool.save(self.job, self.unit, progress) {
            tracing::warn!("progress of unit {} is not kept: {error}", self.unit);
        }
    }
}

/// Computes `lease` to its end, or until it is stopped, and says so in `report`.
pub fn compute(lease: &Lease, job: &OpenJob, means: &Means, report: &mut dyn FnMut(Report)) {
    let (last, failed) = match guarded(|| stretch_by_stretch(lease, job, means, report)) {
        Ok(Ok(last_and_failed)) => last_and_failed,
        Ok(Err(failure)) => (None, Some(failure)),
        Err(panic) => (None, Some((lease.reached(), panic))),
    };
    report(Report::Ended { key: lease.key, last, failed });
}

/// A unit, and why it failed.
pub type Failure = (u64, String);

fn stretch_by_stretch(
    lease: &Lease,
    job: &OpenJob,
    means: &Means,
    report: &mut dyn FnMut(Report),
) -> Result<(Option<Output>, Option<Failure>), Failure> {
    let opened = job.get().map_err(|error| (lease.start, error))?;
    let mut stretch = Stretch::new(lease.start, Arc::clone(&opened).accumulator());
    let Means { spool, parts, pace, storage } = means;
    let parts = parts
        .as_ref()
        .map(|objects| PartWriter::new(Parts::new(objects.clone(), lease.job, spool.worker_id())));
    let sink = parts.as_ref().map(|parts| parts as &dyn PartSink);
    // What is reported counts as done: its parts have to be there.
    let settle = || parts.as_ref().map_or(Ok(()), PartWriter::settle);
    let stop = || lease.stopped();
    let mut failure = None;
    while let Some(unit) = lease.claim() {
        let slot = UnitSlot { spool, job: lease.job, unit, used: AtomicBool::new(false) };
        // A panic inside a unit must not take the finished units of the stretch with it.
        let context = UnitContext::new(&stop, Some(&slot)).with_parts(sink).with_storage(storage);
        match guarded(|| stretch.sum.run_unit(unit, &context)) {
            Ok(Ok(())) => {}
            Ok(Err(UnitError::Stopped)) => break,
            Ok(Err(UnitError::Failed(error))) | Err(error) => {
                failure = Some((unit, error));
                break;
            }
        }
        if slot.used.into_inner() {
            spool.drop_unit(lease.job, unit);
        }
        lease.finish(unit);
        let now = Instant::now();
        if lease.whole {
            // A part of it is of no use to anybody. It is short: another worker handed it in as one stretch.
        } else if now - stretch.began >= pace.commit_every {
            settle()?;
            if let Some(output) = stretch.output(lease)? {
                report(Report::Commit { key: lease.key, output });
            }
            stretch = Stretch::new(unit + 1, Arc::clone(&opened).accumulator());
        } else if now - stretch.kept >= pace.keep_every {
            settle()?;
            stretch.kept = now;
            if let Some(output) = stretch.output(lease)? {
                report(Report::Keep { key: lease.key, output });
            }
        }
    }
    match settle() {
        Ok(()) => Ok((stretch.output(lease)?, failure)),
        Err(unwritten) => Ok((None, failure.or(Some(unwritten)))),
    }
}

/// The stretch of a lease since its last commit.
struct Stretch {
    start: u64,
    sum: Box<dyn Accumulator>,
    began: Instant,
    kept: Instant,
}

impl Stretch {
    fn new(start: u64, sum: Box<dyn Accumulator>) -> Self {
        let now = Instant::now();
        Self { start, sum, began: now, kept: now }
    }

    fn output(&self, lease: &Lease) -> Result<Option<Output>, Failure> {
        let Claims { reached, end, .. } = *lease.claims();
        let range = self.start..reached;
        if range.is_empty() || lease.abandoned() || (lease.whole && reached < end) {
            return Ok(None);
        }
        let partial = self.sum.bytes().map_err(|e| (self.start, e.to_string()))?;
        let digest = *blake3::hash(&partial).as_bytes();
        let busy_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(Some(Output { ledger: lease.ledger, job: lease.job, range, digest, partial, busy_us }))
    }
}

#[cfg(test)]
mod tests;
