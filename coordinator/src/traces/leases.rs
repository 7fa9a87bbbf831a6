//! Leases that are not over yet, as far as somebody wants their spans.

use std::{collections::BTreeMap, ops::Range, time::SystemTime};

use super::{LeaseEnd, Traces};
use crate::scheduler::{JobId, LeaseId, SessionId};

/// The leases in workers' hands. Empty while nobody collects traces.
#[derive(Debug)]
pub struct Leases {
    traces: Traces,
    open: BTreeMap<(SessionId, LeaseId), OpenLease>,
}

/// A lease in a worker's hands.
#[derive(Debug)]
pub struct OpenLease {
    /// Its job.
    pub job: JobId,
    granted: SystemTime,
    range: Range<u64>,
}

impl Leases {
    /// None so far.
    pub fn new(traces: Traces) -> Self {
        Self { traces, open: BTreeMap::new() }
    }

    /// A worker was given one.
    pub fn granted(&mut self, session: SessionId, lease: LeaseId, job: JobId, range: &Range<u64>) {
        if let Some(granted) = self.traces.now() {
            self.open.insert((session, lease), OpenLease { job, granted, range: range.clone() });
        }
    }

    /// It was shortened.
    pub fn shrunk(&mut self, session: SessionId, lease: LeaseId, end: u64) {
        if let Some(open) = self.open.get_mut(&(session, lease)) {
            open.range.end = end.clamp(open.range.start, open.range.end);
        }
    }

    /// It is over.
    pub fn over(&mut self, session: SessionId, lease: LeaseId) -> Option<OpenLease> {
        self.open.remove(&(session, lease))
    }

    /// All of a session's are.
    pub fn all_of(&mut self, session: SessionId) -> Vec<(LeaseId, OpenLease)> {
        let whole = (session, LeaseId(0))..=(session, LeaseId(u64::MAX));
        let leases: Vec<_> = self.open.range(whole).map(|(&(_, lease), _)| lease).collect();
        leases.into_iter().filter_map(|lease| Some((lease, self.over(session, lease)?))).collect()
    }

    /// Makes a span of one that is over.
    pub fn tell(
        &self,
        (lease, open): (LeaseId, &OpenLease),
        job: [&str; 3],
        worker: &str,
        outcome: &'static str,
    ) {
        let range = (open.range.start, open.range.end);
        self.traces.lease(&LeaseEnd { granted: open.granted, lease: lease.0, job, worker, range, outcome });
    }
}
