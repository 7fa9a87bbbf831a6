//! How the farm stands, for `/metrics`: all of it in one go, since nobody else may look into the engine.

use super::{core::Core, job_entry::JobEntry, status::wire_state};
use crate::{
    metrics::{Farm, JobLine, SHOWN_JOBS},
    scheduler::{JobId, hex},
    shown,
};
use proto::v1::State;

/// All that there are.
const STATES: [State; 6] =
    [State::Running, State::Paused, State::Cancelled, State::Conflicted, State::Finished, State::Stale];
/// Digits of a job's name that people see.
const SHORT_NAME: usize = 12;

impl Core {
    pub(super) fn farm(&self) -> Farm {
        let mut jobs = STATES.map(|state| (shown::state(state), 0));
        for name in self.jobs.values().map(|entry| shown::state(wire_state(entry))) {
            jobs.iter_mut().filter(|(state, _)| *state == name).for_each(|(_, count)| *count += 1);
        }
        let totals = self.scheduler.totals();
        let live = || self.jobs.iter().rev().filter(|(_, entry)| entry.is_live());
        Farm {
            ledger: hex(&self.ledger_id),
            jobs: jobs.into(),
            lines: live().filter_map(|(&id, entry)| self.line(id, entry)).take(SHOWN_JOBS).collect(),
            workers: totals.workers,
            draining: totals.draining,
            resting: totals.resting,
            slots: totals.slots,
            slots_busy: totals.slots_busy,
            slots_wanted: self.scheduler.wanted_slots(),
            leases: totals.leases,
            quarantined_workers: self.quarantined.len() as u64,
            inputs_waiting: 0,
        }
    }

    /// None while the job's past is being read.
    fn line(&self, id: JobId, entry: &JobEntry) -> Option<JobLine> {
        let view = self.scheduler.job(id)?;
        let mut name = hex(&entry.record.name);
        name.truncate(SHORT_NAME);
        Some(JobLine {
            name,
            kind: entry.record.kind.clone(),
            paused: view.paused,
            places: [
                ("done", view.done),
                ("in_flight", view.in_flight),
                ("claimed", view.claimed),
                ("leased", view.leased),
                ("pending", view.pending),
                ("suspect", view.suspects),
                ("quarantined", view.quarantined),
            ],
            units_per_1000s: view.units_per_1000s,
            eta_ms: view.eta_ms,
            slots_wanted: view.wanted_slots,
        })
    }
}
