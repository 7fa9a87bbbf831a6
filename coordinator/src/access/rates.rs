//! How much somebody may ask in a time.
//!
//! A bucket that fills at a rate, kept as the moment when it will be full again: one number, exact, without floats.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// So much a second, and so much at once.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// What one costs.
    each: Duration,
    /// How much may be owed.
    window: Duration,
}

impl Rate {
    /// `per_second`, at least one, and `burst` at once.
    pub const fn new(per_second: u32, burst: u32) -> Self {
        let each = Duration::from_nanos(1_000_000_000 / per_second as u64);
        Self { each, window: each.saturating_mul(burst) }
    }
}

/// What is left of a rate.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    full_at: Instant,
}

impl Bucket {
    /// A full one.
    pub fn full(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// Takes `count`, if so much is left.
    pub fn take(&mut self, rate: Rate, now: Instant, count: u32) -> bool {
        let full_at = self.full_at.max(now) + rate.each.saturating_mul(count);
        let left = full_at.duration_since(now) <= rate.window;
        if left {
            self.full_at = full_at;
        }
        left
    }

    /// Takes `count` in any case, and tells how long to wait because of it.
    pub fn owe(&mut self, rate: Rate, now: Instant, count: u32) -> Duration {
        self.full_at = self.full_at.max(now) + rate.each.saturating_mul(count);
        self.full_at.duration_since(now).saturating_sub(rate.window)
    }
}

/// Whose buckets are kept at a time. More share one: memory stays bounded whoever comes.
const MAX_KEYS: usize = 10_000;

/// A bucket for everybody.
#[derive(Debug)]
pub struct Rates<K> {
    rate: Rate,
    state: Mutex<State<K>>,
}

#[derive(Debug)]
struct State<K> {
    of: HashMap<K, Bucket>,
    shared: Bucket,
}

impl<K: Hash + Eq> Rates<K> {
    /// The same rate for all.
    pub fn new(rate: Rate) -> Self {
        let shared = Bucket::full(Instant::now());
        Self { rate, state: Mutex::new(State { of: HashMap::new(), shared }) }
    }

    /// Whether `key` may do one thing more.
    pub fn take(&self, key: K) -> bool {
        self.take_at(key, Instant::now())
    }

    fn take_at(&self, key: K, now: Instant) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.of.len() >= MAX_KEYS && !state.of.contains_key(&key) {
            // Full buckets are as good as none.
            state.of.retain(|_, bucket| bucket.full_at > now);
            if state.of.len() >= MAX_KEYS {
                return state.shared.take(self.rate, now, 1);
            }
        }
        state.of.entry(key).or_insert_with(|| Bucket::full(now)).take(self.rate, now, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_then_the_rate_does() {
        let rates = Rates::new(Rate::new(10, 5));
        let begun = Instant::now();
        let many = |key: u32, after_ms| {
            let now = begun + Duration::from_millis(after_ms);
            (0..100).filter(|_| rates.take_at(key, now)).count()
        };
        assert_eq!((many(1, 0), many(1, 0), many(2, 0)), (5, 0, 5));
        assert_eq!(many(1, 250), 2);
        assert_eq!(many(1, 3_600_000), 5);
    }

    #[test]
    fn whoever_owes_waits_and_nothing_is_forgiven() {
        let (rate, now) = (Rate::new(1000, 100), Instant::now());
        let mut bucket = Bucket::full(now);
        assert_eq!(bucket.owe(rate, now, 100), Duration::ZERO);
        assert_eq!(bucket.owe(rate, now, 50), Duration::from_millis(50));
        assert_eq!(bucket.owe(rate, now + Duration::from_millis(50), 1), Duration::from_millis(1));
    }

    #[test]
    fn strangers_beyond_the_bound_share_one_bucket() {
        let rates = Rates::new(Rate::new(1, 1));
        let now = Instant::now();
        for key in 0..MAX_KEYS {
            assert!(rates.take_at(key, now));
        }
        assert_eq!((MAX_KEYS..MAX_KEYS + 50).filter(|&key| rates.take_at(key, now)).count(), 1);
        assert!(rates.state.lock().expect("free").of.len() <= MAX_KEYS);
        let later = now + Duration::from_secs(2);
        assert!(rates.take_at(MAX_KEYS, later) && rates.take_at(MAX_KEYS + 1, later));
    }
}
