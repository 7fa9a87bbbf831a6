//! Counters, moved by whoever sees it happen: an addition each, for which nobody waits.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use prometheus_client::metrics::{counter::Counter, gauge::Gauge, histogram::Histogram};

use crate::access::METHODS;

/// What has happened since this process began.
#[derive(Debug)]
pub struct Counted {
    /// Workers welcomed.
    pub sessions_opened: Counter,
    /// Sessions that ended, by `reason`.
    pub sessions_closed: Split,
    /// Workers that were not let in: their version, their kinds, their quarantine, no room.
    pub workers_refused: Counter,
    /// Messages of workers, heartbeats too.
    pub worker_messages: Counter,
    /// Their size.
    pub worker_bytes: Counter,
    /// Leases granted.
    pub grants: Counter,
    /// Units that failed on a worker.
    pub unit_failures: Counter,
    /// Units given up.
    pub units_quarantined: Counter,
    /// Second results that differ, and stopped a job.
    pub conflicts: Counter,
    /// Units that became durable and count.
    pub units_committed: Counter,
    /// Commits offered, by `verdict`.
    pub commits: Split,
    /// From the arrival of a commit until it is durable, in seconds.
    pub commit_latency_s: Histogram,
    /// Entries of each group that the ledger took.
    pub ledger_group: Histogram,
    /// How long it took the ledger to make a group durable, in seconds.
    pub ledger_append_s: Histogram,
    /// What the ledger takes where it is kept.
    pub ledger_bytes: Gauge<u64, AtomicU64>,
    /// Connections that are open now.
    pub connections: Gauge,
    /// Connections that were turned away, or did not shake hands.
    pub connections_refused: Counter,
    /// Requests that were let in, by `method`.
    pub requests: Split,
    /// Requests that were not, by `code`.
    pub requests_refused: Split,
    /// Spans, by how far they came: `stage`.
    pub spans: Split,
    certificate_expires_unix_s: AtomicU64,
}

/// A connection, for as long as it is open.
#[derive(Debug)]
pub struct OpenConnection(Arc<Counted>);

impl OpenConnection {
    /// From now on.
    pub fn of(counted: Arc<Counted>) -> Self {
        counted.connections.inc();
        Self(counted)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.connections.dec();
    }
}

/// A counter in parts, told apart by one label. All parts are there from the start, at 0, so that a rate sees the first one.
#[derive(Debug)]
pub struct Split {
    /// The label.
    pub label: &'static str,
    /// Its values.
    pub parts: Vec<(&'static str, Counter)>,
}

/// The part for what nobody thought of.
const OTHER: &str = "other";

/// Why sessions end.
const ENDS: &[&str] =
    &["left", "lost", "silent", "mute", "unread", "superseded", "quarantined", "nonsense", OTHER];
/// What becomes of commits.
const VERDICTS: &[&str] =
    &["accepted", "duplicate", "overlap", "conflict", "unknown_job", "malformed", "later", "refused", OTHER];
/// Why requests are refused: the names of gRPC's codes.
const CODES: &[&str] =
    &["unauthenticated", "permission_denied", "resource_exhausted", "unimplemented", OTHER];
/// Spans made; then sent or lost. Others wait, or were dropped because too many did.
const SPANS: &[&str] = &["made", "sent", "lost"];

const COMMIT_SECONDS: [f64; 13] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
const APPEND_SECONDS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];
const GROUP_ENTRIES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

impl Default for Counted {
    fn default() -> Self {
        Self {
            sessions_opened: Counter::default(),
            sessions_closed: Split::new("reason", ENDS.iter().copied()),
            workers_refused: Counter::default(),
            worker_messages: Counter::default(),
            worker_bytes: Counter::default(),
            grants: Counter::default(),
            unit_failures: Counter::default(),
            units_quarantined: Counter::default(),
            conflicts: Counter::default(),
            units_committed: Counter::default(),
            commits: Split::new("verdict", VERDICTS.iter().copied()),
            commit_latency_s: Histogram::new(COMMIT_SECONDS),
            ledger_group: Histogram::new(GROUP_ENTRIES),
            ledger_append_s: Histogram::new(APPEND_SECONDS),
            ledger_bytes: Gauge::default(),
            connections: Gauge::default(),
            connections_refused: Counter::default(),
            requests: Split::new("method", METHODS.iter().map(|(path, _)| method(path))),
            requests_refused: Split::new("code", CODES.iter().copied()),
            spans: Split::new("stage", SPANS.iter().copied()),
            certificate_expires_unix_s: AtomicU64::new(0),
        }
    }
}

impl Counted {
    /// The certificate that is shown from now on is valid until then.
    pub fn certificate_expires(&self, unix_s: Option<u64>) {
        self.certificate_expires_unix_s.store(unix_s.unwrap_or(0), Ordering::Relaxed);
    }

    /// Until when the certificate that is shown is valid, if one is.
    pub fn certificate_expiry_unix_s(&self) -> Option<u64> {
        Some(self.certificate_expires_unix_s.load(Ordering::Relaxed)).filter(|&at| at > 0)
    }

    /// A request was let in.
    pub fn request(&self, path: &str) {
        self.requests.count(method(path));
    }
}

impl Split {
    fn new(label: &'static str, values: impl Iterator<Item = &'static str>) -> Self {
        Self { label, parts: values.map(|value| (value, Counter::default())).collect() }
    }

    /// One more of this value; of the last part when there is none for it.
    pub fn count(&self, value: &str) {
        self.count_many(value, 1);
    }

    /// Several more.
    pub fn count_many(&self, value: &str, count: u64) {
        let part = self.parts.iter().find(|(name, _)| *name == value).or(self.parts.last());
        if let Some((_, counter)) = part {
            counter.inc_by(count);
        }
    }
}

/// The last part of a path: `/nonet.v1.Jobs/List` is `List`.
fn method(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_thought_of_is_counted_too() {
        let counted = Counted::default();
        counted.sessions_closed.count("lost");
        counted.sessions_closed.count_many("eaten", 2);
        let of = |value| counted.sessions_closed.parts.iter().find(|part| part.0 == value).expect("a part");
        assert_eq!((of("lost").1.get(), of(OTHER).1.get(), of("left").1.get()), (1, 2, 0));
        counted.request("/nonet.v1.Jobs/List");
        let lists = counted.requests.parts.iter().find(|part| part.0 == "List").expect("a part");
        assert_eq!(lists.1.get(), 1);
    }
}
