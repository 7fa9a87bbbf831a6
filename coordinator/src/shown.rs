//! Jobs in words and as JSON: the same on a terminal, in scripts and on the page.

use jobs::{
    Report,
    page::{Page, Picture},
};
use proto::v1::{JobStatus, State};
use serde_json::{Value, json};

/// The report as a page, also for the coordinator's own. It must say by itself what else goes to standard error.
pub fn page(status: &JobStatus, report: &Report, pictures: &[Picture]) -> String {
    let given_up = (status.quarantined_units > 0)
        .then(|| format!("{} work units were given up: the numbers lack them.", status.quarantined_units));
    Page {
        heading: &format!("nonet {}", status.kind),
        about: &format!("Job {}. Nonet {}.", job_line(status), env!("CARGO_PKG_VERSION")),
        warnings: given_up.as_slice(),
        report,
        json: &with_job(status, &report.json),
        pictures,
    }
    .html()
}

/// The report's object with the job it belongs to.
pub fn with_job(status: &JobStatus, report: &Value) -> Value {
    let mut report = report.clone();
    if let Value::Object(fields) = &mut report {
        fields.insert("job".into(), job_json(status));
    }
    report
}

/// A job for scripts.
pub fn job_json(status: &JobStatus) -> Value {
    let quarantined = status.quarantined.iter();
    let quarantined: Vec<_> =
        quarantined.map(|q| json!({ "unit": q.unit, "name": q.unit_name, "error": q.error })).collect();
    json!({
        "name": status.name,
        "run": status.run,
        "kind": status.kind,
        "settings": serde_json::from_str(&status.settings).unwrap_or(Value::Null),
        "state": state(status.state()),
        "units": status.units,
        "done": status.done,
        "leased": status.leased,
        "quarantined": quarantined,
        "quarantined_units": status.quarantined_units,
        "eta_ms": status.eta_ms,
        "workers": status.workers,
        "created_unix_ms": status.created_unix_ms,
        "detail": status.detail,
        "waits_for": status.waits_for,
        "replicas": status.replicas,
        "unconfirmed": status.unconfirmed,
        "quarantined_workers": status.quarantined_workers,
        "requirements": status.requirements,
        "fitting_workers": status.fitting_workers,
        "wanted_slots": status.wanted_slots,
    })
}

pub fn state(state: State) -> &'static str {
    match state {
        State::Unspecified => "unknown",
        State::Running => "running",
        State::Paused => "paused",
        State::Cancelled => "cancelled",
        State::Conflicted => "conflict",
        State::Finished => "finished",
        State::Stale => "stale",
    }
}

/// One line about a job.
pub fn job_line(status: &JobStatus) -> String {
    let mut line =
        format!("{} {}: {}, {}", short(&status.name), status.kind, state(status.state()), share(status));
    if status.state() == State::Running {
        line += &format!(", {}", words(status));
    }
    if !status.detail.is_empty() {
        line += &format!(" ({})", status.detail);
    }
    line
}

pub fn short(name: &str) -> &str {
    name.get(..12).unwrap_or(name)
}

/// Share of the units that are done: rounded down, so that 100 % means all.
pub fn share(status: &JobStatus) -> String {
    let units = u128::from(status.units.max(1));
    let per_mille = u128::from(status.done) * 1000 / units;
    format!("{}.{}% {}/{} units", per_mille / 10, per_mille % 10, status.done, status.units)
}

/// Rate, time to go and workers.
pub fn words(status: &JobStatus) -> String {
    let mut words = Vec::new();
    if status.state() == State::Paused {
        words.push("paused".to_owned());
    }
    if status.units_per_1000s > 0 {
        words.push(rate(status.units_per_1000s));
    }
    if status.eta_ms > 0 {
        words.push(format!("ETA {}", duration(status.eta_ms)));
    }
    words.push(match status.workers {
        1 => "1 worker".into(),
        n => format!("{n} workers"),
    });
    if status.quarantined_units > 0 {
        words.push(format!("{} given up", status.quarantined_units));
    }
    if !status.waits_for.is_empty() {
        words.push(format!("needs {}", status.waits_for));
    }
    if status.fitting_workers == 0 && status.workers > 0 && !status.requirements.is_empty() {
        words.push(format!("none with {}", status.requirements.join(" and ")));
    }
    if status.unconfirmed > 0 {
        words.push(format!("{} computed, not confirmed by another worker", status.unconfirmed));
    }
    if status.quarantined_workers > 0 {
        words.push(format!("{} workers quarantined", status.quarantined_workers));
    }
    if status.waiting_for_second_worker > 0 {
        let n = status.waiting_for_second_worker;
        words.push(format!("{n} failed once and wait for another worker"));
    }
    words.join(", ")
}

fn rate(units_per_1000s: u64) -> String {
    match units_per_1000s {
        0..10_000 => format!("{}.{:03} units/s", units_per_1000s / 1000, units_per_1000s % 1000),
        _ => format!("{} units/s", units_per_1000s / 1000),
    }
}

/// A duration in its two largest units.
pub fn duration(ms: u64) -> String {
    let s = ms.div_ceil(1000);
    match s {
        0..60 => format!("{s} s"),
        60..3600 => format!("{} min {} s", s / 60, s % 60),
        3600..86_400 => format!("{} h {} min", s / 3600, s % 3600 / 60),
        _ => format!("{} d {} h", s / 86_400, s % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_percent_means_all() {
        let status = JobStatus { units: 1_000_000, done: 999_999, ..JobStatus::default() };
        assert_eq!(share(&status), "99.9% 999999/1000000 units");
        assert_eq!(duration(59_500), "1 min 0 s");
        assert_eq!(duration(90_061_000), "1 d 1 h");
        assert_eq!(rate(1_500), "1.500 units/s");
    }
}
