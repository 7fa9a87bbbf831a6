//! Unavoidable sets against brute force and against what is known, and the minimal puzzles of 4x4.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use shared::{
    catalogue::small::SmallGrids,
    grid::Shape,
    solve::bitslice::Level,
    unavoidable::{
        CellSet, CompleteGrid, all_unavoidable_sets, brute,
        hit::{HittingProgress, HittingSearch, Uniqueness, Watch},
        hitting_sets_by_size, minimal_hitting_sets, most_disjoint,
        sample::{Estimate, Plan, Sampler},
        unavoidable_sets,
    },
};

/// The grid with the most 17-clue puzzles known, the one with the most automorphisms, and one with many small sets.
const NINE: [&str; 3] = [
    "123456789456789123798231564234675918815943276967812435379164852582397641641528397",
    "123456789456789123789123456231564897564897231897231564312645978645978312978312645",
    "123568479864791352957243681218657934536489127749312865391825746472136598685974213",
];

/// How many sets there are of each size.
fn by_size(sets: &[CellSet]) -> BTreeMap<usize, usize> {
    let mut sizes = BTreeMap::new();
    sets.iter().for_each(|set| *sizes.entry(set.len()).or_default() += 1);
    sizes
}

/// All grids of a small shape, by filling cells in order; at most `limit`.
fn grids(shape: Shape, limit: usize) -> Vec<CompleteGrid> {
    fn fill(shape: Shape, cells: &mut Vec<u8>, limit: usize, found: &mut Vec<CompleteGrid>) {
        let side = shape.side();
        if found.len() == limit {
            return;
        }
        if cells.len() == side * side {
            found.push(CompleteGrid::new(shape, cells).unwrap());
            return;
        }
        let (row, column) = (cells.len() / side, cells.len() % side);
        for digit in 1..=u8::try_from(side).unwrap() {
            let clash = |(cell, &other): (usize, &u8)| {
                let (r, c) = (cell / side, cell % side);
                let same = (r / shape.rows(), c / shape.columns());
                other == digit
                    && (r == row || c == column || same == (row / shape.rows(), column / shape.columns()))
            };
            if !cells.iter().enumerate().any(clash) {
                cells.push(digit);
                fill(shape, cells, limit, found);
                cells.pop();
            }
        }
    }
    let mut found = Vec::new();
    fill(shape, &mut Vec::new(), limit, &mut found);
    found
}

/// A random grid of a shape, from an empty one, by trying digits in random order.
fn random_grid(shape: Shape, rng: &mut ChaCha8Rng) -> CompleteGrid {
    let all = grids(shape, if shape == Shape::FOUR { 288 } else { 20_000 });
    all[rng.random_range(0..all.len())].clone()
}

#[test]
fn small_shapes_have_the_sets_that_brute_force_finds() {
    for grid in grids(Shape::FOUR, 288) {
        assert_eq!(unavoidable_sets(&grid, 16), brute::unavoidable_sets(&grid, 16), "{:?}", grid.digits());
    }
    for seed in 0..3 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        for shape in [Shape::SIX, Shape::SIX.transposed()] {
            let grid = random_grid(shape, rng);
            let context = format!("seed {seed}, {:?}", grid.digits());
            assert_eq!(unavoidable_sets(&grid, 10), brute::unavoidable_sets(&grid, 10), "{context}");
        }
    }
}

#[test]
fn nine_by_nine_has_the_small_sets_that_brute_force_finds() {
    for text in NINE {
        let grid = CompleteGrid::read(text).unwrap();
        assert_eq!(unavoidable_sets(&grid, 4), brute::unavoidable_sets(&grid, 4), "{text}");
    }
}

#[test]
fn sizes_and_mcn_of_the_listed_grids() {
    let lines = include_str!("../testdata/unavoidable29.csv").lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.clone().count(), 29);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let numbers: Vec<usize> = fields[1..].iter().map(|field| field.parse().unwrap()).collect();
        let sets = unavoidable_sets(&CompleteGrid::read(fields[0]).unwrap(), 12);
        let listed = (4..).zip(numbers[1..].iter().copied()).filter(|&(_, count)| count > 0);
        assert_eq!(by_size(&sets), listed.collect(), "{line}");
        assert_eq!(most_disjoint(&sets).len(), numbers[0], "{line}");
    }
}

#[test]
fn everything_about_four_by_four() {
    let mut by_clues = [0; 17];
    let mut kinds = BTreeMap::new();
    for grid in grids(Shape::FOUR, 288) {
        let sets = unavoidable_sets(&grid, 16);
        let mut here = [0; 17];
        minimal_hitting_sets(&sets, CellSet::below(16), &mut |clues| {
            here[clues.len()] += 1;
            assert_eq!(brute::solutions(Shape::FOUR, &grid.puzzle(clues), 2), 1);
        });
        by_clues.iter_mut().zip(here).for_each(|(sum, here)| *sum += here);
        let kind = (by_size(&sets), most_disjoint(&sets).len(), here);
        *kinds.entry(kind).or_insert(0) += 1;
    }
    assert_eq!((by_clues[4], by_clues[5], by_clues[6]), (25_728, 58_368, 1_536));
    assert_eq!(by_clues.iter().sum::<u32>(), 85_632);
    let kind = |sizes: &[(usize, usize)], minimal: [u32; 3]| {
        let mut by_clues = [0; 17];
        by_clues[4..7].copy_from_slice(&minimal);
        (sizes.iter().copied().collect::<BTreeMap<_, _>>(), 4, by_clues)
    };
    let known = [
        (kind(&[(4, 4), (8, 6), (10, 16)], [128, 176, 0]), 192),
        (kind(&[(4, 8), (8, 2), (12, 4)], [12, 256, 16]), 96),
    ];
    assert_eq!(kinds, known.into_iter().collect());
}

/// A set of random sets: minimal hitting sets by trying every subset.
#[test]
fn minimal_hitting_sets_are_those_among_all_subsets() {
    for seed in 0..200 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let cells = rng.random_range(1..=10);
        let set = |rng: &mut ChaCha8Rng| CellSet(rng.random_range(1..1 << cells));
        let sets: Vec<CellSet> = (0..rng.random_range(0..8)).map(|_| set(rng)).collect();
        let hits = |chosen: CellSet| sets.iter().all(|set| set.meets(chosen));
        let needed = |chosen: CellSet| chosen.iter().all(|cell| !hits(chosen.without(CellSet::single(cell))));
        let slow: Vec<CellSet> =
            (0..1 << cells).map(CellSet).filter(|&chosen| hits(chosen) && needed(chosen)).collect();
        let mut found = Vec::new();
        minimal_hitting_sets(&sets, CellSet::below(cells), &mut |set| found.push(set));
        found.sort_unstable();
        assert_eq!(found, slow, "seed {seed}");
    }
}

/// Another way to all unavoidable sets: difference by difference.
#[test]
fn all_sets_of_small_shapes_are_those_found_one_by_one() {
    let four = SmallGrids::new(Shape::FOUR).unwrap();
    for number in 0..four.len() {
        let grid = four.grid(number);
        assert_eq!(all_unavoidable_sets(&grid, &four), unavoidable_sets(&grid, 16), "{:?}", grid.digits());
    }
}

/// Puzzles of 4x4 with one solution by number of clues, over all grids: every choice of cells solved.
#[test]
fn puzzles_with_one_solution_are_those_that_brute_force_finds() {
    let four = SmallGrids::new(Shape::FOUR).unwrap();
    let mut all = 0;
    for class in four.classes() {
        let grid = four.grid(class.first);
        let mut slow = vec![0; 17];
        for clues in (0..1 << 16).map(CellSet) {
            slow[clues.len()] += u64::from(brute::solutions(Shape::FOUR, &grid.puzzle(clues), 2) == 1);
        }
        let fast = hitting_sets_by_size(&unavoidable_sets(&grid, 16), 16, &|| false).unwrap();
        assert_eq!(fast, slow);
        all += fast.iter().sum::<u64>() * class.grids * four.renamings();
    }
    assert_eq!(all, 13_579_680);
    assert_eq!(hitting_sets_by_size(&[], 16, &|| true), None);
}

/// Maps of more cells than fit into one piece, against trying every choice.
#[test]
fn hitting_sets_are_counted_beyond_one_map() {
    for seed in 0..4 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let cells = [3, 7, 21, 22][usize::try_from(seed).unwrap()];
        let set = |rng: &mut ChaCha8Rng| (0..3).map(|_| rng.random_range(0..cells)).collect();
        let sets: Vec<CellSet> = (0..6).map(|_| set(rng)).collect();
        let mut slow = vec![0; cells + 1];
        for choice in (0..1 << cells).map(CellSet) {
            slow[choice.len()] += u64::from(sets.iter().all(|set| set.meets(choice)));
        }
        assert_eq!(hitting_sets_by_size(&sets, cells, &|| false).unwrap(), slow, "seed {seed}");
    }
}

/// 6x6: the sets of one grid by both ways as far as the slower one goes, and its minimal puzzles: as many with 9 clues as
/// brute force finds, each with one solution that it loses with each clue.
#[test]
#[cfg_attr(debug_assertions, ignore = "28 million grids are compared: run with --release")]
fn six_by_six_has_the_minimal_puzzles_of_brute_force() {
    let six = SmallGrids::new(Shape::SIX).unwrap();
    let class = six.classes().iter().min_by_key(|class| class.grids).unwrap();
    let grid = six.grid(class.first);
    let sets = all_unavoidable_sets(&grid, &six);
    let small: Vec<CellSet> = sets.iter().copied().filter(|set| set.len() <= 16).collect();
    assert_eq!(small, unavoidable_sets(&grid, 16));
    let mut uniqueness = Uniqueness::new(&grid);
    let mut is_minimal = |clues: CellSet| {
        uniqueness.holds(clues) && {
            clues.iter().all(|cell| !uniqueness.holds(clues.without(CellSet::single(cell))))
        }
    };
    let mut nine = Vec::new();
    minimal_hitting_sets(&sets, CellSet::below(36), &mut |clues| {
        assert!(is_minimal(clues), "{clues:?}");
        if clues.len() <= 10 {
            nine.push(clues);
        }
    });
    let mut slow: Vec<CellSet> = (0..=10).flat_map(|clues| brute::puzzles(&grid, clues, 12)).collect();
    slow.retain(|&clues| is_minimal(clues));
    nine.sort_unstable();
    slow.sort_unstable();
    assert!(!slow.is_empty());
    assert_eq!(nine, slow);
}

#[test]
fn sampling_estimates_what_can_be_counted_and_does_not_depend_on_the_split() {
    let counted = [("1234341221434321", [12.0, 256.0, 16.0]), ("1234341223414123", [128.0, 176.0, 0.0])];
    for (text, exact) in counted {
        let grid = CompleteGrid::read(text).unwrap();
        let estimates: Vec<Estimate> = (0..4).map(|seed| Estimate::of_grid(&grid, seed, 5)).collect();
        let forth = estimates.iter().fold(Estimate::default(), Estimate::merge);
        let back = estimates.iter().rev().fold(Estimate::default(), Estimate::merge);
        assert_eq!(forth, back);
        assert_eq!(forth.populations(), 20);
        for (clues, exact) in (4..).zip(exact) {
            let (mean, error) = forth.with_clues(clues);
            assert!((mean - exact).abs() <= 5.0 * error, "{text}, {clues}: {mean} +- {error}, seeds 0..4");
            assert!(error <= 0.25 * exact, "{text}, {clues} clues: {mean} +- {error}");
        }
        let (mean, error) = forth.total();
        let exact: f64 = exact.iter().sum();
        assert!((mean - exact).abs() < 5.0 * error && error < 6.0, "{text}: {mean} +- {error}");
        assert!(forth.largest_share_of_total() < 0.2);
    }
}

/// The smallest minimal puzzles of a 2x3 grid, found by the search for hitting sets, against the estimate.
#[test]
fn sampling_agrees_with_the_puzzles_that_a_search_finds() {
    let grid = CompleteGrid::read("123456456123231564564231312645645312").unwrap();
    let search = HittingSearch::new(&grid, 0..=10, 1).unwrap();
    let watch = Watch { stopped: &|| false, reached: &mut |_| {} };
    let found = search.run_unit(0, HittingProgress::default(), watch).unwrap();
    let mut uniqueness = Uniqueness::new(&grid);
    let mut minimal =
        |clues: &CellSet| clues.iter().all(|cell| !uniqueness.holds(clues.without(CellSet::single(cell))));
    let mut exact = [0.0; 11];
    found.puzzles.iter().filter(|clues| minimal(clues)).for_each(|clues| exact[clues.len()] += 1.0);
    assert_eq!(exact[8..], [0.0, 72.0, 14_580.0]);
    let estimate = Estimate::of_grid(&grid, 1, 10);
    for (clues, exact) in exact.into_iter().enumerate() {
        let (mean, error) = estimate.with_clues(clues);
        assert!((mean - exact).abs() <= 5.0 * error, "{clues} clues: {mean} +- {error}, {exact}");
        assert!(error <= 0.3 * exact, "{clues} clues: {mean} +- {error}");
    }
}

/// Whatever the solver's level, to the last bit; and a stopped population is none.
#[test]
fn populations_are_the_same_at_every_level() {
    let plan = Plan { grids: 4, choices: 100, clues: 34, size: 32 };
    let levels = Level::ALL.into_iter().filter(|level| level.is_available());
    let texts: Vec<String> = levels
        .map(|level| Sampler::new(level, plan).population(1, 2, &|| false).unwrap())
        .map(|estimate| serde_json::to_string(&estimate).unwrap())
        .collect();
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    assert_eq!(Sampler::default().population(1, 2, &|| true), None);
}

/// D. Berthier, "Unbiased statistics of a constraint satisfaction problem - a controlled-bias generator" (2009):
/// 3.10e37 minimal puzzles, to 0.065 %.
#[test]
#[ignore = "some minutes without optimisation"]
fn sampling_finds_the_number_of_all_minimal_puzzles() {
    let mut sampler = Sampler::default();
    let one = |number| sampler.population(1, number, &|| false).unwrap();
    let estimate = (0..30).map(one).fold(Estimate::default(), |sum, one| sum.merge(&one));
    let (mean, error) = estimate.total();
    let exact = 3.10e37 / 6_670_903_752_021_072_936_960.0;
    assert!((mean - exact).abs() < 4.0 * error && error < 0.15 * exact, "{mean} +- {error}, {exact}");
}
