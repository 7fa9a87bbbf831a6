//! Workers, their connections, and what they hold.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use super::{Abilities, JobId, LeaseId, Millis, Policy, SessionId, WorkerId, speed::Speed};

/// A connection.
#[derive(Debug)]
pub(super) struct Session {
    pub worker: WorkerId,
    pub abilities: Arc<Abilities>,
    pub slots: u32,
    pub prefetch: u32,
    pub draining: bool,
    /// In the order of their grants: the first `slots` of them are what the worker computes.
    pub leases: BTreeSet<LeaseId>,
    pub heard: Millis,
    pub units_done: u64,
    pub trouble: Trouble,
}

/// What went wrong on a worker. It outlives its connections: a broken machine that is started again is the same machine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trouble {
    /// Failures and returns without any work since the last commit.
    pub strikes: u32,
    /// Units that failed, ever.
    pub failures: u64,
    /// No grants before.
    pub rests_until: Millis,
}

/// Where a session stands in the queue for grants: idle slots come before stock, and who holds less comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Appetite {
    /// Every slot has a lease; only the stock is short.
    pub busy: bool,
    /// Leases held.
    pub held: u32,
}

impl Session {
    pub(super) fn held(&self) -> u32 {
        u32::try_from(self.leases.len()).unwrap_or(u32::MAX)
    }

    /// Leases that it is to compute at a time: one that has to show that it can do anything at all gets one thing to do.
    pub(super) fn slots_now(&self, policy: &Policy) -> u32 {
        if self.is_on_trial(policy) { self.slots.min(1) } else { self.slots }
    }

    fn is_on_trial(&self, policy: &Policy) -> bool {
        self.trouble.strikes > policy.free_strikes
    }

    /// What the session should get, if anything.
    pub(super) fn appetite(&self, now: Millis, policy: &Policy) -> Option<Appetite> {
        let held = self.held();
        let has_stock = self.slots > 0 && !self.is_on_trial(policy);
        let stock = if has_stock { self.prefetch } else { 0 };
        let credit = self.slots_now(policy).saturating_add(stock);
        let wants = !self.draining && now >= self.trouble.rests_until && held < credit;
        wants.then_some(Appetite { busy: held >= self.slots, held })
    }
}

/// A worker, whether connected or not.
#[derive(Debug, Default)]
pub(super) struct Worker {
    pub session: Option<SessionId>,
    pub speeds: BTreeMap<JobId, Speed>,
    /// As its last session left it.
    pub trouble: Trouble,
    /// When it went; its place among the absent.
    pub left: Millis,
}

/// A shard in a worker's hands.
#[derive(Debug)]
pub(super) struct Lease {
    pub session: SessionId,
    pub job: JobId,
    /// As granted; the end comes down when the worker shortens it.
    pub range: Range<u64>,
    /// It holds a contest, to be committed whole, and no units of its own.
    pub whole: bool,
    /// First unit that the worker has not reported computed.
    pub reached: u64,
    /// Units that are in [`super::partition::Place::Leased`] for it, or those of its contest. A lease without any is
    /// forgotten.
    pub open: u64,
    pub granted: Millis,
    /// The worker gave a sign of having begun.
    pub started: bool,
    /// A [`super::Command::Shrink`] was sent then, and is not answered.
    pub asked: Option<Millis>,
    /// A [`super::Command::Revoke`] was sent.
    pub revoked: bool,
    /// Computing time that a unit was charged to its job, in nanoseconds.
    pub charged_ns: u64,
}
