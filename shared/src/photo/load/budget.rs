//! Memory for decoding, shared by all threads of the process: however many photographs are read at once, together they
//! take no more than the largest may take alone.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::limits::MAX_MEMORY;

/// Memory for a picture, given back when it is dropped.
pub struct Reserved {
    budget: &'static Budget,
    bytes: u64,
}

struct Budget {
    most: u64,
    used: Mutex<u64>,
    returned: Condvar,
    /// Who holds it is the next: a large picture is not overtaken for ever by small ones.
    next: Mutex<()>,
}

static BUDGET: Budget = Budget::new(MAX_MEMORY);

/// Waits until so many bytes are free. What is more than the whole budget waits until nobody else has any of it.
pub fn reserve(bytes: u64) -> Reserved {
    BUDGET.reserve(bytes)
}

impl Budget {
    const fn new(most: u64) -> Self {
        Self { most, used: Mutex::new(0), returned: Condvar::new(), next: Mutex::new(()) }
    }

    fn used(&self) -> MutexGuard<'_, u64> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reserve(&'static self, bytes: u64) -> Reserved {
        let bytes = bytes.min(self.most);
        let _next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |used: &mut u64| *used + bytes > self.most;
        let mut used = self.returned.wait_while(self.used(), is_full).unwrap_or_else(PoisonError::into_inner);
        *used += bytes;
        Reserved { budget: self, bytes }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        *self.budget.used() -= self.bytes;
        self.budget.returned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU64, Ordering},
        thread,
    };

    use super::*;

    #[test]
    fn threads_together_stay_below_the_budget_and_all_get_their_turn() {
        static SMALL: Budget = Budget::new(100);
        static USED: AtomicU64 = AtomicU64::new(0);
        thread::scope(|scope| {
            for thread in 0..8_u64 {
                scope.spawn(move || {
                    for round in 0..200 {
                        // Every fourth asks for more than there is, and is then alone.
                        let bytes = if (thread + round) % 4 == 0 { 1000 } else { 10 + 7 * thread };
                        let reserved = SMALL.reserve(bytes);
                        let used = USED.fetch_add(reserved.bytes, Ordering::SeqCst) + reserved.bytes;
                        assert!(used <= 100, "{used}");
                        thread::yield_now();
                        USED.fetch_sub(reserved.bytes, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(*SMALL.used(), 0);
    }
}
