//! The computing threads, and the leases that wait for one.
//!
//! A thread that is through with a lease takes the next by itself: with tiny leases, asking the agent each time would
//! cost more than the work.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

use crate::{
    bridge::Pool,
    job_cache::OpenJob,
    lease::{Lease, Means, Report, compute},
};

/// Threads and queue.
pub struct Crew {
    pool: Pool,
    threads: usize,
    shared: Arc<Shared>,
}

struct Shared {
    queue: Mutex<Queue>,
    means: Means,
    report: mpsc::Sender<Report>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(Arc<Lease>, Arc<OpenJob>)>,
    /// Threads that are at work.
    busy: usize,
}

impl Crew {
    /// A crew of `threads` on `pool` that reports to `report`.
    #[must_use]
    pub fn new(pool: Pool, threads: usize, means: Means, report: mpsc::Sender<Report>) -> Self {
        let shared = Arc::new(Shared { queue: Mutex::default(), means, report });
        Self { pool, threads, shared }
    }

    /// Has a lease computed when its turn comes.
    pub fn add(&self, lease: Arc<Lease>, job: Arc<OpenJob>) {
        let mut queue = self.shared.queue();
        queue.waiting.push_back((lease, job));
        if queue.busy < self.threads {
            queue.busy += 1;
            let shared = Arc::clone(&self.shared);
            self.pool.start(move || shared.work());
        }
    }

    /// Takes a lease back that no thread has begun. False when one has.
    #[must_use]
    pub fn take_back(&self, lease: &Lease) -> bool {
        let mut queue = self.shared.queue();
        let before = queue.waiting.len();
        queue.waiting.retain(|(waiting, _)| waiting.key != lease.key);
        queue.waiting.len() < before
    }

    /// Takes all leases back that no thread has begun.
    #[must_use]
    pub fn take_back_all(&self) -> Vec<Arc<Lease>> {
        self.shared.queue().waiting.drain(..).map(|(lease, _)| lease).collect()
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing panics while it is held.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does until nothing waits.
    fn work(&self) {
        loop {
            let next = {
                let mut queue = self.queue();
                let next = queue.waiting.pop_front();
                if next.is_none() {
                    queue.busy -= 1;
                }
                next
            };
            let Some((lease, job)) = next else { return };
            // When the agent is gone, the process is on its way out and nobody needs the report.
            compute(&lease, &job, &self.means, &mut |report| {
                drop(self.report.blocking_send(report));
            });
        }
    }
}
