//! What a grid takes on average, and what others would take at this pace.

use shared::{count::Exact, grid::Shape, literature};

use super::{Hitting, partial::Partial};
use crate::kind::Progress;

/// Averages over what is done. Of a grid that is done in part this part counts: its other units are taken to be like
/// those that are done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Nodes a grid.
    pub nodes: f64,
    /// Hitting sets tested a grid.
    pub tested: f64,
    /// Seconds of one core a grid, if time was measured.
    pub seconds: Option<f64>,
    /// Seconds of one core a node, if time was measured.
    pub seconds_of_node: Option<f64>,
}

impl Pace {
    /// Nothing as long as nothing is done.
    pub fn of(job: &Hitting, partial: &Partial, progress: &Progress) -> Option<Self> {
        if partial.units == 0 {
            return None;
        }
        let grids = approximate(partial.units) / approximate(job.parts);
        let busy = (progress.busy_us > 0).then(|| approximate(progress.busy_us) / 1e6);
        Some(Self {
            nodes: approximate(partial.nodes) / grids,
            tested: approximate(partial.tested) / grids,
            seconds: busy.map(|seconds| seconds / grids),
            seconds_of_node: busy
                .filter(|_| partial.nodes > 0)
                .map(|seconds| seconds / approximate(partial.nodes)),
        })
    }

    fn core_hours(&self, grids: u64) -> Option<f64> {
        Some(self.seconds? * approximate(grids) / 3600.0)
    }
}

/// Core-hours of other searches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Projected {
    /// Of the whole list that the grids were chosen from, unless all of it is done.
    pub list: Option<f64>,
    /// Of all essentially different grids, if these grids are 9x9. Supposes that they are like all.
    pub all_grids: Option<f64>,
}

impl Projected {
    /// Nothing unless time was measured.
    pub fn of(job: &Hitting, partial: &Partial, pace: Option<Pace>) -> Self {
        let hours = |grids| pace.and_then(|pace| pace.core_hours(grids));
        let unfinished = partial.work.grids_done(job.parts) < job.list.all;
        Self {
            list: hours(job.list.all).filter(|_| unfinished),
            all_grids: all_grids(job).and_then(|all| hours(u64::try_from(all.to_u128()?).ok()?)),
        }
    }
}

/// How many essentially different grids there are, if the grids of the job are 9x9.
pub fn all_grids(job: &Hitting) -> Option<Exact> {
    let nine = job.list.grids.iter().all(|grid| grid.shape() == Shape::NINE);
    literature::essentially_different(Shape::NINE, true).filter(|_| nine).map(|published| published.value())
}

/// A time in words: `8.2 ms`.
pub fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds < 1e-6 => (seconds * 1e9, "ns"),
        seconds if seconds < 1e-3 => (seconds * 1e6, "µs"),
        seconds if seconds < 1.0 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// Core-hours in words: `0.25`, `2,345,678`.
pub fn hours(hours: f64) -> String {
    match format!("{hours:.0}").parse::<Exact>() {
        Ok(whole) if hours >= 100.0 => whole.grouped(),
        _ if hours < 0.01 => "less than 0.01".into(),
        _ => format!("{hours:.2}"),
    }
}

#[allow(clippy::cast_precision_loss, reason = "for averages")]
fn approximate(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_worded_for_reading() {
        assert_eq!(
            [2.5e-7, 8.24e-3, 0.131, 1.0, 524.4].map(time),
            ["250 ns", "8.2 ms", "131 ms", "1.0 s", "524 s"]
        );
        assert_eq!(
            [0.001, 0.25, 99.5, 2_345_678.4].map(hours),
            ["less than 0.01", "0.25", "99.50", "2,345,678"]
        );
    }
}
