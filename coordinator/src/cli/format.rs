//! Reports and listings on standard output.

use std::io::Write;

use jobs::Report;
use proto::v1::JobStatus;
use serde_json::Value;
use worker::objects::Objects;

use super::{
    args::{Format, ReportFormat},
    exit::{Failure, Outcome},
    output,
};
use crate::shown::{job_json, page, share, short, state, with_job};

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
