//! From async to CPU work and back. The only place where tokio meets rayon.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// The rayon pool that computes leases, one thread a slot.
pub struct Pool(rayon::ThreadPool);

impl Pool {
    /// A pool of `threads` threads.
    ///
    /// # Errors
    ///
    /// When the system gives no more threads.
    pub fn new(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let name = |i| format!("compute-{i}");
        // A deep search recurses; rayon's default of 2 MiB is the system's and differs between machines.
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(name)
            .stack_size(8 << 20)
            .build()
            .map(Self)
    }

    /// Starts `work` on the pool and returns at once. What it has to say it sends through channels of its own.
    ///
    /// `work` must not unwind: wrap what may panic in [`guarded`]. An unwinding task would abort the process.
    pub fn start(&self, work: impl FnOnce() + Send + 'static) {
        self.0.spawn(work);
    }
}

/// Runs `work` and turns a panic into its message.
///
/// # Errors
///
/// The panic's message.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| format!("panicked: {}", message(panic.as_ref())))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_panic_in_a_unit_is_an_error_and_the_pool_goes_on() {
        let pool = Pool::new(1).expect("a thread");
        let (say, hear) = mpsc::channel();
        for n in 0..3u32 {
            let say = say.clone();
            pool.start(move || {
                say.send(guarded(|| if n == 1 { panic!("unit {n}") } else { n })).expect("heard");
            });
        }
        let heard: Vec<_> = hear.iter().take(3).collect();
        assert_eq!(heard, [Ok(0), Err("panicked: unit 1".into()), Ok(2)]);
    }
}
