//! Ranges of packed files, read by many threads.
//!
//! A packed file can only be unpacked from its beginning on. Each thread of a worker asks for one range after the other,
//! further and further on, but threads are far apart from each other. So an [`Unpacker`] that has given a range waits
//! where it is, and who asks next gets the one that waits closest before his range: there are about as many as threads,
//! each of which unpacks the file about once, at many times the speed of what is done with the text. All of them
//! together are given a fixed amount of memory; who wants more than is left waits, or has to begin anew later.

use std::{
    ops::Range,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{
    file::{File, Packed},
    storage::Storage,
    unpack::Unpacker,
};

/// Memory for all unpackers of the process. The largest single one, which is let in always, takes less.
const MOST_MEMORY_BYTES: u64 = 192 << 20;

/// An unpacker that nobody has asked for so long is let go of.
const KEPT: Duration = Duration::from_secs(60);

/// How often one who waits for memory looks whether he is to stop.
const LOOK_EVERY: Duration = Duration::from_millis(10);

pub static POOL: Pool = Pool::new(MOST_MEMORY_BYTES);

/// All packed files of the process are read through it.
pub struct Pool {
    most_memory_bytes: u64,
    state: Mutex<State>,
    freed: Condvar,
}

struct State {
    /// Unpackers that wait, the one that was used last at the end.
    waiting: Vec<Waiting>,
    /// What all take, also those that are at work.
    memory_bytes: u64,
}

struct Waiting {
    unpacker: Unpacker,
    memory_bytes: u64,
    since: Instant,
}

/// The right to have an unpacker at work.
struct Place<'a> {
    pool: &'a Pool,
    memory_bytes: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.pool.state().memory_bytes -= self.memory_bytes;
        self.pool.freed.notify_all();
    }
}

impl Pool {
    const fn new(most_memory_bytes: u64) -> Self {
        let state = State { waiting: Vec::new(), memory_bytes: 0 };
        Self { most_memory_bytes, state: Mutex::new(state), freed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a range of the unpacked bytes of a file; nothing when it is stopped.
    pub fn read(
        &self,
        file: &File,
        packed: &Packed,
        bytes: Range<u64>,
        storage: &Arc<dyn Storage>,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<u8>>, String> {
        let memory_bytes = Unpacker::memory_bytes(file, packed);
        let Some((place, found)) = self.enter(file, bytes.start, memory_bytes, stopped) else {
            return Ok(None);
        };
        let mut unpacker = match found {
            Some(unpacker) => unpacker,
            None => Unpacker::new(file, packed, storage)?,
        };
        let read = unpacker.read(bytes, stopped)?;
        // It takes its place along.
        std::mem::forget(place);
        self.state().waiting.push(Waiting { unpacker, memory_bytes, since: Instant::now() });
        self.freed.notify_all();
        Ok(read)
    }

    /// A place, with the unpacker that waits closest before `start`, or for a new one.
    fn enter(
        &self,
        file: &File,
        start: u64,
        memory_bytes: u64,
        stopped: &dyn Fn() -> bool,
    ) -> Option<(Place<'_>, Option<Unpacker>)> {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            while state.waiting.first().is_some_and(|oldest| now - oldest.since > KEPT) {
                state.drop_oldest();
            }
            if let Some(unpacker) = state.closest(file, start) {
                return Some((Place { pool: self, memory_bytes }, Some(unpacker)));
            }
            while state.memory_bytes + memory_bytes > self.most_memory_bytes && !state.waiting.is_empty() {
                state.drop_oldest();
            }
            if state.memory_bytes == 0 || state.memory_bytes + memory_bytes <= self.most_memory_bytes {
                state.memory_bytes += memory_bytes;
                return Some((Place { pool: self, memory_bytes }, None));
            }
            if stopped() {
                return None;
            }
            let waited = self.freed.wait_timeout(state, LOOK_EVERY);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl State {
    fn drop_oldest(&mut self) {
        let oldest = self.waiting.remove(0);
        self.memory_bytes -= oldest.memory_bytes;
    }

    fn closest(&mut self, file: &File, start: u64) -> Option<Unpacker> {
        let places = self.waiting.iter().enumerate();
        let fit = places.filter(|(_, waiting)| {
            waiting.unpacker.file == *file && waiting.unpacker.reaches_from() <= start
        });
        let (place, _) = fit.max_by_key(|(_, waiting)| waiting.unpacker.reaches_from())?;
        Some(self.waiting.remove(place).unpacker)
    }
}
