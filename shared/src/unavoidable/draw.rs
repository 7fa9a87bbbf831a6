//! A random 9x9 grid, and the weight that makes up for how it was drawn.
//!
//! Box 1 reads 123/456/789; renaming digits gives 9! grids for each of these. The *cross* - the top band and the left
//! stack - is drawn uniformly: each is one of 9! * 36,288 * 72 / 9! = 2,612,736 bands with that box, a stack being a
//! transposed band. Then all `c` ways to fill the other four boxes are counted, and one of them is taken. So a grid is
//! drawn with probability 1 / (2,612,736^2 c), and with `c` as its weight, whatever `f` is,
//!
//! > mean of `c f(grid)` * 9! * 2,612,736^2 = the sum of `f` over all 6,670,903,752,021,072,936,960 grids.
//!
//! Of the 72 orders that a filling of boxes 2 and 3 stands for (columns inside the boxes, and the boxes themselves) only
//! one is drawn, and likewise for the stack: exchanging such columns or rows, like renaming, turns grids into grids and
//! puzzles into puzzles with the same numbers of clues and solutions. What is drawn here is for such `f` only.
//!
//! Counting: boxes 5 and 6 share the digits that the rows of box 4 leave in one of 56 ways, boxes 8 and 9 in one of 56
//! below box 7; so do boxes 5 and 8, and 6 and 9, with columns. A box whose rows and columns are known as sets has one
//! filling, if each row meets each column in one digit, or none. So `c` is a sum over the 56^2 ways of the rows, of a
//! product over the two stacks: the number of column choices, of 56, that suit both boxes, which is a population count.

use crate::{
    count::{
        audit::fillings::{COUNT, filling},
        nine::{Band, column_sets},
        triples::{Digits, SPLITS, splits},
    },
    random::Random,
};

/// All 9x9 grids (Felgenhauer & Jarvis 2006).
pub const GRIDS: u128 = 6_670_903_752_021_072_936_960;
/// The mean of `c`: some 2,693.
#[allow(clippy::cast_precision_loss, reason = "to the nearest f64")]
const MEAN_WEIGHT: f64 = GRIDS as f64 / (362_880.0 * CROSSES);
/// Top bands times left stacks with a given box 1: exact in 53 bits.
const CROSSES: f64 = 2_612_736.0 * 2_612_736.0;

/// A grid, and what `f(grid)` is to be multiplied by for its mean over draws to be its mean over all grids.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The digits from 1, row by row.
    pub digits: [u8; 81],
    /// `c` / mean of `c`.
    pub weight: f64,
}

/// Draws a grid, in some 50 microseconds; `None`, which counts as a draw with weight 0, if the cross that was drawn has
/// no completion.
pub fn draw(random: &mut Random) -> Option<Drawn> {
    let cross = Cross::draw(random);
    let ways = Ways::new(&cross);
    let count = ways.count();
    // At most 56^4 ways: no f64 is rounded.
    #[allow(clippy::cast_precision_loss, reason = "at most 56^4")]
    let weight = count as f64 / MEAN_WEIGHT;
    (count > 0).then(|| Drawn { digits: cross.filled(&ways.choice(random.below(count))), weight })
}

/// The top band and the left stack of a grid; digits are 0..9.
struct Cross {
    top: Band,
    left: [[u8; 3]; 9],
}

impl Cross {
    fn draw(random: &mut Random) -> Self {
        let mut band = || filling(random.below(usize::try_from(COUNT).expect("36,288")) as u64);
        let (top, across) = (band(), band());
        // Box 1 comes out as 147/258/369; renaming as the transposition moved its cells makes it standard again.
        let renamed = |digit: u8| 3 * (digit % 3) + digit / 3;
        let left = std::array::from_fn(|row| std::array::from_fn(|column| renamed(across[column][row])));
        Self { top, left }
    }

    /// The row sets of boxes 4 and 7.
    fn rows(&self) -> [[Digits; 3]; 2] {
        let set = |row: usize| self.left[row].iter().map(|&digit| 1 << digit).sum();
        [3, 6].map(|first| std::array::from_fn(|row| set(first + row)))
    }

    /// The grid with the other boxes filled, digits from 1.
    fn filled(&self, boxes: &[[Filled; 2]; 2]) -> [u8; 81] {
        std::array::from_fn(|cell| {
            let (row, column) = (cell / 9, cell % 9);
            let digit = match (row / 3, column / 3) {
                (0, _) => self.top[row][column],
                (_, 0) => self.left[row][column],
                (band, stack) => {
                    let (rows, columns) = boxes[band - 1][stack - 1];
                    let one = (rows[row % 3] & columns[column % 3]).trailing_zeros();
                    u8::try_from(one).expect("one digit in a row and a column")
                }
            };
            digit + 1
        })
    }
}

/// A box by its row sets and column sets.
type Filled = ([Digits; 3], [Digits; 3]);
/// The ways to share between the upper and the lower (or the left and the right) of two boxes.
type Splits = [([Digits; 3], [Digits; 3]); SPLITS];

/// The ways to fill the four boxes outside a cross.
struct Ways {
    /// For the rows of the middle band and of the bottom band.
    rows: [Splits; 2],
    /// For the columns of the middle stack and of the right stack.
    columns: [Splits; 2],
    /// For each band, stack and way of the band's rows: the ways of the stack's columns that suit the box.
    suits: [[[u64; SPLITS]; 2]; 2],
}

impl Ways {
    fn new(cross: &Cross) -> Self {
        let [_, box2, box3] = column_sets(&cross.top);
        let rows = cross.rows().map(splits);
        let columns = [splits(box2), splits(box3)];
        let part = |split: &([Digits; 3], [Digits; 3]), second: usize| [split.0, split.1][second];
        let suits = std::array::from_fn(|band| {
            std::array::from_fn(|stack| {
                let columns: [[Digits; 3]; SPLITS] = std::array::from_fn(|i| part(&columns[stack][i], band));
                rows[band].each_ref().map(|split| suited(part(split, stack), &columns))
            })
        });
        Self { rows, columns, suits }
    }

    /// The choices of columns of the two stacks that go with ways of the rows of the two bands.
    fn both(&self, middle: usize, bottom: usize) -> [u64; 2] {
        [0, 1].map(|stack| self.suits[0][stack][middle] & self.suits[1][stack][bottom])
    }

    fn count(&self) -> usize {
        let product = |[left, right]: [u64; 2]| left.count_ones() * right.count_ones();
        let below =
            |middle: usize| (0..SPLITS).map(move |bottom| product(self.both(middle, bottom)) as usize);
        (0..SPLITS).flat_map(below).sum()
    }

    /// Way `number`, below `count`.
    fn choice(&self, mut number: usize) -> [[Filled; 2]; 2] {
        for (middle, bottom) in (0..SPLITS).flat_map(|middle| (0..SPLITS).map(move |b| (middle, b))) {
            let [left, right] = self.both(middle, bottom);
            let rights = right.count_ones() as usize;
            let here = left.count_ones() as usize * rights;
            if number < here {
                let columns = [bit(left, number / rights), bit(right, number % rights)];
                return self.boxes([middle, bottom], columns);
            }
            number -= here;
        }
        unreachable!("a number below the count")
    }

    fn boxes(&self, rows: [usize; 2], columns: [usize; 2]) -> [[Filled; 2]; 2] {
        std::array::from_fn(|band| {
            std::array::from_fn(|stack| {
                let (row, column) = (self.rows[band][rows[band]], self.columns[stack][columns[stack]]);
                ([row.0, row.1][stack], [column.0, column.1][band])
            })
        })
    }
}

/// The columns, of some choices, that meet each of the rows in one digit.
fn suited(rows: [Digits; 3], columns: &[[Digits; 3]; SPLITS]) -> u64 {
    let one = |a: Digits, b: Digits| (a & b).is_power_of_two();
    // A row or column of three digits that meets two of three in one digit each meets the third in one.
    let fits =
        |columns: &[Digits; 3]| rows[..2].iter().all(|&row| one(row, columns[0]) && one(row, columns[1]));
    columns.iter().enumerate().filter(|(_, columns)| fits(columns)).map(|(i, _)| 1 << i).sum()
}

/// The place of the set bit that has `before` set bits below it.
fn bit(mut set: u64, before: usize) -> usize {
    (0..before).for_each(|_| set &= set - 1);
    set.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{
        grid::Shape,
        solve::{bitslice::Engine, reference},
        unavoidable::CompleteGrid,
    };

    /// The digits of a cross from 1, and 0 elsewhere.
    fn puzzle(cross: &Cross) -> [u8; 81] {
        std::array::from_fn(|cell| match (cell / 9, cell % 9) {
            (row @ 0..3, column) => cross.top[row][column] + 1,
            (row, column @ 0..3) => cross.left[row][column] + 1,
            _ => 0,
        })
    }

    #[test]
    fn completions_are_those_that_solvers_count() {
        let random = &mut Random::new(1);
        let crosses: Vec<Cross> = (0..40).map(|_| Cross::draw(random)).collect();
        let puzzles: Vec<[u8; 81]> = crosses.iter().map(puzzle).collect();
        let mut answers = Vec::new();
        Engine::default().solve(&puzzles, 1_000_000, &mut answers);
        for ((cross, puzzle), answer) in crosses.iter().zip(&puzzles).zip(answers) {
            assert_eq!(Ways::new(cross).count(), answer.solutions as usize, "{puzzle:?}");
        }
        let plain = reference::solve(Shape::NINE, &puzzles[0], 1_000_000).unwrap();
        assert_eq!(plain.solutions, Ways::new(&crosses[0]).count() as u64);
    }

    #[test]
    fn every_completion_is_a_grid_and_comes_once() {
        let cross = Cross::draw(&mut Random::new(2));
        let ways = Ways::new(&cross);
        let grids: HashSet<[u8; 81]> = (0..ways.count()).map(|i| cross.filled(&ways.choice(i))).collect();
        assert_eq!(grids.len(), ways.count());
        assert!(grids.iter().all(|grid| CompleteGrid::new(Shape::NINE, grid).is_ok()));
        let given = puzzle(&cross);
        assert!(grids.iter().all(|grid| grid.iter().zip(given).all(|(&a, b)| b == 0 || a == b)));
    }

    /// The weights have mean 1: so says the number of all grids, which nothing here was made from.
    #[test]
    #[allow(clippy::cast_precision_loss, reason = "statistics")]
    fn the_mean_weight_gives_the_number_of_grids() {
        const DRAWS: usize = 20_000;
        let random = &mut Random::new(3);
        let weights: Vec<f64> = (0..DRAWS).map(|_| draw(random).map_or(0.0, |drawn| drawn.weight)).collect();
        let mean = weights.iter().sum::<f64>() / DRAWS as f64;
        let variance = weights.iter().map(|weight| (weight - mean).powi(2)).sum::<f64>() / DRAWS as f64;
        let error = (variance / DRAWS as f64).sqrt();
        assert!((mean - 1.0).abs() < 4.0 * error && error < 0.005, "{mean} +- {error}, seed 3");
    }
}
