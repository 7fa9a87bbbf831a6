//! How many workers could be put to use: what starts machines goes by it.

use super::{Job, Scheduler};

impl Scheduler {
    /// Computing slots that all jobs together could put to use now.
    pub fn wanted_slots(&self) -> u64 {
        self.jobs.values().map(|job| self.wanted_slots_of(job)).fold(0, u64::saturating_add)
    }

    /// As many as do what is left in ten minutes, by what a unit has cost so far; not more than there are units left, and
    /// one at least, which is also what a job gets of which nobody knows what it costs.
    pub(super) fn wanted_slots_of(&self, job: &Job) -> u64 {
        if job.paused {
            return 0;
        }
        let counts = job.counts();
        let replicas = u64::from(job.replicas);
        let first = counts.pending.saturating_add(counts.suspects).saturating_add(counts.leased);
        // What is claimed waits for at least one worker more; what is verified, too.
        let again = counts.claimed.saturating_mul(replicas.saturating_sub(1).max(1));
        let verified: u64 = job
            .contests
            .iter()
            .filter(|contest| contest.committed.is_some())
            .map(|c| c.range.end - c.range.start)
            .sum();
        let left = first.saturating_mul(replicas).saturating_add(again).saturating_add(verified);
        let horizon_ns = u128::from(self.policy.wanted_horizon_ms).saturating_mul(1_000_000).max(1);
        let by_time = match job.ns_per_unit {
            Some(ns_per_unit) => (u128::from(left) * u128::from(ns_per_unit)).div_ceil(horizon_ns),
            None => 1,
        };
        u64::try_from(by_time).unwrap_or(u64::MAX).max(1).min(left)
    }
}
