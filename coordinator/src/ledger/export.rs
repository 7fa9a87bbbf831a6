//! `nonet ledger export`: the journal as lines of JSON.

use std::{io::Write, path::Path};

use super::{
    CommitRecord, Entry, LedgerError,
    doubts::Quarantine,
    journal::{Frames, JOURNAL, Tail},
    reading::Reading,
};
use crate::scheduler::hex;

/// What [`export`] wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Lines.
    pub entries: u64,
    /// What stands at the end of the journal and was left out.
    pub tail: Option<Tail>,
}

/// Writes every entry of the journal as a line of JSON, those of removed jobs included. Needs no lock: a running
/// coordinator only appends. Counts are strings, bytes hexadecimal.
///
/// # Errors
///
/// When the journal does not read, or `out` fails.
pub fn export(dir: &Path, out: &mut dyn Write) -> Result<Exported, LedgerError> {
    let mut frames = Frames::open(dir)?;
    let mut entries = 0;
    let failed = |e: std::io::Error| LedgerError::Io {
        doing: "write the export of",
        path: dir.join(JOURNAL),
        reason: e.to_string(),
    };
    while let Some(frame) = frames.next_frame()? {
        for (place, entry) in &frame.entries {
            let mut line = to_json(entry);
            line["offset"] = place.offset.to_string().into();
            writeln!(out, "{line}").map_err(failed)?;
            entries += 1;
        }
    }
    out.flush().map_err(failed)?;
    Ok(Exported { entries, tail: frames.tail().cloned() })
}

/// Writes what a ledger without a journal knows of its jobs as the lines of JSON that would make it.
///
/// # Errors
///
/// When the ledger does not read, or `out` fails.
pub fn export_known(ledger: &dyn Reading, out: &mut dyn Write) -> Result<Exported, LedgerError> {
    let mut entries = 0;
    let mut write = |entry: &Entry| {
        entries += 1;
        writeln!(out, "{}", to_json(entry))
            .map_err(|e| LedgerError::inconsistent(format!("the export cannot be written: {e}")))
    };
    for summary in ledger.jobs()? {
        let job = summary.record.id;
        write(&Entry::Job(summary.record))?;
        if summary.replicas > 1 {
            write(&Entry::Replicas { job, replicas: summary.replicas })?;
        }
        if !summary.requirements.is_empty() {
            write(&Entry::Requirements { job, requirements: summary.requirements })?;
        }
        ledger.commits(job, &mut |commit, by| {
            let commit = commit.clone();
            write(&match by {
                [_] => Entry::Commit(commit),
                _ => Entry::Confirm { commit, by: by.to_vec() },
            })
        })?;
        for (unit, worker, error) in summary.failures {
            write(&Entry::Failure { job, unit, worker, error })?;
        }
        summary.quarantined.into_iter().try_for_each(|unit| write(&Entry::Quarantine { job, unit }))?;
        summary.conflicts.into_iter().try_for_each(|conflict| write(&Entry::Conflict(conflict)))?;
        write(&Entry::State { job, state: summary.state, at_unix_ms: summary.state_unix_ms })?;
    }
    ledger.quarantined()?.into_iter().try_for_each(|known| write(&Entry::WorkerQuarantined(known)))?;
    ledger.acts()?.into_iter().try_for_each(|act| write(&Entry::Act(act)))?;
    out.flush().map_err(|e| LedgerError::inconsistent(format!("the export cannot be written: {e}")))?;
    Ok(Exported { entries, tail: None })
}

fn to_json(entry: &Entry) -> serde_json::Value {
    use serde_json::json;
    let text = |n: u64| n.to_string();
    match entry {
        Entry::Job(r) => json!({
            "entry": "job", "job": hex(&r.id.0), "name": hex(&r.name), "kind": r.kind, "revision": r.revision,
            "settings": serde_json::from_str::<serde_json::Value>(&r.settings).unwrap_or_else(|_| json!(r.settings)),
            "units": text(r.units), "weight": r.weight, "created_unix_ms": text(r.created_unix_ms),
        }),
        Entry::Commit(commit) => result("commit", commit),
        Entry::Conflict(second) => result("conflict", second),
        Entry::Claim(claim) => result("claim", claim),
        Entry::Confirm { commit, by } => {
            let mut line = result("confirm", commit);
            line["by"] = by.iter().map(|worker| hex(&worker.0)).collect();
            line
        }
        Entry::State { job, state, at_unix_ms } => json!({
            "entry": "state", "job": hex(&job.0), "state": state, "at_unix_ms": text(*at_unix_ms),
        }),
        Entry::Failure { job, unit, worker, error } => json!({
            "entry": "failure", "job": hex(&job.0), "unit": text(*unit), "worker": hex(&worker.0), "error": error,
        }),
        Entry::Quarantine { job, unit } => {
            json!({ "entry": "quarantine", "job": hex(&job.0), "unit": text(*unit) })
        }
        Entry::Act(a) => json!({
            "entry": "act", "action": a.action, "who": a.actor.who, "role": a.actor.role, "peer": a.actor.peer,
            "job": a.job.map(|job| hex(&job.0)), "detail": a.detail, "at_unix_ms": text(a.at_unix_ms),
        }),
        Entry::Retry { job } => json!({ "entry": "retry", "job": hex(&job.0) }),
        Entry::Replicas { job, replicas } => {
            json!({ "entry": "replicas", "job": hex(&job.0), "replicas": replicas })
        }
        Entry::Requirements { job, requirements } => {
            json!({ "entry": "requirements", "job": hex(&job.0), "requirements": requirements })
        }
        Entry::Withdraw { job, range } => json!({
            "entry": "withdraw", "job": hex(&job.0), "start": text(range.start), "end": text(range.end),
        }),
        Entry::WorkerQuarantined(Quarantine { worker, name, why, at_unix_ms, .. }) => json!({
            "entry": "worker_quarantined", "worker": hex(&worker.0), "name": name, "why": why,
            "at_unix_ms": text(*at_unix_ms),
        }),
        Entry::WorkerSwept { worker } => json!({ "entry": "worker_swept", "worker": hex(&worker.0) }),
        Entry::WorkerReadmitted { worker, at_unix_ms } => json!({
            "entry": "worker_readmitted", "worker": hex(&worker.0), "at_unix_ms": text(*at_unix_ms),
        }),
    }
}

fn result(entry: &str, record: &CommitRecord) -> serde_json::Value {
    serde_json::json!({
        "entry": entry, "job": hex(&record.job.0),
        "start": record.range.start.to_string(), "end": record.range.end.to_string(),
        "digest": hex(&record.digest), "partial": hex(&record.partial), "worker": hex(&record.worker.0),
        "busy_us": record.busy_us.to_string(), "at_unix_ms": record.at_unix_ms.to_string(),
    })
}
