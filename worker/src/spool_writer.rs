//! Writes to the spool in the order they were asked for, off the async threads.

use std::{
    collections::HashMap,
    sync::{Arc, mpsc},
    thread::JoinHandle,
};

use crate::spool::{Spool, SpoolError, SpoolKey, SpooledCommit as Output};

enum Op {
    Put(Output),
    Remove(Output),
}

/// A thread that writes. Dropped, it finishes what is queued.
pub struct SpoolWriter {
    ops: Option<mpsc::Sender<Op>>,
    thread: Option<JoinHandle<()>>,
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
        match thread {
            Ok(thread) => Self { ops: Some(ops), thread: Some(thread) },
            Err(error) => {
                tracing::error!("no thread for the spool ({error}): results are kept in memory only");
                Self { ops: None, thread: None }
            }
        }
    }

    /// Queues a result to be kept. A newer result with the same start takes the place of an older one.
    pub fn put(&self, output: Output) {
        self.queue(Op::Put(output));
    }

    /// Queues the removal of a result that was acknowledged.
    pub fn remove(&self, output: Output) {
        self.queue(Op::Remove(output));
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

/// Where a stretch begins: its checkpoints of different lengths take each other's place.
type Place = ([u8; 16], [u8; 16], u64);

fn place(output: &Output) -> Place {
    (output.ledger, output.job, output.range.start)
}

fn write_all(spool: &Spool, queue: &mpsc::Receiver<Op>) {
    let mut kept = HashMap::new();
    while let Ok(first) = queue.recv() {
        let group = std::iter::once(first).chain(queue.try_iter()).take(GROUP);
        if let Err(error) = write(spool, &mut kept, group) {
            tracing::warn!("{error}: results are kept in memory until the coordinator has them");
        }
    }
}

/// Writes a group. `kept` remembers which checkpoint stands for which stretch.
fn write(
    spool: &Spool,
    kept: &mut HashMap<Place, SpoolKey>,
    group: impl Iterator<Item = Op>,
) -> Result<(), SpoolError> {
    // The last word on a stretch is the one that counts.
    let mut last: HashMap<Place, Op> = HashMap::new();
    let mut stale = Vec::new();
    for op in group {
        let (Op::Put(output) | Op::Remove(output)) = &op;
        if matches!(op, Op::Remove(_)) {
            stale.push(output.key());
        }
        last.insert(place(output), op);
    }
    let mut puts = Vec::new();
    for (place, op) in last {
        let new = match op {
            Op::Put(output) => Some(output),
            Op::Remove(_) => None,
        };
        let old = match &new {
            Some(output) => kept.insert(place, output.key()),
            None => kept.remove(&place),
        };
        stale.extend(old);
        puts.extend(new);
    }
    stale.retain(|key| !puts.iter().any(|put| put.key() == *key));
    spool.put_all(&puts)?;
    spool.remove(&stale)
}
