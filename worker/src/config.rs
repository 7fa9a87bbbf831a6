//! What a worker is told, and why it gives up.

use std::{path::PathBuf, sync::Arc, time::Duration};

use crate::{dial::Dial, labels::Labels, lease::Pace, link::LinkError, objects::Objects, spool::SpoolError};

/// What a worker needs to know.
#[derive(Debug)]
pub struct Config {
    /// Where the coordinator is.
    pub dial: Arc<Dial>,
    /// Folder of checkpoint and spool.
    pub state: PathBuf,
    /// Where results too large for the ledger go; without it they are not kept.
    pub parts: Option<Objects>,
    /// Leases computed at a time, one thread each.
    pub threads: usize,
    /// Further leases in stock, so that a thread never waits for the network.
    pub prefetch: usize,
    /// For people.
    pub name: String,
    /// For jobs that ask for something in their workers.
    pub labels: Labels,
    /// How often progress becomes durable.
    pub pace: Pace,
    /// How long a stopping worker waits for the acknowledgement of its last results.
    pub drain: Duration,
}

/// Why a worker gave up.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// Its own store does not work.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// Opening it went wrong in a way that nobody foresaw.
    #[error("opening the worker's store failed: {0}")]
    Opening(String),
    /// The coordinator does not want it.
    #[error(transparent)]
    Refused(#[from] LinkError),
    /// No threads to compute with.
    #[error("cannot start {threads} computing threads: {reason}")]
    Threads {
        /// As asked for.
        threads: usize,
        /// What the system says.
        reason: String,
    },
}
