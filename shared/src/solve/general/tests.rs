//! All ways of solving against each other and against the plain solver.

use std::cell::Cell;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Answer, Plan, Question, made, solve, solve_by};
use crate::{grid::Shape, solve::reference};

/// The plain search alone, the learning search after one guess, and each of the turns they take early.
const PLANS: [Plan; 4] = [
    Plan { patience: u64::MAX, listed: 0 },
    Plan { patience: 0, listed: u64::MAX },
    Plan { patience: 2, listed: 5 },
    Plan::BEST,
];

/// All shapes with sides from 1 to 10, and boxes that are one row or one column.
const SMALL: [(u8, u8); 16] = [
    (1, 1),
    (1, 2),
    (2, 1),
    (1, 4),
    (4, 1),
    (2, 2),
    (1, 6),
    (2, 3),
    (3, 2),
    (7, 1),
    (2, 4),
    (4, 2),
    (1, 9),
    (3, 3),
    (2, 5),
    (5, 2),
];

fn shape((rows, columns): (u8, u8)) -> Shape {
    Shape::new(rows, columns).unwrap()
}

fn ask(shape: Shape, cells: &[u8], limit: u64) -> Question<'_> {
    Question { shape, cells, candidates: None, limit, cap: u64::MAX }
}

/// For each cell the digit of the grid, and each other digit with a chance of `percent`.
fn pencilled(shape: Shape, grid: &[u8], percent: u32, rng: &mut ChaCha8Rng) -> Vec<u32> {
    let marks = |digit: u8, rng: &mut ChaCha8Rng| {
        (1..=shape.side()).fold(0, |marks, other| {
            let kept = other == usize::from(digit) || rng.random_range(0..100) < percent;
            marks | u32::from(kept) << (other - 1)
        })
    };
    grid.iter().map(|&digit| marks(digit, rng)).collect()
}

fn answer(plan: Plan, question: &Question<'_>) -> Answer {
    solve_by(plan, question, &|| false).unwrap()
}

/// A full grid that has the puzzle's clues and only its candidates.
fn fits(question: &Question<'_>, grid: &[u8]) -> bool {
    let clues = question.cells.iter().zip(grid).all(|(&clue, &digit)| clue == 0 || clue == digit);
    let mut marks = question.candidates.unwrap_or(&[]).iter().zip(grid);
    let full = grid.iter().all(|&digit| digit > 0) && reference::check(question.shape, grid).is_ok();
    clues && full && marks.all(|(&marks, &digit)| marks >> (digit - 1) & 1 == 1)
}

/// The number of solutions up to a limit by filling cells in order, with no cleverness at all.
fn listed(question: &Question<'_>, cells: &mut Vec<u8>, budget: &Cell<u64>) -> u64 {
    let all = reference::solve(question.shape, cells, budget.get()).unwrap();
    assert!(all.solutions < budget.get(), "the puzzle has too many solutions for a list");
    let Some(first) = all.first else { return 0 };
    // Split on the first cell in which the marks exclude the solution, or else on the first open cell.
    let mut total = 0;
    let Some(cell) = cells.iter().position(|&digit| digit == 0) else {
        return u64::from(fits(question, &first));
    };
    for digit in 1..=u8::try_from(question.shape.side()).unwrap() {
        if question.candidates.is_none_or(|marks| marks[cell] >> (digit - 1) & 1 == 1) {
            cells[cell] = digit;
            if reference::check(question.shape, cells).is_ok() {
                total += listed(question, cells, budget);
            }
        }
    }
    cells[cell] = 0;
    total
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn small_puzzles_have_as_many_solutions_as_the_plain_solver_finds(
        seed: u64, at in 0..SMALL.len(), percent in 25usize..90, spoilt: bool,
    ) {
        let shape = shape(SMALL[at]);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let grid = made::grid(shape, &mut rng);
        let mut cells = made::dug(&grid, grid.len() * percent / 100, &mut rng);
        if spoilt {
            // One more digit, right or wrong.
            let cell = rng.random_range(0..cells.len());
            cells[cell] = rng.random_range(1..=u8::try_from(shape.side()).unwrap());
        }
        let expected = reference::solve(shape, &cells, 50);
        for plan in PLANS {
            let question = ask(shape, &cells, 50);
            match (&expected, solve_by(plan, &question, &|| false)) {
                (Ok(expected), Ok(found)) => {
                    prop_assert!(found.finished);
                    prop_assert_eq!(found.solutions, expected.solutions, "{:?} {} {:?}", plan, shape, &cells);
                    prop_assert_eq!(found.first.is_some(), expected.solutions > 0);
                    prop_assert!(found.first.is_none_or(|first| fits(&question, &first)));
                }
                (Err(expected), Err(error)) => prop_assert_eq!(&error, expected),
                (expected, found) => prop_assert!(false, "{:?} but {:?}", expected, found),
            }
        }
    }

    #[test]
    fn pencil_marks_are_kept_to(
        seed: u64, at in 0..SMALL.len(), percent in 20u32..60, clues in 0usize..30, spoilt: bool,
    ) {
        let shape = shape(SMALL[at]);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let grid = made::grid(shape, &mut rng);
        let cells = made::dug(&grid, grid.len() * clues / 100, &mut rng);
        let mut marks = pencilled(shape, &grid, percent, &mut rng);
        if spoilt {
            let cell = rng.random_range(0..cells.len());
            marks[cell] &= !(1 << (grid[cell] - 1));
        }
        let question = Question { candidates: Some(&marks), ..ask(shape, &cells, 20_000) };
        let all: Vec<Answer> = PLANS.iter().map(|&plan| answer(plan, &question)).collect();
        for found in &all {
            prop_assert_eq!(found.solutions, all[0].solutions);
            prop_assert_eq!(found.first.is_some(), found.solutions > 0);
            prop_assert!(found.first.as_ref().is_none_or(|first| fits(&question, first)));
            prop_assert!(found.first.is_some() || spoilt);
        }
        // A list of all fillings is at hand for few cells only.
        if shape.side() <= 4 {
            let expected = listed(&question, &mut cells.clone(), &Cell::new(20_000));
            prop_assert_eq!(all[0].solutions, expected);
        }
    }
}

#[test]
fn all_grids_of_small_shapes_are_counted() {
    // OEIS A107739 and the numbers of Latin squares.
    for (of, grids) in [((1, 1), 1), ((1, 3), 12), ((2, 2), 288), ((1, 4), 576), ((1, 5), 161_280)] {
        let shape = shape(of);
        let cells = vec![0; shape.side() * shape.side()];
        for plan in [PLANS[0], PLANS[2], Plan::BEST] {
            assert_eq!(answer(plan, &ask(shape, &cells, u64::MAX)).solutions, grids, "{shape} {plan:?}");
        }
    }
}

#[test]
fn minimal_puzzles_have_one_solution() {
    for of in [(2, 2), (2, 3), (3, 2), (2, 4), (3, 3), (2, 5)] {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let shape = shape(of);
        let grid = made::grid(shape, &mut rng);
        let cells = made::minimal(shape, &grid, 0, &mut rng);
        assert_eq!(reference::solve(shape, &cells, 2).unwrap().solutions, 1, "{shape} {cells:?}");
        for plan in PLANS {
            let found = answer(plan, &ask(shape, &cells, 2));
            assert_eq!((found.solutions, found.first.as_ref()), (1, Some(&grid)), "{shape} {plan:?}");
        }
    }
}

#[test]
fn large_puzzles_are_counted_alike_by_both_searches() {
    for (of, percents) in [((3, 4), [40, 45, 60]), ((4, 4), [46, 50, 60]), ((5, 5), [60, 65, 70])] {
        let shape = shape(of);
        for (seed, percent) in (0..4).flat_map(|seed| percents.map(|percent| (seed, percent))) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let grid = made::grid(shape, &mut rng);
            let cells = made::dug(&grid, grid.len() * percent / 100, &mut rng);
            let question = ask(shape, &cells, 30);
            let found = PLANS.map(|plan| answer(plan, &question));
            for one in &found {
                assert!(one.finished);
                assert_eq!(one.solutions, found[0].solutions, "{shape} {percent} % seed {seed}");
                assert!(fits(&question, one.first.as_ref().unwrap()));
                assert!(
                    one.solutions > 1 || one.first.as_ref() == Some(&grid),
                    "{shape} {percent} % seed {seed}"
                );
            }
        }
    }
}

#[test]
fn the_answer_is_the_same_each_time() {
    let shape = shape((4, 4));
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let grid = made::grid(shape, &mut rng);
    let cells = made::dug(&grid, 100, &mut rng);
    for plan in [Plan { patience: 0, ..Plan::BEST }, Plan::BEST] {
        let question = Question { cap: 5000, ..ask(shape, &cells, 40) };
        let first = answer(plan, &question);
        assert!(first.guesses > 0);
        assert_eq!(answer(plan, &question), first);
        // Whether it is asked to stop in between makes no difference, as long as the answer is no.
        assert_eq!(solve_by(plan, &question, &|| std::hint::black_box(false)).unwrap(), first);
    }
}

#[test]
fn the_cap_and_the_wish_to_stop_end_a_search() {
    let shape = shape((5, 5));
    let cells = vec![0; 625];
    for plan in [PLANS[0], PLANS[1], Plan::BEST] {
        let capped = answer(plan, &Question { cap: 1000, ..ask(shape, &cells, u64::MAX) });
        assert!(!capped.finished);
        assert_eq!(capped.guesses, 1000, "{plan:?}");
        let none = answer(plan, &Question { cap: 0, ..ask(shape, &cells, 1) });
        assert_eq!((none.finished, none.guesses, none.solutions), (false, 0, 0));
        let asked = Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 20
        };
        let stopped = solve_by(plan, &ask(shape, &cells, u64::MAX), &stop).unwrap();
        assert!(!stopped.finished);
        assert!(stopped.guesses <= 2000, "{} guesses until it stopped", stopped.guesses);
    }
    // What needs no guess needs no cap.
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let grid = made::grid(shape, &mut rng);
    let full = answer(Plan::BEST, &Question { cap: 0, ..ask(shape, &grid, 2) });
    assert_eq!((full.finished, full.solutions, full.guesses), (true, 1, 0));
}

#[test]
fn what_is_no_puzzle_is_refused() {
    let clash = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let error = |question: Question<'_>| solve(&question, &|| false).unwrap_err();
    assert_eq!(error(ask(Shape::FOUR, &clash, 2)), reference::check(Shape::FOUR, &clash).unwrap_err());
    let short = Question { candidates: Some(&[15; 15]), ..ask(Shape::FOUR, &[0; 16], 2) };
    assert_eq!(error(short), reference::PuzzleError::Size { cells: 15, shape: Shape::FOUR });
    assert_eq!(error(ask(Shape::FOUR, &[5; 16], 2)), reference::check(Shape::FOUR, &[5; 16]).unwrap_err());
    let none = solve(&ask(Shape::FOUR, &[0; 16], 0), &|| false).unwrap();
    assert_eq!((none.solutions, none.finished), (0, true));
}
