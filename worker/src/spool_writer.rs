//! Writes to the spool in the order they were asked for, off the async threads.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, mpsc},
    thread::JoinHandle,
};

use crate::spool::{Spool, SpoolError, SpoolKey, SpooledCommit as Output};

/// Where a stretch begins: its checkpoints of different lengths take each other's place.
type Place = ([u8; 16], [u8; 16], u64);

fn place(key: &SpoolKey) -> Place {
    (key.ledger, key.job, key.range.start)
}

#[derive(Default)]
struct Op {
    put: Option<Output>,
    remove: Option<SpoolKey>,
}

/// A thread that writes. Dropped, it finishes what is queued.
pub struct SpoolWriter {
    ops: Option<mpsc::Sender<Op>>,
    thread: Option<JoinHandle<()>>,
    /// Which checkpoint stands in the spool for which stretch. Most results are acknowledged before they are worth a
    /// write, and cost nothing here.
    kept: HashMap<Place, SpoolKey>,
}

/// Writes in one group.
const GROUP: usize = 256;

impl SpoolWriter {
    /// Starts the thread.
    #[must_use]
    pub fn start(spool: Arc<Spool>) -> Self {
        let (ops, queue) = mpsc::channel();
        let thread =
            std::thread::Builder::new().name("spool".into()).spawn(move || write_all(&spool, &queue));
        let kept = HashMap::new();
        match thread {
            Ok(thread) => Self { ops: Some(ops), thread: Some(thread), kept },
            Err(error) => {
                tracing::error!("no thread for the spool ({error}): results are kept in memory only");
                Self { ops: None, thread: None, kept }
            }
        }
    }

    /// Queues a result to be kept. A newer result with the same start takes the place of an older one.
    pub fn put(&mut self, output: Output) {
        let key = output.key();
        let old = self.kept.insert(place(&key), key.clone());
        self.queue(Op { put: Some(output), remove: old.filter(|old| *old != key) });
    }

    /// Notes a result that the spool has from an earlier life.
    pub fn found(&mut self, output: &Output) {
        let key = output.key();
        let old = self.kept.insert(place(&key), key.clone());
        if let Some(old) = old.filter(|old| *old != key) {
            self.queue(Op { remove: Some(old), ..Op::default() });
        }
    }

    /// Queues the removal of a result that was acknowledged, if it is kept.
    pub fn remove(&mut self, output: &Output) {
        if let Some(key) = self.kept.remove(&place(&output.key())) {
            self.queue(Op { remove: Some(key), ..Op::default() });
        }
    }

    /// Waits until everything queued is on disk.
    pub fn finish(mut self) {
        self.join();
    }

    fn queue(&self, op: Op) {
        if let Some(ops) = &self.ops {
            // The thread ends only when this sender is gone.
            drop(ops.send(op));
        }
    }

    fn join(&mut self) {
        self.ops = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the spool's writer panicked");
        }
    }
}

impl Drop for SpoolWriter {
    fn drop(&mut self) {
        self.join();
    }
}

fn write_all(spool: &Spool, queue: &mpsc::Receiver<Op>) {
    while let Ok(first) = queue.recv() {
        let group = std::iter::once(first).chain(queue.try_iter()).take(GROUP);
        if let Err(error) = write(spool, group) {
            tracing::warn!("{error}: results are kept in memory until the coordinator has them");
        }
    }
}

/// Writes a group: first what is to be kept, then what may go. Within the group the last word on a key counts.
fn write(spool: &Spool, group: impl Iterator<Item = Op>) -> Result<(), SpoolError> {
    let (mut puts, mut removes) = (HashMap::new(), HashSet::new());
    for Op { put, remove } in group {
        if let Some(put) = put {
            removes.remove(&put.key());
            puts.insert(put.key(), put);
        }
        if let Some(key) = remove {
            puts.remove(&key);
            removes.insert(key);
        }
    }
    spool.put_all(&puts.into_values().collect::<Vec<_>>())?;
    tracing::debug!("results are in the spool");
    spool.remove(&removes.into_iter().collect::<Vec<_>>())
}
