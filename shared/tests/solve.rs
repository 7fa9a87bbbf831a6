//! The bulk solver against the plain one, puzzle by puzzle, at every level of this machine. Seeds are printed with
//! every failure. `NONET_TEST_PUZZLES=FILE` adds the puzzles of a file (one a line).

mod random;

use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use shared::{
    grid::{Shape, notation::nine},
    solve::{
        bitslice::{Answer, Engine, Level},
        reference::{self, PuzzleError, Unit},
    },
};

type Cells = [u8; 81];

/// Limits at which answers are compared.
const LIMITS: [u32; 5] = [0, 1, 2, 3, 40];

fn cells(text: &str) -> Cells {
    nine(text.as_bytes()).unwrap()
}

/// Some of the clues of a puzzle.
fn with_clues(puzzle: &Cells, clues: usize, rng: &mut ChaCha8Rng) -> Cells {
    let mut places: Vec<usize> = (0..81).filter(|&cell| puzzle[cell] != 0).collect();
    places.shuffle(rng);
    let mut few = [0; 81];
    places.iter().take(clues).for_each(|&cell| few[cell] = puzzle[cell]);
    few
}

/// Puzzles of all kinds: minimal ones, with clues taken, changed and added, grids, few clues, clashes.
fn random_puzzles(rng: &mut ChaCha8Rng, rounds: usize) -> Vec<Cells> {
    let mut puzzles = vec![[0; 81], [1; 81], [10; 81], [255; 81]];
    for _ in 0..rounds {
        let grid: Cells = random::grid(Shape::NINE, rng).try_into().unwrap();
        let least: Cells = random::minimal(Shape::NINE, grid.to_vec(), rng).try_into().unwrap();
        let clues = least.iter().filter(|&&clue| clue != 0).count();
        puzzles.extend([grid, least]);
        puzzles.push(with_clues(&grid, rng.random_range(30..60), rng));
        for fewer in 1..=3 {
            puzzles.push(with_clues(&least, clues - fewer, rng));
        }
        for few in [1, 2, 5, 8, 12] {
            puzzles.push(with_clues(&grid, few, rng));
        }
        // Changed clues: no solution, several, or a clash; sometimes a digit there is not.
        for base in [grid, least, least, least] {
            let mut changed = base;
            let cell = rng.random_range(0..81);
            changed[cell] = rng.random_range(0..=9);
            puzzles.push(changed);
            if rng.random_ratio(1, 8) {
                changed[rng.random_range(0..81)] = rng.random_range(10..=255);
                puzzles.push(changed);
            }
        }
    }
    puzzles.shuffle(rng);
    puzzles
}

/// What the plain solver says, as an answer.
fn expected(puzzle: &Cells, limit: u32) -> Answer {
    match reference::solve(Shape::NINE, puzzle, u64::from(limit)) {
        Ok(found) => {
            let solution = found.first.filter(|_| found.solutions == 1);
            Answer {
                solutions: u32::try_from(found.solutions).unwrap(),
                solution: solution.map_or([0; 81], |grid| grid.try_into().unwrap()),
                ..Answer::default()
            }
        }
        Err(_) => Answer { invalid: true, ..Answer::default() },
    }
}

/// Compares all answers of a level with those expected.
fn compare(
    engine: &mut Engine,
    puzzles: &[Cells],
    limit: u32,
    expected: &[Answer],
    answers: &mut Vec<Answer>,
) {
    engine.solve(puzzles, limit, answers);
    assert_eq!(answers.len(), puzzles.len());
    for ((puzzle, answer), expected) in puzzles.iter().zip(&*answers).zip(expected) {
        let told = || format!("{} at limit {limit}, {:?}", line_of(puzzle), engine.level());
        let mut answer = *answer;
        answer.guesses = 0;
        if limit == 1 && answer.solutions == 1 {
            // Whichever: but a solution.
            assert!(reference::is_solution(Shape::NINE, puzzle, &answer.solution), "{}", told());
            answer.solution = expected.solution;
        }
        assert_eq!(answer, *expected, "{}", told());
    }
}

fn line_of(puzzle: &Cells) -> String {
    let symbol = |&digit: &u8| if digit <= 9 { char::from(b'0' + digit) } else { '?' };
    puzzle.iter().map(symbol).collect()
}

fn engines() -> Vec<Engine> {
    let available = Level::ALL.into_iter().filter(|level| level.is_available());
    available.map(Engine::new).collect()
}

#[test]
fn solve_agrees_with_the_plain_solver_on_random_puzzles() {
    let seed = rand::rng().random();
    println!("seed {seed}");
    let puzzles = random_puzzles(&mut ChaCha8Rng::seed_from_u64(seed), 8);
    let mut answers = Vec::new();
    let mut engines = engines();
    for limit in LIMITS {
        let expected: Vec<Answer> = puzzles.iter().map(|puzzle| expected(puzzle, limit)).collect();
        for engine in &mut engines {
            compare(engine, &puzzles, limit, &expected, &mut answers);
            // The company a puzzle is in changes nothing, nor does what the engine and the answers held before.
            for size in [1, 63, 200] {
                for (puzzles, expected) in puzzles.chunks(size).zip(expected.chunks(size)).take(3) {
                    compare(engine, puzzles, limit, expected, &mut answers);
                }
            }
        }
    }
}

#[test]
fn solve_agrees_with_the_plain_solver_on_given_puzzles() {
    let Ok(path) = std::env::var("NONET_TEST_PUZZLES") else { return };
    let text = std::fs::read_to_string(path).expect("NONET_TEST_PUZZLES names a file of puzzles");
    let puzzles: Vec<Cells> = text.lines().filter_map(|line| nine(line.as_bytes())).collect();
    assert!(!puzzles.is_empty(), "9x9 puzzles, one a line");
    for limit in [2, 20] {
        let expected: Vec<Answer> = puzzles.iter().map(|puzzle| expected(puzzle, limit)).collect();
        for mut engine in engines() {
            compare(&mut engine, &puzzles, limit, &expected, &mut Vec::new());
        }
    }
}

/// Puzzles whose numbers of solutions are known: `puzzle:count` lines made for this test with the plain solver.
#[test]
fn solve_counts_what_is_known() {
    let text = include_str!("../testdata/solve.txt");
    let cases: Vec<(Cells, u32)> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (puzzle, count) = line.split_once(':').unwrap();
            (cells(puzzle), count.parse().unwrap())
        })
        .collect();
    let puzzles: Vec<Cells> = cases.iter().map(|(puzzle, _)| *puzzle).collect();
    let mut answers = Vec::new();
    for mut engine in engines() {
        for limit in [1, 2, 10, 100_000] {
            engine.solve(&puzzles, limit, &mut answers);
            for ((puzzle, count), answer) in cases.iter().zip(&answers) {
                assert_eq!(answer.solutions, *count.min(&limit), "{} {limit}", line_of(puzzle));
            }
        }
    }
}

#[test]
fn solve_counts_to_a_million_exactly() {
    // 1 to 9 in the first row and nothing else has far more; with these clues there are fewer.
    let mut grid = cells("123456789456789123789123456231564897564897231897231564312645978645978312978312645");
    grid[27..].fill(0);
    let mut answers = Vec::new();
    Engine::default().solve(&[grid], 1_000_000, &mut answers);
    assert_eq!((answers[0].solutions, answers[0].solution), (1_000_000, [0; 81]));
    for mut engine in engines() {
        for limit in [99_999, 100_000] {
            engine.solve(&[[0; 81], grid], limit, &mut answers);
            assert_eq!([answers[0].solutions, answers[1].solutions], [limit; 2]);
        }
    }
}

#[test]
fn solve_takes_empty_batches_and_keeps_nothing_of_earlier_ones() {
    let puzzle = cells("000000010400000000020000000000050407008000300001090000300400200050100000000806000");
    for mut engine in engines() {
        let mut answers = Vec::new();
        engine.solve(&[], 2, &mut answers);
        assert!(answers.is_empty());
        engine.solve(&vec![puzzle; 700], 2, &mut answers);
        assert!(
            answers.iter().all(|answer| answer.solutions == 1
                && reference::is_solution(Shape::NINE, &puzzle, &answer.solution))
        );
        engine.solve(&[[0; 81]; 3], 2, &mut answers);
        assert_eq!(answers.len(), 3);
        assert!(answers.iter().all(|answer| (answer.solutions, answer.solution) == (2, [0; 81])));
        engine.solve(&[puzzle], 0, &mut answers);
        assert_eq!((answers[0].solutions, answers[0].solution), (0, [0; 81]));
    }
}

#[test]
fn solve_plainly_counts_small_and_large_grids() {
    let count = |rows, columns, limit| {
        let shape = Shape::new(rows, columns).unwrap();
        reference::solve(shape, &vec![0; shape.side() * shape.side()], limit).unwrap().solutions
    };
    assert_eq!(count(1, 1, 9), 1);
    assert_eq!(count(2, 2, 1000), 288);
    assert_eq!(count(2, 2, 100), 100);
    // A Latin square has boxes of one row.
    assert_eq!(count(1, 4, 1000), 576);
    assert_eq!(count(2, 3, 1000), 1000);
    // A 25x25 grid with the digits of one box and a row taken out.
    let shape = Shape::new(5, 5).unwrap();
    let grid: Vec<u8> = (0..625)
        .map(|cell: usize| {
            let (r, c) = (cell / 25, cell % 25);
            u8::try_from((5 * (r % 5) + r / 5 + c) % 25 + 1).unwrap()
        })
        .collect();
    reference::check(shape, &grid).unwrap();
    let mut puzzle = grid.clone();
    for (cell, digit) in puzzle.iter_mut().enumerate() {
        let (r, c) = (cell / 25, cell % 25);
        if r == 7 || (r < 5 && c < 5) {
            *digit = 0;
        }
    }
    let found = reference::solve(shape, &puzzle, 2).unwrap();
    assert_eq!((found.solutions, found.first), (1, Some(grid)));
}

#[test]
fn solve_names_what_is_wrong_with_a_puzzle() {
    let mut puzzle = vec![0; 81];
    puzzle[40] = 7;
    puzzle[30] = 7;
    assert_eq!(
        reference::solve(Shape::NINE, &puzzle, 2),
        Err(PuzzleError::Clash { digit: 7, first: (3, 3), second: (4, 4), unit: Unit::Box })
    );
    puzzle[30] = 10;
    assert_eq!(
        reference::solve(Shape::NINE, &puzzle, 2).unwrap_err().to_string(),
        "row 4, column 4: 10 is more than the side 9"
    );
    assert_eq!(
        reference::solve(Shape::NINE, &puzzle[1..], 2).unwrap_err().to_string(),
        "80 cells: a 3x3 grid has 81"
    );
}
