//! Parts on their way to a disk or a store, written beside the computing.
//!
//! A disk takes milliseconds to say that a file is safe, as long as a unit of a fast kind takes, and a store more. So
//! threads write parts while the next ones are made. Nothing may be told of a unit before [`PartWriter::settle`] has said
//! that its part is there.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    thread::{self, JoinHandle},
};

use jobs::PartSink;

use crate::{bridge::guarded, parts::Parts};

/// A unit, and why its part cannot be written.
type Failure = (u64, String);

/// Parts that wait while others are written: memory stays small, and a slow store slows the computing.
const MOST_WAITING: usize = 1;

/// Threads that write the parts of one lease; there are none before there is a part.
pub struct PartWriter {
    shared: Arc<Shared>,
    threads: OnceLock<Vec<JoinHandle<()>>>,
}

struct Shared {
    parts: Parts,
    work: Mutex<Work>,
    /// Told whenever `work` changes.
    changed: Condvar,
}

#[derive(Default)]
struct Work {
    waiting: VecDeque<(u64, Vec<u8>)>,
    /// Parts that are being written.
    busy: usize,
    /// The last unit that has a part since everything was settled.
    last: Option<u64>,
    failed: Option<Failure>,
    /// There will be no more parts.
    over: bool,
}

impl PartWriter {
    /// A writer of these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let shared = Shared { parts, work: Mutex::default(), changed: Condvar::new() };
        Self { shared: Arc::new(shared), threads: OnceLock::new() }
    }

    /// Waits until all parts are written, durably.
    ///
    /// # Errors
    ///
    /// A unit whose part is not, and why; it is told once.
    pub fn settle(&self) -> Result<(), Failure> {
        let mut work = self.shared.wait_while(|work| work.busy > 0 || !work.waiting.is_empty());
        let (last, failed) = (work.last.take(), work.failed.take());
        drop(work);
        match (failed, last) {
            (Some(failure), _) => Err(failure),
            (None, Some(unit)) => self.shared.parts.sync().map_err(|error| (unit, error)),
            (None, None) => Ok(()),
        }
    }
}

impl PartSink for PartWriter {
    fn put(&self, unit: u64, part: Vec<u8>) -> Result<(), String> {
        self.threads.get_or_init(|| {
            let start = || {
                let shared = Arc::clone(&self.shared);
                thread::spawn(move || shared.write_all())
            };
            (0..self.shared.parts.writers()).map(|_| start()).collect()
        });
        let mut work = self.shared.wait_while(|work| work.waiting.len() >= MOST_WAITING);
        work.last = Some(unit);
        work.waiting.push_back((unit, part));
        drop(work);
        self.shared.changed.notify_all();
        Ok(())
    }
}

impl Drop for PartWriter {
    fn drop(&mut self) {
        self.shared.work().over = true;
        self.shared.changed.notify_all();
        for thread in self.threads.take().into_iter().flatten() {
            // It does not panic: `write_all` catches that.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn work(&self) -> MutexGuard<'_, Work> {
        // Nothing panics while it is held.
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, mut busy: impl FnMut(&Work) -> bool) -> MutexGuard<'_, Work> {
        let waited = self.changed.wait_while(self.work(), |work| busy(work));
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does until there are no more parts.
    fn write_all(&self) {
        loop {
            let mut work = self.wait_while(|work| work.waiting.is_empty() && !work.over);
            let Some((unit, part)) = work.waiting.pop_front() else { return };
            // After one has failed, the others are computed again anyway.
            let in_vain = work.failed.is_some();
            work.busy += 1;
            drop(work);
            self.changed.notify_all();
            let written = if in_vain { Ok(()) } else { guarded(|| self.parts.write(unit, &part)).flatten() };
            let mut work = self.work();
            work.busy -= 1;
            if let Err(error) = written {
                work.failed.get_or_insert((unit, error));
            }
            drop(work);
            self.changed.notify_all();
        }
    }
}
