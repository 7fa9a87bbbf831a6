//! Parts on their way to the disk, written beside the computing.
//!
//! A disk takes milliseconds to say that a file is safe, as long as a unit of a fast kind takes. So a thread writes one
//! part while the next one is made. Nothing may be told of a unit before [`PartWriter::settle`] has said that its part is
//! there.

use std::{
    sync::{
        Mutex, OnceLock, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use jobs::PartSink;

use crate::parts::Parts;

/// A unit, and why its part cannot be written.
type Failure = (u64, String);

enum Order {
    Write(u64, Vec<u8>),
    /// Answer when all before is done.
    Settle(SyncSender<Result<(), Failure>>),
}

/// A thread that writes the parts of one lease; there is none before there is a part.
pub struct PartWriter {
    parts: Parts,
    thread: OnceLock<(Mutex<SyncSender<Order>>, JoinHandle<()>)>,
}

impl PartWriter {
    /// A writer of these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self { parts, thread: OnceLock::new() }
    }

    fn send(&self, order: Order) -> Result<(), String> {
        let (sender, _) = self.thread.get_or_init(|| {
            // One part waits while one is written: memory stays small, and a slow disk slows the computing.
            let (sender, orders) = sync_channel(1);
            let parts = self.parts.clone();
            (Mutex::new(sender), thread::spawn(move || write_all(&parts, &orders)))
        });
        let sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
        sender.send(order).map_err(|_| "the thread that writes parts has ended".into())
    }

    /// Waits until all parts are on disk.
    ///
    /// # Errors
    ///
    /// The first unit whose part is not, and why; it is told once.
    pub fn settle(&self) -> Result<(), Failure> {
        if self.thread.get().is_none() {
            return Ok(());
        }
        let (answer, answers) = sync_channel(1);
        let died = |error| (0, error);
        self.send(Order::Settle(answer)).map_err(died)?;
        answers.recv().unwrap_or_else(|_| Err(died("the thread that writes parts has ended".into())))
    }
}

impl PartSink for PartWriter {
    fn put(&self, unit: u64, part: Vec<u8>) -> Result<(), String> {
        self.send(Order::Write(unit, part))
    }
}

impl Drop for PartWriter {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            // Its panic has been told by `settle`.
            drop(thread.join());
        }
    }
}

fn write_all(parts: &Parts, orders: &Receiver<Order>) {
    let mut written = Ok(());
    let mut last = None;
    for order in orders {
        match order {
            Order::Write(unit, part) => {
                last = Some(unit);
                // After one has failed, the others are computed again anyway.
                if written.is_ok() {
                    written = parts.write(unit, &part).map_err(|error| (unit, error));
                }
            }
            Order::Settle(answer) => {
                if let Some(unit) = last.take()
                    && written.is_ok()
                {
                    written = parts.sync().map_err(|error| (unit, error));
                }
                // Who asked may be gone.
                drop(answer.send(std::mem::replace(&mut written, Ok(()))));
            }
        }
    }
}
