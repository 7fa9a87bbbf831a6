//! What there is to see of a corpus: a line for each plot.

use super::{partial::Tally, report::by_verdict, rows::Verdict};
use crate::plot::Plot;

/// The plots that have something to show.
pub fn plots(tally: &Tally) -> Vec<Plot> {
    let clues = tally.clues.iter().map(|(&clues, &count)| (clues, count));
    let plots = [
        verdicts(tally),
        Plot::distribution("Puzzles by number of clues", "clues", "puzzles", clues)
            .map(|plot| plot.with_caption("Numbers of clues that no puzzle has are gaps.")),
    ];
    plots.into_iter().flatten().collect()
}

/// Lines by verdict. Hardly a corpus has puzzles that are given up: only those have a place for them.
fn verdicts(tally: &Tally) -> Option<Plot> {
    let counts = by_verdict(tally).filter(|&(verdict, count)| verdict != Verdict::Unsolved || count > 0);
    let plot =
        Plot::counts("Lines by verdict", "verdict", "lines", counts.map(|(verdict, n)| (verdict.word(), n)))?;
    Some(plot.with_caption("Puzzles, and lines that were to be some."))
}
