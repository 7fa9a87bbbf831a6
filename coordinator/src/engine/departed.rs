//! Workers that were here: when they went, and why, as far as it can be told. For people; nothing is decided by it.

use std::collections::VecDeque;

use super::sessions::Session;
use crate::scheduler::WorkerId;

/// So many are remembered.
const MOST: usize = 100;

/// How a worker went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It had said that it would, or was asked to.
    Left,
    /// Its connection ended, and it had not said why.
    Lost,
    /// It was connected and said nothing.
    Silent,
    /// It was connected and has never said anything.
    Mute,
    /// It did not take what it was sent.
    Unread,
    /// What it said made no sense.
    Nonsense,
    /// It is here again, on another connection.
    Superseded,
    /// Its results are not believed.
    Quarantined,
}

impl How {
    /// For counters and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Lost => "lost",
            Self::Silent => "silent",
            Self::Mute => "mute",
            Self::Unread => "unread",
            Self::Nonsense => "nonsense",
            Self::Superseded => "superseded",
            Self::Quarantined => "quarantined",
        }
    }
}

/// A worker that was here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Departed {
    pub worker: WorkerId,
    pub name: String,
    pub slots: u32,
    pub units_done: u64,
    pub at_unix_ms: u64,
    pub how: How,
}

/// Those that went last.
#[derive(Default)]
pub(super) struct DepartedOnes(VecDeque<Departed>);

impl DepartedOnes {
    /// One more.
    pub fn note(&mut self, session: &Session, how: How, at_unix_ms: u64) {
        // One that was superseded is still here, and one that is not believed is on a list of its own.
        if matches!(how, How::Superseded | How::Quarantined) {
            return;
        }
        self.0.retain(|known| known.worker != session.worker);
        self.0.push_back(Departed {
            worker: session.worker,
            name: session.name.clone(),
            slots: session.slots,
            units_done: session.units_done,
            at_unix_ms,
            how,
        });
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    /// The last to go first.
    pub fn newest_first(&self) -> impl Iterator<Item = &Departed> {
        self.0.iter().rev()
    }
}
