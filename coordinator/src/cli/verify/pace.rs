//! How a verification goes on, on standard error: a bar on a terminal, plain lines elsewhere.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proto::v1::VerifyStatus;

use crate::shown::duration;

/// Plain lines come this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows it.
pub struct Pace {
    bar: Option<ProgressBar>,
    began: Instant,
    next_line: Instant,
    told: bool,
}

impl Pace {
    /// Begins now.
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:40} {percent:>3}% {pos}/{len} units {msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { bar, began: Instant::now(), next_line: Instant::now() + LINE_EVERY, told: false }
    }

    /// Shows a newer status.
    pub fn show(&mut self, status: &VerifyStatus) {
        let words = words(status, self.began.elapsed());
        if let Some(bar) = &self.bar {
            bar.set_length(status.units);
            bar.set_position(status.checked_units);
            bar.set_message(words);
            return;
        }
        // That nobody can compute it is said at once.
        let waits = status.waits_for_worker && !std::mem::replace(&mut self.told, status.waits_for_worker);
        if Instant::now() >= self.next_line || waits {
            self.next_line = Instant::now() + LINE_EVERY;
            eprintln!("nonet: {}/{} units {words}", status.checked_units, status.units);
        }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Rate, time to go, and what is wrong.
fn words(status: &VerifyStatus, since: Duration) -> String {
    let mut words = Vec::new();
    let since_ms = since.as_millis().max(1);
    let (checked, left) =
        (u128::from(status.checked_units), status.units.saturating_sub(status.checked_units));
    if checked > 0 {
        words.push(format!("{} units/s", checked * 1_000 / since_ms));
        let eta_ms = u128::from(left) * since_ms / checked;
        words.push(format!("ETA {}", duration(u64::try_from(eta_ms).unwrap_or(u64::MAX))));
    }
    if status.differing_ranges > 0 {
        words.push(format!("{} ranges differ", status.differing_ranges));
    }
    if status.waits_for_worker {
        words.push("waits for another worker: nobody is connected who has not computed what is left".into());
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_and_the_time_to_go_are_those_of_the_sample() {
        let status =
            VerifyStatus { units: 400, checked_units: 100, differing_ranges: 2, ..VerifyStatus::default() };
        assert_eq!(words(&status, Duration::from_secs(10)), "10 units/s, ETA 30 s, 2 ranges differ");
        assert_eq!(words(&VerifyStatus::default(), Duration::ZERO), "");
    }
}
