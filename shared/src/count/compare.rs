//! Numbers to see beside a count: bounds, an estimate, Latin squares.

use std::collections::BTreeMap;

use serde::Serialize;

use super::exact::Exact;
use crate::{grid::Shape, literature};

/// Numbers of one shape to compare its grids with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Any digit in any cell: `n^(n^2)`.
    pub cells_free: Exact,
    /// Every row a permutation: `(n!)^n`.
    pub rows_permuted: Exact,
    /// The product over all cells of the least choice that row, column or box leave; see [`three_table_minimum`].
    pub three_table_minimum: Exact,
    /// Bands and stacks taken to be independent, rounded down; see [`band_stack_estimate`].
    pub band_stack_estimate: Exact,
    /// Published number of Latin squares of the same side.
    pub latin_squares: Option<Exact>,
}

impl Comparison {
    /// The numbers for a shape. Below 0.1 s for the shapes that are counted here.
    ///
    /// # Panics
    ///
    /// Never: sides are at most 25.
    pub fn new(shape: Shape) -> Self {
        let side = shape.side();
        let n = u32::try_from(side).expect("sides are at most 25");
        Self {
            cells_free: Exact::from(u64::from(n)).power(n * n),
            rows_permuted: Exact::factorial(n.into()).power(n),
            three_table_minimum: three_table_minimum(shape),
            band_stack_estimate: band_stack_estimate(shape),
            latin_squares: literature::latin_squares(side).map(|published| published.value()),
        }
    }
}

/// An upper bound, cell by cell: in reading order, the cell in row `r` and column `c` has at most `n - c` choices left
/// by its row, `n - r` by its column, and as many by its box as there are cells in it from this one on. The product of
/// the minima is 1.53e31 for 3x3.
pub fn three_table_minimum(shape: Shape) -> Exact {
    let (rows, columns, n) = (shape.rows(), shape.columns(), shape.side());
    (0..n * n).fold(Exact::from(1u64), |product, cell| {
        let (r, c) = (cell / n, cell % n);
        let by_box = n - (r % rows) * columns - c % columns;
        product.times(&Exact::from(by_box.min(n - r).min(n - c) as u64))
    })
}

/// `b(R,C)^C * b(C,R)^R / n!^n`, rounded down: the number of grids if bands and stacks were independent (0.2 % below
/// on 3x3). Kevin Kilfoil 2005, Sudoku Programmers' Forum.
///
/// The C bands can be filled in `b(R,C)^C` ways, the R stacks in `b(C,R)^R`, of all `n!^n` ways to fill the boxes.
///
/// # Panics
///
/// Never: `n!` is not zero.
pub fn band_stack_estimate(shape: Shape) -> Exact {
    let n = shape.side() as u64;
    let power = |count: Exact, exponent: usize| count.power(u32::try_from(exponent).expect("at most 25"));
    let bands = power(bands(shape), shape.columns());
    let stacks = power(self::bands(shape.transposed()), shape.rows());
    let boxes = power(Exact::factorial(n), shape.side());
    bands.times(&stacks).divided(&boxes).expect("n! is not zero").0
}

/// Ways to fill one band of a grid: `R` boxes of `R` rows and `C` columns side by side.
///
/// Row after row, each digit goes to a box in which it has not been yet, `C` digits to each box. Which digits are alike
/// depends on the boxes they have been in, so a state is how many digits have been in which set of boxes. At the end
/// every row of every box is ordered in `C!` ways. 3x3: 948,109,639,680.
///
/// Cost: fast for the shapes that are counted here (5x2, the slowest, some 20 ms in a release build), and exponential
/// in `R` beyond.
///
/// # Panics
///
/// Never: binomial coefficients are whole, and sides are at most 25.
pub fn bands(shape: Shape) -> Exact {
    let (rows, columns) = (shape.rows(), shape.columns());
    // Digits by the set of boxes they have been in; ways, with digits told apart.
    let mut states = BTreeMap::from([(BTreeMap::from([(0usize, shape.side())]), Exact::from(1u64))]);
    for _ in 0..rows {
        let mut next = BTreeMap::new();
        for (state, ways) in &states {
            let groups: Vec<(usize, usize)> = state.iter().map(|(&been, &digits)| (been, digits)).collect();
            let mut row = Row { groups: &groups, next: &mut next };
            row.place(0, 0, groups[0].1, &mut vec![columns; rows], &mut BTreeMap::new(), ways);
        }
        states = next;
    }
    let orders = Exact::factorial(columns as u64).power(u32::try_from(rows * rows).expect("at most 625"));
    states.into_values().map(|ways| ways.times(&orders)).sum()
}

/// One row of a band: which digits go to which box.
struct Row<'a> {
    groups: &'a [(usize, usize)],
    next: &'a mut BTreeMap<BTreeMap<usize, usize>, Exact>,
}

impl Row<'_> {
    /// Sends the last `left` digits of group `group` to the boxes from `to` on, and then the other groups. `room` is
    /// what each box can still take, `state` what has been decided.
    fn place(
        &mut self,
        group: usize,
        to: usize,
        left: usize,
        room: &mut Vec<usize>,
        state: &mut BTreeMap<usize, usize>,
        ways: &Exact,
    ) {
        let been = self.groups[group].0;
        if left == 0 {
            if let Some(&(_, digits)) = self.groups.get(group + 1) {
                return self.place(group + 1, 0, digits, room, state, ways);
            }
            let sum = self.next.entry(state.clone()).or_default();
            *sum = sum.plus(ways);
            return;
        }
        if to == room.len() {
            return;
        }
        self.place(group, to + 1, left, room, state, ways);
        if been >> to & 1 == 1 {
            return;
        }
        for digits in 1..=left.min(room[to]) {
            room[to] -= digits;
            *state.entry(been | 1 << to).or_default() += digits;
            let ways = ways.times(&choose(left, digits));
            self.place(group, to + 1, left - digits, room, state, &ways);
            room[to] += digits;
            let entry = state.get_mut(&(been | 1 << to)).expect("just entered");
            *entry -= digits;
            if *entry == 0 {
                state.remove(&(been | 1 << to));
            }
        }
    }
}

/// The binomial coefficient `n` over `k`.
fn choose(n: usize, k: usize) -> Exact {
    let product =
        |from: usize, to: usize| (from..=to).fold(Exact::from(1u64), |p, i| p.times(&Exact::from(i as u64)));
    product(n - k + 1, n).divided_exactly(&product(1, k)).expect("binomial coefficients are whole")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        text.parse().unwrap()
    }

    #[test]
    fn bands_by_formula() {
        assert_eq!(bands(Shape::NINE), literature::BANDS_3X3.value());
        // Two boxes: the second has the rows of the first exchanged, each in any order.
        for columns in 2..=5 {
            let fact = |n: u64| Exact::factorial(n);
            let expected = fact(2 * columns).times(&fact(columns).power(2));
            assert_eq!(bands(Shape::new(2, u8::try_from(columns).unwrap()).unwrap()), expected);
        }
        assert_eq!(bands(shape("1x4")), Exact::factorial(4));
    }

    #[test]
    fn the_estimate_is_as_close_as_published() {
        for (text, ratio) in [("2x2", "0.889"), ("2x3", "0.941"), ("2x4", "0.981"), ("3x3", "0.99793")] {
            let exact = literature::grids(shape(text)).unwrap().value();
            let estimate = band_stack_estimate(shape(text));
            let digits = u32::try_from(ratio.len() - 2).unwrap();
            assert_eq!(estimate.ratio(&exact, digits).unwrap(), ratio, "{text}");
            assert_eq!(band_stack_estimate(shape(text).transposed()), estimate);
        }
    }

    #[test]
    fn bounds_are_bounds() {
        for shape in Shape::COUNTED {
            let numbers = Comparison::new(shape);
            let exact = literature::grids(shape).unwrap().value();
            assert!(exact <= numbers.three_table_minimum, "{shape}");
            assert!(numbers.three_table_minimum <= numbers.rows_permuted, "{shape}");
            assert!(numbers.rows_permuted <= numbers.cells_free, "{shape}");
            assert!(exact < numbers.latin_squares.unwrap(), "{shape}");
        }
        assert_eq!(three_table_minimum(Shape::NINE).scientific(3), "1.53e31");
    }
}
