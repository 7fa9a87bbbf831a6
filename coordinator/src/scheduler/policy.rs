//! The numbers that the scheduler goes by.

use super::Millis;

/// How leases are sized, when workers are given up, what is bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// A session that says nothing for so long is closed, and its leases go to others.
    pub silence_ms: Millis,
    /// Computing time that a lease aims at while there is plenty of work.
    pub target_lease_ms: Millis,
    /// Computing time below which leases are not cut, even at the end of a job: messages cost too.
    pub min_lease_ms: Millis,
    /// Units in the first lease of a job whose cost nobody knows yet.
    pub first_lease_units: u64,
    /// A worker's leases grow at most by this factor with each commit of its own.
    pub growth_factor: u64,
    /// No lease has more units.
    pub max_lease_units: u64,
    /// Every lease has so many units, whatever is measured: for benchmarks.
    pub fixed_lease_units: Option<u64>,
    /// Distinct workers on which a unit must fail to be given up.
    pub failures_before_quarantine: u32,
    /// Distinct workers that must have failed on a unit where none of them has shown that it can compute the job, and there
    /// are others to be heard: two broken machines must not give up what the rest of the farm can compute.
    pub failures_beyond_doubt: u32,
    /// There is but one worker (embedded mode): attempts count towards quarantine, not distinct workers.
    pub sole_worker: bool,
    /// Units that failed and wait for another worker; a job with more gets no fresh units, so that one broken worker
    /// cannot spoil a plan or fill the memory.
    pub max_suspect_units: u64,
    /// Results of a job that wait for a second worker; a job with more gets no fresh units, so that a lone worker cannot
    /// fill the memory.
    pub max_claims: usize,
    /// Different results for a range after which the job stops, at least.
    pub max_votes: usize,
    /// Slots of a session above are ignored.
    pub max_slots: u32,
    /// Prefetch of a session above is ignored.
    pub max_prefetch: u32,
    /// Time between two searches for leases to take from when sessions are idle.
    pub steal_interval_ms: Millis,
    /// A running lease is split only if more computing time than this remains in it.
    pub split_above_ms: Millis,
    /// An unanswered [`super::Command::Shrink`] counts as work to come for so long; then another lease is asked.
    pub shrink_patience_ms: Millis,
    /// Failures or returns without any work, one after the other, that a session is allowed; then it rests between
    /// grants, for longer each time.
    pub free_strikes: u32,
    /// The first rest; it doubles with each strike.
    pub rest_ms: Millis,
    /// The longest rest.
    pub max_rest_ms: Millis,
    /// Workers that are gone whose speed and failures are remembered.
    pub max_absent_workers: usize,
    /// So many slots are wanted that what is left would be done in this time.
    pub wanted_horizon_ms: Millis,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            silence_ms: 15_000,
            target_lease_ms: 15_000,
            min_lease_ms: 100,
            first_lease_units: 1,
            growth_factor: 4,
            max_lease_units: u64::MAX,
            fixed_lease_units: None,
            failures_before_quarantine: 2,
            failures_beyond_doubt: 5,
            sole_worker: false,
            max_suspect_units: 10_000,
            max_claims: 10_000,
            max_votes: 5,
            max_slots: 4_096,
            max_prefetch: 4_096,
            steal_interval_ms: 500,
            split_above_ms: 2_000,
            shrink_patience_ms: 5_000,
            free_strikes: 3,
            rest_ms: 1_000,
            max_rest_ms: 60_000,
            max_absent_workers: 10_000,
            wanted_horizon_ms: 600_000,
        }
    }
}
