//! What there is to see: puzzles by number of clues, and grids by the work they took.

use super::{
    Hitting,
    pace::{Pace, time},
    partial::Partial,
};
use crate::plot::{Plot, text::grouped};

/// The plots that have something to show.
pub fn plots(job: &Hitting, partial: &Partial, pace: Option<Pace>) -> Vec<Plot> {
    let by_clues = partial.by_clues.iter().map(|(&clues, &count)| (clues, count));
    let by_clues = Plot::distribution("Puzzles by number of clues", "clues", "puzzles", by_clues)
        .map(|plot| plot.with_caption("Those found inside the grids."));
    [by_clues, by_work(job, partial, pace)].into_iter().flatten().collect()
}

/// Grids by the time that their nodes take on average, or by their nodes where no time was measured.
fn by_work(job: &Hitting, partial: &Partial, pace: Option<Pace>) -> Option<Plot> {
    let by_bits = partial.work.done_by_bits(job.parts);
    let (&least, &most) = (by_bits.first_key_value()?.0, by_bits.last_key_value()?.0);
    let bars = |label: &dyn Fn(u64) -> String| -> Vec<(String, u64)> {
        let bar = |bits| (label(least_with(bits)), by_bits.get(&bits).copied().unwrap_or_default());
        (least..=most).map(bar).collect()
    };
    let Some(seconds) = pace.and_then(|pace| pace.seconds_of_node) else {
        let bars = bars(&|nodes| grouped(&nodes.to_string()));
        let plot =
            Plot::counts("Grids by nodes", "nodes of the search, from here to twice as many", "grids", bars)?;
        return Some(plot.with_caption("Grids that are done. No time was measured."));
    };
    #[allow(clippy::cast_precision_loss, reason = "for reading")]
    let bars = bars(&|nodes| time(nodes as f64 * seconds));
    let plot = Plot::counts("Grids by time", "time on one core, from here to twice as long", "grids", bars)?;
    Some(plot.with_caption(format!(
        "Grids that are done, by their nodes and the mean time of a node, {}: the time of each was not kept.",
        time(seconds)
    )))
}

/// The least number of so many binary digits.
fn least_with(bits: u32) -> u64 {
    bits.checked_sub(1).map_or(0, |shift| 1 << shift)
}
