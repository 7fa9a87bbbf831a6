//! Fixed grids estimated by random completion: cells and digits only, no templates, no covers, no centralizers. Good to
//! a fraction of a percent where exact counts have nothing else to be held against.
//!
//! A grid that g fixes up to relabelling satisfies `grid[g(cell)] = p(grid[cell])` for a renaming p, and where g
//! is an involution so is p. For each number j of digits that p leaves alone, cells are filled two by two, always
//! where the fewest digits fit, one of these at random; the product of the numbers of digits that fitted is, on
//! average, the number of grids (Knuth 1975). There are 10! / (2^k k! j!) such p with k = (10 - j) / 2, and 10! grids
//! up to relabelling are one.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use shared::{
    count::{Exact, FixedGrids, SliceProgress},
    grid::Shape,
    literature,
    symmetry::{ConjugacyClass, conjugacy_classes},
};

/// An estimate and its variance.
#[derive(Clone, Copy, Default)]
struct Estimate {
    mean: f64,
    variance: f64,
}

/// Two cells that an involution exchanges, or one twice.
#[derive(Clone, Copy)]
struct Pair {
    units: [[usize; 3]; 2],
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    One,
    Together,
    Apart,
}

impl Pair {
    fn new(shape: Shape, [p, q]: [usize; 2]) -> Self {
        let units = [p, q].map(|cell| units(shape, cell));
        let together = units[0].iter().any(|unit| units[1].contains(unit));
        let kind = match (p == q, together) {
            (true, _) => Kind::One,
            (false, true) => Kind::Together,
            (false, false) => Kind::Apart,
        };
        Self { units, kind }
    }
}

/// Row, column and box of a cell, in one list of units.
fn units(shape: Shape, cell: usize) -> [usize; 3] {
    let n = shape.side();
    let (row, column) = (cell / n, cell % n);
    let boxed = row / shape.rows() * shape.rows() + column / shape.columns();
    [row, n + column, 2 * n + boxed]
}

struct Completion {
    shape: Shape,
    pairs: Vec<Pair>,
    /// Digits that are left alone.
    alone: usize,
}

impl Completion {
    /// What the renaming makes of a set of digits: the first ones are left alone, the others exchanged two by two.
    fn renamed(&self, digits: u32) -> u32 {
        let alone = self.alone_digits();
        let low = 0x5555_5555 << self.alone;
        digits & alone | (digits & low) << 1 | digits >> 1 & low
    }

    fn alone_digits(&self) -> u32 {
        (1 << self.alone) - 1
    }

    /// The digits that fit in the first cell of a pair.
    fn fitting(&self, pair: &Pair, open: &[u32]) -> u32 {
        let fits = |units: [usize; 3]| units.iter().fold(u32::MAX, |digits, &unit| digits & open[unit]);
        let Pair { units: [p, q], kind } = *pair;
        match kind {
            // A cell that stays where it is keeps its digit.
            Kind::One => fits(p) & self.alone_digits(),
            // Two that see each other have different ones.
            Kind::Together => fits(p) & self.renamed(fits(q)) & !self.alone_digits(),
            Kind::Apart => fits(p) & self.renamed(fits(q)),
        }
    }

    /// Fills everything in one random way. The product of the choices, or 0.
    fn run(&self, random: &mut ChaCha8Rng) -> f64 {
        let mut open = vec![(1u32 << self.shape.side()) - 1; 3 * self.shape.side()];
        let mut left = self.pairs.clone();
        let mut product = 1.0;
        while !left.is_empty() {
            let (mut at, mut digits) = (0, u32::MAX);
            for (i, pair) in left.iter().enumerate() {
                let fitting = self.fitting(pair, &open);
                if fitting.count_ones() < digits.count_ones() {
                    (at, digits) = (i, fitting);
                }
            }
            if digits == 0 {
                return 0.0;
            }
            product *= f64::from(digits.count_ones());
            for _ in 0..random.random_range(0..digits.count_ones()) {
                digits &= digits - 1;
            }
            let digit = digits & digits.wrapping_neg();
            let Pair { units: [p, q], .. } = left.swap_remove(at);
            p.iter().for_each(|&unit| open[unit] &= !digit);
            let renamed = self.renamed(digit);
            q.iter().for_each(|&unit| open[unit] &= !renamed);
        }
        product
    }
}

/// Grids that the representative of a class of order 2 fixes, up to relabelling.
fn estimate(class: &ConjugacyClass, runs: u32, random: &mut ChaCha8Rng) -> Estimate {
    assert_eq!(class.order, 2);
    let g = &class.representative;
    let n = g.shape().side();
    let cells = (0..n * n).map(|cell| [cell, g.source(cell)]);
    let pairs = cells.filter(|[p, q]| p <= q).map(|cells| Pair::new(g.shape(), cells)).collect::<Vec<_>>();
    let mut sum = Estimate::default();
    for exchanged in 0..=n / 2 {
        let completion = Completion { shape: g.shape(), pairs: pairs.clone(), alone: n - 2 * exchanged };
        let products: Vec<f64> = (0..runs).map(|_| completion.run(random)).collect();
        let mean = products.iter().sum::<f64>() / f64::from(runs);
        let square = products.iter().map(|product| product * product).sum::<f64>() / f64::from(runs);
        let factorial = |n: usize| (1..=n).map(|i| f64::from(u32::try_from(i).unwrap())).product::<f64>();
        let renamings =
            2f64.powi(i32::try_from(exchanged).unwrap()) * factorial(exchanged) * factorial(completion.alone);
        sum.mean += mean / renamings;
        sum.variance += (square - mean * mean) / f64::from(runs) / renamings / renamings;
    }
    sum
}

fn seeded() -> (u64, ChaCha8Rng) {
    let seed = rand::random();
    (seed, ChaCha8Rng::seed_from_u64(seed))
}

#[expect(clippy::cast_precision_loss, reason = "compared with an estimate")]
fn float(number: u128) -> f64 {
    number as f64
}

#[test]
fn random_completion_agrees_with_exact_covers_where_all_is_counted() {
    let (seed, mut random) = seeded();
    for (rows, columns) in [(2, 2), (2, 3), (2, 4), (3, 3)] {
        let grids = FixedGrids::new(Shape::new(rows, columns).unwrap(), true).unwrap();
        for (number, class) in grids.classes().iter().enumerate().filter(|(_, class)| class.order == 2) {
            let run = |unit| grids.run_unit(unit, SliceProgress::default(), &mut |_| false).unwrap();
            let exact: u128 = grids.units_of(number).map(run).sum();
            let Estimate { mean, variance } = estimate(class, 2000, &mut random);
            let deviation = (mean - float(exact)).abs();
            let name = class.name();
            assert!(
                deviation <= 6.0 * variance.sqrt() + 1e-9 * mean,
                "{rows}x{columns} {name}: {mean} +- {} is not {exact}, seed {seed}",
                variance.sqrt()
            );
        }
    }
}

/// See [`literature::DOUBTED`].
#[test]
fn random_completion_agrees_with_exact_covers_on_2x5() {
    let (seed, mut random) = seeded();
    let shape = Shape::new(2, 5).unwrap();
    let classes = conjugacy_classes(shape, true);
    let (mut sum, mut exact) = (Estimate::default(), 0u128);
    let table = include_str!("../testdata/burnside2x5.csv").lines().filter(|line| !line.starts_with('#'));
    for line in table {
        let fields: Vec<u128> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let [number, size, fixed] = fields[..] else { panic!("{line}") };
        let class = &classes[usize::try_from(number).unwrap()];
        assert_eq!(class.size, Exact::from(size));
        let Estimate { mean, variance } = estimate(class, 12_000, &mut random);
        let deviation = (mean - float(fixed)).abs() / variance.sqrt();
        assert!(deviation < 6.0, "class {number}: {mean} +- {} is not {fixed}, seed {seed}", variance.sqrt());
        sum.mean += float(size) * mean;
        sum.variance += float(size) * float(size) * variance;
        exact += size * fixed;
    }
    // What the published number needs is far from what is estimated.
    let doubted = literature::doubted(shape).unwrap();
    let order: Exact = "110592000".parse().unwrap();
    let missing = doubted.published.value().checked_minus(&doubted.value()).unwrap().times(&order);
    let published = float(exact) + float(missing.to_u128().unwrap());
    let error = sum.variance.sqrt();
    assert!((sum.mean - float(exact)).abs() < 6.0 * error, "{} +- {error}: {exact}, seed {seed}", sum.mean);
    assert!((sum.mean - published).abs() > 6.0 * error, "{} +- {error}: {published}, seed {seed}", sum.mean);
}
