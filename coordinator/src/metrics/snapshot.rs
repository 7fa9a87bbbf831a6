//! How things stand, at one scrape.

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use super::{Counted, Process};
use crate::{seat::Seat, telemetry::Telemetry};

/// Unfinished jobs that have lines of their own, the newest: whoever submits thousands must not drown those who look.
pub const SHOWN_JOBS: usize = 100;
/// An engine that takes longer is told to be stuck, and the rest is told without it.
const ENGINE_TIMEOUT: Duration = Duration::from_secs(4);

/// All that a scrape tells.
#[derive(Debug)]
pub struct Snapshot {
    /// Whether this coordinator leads.
    pub leads: bool,
    /// What the engine knows; none while this coordinator stands by, or when the engine does not answer.
    pub farm: Option<Farm>,
    /// What has happened since the process began.
    pub counted: Arc<Counted>,
    /// What it takes of its machine.
    pub process: Process,
}

/// What the engine knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Farm {
    /// Which ledger it serves, hexadecimal.
    pub ledger: String,
    /// Jobs by state; every state is there.
    pub jobs: Vec<(&'static str, u64)>,
    /// The newest unfinished ones.
    pub lines: Vec<JobLine>,
    /// Workers that are connected.
    pub workers: u64,
    /// Those of them that take no further leases.
    pub draining: u64,
    /// Those of them that get nothing for a while, because units fail on them.
    pub resting: u64,
    /// Leases that all of them compute at a time.
    pub slots: u64,
    /// Slots that have one.
    pub slots_busy: u64,
    /// Slots that could be put to use.
    pub slots_wanted: u64,
    /// Leases in workers' hands.
    pub leases: u64,
    /// Workers that are not believed.
    pub quarantined_workers: u64,
    /// Inputs that wait for the engine.
    pub inputs_waiting: u64,
}

/// An unfinished job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLine {
    /// The start of its name, as people see it.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Whether it waits for `resume`.
    pub paused: bool,
    /// Where its units are; they add up to the plan.
    pub places: [(&'static str, u64); 7],
    /// Units committed in a thousand seconds, by the last minute.
    pub units_per_1000s: u64,
    /// Time to the end at this rate, if it moves.
    pub eta_ms: Option<u64>,
    /// Slots that it could put to use.
    pub slots_wanted: u64,
}

impl Farm {
    /// How many workers would be enough for all that can be computed now, if they are like those that are here.
    pub fn workers_wanted(&self) -> u64 {
        let (workers, slots) = if self.slots == 0 { (1, 1) } else { (self.workers, self.slots) };
        let wanted = (u128::from(self.slots_wanted) * u128::from(workers)).div_ceil(u128::from(slots));
        u64::try_from(wanted).unwrap_or(u64::MAX)
    }
}

/// Asks whoever sits in `seat`.
pub async fn collect(seat: &Seat, telemetry: &Telemetry) -> Snapshot {
    let engine = seat.engine().ok();
    let leads = engine.is_some();
    let farm = match engine {
        Some(engine) => timeout(ENGINE_TIMEOUT, engine.farm()).await.ok().and_then(Result::ok),
        None => None,
    };
    Snapshot { leads, farm, counted: Arc::clone(&telemetry.counted), process: Process::now() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_workers_are_enough_for_the_wanted_slots() {
        let wanted = |workers, slots, slots_wanted| {
            Farm { workers, slots, slots_wanted, ..Farm::default() }.workers_wanted()
        };
        assert_eq!((wanted(0, 0, 0), wanted(3, 24, 0)), (0, 0));
        assert_eq!((wanted(0, 0, 7), wanted(2, 16, 1), wanted(2, 16, 17)), (7, 1, 3));
        // Three workers of 1, 1 and 3 slots have 5/3 each.
        assert_eq!((wanted(3, 5, 10), wanted(3, 5, 11)), (6, 7));
    }
}
