//! What there is to see of many photographs.

use super::{partial::Tally, record::Verdict};
use crate::plot::Plot;

/// The plots that have something to show.
pub fn plots(tally: &Tally) -> Vec<Plot> {
    let outcomes = [("read", tally.read), ("refused", tally.refused()), ("unreadable", tally.unreadable)];
    let verdicts =
        Verdict::ALL.into_iter().zip(tally.verdicts).map(|(verdict, count)| (verdict.word(), count));
    let flagged = tally.by_flagged.iter().map(|(&cells, &boards)| (cells, boards));
    let plots = [
        Plot::counts("Photographs by what came of them", "outcome", "photographs", outcomes),
        Plot::counts("Boards by verdict", "verdict", "boards", verdicts).map(|plot| {
            plot.with_caption("As they were read: a board with a wrong digit hardly has a solution.")
        }),
        Plot::distribution("Boards by number of doubtful cells", "doubtful cells", "boards", flagged),
    ];
    plots.into_iter().flatten().collect()
}
