//! Jobs this worker has heard of, opened when first computed.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use jobs::ErasedJob;

use crate::bridge::guarded;

/// A job's definition, and the opened job once a lease has needed it.
pub struct OpenJob {
    kind: String,
    revision: u32,
    settings: String,
    opened: OnceLock<Result<Arc<dyn ErasedJob>, String>>,
}

impl OpenJob {
    /// A job that nobody has opened yet.
    #[must_use]
    pub fn new(kind: String, revision: u32, settings: String) -> Self {
        Self { kind, revision, settings, opened: OnceLock::new() }
    }

    /// Opens the job, once. Called on computing threads: opening may build tables.
    ///
    /// # Errors
    ///
    /// When this worker does not know the kind, in this revision, with these settings.
    pub fn get(&self) -> Result<Arc<dyn ErasedJob>, String> {
        self.opened.get_or_init(|| self.open()).clone()
    }

    fn open(&self) -> Result<Arc<dyn ErasedJob>, String> {
        let kind =
            jobs::find(&self.kind).ok_or_else(|| format!("this worker knows no job kind {:?}", self.kind))?;
        if kind.revision() != self.revision {
            let (ours, theirs) = (kind.revision(), self.revision);
            return Err(format!("this worker has revision {ours} of {}, the job needs {theirs}", self.kind));
        }
        guarded(|| kind.open(&self.settings)).map_or_else(Err, |opened| opened.map_err(|e| e.to_string()))
    }
}

/// All jobs of the current session.
#[derive(Default)]
pub struct JobCache(HashMap<[u8; 16], Arc<OpenJob>>);

/// More jobs than this are not kept open at a time.
const MAX_OPEN: usize = 64;

impl JobCache {
    /// Remembers a definition. A job that is known already stays as it is.
    pub fn define(&mut self, id: [u8; 16], kind: String, revision: u32, settings: String) {
        if self.0.len() >= MAX_OPEN && !self.0.contains_key(&id) {
            self.close_idle();
        }
        self.0.entry(id).or_insert_with(|| Arc::new(OpenJob::new(kind, revision, settings)));
    }

    /// Lets go of the tables of jobs that no lease computes; their definitions stay.
    fn close_idle(&mut self) {
        for job in self.0.values_mut().filter(|job| Arc::strong_count(job) == 1) {
            *job = Arc::new(OpenJob::new(job.kind.clone(), job.revision, job.settings.clone()));
        }
    }

    /// A job by its run.
    #[must_use]
    pub fn get(&self, id: &[u8; 16]) -> Option<Arc<OpenJob>> {
        self.0.get(id).cloned()
    }
}
