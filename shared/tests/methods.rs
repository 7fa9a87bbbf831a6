//! The solvers that people learn from, against the plain one and against what is known of them. Seeds are printed with
//! every failure.

mod random;

use std::cell::Cell;

use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use shared::{
    grid::{Shape, notation::nine},
    solve::{
        methods::{
            Method, Outcome, Settings,
            crook::{Deed, Limits, explain},
            solve,
        },
        reference::{self, PuzzleError, is_solution},
    },
};

/// Puzzles that fall to naked singles, made for this project.
const EASY: &str = include_str!("data/easy.txt");
/// All puzzles with 17 clues of three grids, as this project's own search finds them (`nonet run hitting --clues 17`).
const CLUES_17: &str = include_str!("data/clues17.txt");

fn shapes() -> impl Iterator<Item = Shape> {
    let boxes = [(1, 4), (2, 2), (2, 3), (3, 2), (1, 7), (2, 4), (4, 2), (3, 3)];
    boxes.into_iter().map(|(rows, columns)| Shape::new(rows, columns).unwrap())
}

fn puzzles(file: &str) -> impl Iterator<Item = [u8; 81]> {
    file.lines().map(|line| nine(line.as_bytes()).unwrap())
}

fn run(method: Method, shape: Shape, cells: &[u8], settings: Settings) -> Outcome {
    solve(method, shape, cells, settings, &|| false).unwrap()
}

fn usual(method: Method, cells: &[u8; 81]) -> Outcome {
    run(method, Shape::NINE, cells, Settings { limit: 2, cap: method.default_cap(), seed: 1 })
}

/// A minimal puzzle, the grid, and the puzzle with clues taken away, with one more, and with one changed.
fn some(shape: Shape, rng: &mut ChaCha8Rng) -> Vec<Vec<u8>> {
    let grid = random::grid(shape, rng);
    let least = random::minimal(shape, grid.clone(), rng);
    let (mut fewer, mut more, mut changed) = (least.clone(), least.clone(), least.clone());
    let mut clues: Vec<usize> = (0..least.len()).filter(|&cell| least[cell] != 0).collect();
    clues.shuffle(rng);
    clues.iter().take(rng.random_range(1..=2)).for_each(|&cell| fewer[cell] = 0);
    let cell = rng.random_range(0..grid.len());
    more[cell] = grid[cell];
    changed[cell] = u8::try_from(rng.random_range(1..=shape.side())).unwrap();
    vec![grid, least, fewer, more, changed]
}

#[test]
fn searches_count_what_the_plain_solver_counts() {
    for seed in 0..12 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        for shape in shapes() {
            for puzzle in some(shape, rng) {
                for method in Method::ALL.into_iter().filter(|method| method.searches()) {
                    let limit = [0, 1, 2, 9][rng.random_range(0..4)];
                    let told = || format!("seed {seed}, {shape}, {}, {limit}: {puzzle:?}", method.name());
                    let settings = Settings { limit, cap: 3_000_000, seed };
                    let outcome = solve(method, shape, &puzzle, settings, &|| false);
                    let expected = reference::solve(shape, &puzzle, limit);
                    let (outcome, expected) = match (outcome, expected) {
                        (Ok(outcome), Ok(expected)) => (outcome, expected),
                        (Err(ours), Err(theirs)) => {
                            assert_eq!(ours, theirs, "{}", told());
                            continue;
                        }
                        other => panic!("{}: {other:?}", told()),
                    };
                    // Only typewriter order gets lost in so small puzzles.
                    assert!(outcome.finished || method == Method::Backtrack, "{}", told());
                    if outcome.finished {
                        assert_eq!(outcome.solutions, expected.solutions, "{}", told());
                    }
                    assert!(outcome.solutions <= expected.solutions, "{}", told());
                    assert_eq!(outcome.first.is_some(), outcome.solutions > 0, "{}", told());
                    assert!(outcome.first.iter().all(|grid| is_solution(shape, &puzzle, grid)), "{}", told());
                    assert!(outcome.effort.guesses <= outcome.effort.nodes, "{}", told());
                    assert_eq!(outcome.effort.iterations, 0, "{}", told());
                }
            }
        }
    }
}

#[test]
fn what_the_others_find_is_a_solution() {
    let (mut found, mut asked) = ([0; Method::ALL.len()], 0);
    for seed in 0..8 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        for shape in shapes() {
            for puzzle in some(shape, rng) {
                let Ok(expected) = reference::solve(shape, &puzzle, 1) else { continue };
                asked += expected.solutions;
                for (at, method) in
                    Method::ALL.into_iter().enumerate().filter(|(_, method)| !method.searches())
                {
                    let told = || format!("seed {seed}, {shape}, {}: {puzzle:?}", method.name());
                    let cap = if method == Method::Annealing { 100_000 } else { 300 };
                    let outcome = run(method, shape, &puzzle, Settings { limit: 5, cap, seed });
                    assert!(outcome.effort.iterations <= cap, "{}", told());
                    assert!(outcome.solutions <= expected.solutions, "{}", told());
                    assert_eq!(outcome.first.is_some(), outcome.solutions == 1, "{}", told());
                    assert_eq!(outcome.finished, outcome.solutions == 1, "{}", told());
                    assert!(outcome.first.iter().all(|grid| is_solution(shape, &puzzle, grid)), "{}", told());
                    found[at] += outcome.solutions;
                }
            }
        }
    }
    for (method, found) in Method::ALL.into_iter().zip(found).filter(|(method, _)| !method.searches()) {
        println!("{}: {found} of {asked}", method.name());
        assert!(3 * found > asked, "{} finds next to nothing", method.name());
    }
}

#[test]
fn the_same_seed_goes_the_same_way_and_another_another_way() {
    let (easy, hard) = (puzzles(EASY).next().unwrap(), puzzles(CLUES_17).next().unwrap());
    for method in Method::ALL {
        let cap = if method == Method::Annealing { 300_000 } else { 30_000 };
        let with = |puzzle, seed| run(method, Shape::NINE, puzzle, Settings { limit: 2, cap, seed });
        assert_eq!(with(&easy, 5), with(&easy, 5), "{}", method.name());
        assert_eq!(with(&hard, 5), with(&hard, 5), "{}", method.name());
        // Easy ones fall to singles before chance has a say, hard ones outlast the cap: between them it is seen.
        let ways = (0..4).map(|seed| [&easy, &hard].map(|puzzle| with(puzzle, seed).effort.iterations));
        let ways: std::collections::BTreeSet<_> = ways.collect();
        assert_eq!(ways.len() > 1, !method.searches(), "{}: {ways:?}", method.name());
    }
}

#[test]
fn every_method_ends_at_its_cap_and_when_it_is_stopped() {
    let puzzle = [0; 81];
    let endless = Settings { limit: u64::MAX, cap: u64::MAX, seed: 1 };
    for method in Method::ALL {
        // A search never ends here; for the others there is no grid in this one: two cells of a row have one digit.
        let mut clues = puzzle;
        if !method.searches() {
            clues[..8].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
            clues[17] = 9;
        }
        let capped = run(method, Shape::NINE, &clues, Settings { cap: 1000, ..endless });
        let effort = capped.effort.nodes + capped.effort.iterations;
        assert!(!capped.finished, "{}", method.name());
        assert_eq!(effort, 1000, "{}", method.name());
        let asked = Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 2
        };
        let stopped = solve(method, Shape::NINE, &clues, endless, &stop).unwrap();
        assert!(!stopped.finished, "{}", method.name());
        assert!(stopped.effort.nodes + stopped.effort.iterations <= 20_000, "{}", method.name());
    }
}

#[test]
fn puzzles_that_are_none_are_refused_as_by_the_plain_solver() {
    let mut twice = [0; 81];
    (twice[3], twice[7]) = (4, 4);
    for method in Method::ALL {
        let settings = Settings { limit: 2, cap: 1000, seed: 0 };
        let clash = solve(method, Shape::NINE, &twice, settings, &|| false);
        assert_eq!(clash, reference::solve(Shape::NINE, &twice, 2).map(|_| Outcome::default()));
        assert!(matches!(clash, Err(PuzzleError::Clash { .. })), "{clash:?}");
        assert!(solve(method, Shape::NINE, &[0; 16], settings, &|| false).is_err());
    }
}

fn median(mut numbers: Vec<u64>) -> u64 {
    numbers.sort_unstable();
    numbers[numbers.len() / 2]
}

#[test]
fn projections_solve_easy_puzzles_and_stall_at_17_clues() {
    let easy: Vec<_> = puzzles(EASY).map(|puzzle| usual(Method::Projections, &puzzle)).collect();
    assert!(easy.iter().all(|outcome| outcome.solutions == 1));
    let iterations = median(easy.iter().map(|outcome| outcome.effort.iterations).collect());
    println!("easy: median of {iterations} iterations");
    assert!(iterations < 200);
    // All that differ much: one of three grids' lists in each five.
    let hard = puzzles(CLUES_17).step_by(5).map(|puzzle| usual(Method::Projections, &puzzle));
    let solved = hard.filter(|outcome| outcome.finished).count();
    assert_eq!(solved, 0, "within 20,000 iterations");
}

#[test]
fn projections_with_singles_solve_more_of_them() {
    let of = |file| puzzles(file).map(|puzzle| usual(Method::ProjectionsSingles, &puzzle));
    assert!(of(EASY).all(|outcome| outcome.solutions == 1));
    let solved = of(CLUES_17).filter(|outcome| outcome.finished).count();
    println!("{solved} of {} with 17 clues", puzzles(CLUES_17).count());
    assert!(solved > 30, "{solved}");
}

#[test]
fn douglas_rachford_solves_all_puzzles_with_17_clues() {
    let outcomes: Vec<_> = puzzles(CLUES_17).map(|puzzle| usual(Method::DouglasRachford, &puzzle)).collect();
    assert!(outcomes.len() >= 32 && outcomes.iter().all(|outcome| outcome.solutions == 1));
    let iterations = median(outcomes.iter().map(|outcome| outcome.effort.iterations).collect());
    println!("17 clues: median of {iterations} iterations");
    assert!((100..2000).contains(&iterations), "{iterations}");
}

#[test]
fn fewest_digits_first_makes_far_fewer_nodes_than_typewriter_order() {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let minimal: Vec<[u8; 81]> = (0..40)
        .map(|_| {
            let grid = random::grid(Shape::NINE, rng);
            random::minimal(Shape::NINE, grid, rng).try_into().unwrap()
        })
        .collect();
    let nodes = |method| median(minimal.iter().map(|puzzle| usual(method, puzzle).effort.nodes).collect());
    let (typewriter, fewest) = (nodes(Method::Backtrack), nodes(Method::Fewest));
    println!("median of {typewriter} nodes in typewriter order, {fewest} on the fewest digits");
    assert!(typewriter > 20 * fewest, "{typewriter} and {fewest}");
}

#[test]
fn annealing_solves_easy_puzzles() {
    let puzzles = puzzles(EASY).step_by(4);
    assert!(puzzles.into_iter().all(|puzzle| usual(Method::Annealing, &puzzle).solutions == 1));
}

#[test]
fn an_explanation_is_what_the_method_does_step_by_step() {
    for seed in 0..10 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        for shape in shapes() {
            for puzzle in some(shape, rng) {
                let told = || format!("seed {seed}, {shape}: {puzzle:?}");
                let limits = Limits { solutions: 5, ..Limits::default() };
                let Ok(explanation) = explain(shape, &puzzle, limits, &|| false) else { continue };
                let settings = Settings { limit: limits.solutions, cap: limits.nodes, seed: 0 };
                assert_eq!(explanation.outcome, run(Method::Crook, shape, &puzzle, settings), "{}", told());
                // Carried out on paper, with nothing but the steps, they give the solutions.
                let solutions = carried_out(shape, &puzzle, &explanation.steps);
                assert_eq!(solutions.len() as u64, explanation.outcome.solutions, "{}", told());
                assert_eq!(solutions.first(), explanation.outcome.first.as_ref(), "{}", told());
                let mut once = solutions.clone();
                once.sort();
                once.dedup();
                assert_eq!(once.len(), solutions.len(), "{}", told());
                assert!(solutions.iter().all(|grid| is_solution(shape, &puzzle, grid)), "{}", told());
                let short = Limits { steps: 3, ..limits };
                let cut = explain(shape, &puzzle, short, &|| false).unwrap();
                assert_eq!(cut.steps[..], explanation.steps[..explanation.steps.len().min(3)], "{}", told());
                assert_eq!(
                    cut.steps.len() as u64 + cut.dropped,
                    explanation.steps.len() as u64,
                    "{}",
                    told()
                );
            }
        }
    }
}

/// Writes and erases digits as the steps say; the grids at the steps that tell of a solution.
fn carried_out(shape: Shape, puzzle: &[u8], steps: &[shared::solve::methods::crook::Step]) -> Vec<Vec<u8>> {
    let mut cells = puzzle.to_vec();
    let (mut before, mut solutions) = (Vec::new(), Vec::new());
    for step in steps {
        match &step.deed {
            Deed::Naked { place, digit } | Deed::Hidden { place, digit, .. } => {
                assert_eq!(step.colour.0, before.len());
                let cell = &mut cells[shape.side() * place.row + place.column];
                assert_eq!(*cell, 0);
                *cell = *digit;
            }
            Deed::Guess { place, digit, digits } => {
                before.push(cells.clone());
                assert!(digits.len() > 1 && digits.contains(digit));
                cells[shape.side() * place.row + place.column] = *digit;
            }
            Deed::Erase { .. } => cells = before.pop().unwrap(),
            Deed::Solution { number } => {
                solutions.push(cells.clone());
                assert_eq!(*number, solutions.len() as u64);
            }
            Deed::Preemptive { set, crossed, .. } => {
                assert_eq!(set.cells.len(), set.digits.len());
                assert!(!crossed.is_empty());
            }
            Deed::Contradiction(_) => {}
        }
    }
    solutions
}
