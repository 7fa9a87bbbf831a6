//! The commits of a job, added up.

use std::{ops::Range, sync::Arc};

use jobs::{Accumulator, ErasedJob};
use worker::bridge::guarded;

use super::reopen;
use crate::{
    ledger::etcd::{Adding, Merging},
    scheduler::{Committed, RangeSet, Vote},
};

/// Commits that were added up.
pub(crate) struct Folded {
    /// Committed ranges.
    pub done: RangeSet,
    /// Their sum.
    pub sum: Box<dyn Accumulator>,
    /// Computing time of all of them.
    pub busy_us: u64,
    /// Results that do not count.
    pub claims: Vec<Vote>,
    /// The commits that some of those are about.
    pub disputed: Vec<Committed>,
}

impl Folded {
    /// None yet.
    pub fn nothing(job: Arc<dyn ErasedJob>) -> Self {
        let (claims, disputed) = (Vec::new(), Vec::new());
        Self { done: RangeSet::new(), sum: job.accumulator(), busy_us: 0, claims, disputed }
    }

    /// Adds what a range has yielded.
    ///
    /// # Errors
    ///
    /// When a unit of it was there before, or the partial belongs to another job. The sum is then good for nothing.
    pub fn add(&mut self, range: Range<u64>, partial: &[u8], busy_us: u64) -> Result<(), String> {
        if !self.done.insert(range.clone()) {
            return Err(format!("range {range:?} is committed twice"));
        }
        self.busy_us = self.busy_us.saturating_add(busy_us);
        let added = guarded(|| self.sum.absorb(partial)).and_then(|sum| sum.map_err(|e| e.to_string()));
        added.map_err(|error| format!("the result of range {range:?} does not add up: {error}"))
    }
}

/// How a ledger adds partials up: as the kind of the job does.
pub(crate) fn merging() -> Merging {
    Box::new(|record| {
        let settings = (record.kind.as_str(), record.revision, record.settings.as_str());
        let job = reopen(settings, record.units, "").ok()?.job;
        let add: Adding = Box::new(move |partials| {
            let sum = guarded(|| {
                let mut sum = Arc::clone(&job).accumulator();
                partials.iter().try_for_each(|partial| sum.absorb(partial))?;
                sum.bytes()
            });
            sum.ok()?.ok()
        });
        Some(add)
    })
}
