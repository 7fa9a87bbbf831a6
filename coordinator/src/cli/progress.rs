//! Progress of a job on standard error: a bar on a terminal, plain lines elsewhere.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proto::v1::{JobStatus, State};

/// Plain lines come this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows how a job goes on.
pub struct Progress {
    bar: Option<ProgressBar>,
    next_line: Instant,
    resumes: bool,
}

impl Progress {
    /// Starts showing `job`; `resumes` when this command takes it up from an earlier life.
    pub fn new(job: &JobStatus, resumes: bool) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| bar(job.units));
        Self { bar, next_line: Instant::now() + LINE_EVERY, resumes }
    }

    /// Shows a newer status.
    pub fn show(&mut self, status: &JobStatus) {
        if std::mem::take(&mut self.resumes) && status.done_before > 0 {
            let (done, units) = (status.done_before, status.units);
            self.line(&format!("nonet: resuming: {done} of {units} work units are done already"));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(status.done);
            bar.set_message(words(status));
        } else if Instant::now() >= self.next_line {
            self.next_line = Instant::now() + LINE_EVERY;
            eprintln!("nonet: {} {}", share(status), words(status));
        }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }
}

fn bar(units: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(units), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:40} {percent:>3}% {pos}/{len} units {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
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
