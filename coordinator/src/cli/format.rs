//! Reports and listings on standard output.

use std::io::Write;

use jobs::{
    Report,
    page::{Page, Picture},
};
use proto::v1::{JobStatus, State};
use serde_json::{Value, json};
use worker::objects::Objects;

use super::{
    args::{Format, ReportFormat},
    exit::{Failure, Outcome},
    output,
    progress::{share, words},
};

/// Writes to standard output. A reader that has seen enough (`| head`) is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a job's report, says what is wrong with it, and tells how the command ends. A page shows pictures from the
/// parts, where they are known.
pub async fn print_report(
    status: &JobStatus,
    report: &Report,
    format: ReportFormat,
    parts: Option<&Objects>,
) -> Result<Outcome, Failure> {
    match format {
        ReportFormat::Table => print(&report.table)?,
        ReportFormat::Csv => print(&report.csv)?,
        ReportFormat::Json => print(&(with_job(status, &report.json).to_string() + "\n"))?,
        ReportFormat::Html => {
            let pictures = match parts {
                Some(parts) => output::pictures(status, report, parts).await,
                None => Vec::new(),
            };
            print(&page(status, report, &pictures))?;
        }
    }
    if let Some(alarm) = &report.alarm {
        return Err(Failure::failed(alarm.clone()));
    }
    if status.quarantined_units == 0 {
        return Ok(Outcome::Done);
    }
    eprintln!(
        "nonet: {} work units were given up (`nonet retry` takes them up again):",
        status.quarantined_units
    );
    for unit in &status.quarantined {
        eprintln!("  unit {} ({}): {}", unit.unit, unit.unit_name, unit.error);
    }
    Ok(Outcome::Quarantined)
}

/// The report as a page. It must say by itself what else goes to standard error.
fn page(status: &JobStatus, report: &Report, pictures: &[Picture]) -> String {
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
fn with_job(status: &JobStatus, report: &Value) -> Value {
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

fn state(state: State) -> &'static str {
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

/// A list of jobs.
pub fn jobs(jobs: &[JobStatus], format: Format) -> String {
    match format {
        Format::Json => Value::Array(jobs.iter().map(job_json).collect()).to_string() + "\n",
        Format::Csv => {
            let head = "name,kind,state,units,done,quarantined".to_owned();
            let row = |j: &JobStatus| {
                let (name, kind, state) = (&j.name, &j.kind, state(j.state()));
                format!("{name},{kind},{state},{},{},{}", j.units, j.done, j.quarantined_units)
            };
            lines(std::iter::once(head).chain(jobs.iter().map(row)))
        }
        Format::Table if jobs.is_empty() => "no jobs\n".into(),
        Format::Table => {
            let row = |j: &JobStatus| {
                let cells = [short(&j.name), &j.kind, state(j.state()), &share(j), &j.settings];
                cells.map(str::to_owned)
            };
            table(["NAME", "KIND", "STATE", "DONE", "SETTINGS"], &jobs.iter().map(row).collect::<Vec<_>>())
        }
    }
}

pub fn lines(rows: impl Iterator<Item = String>) -> String {
    rows.map(|row| row + "\n").collect()
}

/// Columns as wide as their widest cell.
pub fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = head.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: [&str; N]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  "));
        padded.collect::<String>().trim_end().to_owned()
    };
    let body = rows.iter().map(|row| line(row.each_ref().map(String::as_str)));
    lines(std::iter::once(line(head)).chain(body))
}
