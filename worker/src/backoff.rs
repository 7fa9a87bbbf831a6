//! How long to wait before trying again.

use std::time::Duration;

use rand::RngExt;

/// Jittered exponential backoff: a coordinator that comes back is not met by all workers in the same millisecond.
#[derive(Debug)]
pub struct Backoff {
    next_ms: u64,
    cap_ms: u64,
}

const FIRST_MS: u64 = 50;

impl Backoff {
    /// Starts at 50 ms and doubles up to `cap_ms`.
    #[must_use]
    pub fn new(cap_ms: u64) -> Self {
        Self { next_ms: FIRST_MS.min(cap_ms), cap_ms }
    }

    /// The next wait: a random time between half of the current step and all of it.
    pub fn next_wait(&mut self) -> Duration {
        let step = self.next_ms.max(2);
        self.next_ms = (self.next_ms * 2).min(self.cap_ms);
        Duration::from_millis(rand::rng().random_range(step / 2..=step))
    }
}
