//! Who did what: written into the ledger before what it did counts.

use std::collections::VecDeque;

use proto::v1;

use super::{
    core::{Core, unix_ms},
    writer::After,
};
use crate::{
    ledger::{ACTS_KEPT, Act, Action, Actor, Entry},
    scheduler::{JobId, hex},
};

/// The newest acts.
pub(super) struct Acts(VecDeque<Act>);

impl Acts {
    /// Those of the ledger.
    pub fn read(acts: Vec<Act>) -> Self {
        Self(acts.into())
    }

    fn push(&mut self, act: Act) {
        self.0.push_back(act);
        if self.0.len() > ACTS_KEPT {
            self.0.pop_front();
        }
    }

    /// The `last` of them, oldest first.
    pub fn last(&self, last: usize) -> Vec<v1::Act> {
        let skipped = self.0.len().saturating_sub(last);
        self.0.iter().skip(skipped).cloned().map(to_wire).collect()
    }
}

impl Core {
    /// Puts an act on record. What is appended after it is durable only when this is.
    pub(super) fn record(&mut self, by: &Actor, action: Action, job: Option<JobId>, detail: String) {
        let Actor { who, role, peer } = by;
        tracing::info!(who, role, peer, "{}: {detail}", action.name());
        let act = Act { at_unix_ms: unix_ms(), actor: by.clone(), action, job, detail };
        self.acts.push(act.clone());
        self.append(Entry::Act(act), After::Nothing);
    }

    /// Puts on record what is done to a job.
    pub(super) fn record_for(&mut self, by: &Actor, action: Action, id: JobId) {
        let Some(entry) = self.jobs.get(&id) else { return };
        let detail = format!("{} {}", entry.record.kind, hex(&entry.record.name));
        self.record(by, action, Some(id), detail);
    }
}

fn to_wire(act: Act) -> v1::Act {
    let Act { at_unix_ms, actor: Actor { who, role, peer }, action, job, detail } = act;
    let run = job.map_or(String::new(), |job| hex(&job.0));
    v1::Act { at_unix_ms, who, role, peer, action: action.name().into(), run, detail }
}
