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
    by_clues: Vec<OfClues>,
    total: Sums,
}

/// Sums for a number of clues, and of the products with the total of the same population: how the two move together
/// tells how well the share is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct OfClues {
    sums: Sums,
    products: Exact,
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
        let total: u128 = whole.iter().sum();
        let of = |&sum: &u128| OfClues {
            sums: Sums::of(sum),
            products: Exact::from(sum).times(&Exact::from(total)),
        };
        Self { populations: 1, by_clues: whole[..numbers].iter().map(of).collect(), total: Sums::of(total) }
    }

    /// Both together: whatever the order and the groups, the same comes out.
    #[must_use]
    pub fn merge(mut self, other: &Self) -> Self {
        self.populations += other.populations;
        self.total.add(&other.total);
        let numbers = self.by_clues.len().max(other.by_clues.len());
        self.by_clues.resize(numbers, OfClues::default());
        for (to, from) in self.by_clues.iter_mut().zip(&other.by_clues) {
            to.sums.add(&from.sums);
            to.products = to.products.plus(&from.products);
        }
        self
    }

    /// Independent populations.
    pub fn populations(&self) -> u64 {
        self.populations
    }

    /// The numbers of clues of the minimal puzzles that were met.
    pub fn clues(&self) -> impl Iterator<Item = usize> {
        self.by_clues.iter().enumerate().filter(|(_, of)| !of.sums.sum.is_zero()).map(|(clues, _)| clues)
    }

    /// The estimated number of minimal puzzles with so many clues in one grid (the mean over all grids, if these were
    /// drawn), and its standard error, which is infinite for a single population.
    pub fn with_clues(&self, clues: usize) -> (f64, f64) {
        self.by_clues.get(clues).map_or_else(Sums::default, |of| of.sums.clone()).mean(self.populations)
    }

    /// The share that minimal puzzles with so many clues have in all, from 0 to 1, and its standard error. Numbers of
    /// clues go up and down together from one population to the next, so that shares are known better than numbers.
    ///
    /// The error is that of a ratio of two means, to first order (W. G. Cochran, "Sampling Techniques", 1977, chapter 6):
    /// with counts x, totals t and the share r it is the root of the sum of (x - r t)^2 over n (n - 1), by the mean of t.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn share(&self, clues: usize) -> (f64, f64) {
        let Some(OfClues { sums, products }) = self.by_clues.get(clues) else { return (0.0, 0.0) };
        let (sum, all) = (&sums.sum, &self.total.sum);
        let share = float(sum) / float(all);
        if self.populations < 2 {
            return (share, f64::INFINITY);
        }
        // The square of the total sum times the sum of squares, which is exact.
        let squares = all.times(all).times(&sums.squares).plus(&sum.times(sum).times(&self.total.squares));
        let both = all.times(sum).times(products);
        let spread = squares.checked_minus(&both.plus(&both)).unwrap_or_default();
        let count = self.populations as f64;
        // By the total sum at every step: its fourth power is too large for a floating point number.
        let spread = float(&spread).sqrt() / float(all) / float(all);
        (share, spread * (count / (count - 1.0)).sqrt())
    }

    /// The estimated number of minimal puzzles with any number of clues, and its standard error.
    pub fn total(&self) -> (f64, f64) {
        self.total.mean(self.populations)
    }

    /// The largest share of one population in the estimate for a number of clues. Where it is not small, a few
    /// populations make the mean, and neither it nor its error can be trusted.
    pub fn largest_share(&self, clues: usize) -> f64 {
        self.by_clues.get(clues).map_or(0.0, |of| of.sums.largest_share())
    }

    /// Whether populations of puzzles with at most so many clues can have added up to this: the sums of the numbers of
    /// clues are the total, and so are their products with the total its squares; squares are at least what equal shares
    /// have, and nothing is larger than the whole.
    pub fn is_possible(&self, most_clues: usize) -> bool {
        let sum = |of: fn(&OfClues) -> &Exact| {
            self.by_clues.iter().fold(Exact::default(), |sum, row| sum.plus(of(row)))
        };
        let possible = |of: &OfClues| {
            of.sums.is_possible(self.populations)
                && of.sums.squares <= of.products
                && of.products <= of.sums.sum.times(&self.total.largest)
                && of.sums.largest <= self.total.largest
        };
        self.by_clues.len() <= most_clues + 1
            && self.by_clues.last().is_none_or(|last| !last.sums.sum.is_zero())
            && sum(|of| &of.sums.sum) == self.total.sum
            && sum(|of| &of.products) == self.total.squares
            && self.total.is_possible(self.populations)
            && self.by_clues.iter().all(possible)
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
        // Without the last: 1 of 3.5, 3 of 3. The share is 4 / 6.5, and 1 - 3.5 r and 3 - 3 r are as far from nothing.
        let (share, error) = populations[0].clone().merge(&populations[1]).share(4);
        let away = 3.5 * 4.0 / 6.5 - 1.0;
        assert!(
            (share - 4.0 / 6.5).abs() < 1e-12 && (error - away / 3.25).abs() < 1e-9,
            "{share} +- {error}"
        );
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
        let changes: [fn(&mut Estimate); 8] = [
            |all| all.populations = 1,
            |all| all.total.sum = 1_u64.into(),
            |all| all.by_clues[4].sums.largest = all.by_clues[4].sums.largest.times(&2_u64.into()),
            |all| all.by_clues[4].sums.squares = Exact::default(),
            |all| all.total.squares = all.total.squares.times(&3_u64.into()),
            |all| all.by_clues.push(OfClues::default()),
            |all| all.by_clues[5].products = Exact::default(),
            |all| all.total.largest = all.by_clues[4].sums.largest.times(&9_u64.into()),
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
