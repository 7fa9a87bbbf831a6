//! What there is to see of a corpus: a line for each plot.

use super::{partial::Tally, report::by_verdict, rows::Verdict};
use crate::plot::Plot;

/// The plots that have something to show.
pub fn plots(tally: &Tally) -> Vec<Plot> {
    let clues = tally.clues.iter().map(|(&clues, &count)| (clues, count));
    let levels = tally.levels().map(|(level, count)| (level.to_string(), count));
    let plots = [
        verdicts(tally),
        Plot::counts("Puzzles by level", "weakest techniques that solve it", "puzzles", levels).map(|plot| {
            plot.with_caption("Each technique together with those before it; search beyond all of them.")
        }),
        Plot::distribution("Puzzles by number of clues", "clues", "puzzles", clues)
            .map(|plot| plot.with_caption("Numbers of clues that no puzzle has are gaps.")),
    ];
    plots.into_iter().flatten().collect()
}

/// Lines by verdict. Hardly a corpus has puzzles that are given up, and most methods look for all solutions: only where
/// there are such lines they have a place.
fn verdicts(tally: &Tally) -> Option<Plot> {
    let rare = |verdict| matches!(verdict, Verdict::Unsolved | Verdict::Solved);
    let counts = by_verdict(tally).filter(|&(verdict, count)| !rare(verdict) || count > 0);
    let plot =
        Plot::counts("Lines by verdict", "verdict", "lines", counts.map(|(verdict, n)| (verdict.word(), n)))?;
    Some(plot.with_caption("Puzzles, and lines that were to be some."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Marks, Scale};

    fn bars(plot: &Plot) -> (Vec<&str>, &[u64]) {
        let Marks::Bars { categories, series } = &plot.marks else { panic!("{plot:?}") };
        (categories.iter().map(String::as_str).collect(), &series[0].counts)
    }

    #[test]
    fn plots_show_what_there_is() {
        assert_eq!(plots(&Tally::default()), []);
        let mut tally = Tally { verdicts: [5, 2, 0, 1, 1, 0, 0], ..Tally::default() };
        tally.clues = [(17, 4), (19, 3), (20, 1)].into();
        tally.levels = [((1, 0), 3), ((5, 2), 1)].into();
        let plots = plots(&tally);
        let verdicts = ["unique", "multiple", "none", "invalid", "unreadable"];
        assert_eq!(bars(&plots[0]), (verdicts.to_vec(), &[5, 2, 0, 1, 1][..]));
        assert_eq!(bars(&plots[1]), (vec!["naked singles", "search of depth 2"], &[3, 1][..]));
        assert_eq!(bars(&plots[2]), (vec!["17", "18", "19", "20"], &[4, 0, 3, 1][..]));
        assert_eq!(plots[0].y.scale, Scale::Linear);
    }

    #[test]
    fn puzzles_that_are_given_up_have_a_bar_when_there_are_some() {
        let tally = Tally { verdicts: [1_000_000, 0, 0, 0, 0, 3, 0], ..Tally::default() };
        let plots = plots(&tally);
        assert_eq!((plots.len(), plots[0].y.scale), (1, Scale::Log));
        assert_eq!(bars(&plots[0]).0.last(), Some(&"unsolved"));
    }
}
