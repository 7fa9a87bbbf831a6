//! The same done with many things, on all threads.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// What `of` makes of each item, each thread one at a time; in the order of the items. Those after a stop are left out.
pub fn each<I: Sync, T: Send>(
    items: &[I],
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
    of: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                while !stop() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number) else { break };
                    let one = of(item);
                    all.lock().unwrap_or_else(PoisonError::into_inner).push((number, one));
                }
            });
        }
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|&(number, _)| number);
    all.into_iter().map(|(_, one)| one).collect()
}
