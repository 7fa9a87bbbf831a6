//! What jobs, workers and pictures look like in JSON. Exact counts are strings: JavaScript's numbers end at 2^53.

use proto::v1::{JobStatus, QuarantinedWorker, WorkerStatus};
use serde_json::{Value, json};

use crate::{
    engine::{CrewView, Departed, How, JobsView, PictureView, Seen},
    scheduler::{Shares, hex},
    shown::state,
};

/// Silences below are none: workers speak every few seconds.
const SHORT_MS: u64 = 6_000;

/// Some of the jobs.
pub fn jobs(view: &JobsView) -> Value {
    let by_state: serde_json::Map<_, _> =
        view.by_state.iter().map(|(of, count)| (state(*of).to_owned(), json!(count))).collect();
    json!({
        "by_state": by_state,
        "matching": view.matching,
        "jobs": view.jobs.iter().map(job).collect::<Vec<_>>(),
    })
}

/// One job.
pub fn job(status: &JobStatus) -> Value {
    let quarantined = status.quarantined.iter();
    let quarantined: Vec<_> = quarantined
        .map(|unit| json!({ "unit": unit.unit.to_string(), "name": unit.unit_name, "error": unit.error }))
        .collect();
    json!({
        "name": status.name,
        "run": status.run,
        "kind": status.kind,
        "settings": status.settings,
        "state": state(status.state()),
        "units": status.units.to_string(),
        "done": status.done.to_string(),
        "done_per_mille": per_mille(status.done, status.units),
        "leased": status.leased.to_string(),
        "unconfirmed": status.unconfirmed.to_string(),
        "failed_once": status.waiting_for_second_worker.to_string(),
        "given_up": status.quarantined_units.to_string(),
        "given_up_units": quarantined,
        "units_per_1000s": status.units_per_1000s.to_string(),
        "eta_ms": if status.eta_ms > 0 { Value::String(status.eta_ms.to_string()) } else { Value::Null },
        "created_unix_ms": status.created_unix_ms,
        "state_unix_ms": status.state_unix_ms,
        "weight": status.weight,
        "replicas": status.replicas,
        "detail": status.detail,
        "waits_for": status.waits_for,
        "requirements": status.requirements,
        "fitting_workers": status.fitting_workers,
    })
}

/// Rounded down: a thousand means all.
fn per_mille(part: u64, all: u64) -> u64 {
    u64::try_from(u128::from(part) * 1000 / u128::from(all.max(1))).unwrap_or(1000)
}

/// Rounded so that what is there is seen: 0 means nothing, 1000 all.
fn visible_per_mille(part: u64, all: u64) -> u64 {
    match per_mille(part, all) {
        0 if part > 0 => 1,
        share => share,
    }
}

/// Some of the workers, and those that went.
pub fn crew(view: &CrewView) -> Value {
    json!({
        "connected": view.crew.workers,
        "slots": view.crew.slots,
        "leases": view.crew.leases,
        "busy": view.crew.slots_busy,
        "draining": view.crew.draining,
        "resting": view.crew.resting,
        "matching": view.matching,
        "workers": view.workers.iter().map(worker).collect::<Vec<_>>(),
        "quarantined": view.quarantined.iter().map(not_believed).collect::<Vec<_>>(),
        "gone": view.departed.iter().map(gone).collect::<Vec<_>>(),
    })
}

fn worker(Seen { status, held }: &Seen) -> Value {
    let WorkerStatus {
        id,
        name,
        version,
        slots,
        leases,
        units_done,
        silent_ms,
        connected_unix_ms,
        draining,
        labels,
        resting_ms,
        failures,
        leaving,
        protocol: _,
    } = status;
    let labels = labels.iter().map(|label| (label.name.clone(), label.value.clone().into()));
    let held = held.iter().map(|(job, kind, held)| {
        let (start, end) = (held.range.start, held.range.end);
        json!({
            "job": job,
            "kind": kind,
            "start": start.to_string(),
            "end": end.to_string(),
            "reached_per_mille": per_mille(held.reached.saturating_sub(start), end - start),
            "compares": held.whole,
        })
    });
    json!({
        "id": id,
        "name": name,
        "version": version,
        "slots": slots,
        "leases": leases,
        "units_done": units_done.to_string(),
        // In seconds, and none while it speaks: what has not changed is not sent again.
        "silent_s": if *silent_ms > SHORT_MS { silent_ms / 1000 } else { 0 },
        "connected_unix_ms": connected_unix_ms,
        "draining": draining,
        "leaving": leaving,
        "resting_s": resting_ms.div_ceil(1000),
        "failures": failures.to_string(),
        "labels": labels.collect::<serde_json::Map<_, _>>(),
        "does": held.collect::<Vec<_>>(),
    })
}

fn not_believed(worker: &QuarantinedWorker) -> Value {
    json!({ "id": worker.id, "name": worker.name, "why": worker.why, "at_unix_ms": worker.at_unix_ms })
}

fn gone(departed: &Departed) -> Value {
    let (how, why) = match departed.how {
        How::Left => ("left", "it had said that it would leave, or was drained"),
        How::Lost => ("lost", "its connection ended without a word"),
        How::Silent | How::Mute => ("lost", "it was silent for too long"),
        How::Unread => ("lost", "it did not take what it was sent"),
        How::Nonsense => ("turned away", "what it sent made no sense"),
        How::Superseded => ("left", "it came back on another connection"),
        How::Quarantined => ("turned away", "its results are not believed"),
    };
    json!({
        "id": hex(&departed.worker.0),
        "name": departed.name,
        "slots": departed.slots,
        "units_done": departed.units_done.to_string(),
        "at_unix_ms": departed.at_unix_ms,
        "how": how,
        "why": why,
    })
}

/// Where a job's units are: of each stretch six shares in thousandths, which need not add up; none where that is not known.
pub fn picture(view: &PictureView) -> Value {
    let Some(picture) = &view.picture else { return json!({ "known": false }) };
    let shares = |shares: &Shares| {
        let Shares { done, running, claimed, suspects, quarantined, pending } = *shares;
        let all = [done, running, claimed, suspects, quarantined, pending];
        let sum = all.iter().fold(0, |sum: u64, share| sum.saturating_add(*share));
        all.map(|share| visible_per_mille(share, sum))
    };
    json!({
        "known": true,
        "units": picture.units.to_string(),
        "places": ["done", "running", "unconfirmed", "failed_once", "given_up", "waiting"],
        "stretches": picture.stretches.iter().map(shares).collect::<Vec<_>>(),
    })
}
