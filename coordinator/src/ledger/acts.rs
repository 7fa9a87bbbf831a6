//! What people did: the audit record.

use serde::{Deserialize, Serialize};

use crate::scheduler::JobId;

/// Acts that are shown; all of them are in the journal.
pub const ACTS_KEPT: usize = 1000;

/// Who did something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// Names of token and certificate; `local` on this machine and `anybody` elsewhere, where neither is asked for.
    pub who: String,
    /// Their roles; empty where none is asked for.
    pub role: String,
    /// Address and port; empty inside this process.
    pub peer: String,
}

/// What was done. Only ever appended to: its order is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// A job was submitted.
    Submit,
    /// A job's earlier run was replaced by a fresh one.
    Replace,
    /// A job was paused.
    Pause,
    /// A paused job went on.
    Resume,
    /// A job was cancelled.
    Cancel,
    /// A job was taken up again.
    Retry,
    /// A worker was drained.
    Drain,
    /// A worker's quarantine was lifted.
    Readmit,
    /// A sample of a job was computed again.
    Verify,
    /// More workers have to agree on a job's results.
    Replicas,
    /// A pool of workers was made smaller.
    Release,
    /// A job asks for something else in its workers.
    Require,
}

impl Action {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Replace => "replace",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
            Self::Retry => "retry",
            Self::Drain => "drain",
            Self::Readmit => "readmit",
            Self::Verify => "verify",
            Self::Replicas => "replicas",
            Self::Release => "release",
            Self::Require => "require",
        }
    }
}

/// Somebody did something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// When, in milliseconds since 1970.
    pub at_unix_ms: u64,
    /// Who.
    pub actor: Actor,
    /// What.
    pub action: Action,
    /// To which run of a job.
    pub job: Option<JobId>,
    /// To what, in words: kind and name of the job, name and id of the worker.
    pub detail: String,
}

/// Upper bound of all text in an act.
const MAX_TEXT_BYTES: usize = 16 << 10;

impl Act {
    /// Whether it is too long for the ledger.
    pub(super) fn check(&self) -> Result<(), String> {
        let Actor { who, role, peer } = &self.actor;
        let len: usize = [who, role, peer, &self.detail].map(String::len).iter().sum();
        if len <= MAX_TEXT_BYTES {
            Ok(())
        } else {
            Err(format!("an act of {len} bytes exceeds {MAX_TEXT_BYTES}"))
        }
    }
}
