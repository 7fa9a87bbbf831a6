//! What the runs of a method have in common.

use std::time::Duration;

use shared::solve::methods::Effort;

use super::measure::{Run, Runs};

/// A method on a corpus, in a few numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Puzzles for which it came to its end.
    pub solved: usize,
    /// Nodes of a search, iterations of other methods; those of unsolved puzzles as far as they went. None for puzzles
    /// that are solved side by side.
    pub steps: Option<Spread<u64>>,
    /// Nodes at which there was a choice, for searches.
    pub guesses: Option<Spread<u64>>,
    /// Unsolved puzzles count as long as they were tried.
    pub time: Spread<Duration>,
}

/// Numbers in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread<T> {
    /// Half of them are no larger.
    pub median: T,
    /// Nine of ten are no larger.
    pub nine_in_ten: T,
    pub most: T,
    pub sum: T,
}

impl Summary {
    /// There must be a run.
    pub fn of(runs: &Runs) -> Self {
        let all = &runs.runs;
        let known = |count: fn(&Effort) -> u64| {
            let counts: Option<Vec<u64>> = all.iter().map(|run| run.effort.as_ref().map(count)).collect();
            counts.and_then(Spread::of)
        };
        let none = Spread {
            median: Duration::ZERO,
            nine_in_ten: Duration::ZERO,
            most: Duration::ZERO,
            sum: Duration::ZERO,
        };
        Self {
            solved: all.iter().filter(|run| run.finished).count(),
            steps: known(steps),
            guesses: if runs.method.proves() { known(|effort| effort.guesses) } else { None },
            time: Spread::of(all.iter().map(|run| run.time).collect()).unwrap_or(none),
        }
    }
}

/// Nodes of a search, iterations of other methods.
pub fn steps(effort: &Effort) -> u64 {
    effort.nodes.max(effort.iterations)
}

impl<T: Copy + Ord + std::iter::Sum> Spread<T> {
    /// `None` of none.
    pub fn of(mut numbers: Vec<T>) -> Option<Self> {
        numbers.sort_unstable();
        let last = numbers.len().checked_sub(1)?;
        Some(Self {
            median: numbers[last / 2],
            nine_in_ten: numbers[last * 9 / 10],
            most: numbers[last],
            sum: numbers.iter().copied().sum(),
        })
    }
}

/// What the methods contradict each other in, if they do: searches must count the same solutions, and what the others
/// find must be solutions where there are some.
pub fn contradiction(runs: &[Runs]) -> Option<String> {
    let name = |runs: &Runs| runs.method.name();
    let puzzles = runs.iter().map(|of| of.runs.len()).max().unwrap_or(0);
    (0..puzzles).find_map(|puzzle| {
        let at = |of: &Runs| of.runs.get(puzzle).cloned();
        let wrong = runs.iter().find(|of| at(of).is_some_and(|run| !run.right));
        if let Some(of) = wrong {
            return Some(format!("{} found no solution of puzzle {}, but said so", name(of), puzzle + 1));
        }
        let finished = |of: &&Runs| of.method.proves() && at(of).is_some_and(|run| run.finished);
        let mut searches = runs.iter().filter(finished);
        let first = searches.next()?;
        let solutions = |of: &Runs| at(of).map(|run: Run| run.solutions);
        let other = searches.find(|of| solutions(of) != solutions(first));
        let found =
            |of: &&Runs| !of.method.proves() && solutions(of) == Some(1) && solutions(first) == Some(0);
        let other = other.or_else(|| runs.iter().find(found))?;
        Some(format!("{} and {} do not agree on puzzle {}", name(first), name(other), puzzle + 1))
    })
}

#[cfg(test)]
mod tests {
    use jobs::solve::Method;

    use super::*;

    #[test]
    fn spreads_are_of_numbers_in_order() {
        assert_eq!(Spread::<u64>::of(vec![]), None);
        let spread = Spread::of((1..=11_u64).rev().collect()).unwrap();
        assert_eq!(spread, Spread { median: 6, nine_in_ten: 10, most: 11, sum: 66 });
        let one = Spread::of(vec![7_u64]).unwrap();
        assert_eq!(one, Spread { median: 7, nine_in_ten: 7, most: 7, sum: 7 });
    }

    #[test]
    fn methods_that_do_not_agree_are_named() {
        let run = |solutions, finished| Run {
            solutions,
            finished,
            right: true,
            effort: None,
            time: Duration::ZERO,
        };
        let of = |name: &str, runs: Vec<Run>| Runs { method: name.parse::<Method>().unwrap(), runs };
        let ways = |dlx: Run, projections: Run| {
            contradiction(&[
                of("bitslice", vec![run(1, true), run(0, true)]),
                of("dlx", vec![run(1, true), dlx]),
                of("projections", vec![run(0, false), projections]),
            ])
        };
        assert_eq!(ways(run(0, true), run(0, false)), None);
        assert_eq!(ways(run(0, false), run(0, false)), None);
        let words = ways(run(2, true), run(0, false)).unwrap();
        assert_eq!(words, "bitslice and dlx do not agree on puzzle 2");
        let words = ways(run(0, true), run(1, true)).unwrap();
        assert_eq!(words, "bitslice and projections do not agree on puzzle 2");
        let words = ways(run(0, true), Run { right: false, ..run(0, true) }).unwrap();
        assert!(words.starts_with("projections found no solution of puzzle 2"), "{words}");
    }
}
