//! Progress inside units that is not on disk yet.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{Job, UnitKey};

/// Progress that is not on disk yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    /// Jobs of which nothing is kept; before what follows.
    pub dropped: BTreeSet<Job>,
    /// `None`: dropped.
    pub units: BTreeMap<UnitKey, Option<Arc<[u8]>>>,
    pub bytes: usize,
}

/// What [`Changes`] say of a unit.
pub(super) enum Known {
    Saved(Arc<[u8]>),
    Dropped,
    /// The disk knows.
    Nothing,
}

impl Changes {
    pub fn set(&mut self, unit: UnitKey, bytes: Option<Arc<[u8]>>) {
        self.bytes += bytes.as_ref().map_or(0, |b| b.len());
        if let Some(Some(old)) = self.units.insert(unit, bytes) {
            self.bytes -= old.len();
        }
    }

    pub fn drop_job(&mut self, job: Job) {
        let units: Vec<_> = self.units.range((job, 0)..=(job, u64::MAX)).map(|(k, _)| *k).collect();
        for unit in units {
            if let Some(Some(old)) = self.units.remove(&unit) {
                self.bytes -= old.len();
            }
        }
        self.dropped.insert(job);
    }

    pub fn get(&self, unit: &UnitKey) -> Known {
        match self.units.get(unit) {
            Some(Some(bytes)) => Known::Saved(Arc::clone(bytes)),
            Some(None) => Known::Dropped,
            None if self.dropped.contains(&unit.0) => Known::Dropped,
            None => Known::Nothing,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.units.is_empty()
    }
}
