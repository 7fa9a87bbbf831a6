//! Fixed grids and essentially different grids, against published values and against filtering all grids.

use std::collections::HashMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use shared::{
    count::{Exact, FixedGrids, SliceProgress},
    grid::Shape,
    literature,
    symmetry::{ConjugacyClass, Symmetry},
};

/// Fixed grids of a class that is not the identity.
fn fixed(grids: &FixedGrids, class: usize) -> u128 {
    let run = |unit| grids.run_unit(unit, SliceProgress::default(), &mut |_| false).expect("never stopped");
    grids.units_of(class).map(run).sum()
}

/// All grids up to relabelling.
fn identity(shape: Shape) -> Exact {
    let relabellings = Exact::factorial(shape.side() as u64);
    let all = literature::grids(shape).expect("a known number").value();
    all.divided_exactly(&relabellings).expect("relabelling has no fixed points")
}

/// The sum over all classes, divided by the order of the group.
fn essentially_different(shape: Shape, with_transpose: bool) -> Exact {
    let grids = FixedGrids::new(shape, with_transpose).unwrap();
    let terms = grids.classes().iter().enumerate().map(|(number, class)| {
        let fixed = if class.is_identity() { identity(shape) } else { Exact::from(fixed(&grids, number)) };
        class.size.times(&fixed)
    });
    let sum: Exact = terms.sum();
    sum.divided_exactly(&grids.group().order()).expect("no remainder")
}

#[test]
fn every_published_number_of_essentially_different_grids() {
    for (rows, columns) in [(2, 2), (2, 3), (2, 4), (3, 3), (3, 2)] {
        let shape = Shape::new(rows, columns).unwrap();
        let published = literature::essentially_different(shape, true).expect("a known number");
        assert_eq!(essentially_different(shape, true), published.value(), "{shape}");
    }
    let published = literature::ESSENTIALLY_DIFFERENT_3X3_UNTRANSPOSED;
    assert_eq!(essentially_different(Shape::NINE, false), published.value());
}

#[test]
fn all_275_classes_of_3x3() {
    let cycles = |class: &ConjugacyClass| -> String {
        let all = class.cycle_type.iter().map(|(length, times)| format!("{length}^{times}"));
        all.collect::<Vec<_>>().join(" ")
    };
    let grids = FixedGrids::new(Shape::NINE, true).unwrap();
    let found = grids.classes().iter().enumerate().map(|(number, class)| {
        let fixed =
            if class.is_identity() { identity(Shape::NINE) } else { Exact::from(fixed(&grids, number)) };
        format!("{},{},{},{fixed}", class.order, class.size, cycles(class))
    });
    let mut found: Vec<String> = found.collect();
    // Order, size, cycle type, fixed grids: 275 classes made with GAP, the 27 with grids as in Russell & Jarvis 2006.
    let published = include_str!("../testdata/burnside275.csv");
    let lines = published.lines().skip(1);
    let mut expected: Vec<String> =
        lines.map(|line| line.rsplit_once(',').expect("five columns").0.to_owned()).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!((found.len(), expected.len()), (275, 275));
    assert_eq!(found, expected);
    assert_eq!(found.iter().filter(|line| !line.ends_with(",0")).count(), 27);
}

/// Every grid of a small shape whose first row is 1, 2, 3, ...: one for each relabelling.
fn all_grids(shape: Shape) -> Vec<Vec<u8>> {
    fn fill(shape: Shape, cells: &mut Vec<u8>, found: &mut Vec<Vec<u8>>) {
        let n = shape.side();
        let cell = cells.len();
        if cell == n * n {
            found.push(cells.clone());
            return;
        }
        let (row, column) = (cell / n, cell % n);
        for digit in 0..u8::try_from(n).expect("small") {
            let clash = |other: usize| {
                let (r, c) = (other / n, other % n);
                let same_box =
                    r / shape.rows() == row / shape.rows() && c / shape.columns() == column / shape.columns();
                cells[other] == digit && (r == row || c == column || same_box)
            };
            if !(0..cell).any(clash) {
                cells.push(digit);
                fill(shape, cells, found);
                cells.pop();
            }
        }
    }
    let mut found = Vec::new();
    let mut first_row = (0..u8::try_from(shape.side()).expect("small")).collect();
    fill(shape, &mut first_row, &mut found);
    found
}

/// Whether a symmetry takes a grid to itself up to relabelling.
fn is_fixed(grid: &[u8], by: &Symmetry) -> bool {
    let mut names = HashMap::new();
    by.apply(grid).iter().zip(grid).all(|(&image, &digit)| *names.entry(image).or_insert(digit) == digit)
}

#[test]
fn a_random_sample_of_classes_by_filtering_all_grids() {
    let seed: u64 =
        std::env::var("NONET_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(rand::random);
    println!("NONET_TEST_SEED={seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for (shape, sample) in [("2x2", 20), ("2x3", 30), ("3x2", 10)] {
        let shape: Shape = shape.parse().unwrap();
        let all = all_grids(shape);
        assert_eq!(Exact::from(all.len() as u64), identity(shape), "{shape}");
        let grids = FixedGrids::new(shape, true).unwrap();
        for _ in 0..sample {
            let number = random.random_range(1..grids.classes().len());
            let class = &grids.classes()[number];
            let slow = all.iter().filter(|grid| is_fixed(grid, &class.representative)).count();
            assert_eq!(fixed(&grids, number), slow as u128, "{shape}, seed {seed}: {}", class.name());
        }
    }
}
