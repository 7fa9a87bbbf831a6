//! Sums over all connections.

use super::Scheduler;

/// What all connections come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections that have said their first word.
    pub workers: u64,
    /// Leases that they compute at a time.
    pub slots: u64,
    /// Slots that have one.
    pub slots_busy: u64,
    /// Connections that take no further leases.
    pub draining: u64,
    /// Connections that get nothing for a while: units fail on them, or they hand leases back untouched.
    pub resting: u64,
    /// Leases that they hold.
    pub leases: u64,
}

impl Scheduler {
    /// Connections that take leases.
    pub fn takers(&self) -> usize {
        self.classes.members()
    }

    /// Whether one of them knows a job kind in this revision.
    pub fn is_known(&self, kind: &str, revision: u32) -> bool {
        self.classes.is_known(kind, revision)
    }

    /// What all connections come to.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals {
            workers: self.sessions.len() as u64,
            leases: self.leases.len() as u64,
            ..Totals::default()
        };
        for session in self.sessions.values() {
            totals.slots += u64::from(session.slots);
            totals.slots_busy += u64::from(session.held().min(session.slots));
            totals.resting += u64::from(session.trouble.rests_until > self.now);
            totals.draining += u64::from(session.draining);
        }
        totals
    }
}
