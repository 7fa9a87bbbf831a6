//! Progress of a job on standard error: a bar on a terminal, plain lines elsewhere.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proto::v1::JobStatus;

use crate::shown::{share, words};

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
