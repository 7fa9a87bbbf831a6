//! What independent populations estimate, added up exactly.

use serde::{Deserialize, Serialize};

use crate::count::Exact;

/// Numbers of clues there are, 0 to 81.
pub(super) const NUMBERS: usize = 82;
/// What is added up are whole multiples of 1 / `FRACTIONS`: their sums do not depend on the order, as those of
/// floating point numbers do.
const FRACTIONS: f64 = 65_536.0;

/// The estimates of some populations, of which the mean is taken. Two of them with different populations are one of
/// both together, see [`Estimate::merge`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    populations: u64,
    /// For each number of clues; up to the largest there is.
    by_clues: Vec<Sums>,
    total: Sums,
}

/// Sums over populations, in `1 / FRACTIONS` and its square.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sums {
    sum: Exact,
    squares: Exact,
    largest: Exact,
}

impl Sums {
    fn of(one: u128) -> Self {
        let one = Exact::from(one);
        Self { squares: one.times(&one), largest: one.clone(), sum: one }
    }

    fn add(&mut self, other: &Self) {
        self.sum = self.sum.plus(&other.sum);
        self.squares = self.squares.plus(&other.squares);
        self.largest = self.largest.clone().max(other.largest.clone());
    }

    /// The mean, and its standard error from the spread of the populations.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    fn mean(&self, populations: u64) -> (f64, f64) {
        let count = populations.max(1) as f64;
        let mean = float(&self.sum) / FRACTIONS / count;
        // Exact, or the difference of two large numbers would be lost.
        let squares = self.squares.times(&populations.into());
        let spread = squares.checked_minus(&self.sum.times(&self.sum)).unwrap_or_default();
        let variance = float(&spread) / (FRACTIONS * FRACTIONS) / (count * (count - 1.0));
        (mean, if populations < 2 { f64::INFINITY } else { (variance / count).sqrt() })
    }

    fn is_possible(&self, populations: u64) -> bool {
        let square = |of: &Exact| of.times(of);
        let populations = Exact::from(populations);
        self.largest <= self.sum
            && self.sum <= self.largest.times(&populations)
            && square(&self.largest) <= self.squares
            && self.squares <= self.largest.times(&self.sum)
            && square(&self.sum) <= self.squares.times(&populations)
    }

    fn largest_share(&self) -> f64 {
        if self.sum.is_zero() { 0.0 } else { float(&self.largest) / float(&self.sum) }
    }
}

/// The nearest floating point number.
fn float(count: &Exact) -> f64 {
    count.to_string().parse().unwrap_or(f64::INFINITY)
}

impl Estimate {
    /// That of one population, from the weights of the minimal puzzles it ended in, by number of clues.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "weights are not negative")]
    pub(super) fn of_population(weights: &[f64; NUMBERS]) -> Self {
        let whole = weights.map(|weight| (weight * FRACTIONS).round() as u128);
        let numbers = whole.iter().rposition(|&sum| sum > 0).map_or(0, |last| last + 1);
        let by_clues = whole[..numbers].iter().map(|&sum| Sums::of(sum)).collect();
        Self { populations: 1, by_clues, total: Sums::of(whole.iter().sum()) }
    }

    /// Both together: whatever the order and the groups, the same comes out.
    #[must_use]
    pub fn merge(mut self, other: &Self) -> Self {
        self.populations += other.populations;
        self.total.add(&other.total);
        let numbers = self.by_clues.len().max(other.by_clues.len());
        self.by_clues.resize(numbers, Sums::default());
        self.by_clues.iter_mut().zip(&other.by_clues).for_each(|(to, from)| to.add(from));
        self
    }

    /// Independent populations.
    pub fn populations(&self) -> u64 {
        self.populations
    }

    /// The numbers of clues of the minimal puzzles that were met.
    pub fn clues(&self) -> impl Iterator<Item = usize> {
        self.by_clues.iter().enumerate().filter(|(_, sums)| !sums.sum.is_zero()).map(|(clues, _)| clues)
    }

    /// The estimated number of minimal puzzles with so many clues in one grid (the mean over all grids, if these were
    /// drawn), and its standard error, which is infinite for a single population.
    pub fn with_clues(&self, clues: usize) -> (f64, f64) {
        self.by_clues.get(clues).unwrap_or(&Sums::default()).mean(self.populations)
    }

    /// The estimated number of minimal puzzles with any number of clues, and its standard error.
    pub fn total(&self) -> (f64, f64) {
        self.total.mean(self.populations)
    }

    /// The largest share of one population in the estimate for a number of clues. Where it is not small, a few
    /// populations make the mean, and neither it nor its error can be trusted.
    pub fn largest_share(&self, clues: usize) -> f64 {
        self.by_clues.get(clues).map_or(0.0, Sums::largest_share)
    }

    /// Whether populations of puzzles with at most so many clues can have added up to this: the sums of the numbers of
    /// clues are the total, squares are at least what equal shares have, and nothing is larger than the whole.
    pub fn is_possible(&self, most_clues: usize) -> bool {
        let sum = self.by_clues.iter().fold(Exact::default(), |sum, of| sum.plus(&of.sum));
        let all = || self.by_clues.iter().chain([&self.total]);
        self.by_clues.len() <= most_clues + 1
            && sum == self.total.sum
            && all().all(|sums| sums.is_possible(self.populations))
    }

    /// The largest share of one population in the total.
    pub fn largest_share_of_total(&self) -> f64 {
        self.total.largest_share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn population(weights: &[(usize, f64)]) -> Estimate {
        let mut all = [0.0; NUMBERS];
        weights.iter().for_each(|&(clues, weight)| all[clues] = weight);
        Estimate::of_population(&all)
    }

    #[test]
    fn means_and_errors_are_those_of_the_populations() {
        let populations =
            [population(&[(4, 1.0), (5, 2.5)]), population(&[(4, 3.0)]), population(&[(81, 1e15)])];
        let all = populations.iter().fold(Estimate::default(), Estimate::merge);
        assert_eq!(populations.iter().rev().fold(Estimate::default(), Estimate::merge), all);
        assert_eq!(all.populations(), 3);
        assert_eq!(all.clues().collect::<Vec<_>>(), [4, 5, 81]);
        // 1, 3, 0: mean 4 / 3, variance (10 - 16 / 3) / 2.
        let (mean, error) = all.with_clues(4);
        assert!((mean - 4.0 / 3.0).abs() < 1e-12 && (error - (7.0_f64 / 9.0).sqrt()).abs() < 1e-12);
        assert_eq!(all.with_clues(7), (0.0, 0.0));
        assert!((all.largest_share(4) - 0.75).abs() < 1e-12);
        assert!((all.total().0 - (1e15 + 6.5) / 3.0).abs() < 1.0);
        assert!(all.largest_share_of_total() > 0.99);
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Estimate>(&text).unwrap(), all);
    }

    #[test]
    fn sums_that_no_populations_have_are_told() {
        let good = population(&[(4, 1.0), (5, 2.5)]).merge(&population(&[(4, 3.0)]));
        assert!(good.is_possible(5) && !good.is_possible(4) && Estimate::default().is_possible(0));
        let changes: [fn(&mut Estimate); 5] = [
            |all| all.populations = 1,
            |all| all.total.sum = 1_u64.into(),
            |all| all.by_clues[4].largest = all.by_clues[4].largest.times(&2_u64.into()),
            |all| all.by_clues[4].squares = Exact::default(),
            |all| all.total.squares = all.total.squares.times(&3_u64.into()),
        ];
        for change in changes {
            let mut bad = good.clone();
            change(&mut bad);
            assert!(!bad.is_possible(5), "{bad:?}");
        }
    }

    #[test]
    fn one_population_has_no_known_error() {
        assert_eq!(population(&[(4, 1.0)]).with_clues(4), (1.0, f64::INFINITY));
        assert_eq!(Estimate::default().total(), (0.0, f64::INFINITY));
    }
}
