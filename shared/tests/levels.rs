//! The levels of puzzles, against techniques tried without any cleverness, and under the symmetries. Seeds are printed
//! with every failure.

mod random;

use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use shared::{
    grid::{Shape, notation::nine},
    solve::{
        level::{Level, Technique, level},
        methods::{Method, Settings, solve},
        reference,
    },
    symmetry::group::SymmetryGroup,
};

/// A. Inkala, "AI Escargot" (2006).
const ESCARGOT: &[u8; 81] =
    b"1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3..";

/// The digits of each cell; none is a contradiction. A cell with one digit is not yet a written one.
#[derive(Clone, PartialEq, Eq)]
struct Slow {
    shape: Shape,
    digits: Vec<BTreeSet<u8>>,
    written: Vec<bool>,
}

impl Slow {
    fn new(shape: Shape, puzzle: &[u8]) -> Self {
        let side = u8::try_from(shape.side()).unwrap();
        let mut slow = Self {
            shape,
            digits: vec![(1..=side).collect(); puzzle.len()],
            written: vec![false; puzzle.len()],
        };
        for (cell, &clue) in puzzle.iter().enumerate().filter(|(_, clue)| **clue != 0) {
            slow.write(cell, clue);
        }
        slow
    }

    fn units(&self) -> Vec<Vec<usize>> {
        let side = self.shape.side();
        let cells = 0..side * side;
        let of_box = |cell: usize| {
            self.shape.rows() * (cell / side / self.shape.rows()) + cell % side / self.shape.columns()
        };
        (0..side)
            .flat_map(|unit| {
                [
                    cells.clone().filter(|cell| cell / side == unit).collect(),
                    cells.clone().filter(|cell| cell % side == unit).collect(),
                    cells.clone().filter(|&cell| of_box(cell) == unit).collect(),
                ]
            })
            .collect()
    }

    fn write(&mut self, cell: usize, digit: u8) {
        self.written[cell] = true;
        self.digits[cell].retain(|&other| other == digit);
        for unit in self.units().into_iter().filter(|unit| unit.contains(&cell)) {
            for other in unit.into_iter().filter(|&other| other != cell) {
                self.digits[other].remove(&digit);
            }
        }
    }

    fn places(&self, unit: &[usize], digit: u8) -> Vec<usize> {
        unit.iter().copied().filter(|&cell| self.digits[cell].contains(&digit)).collect()
    }

    fn impossible(&self) -> bool {
        let side = u8::try_from(self.shape.side()).unwrap();
        self.digits.iter().any(BTreeSet::is_empty)
            || self.units().iter().any(|unit| (1..=side).any(|digit| self.places(unit, digit).is_empty()))
    }

    fn solved(&self) -> bool {
        self.written.iter().all(|&written| written)
    }

    /// Every technique up to this one, until nothing changes or something is impossible.
    fn apply(&mut self, technique: Technique) {
        loop {
            let before = self.clone();
            if technique >= Technique::NakedSingles {
                for cell in 0..self.digits.len() {
                    if !self.written[cell] && self.digits[cell].len() == 1 {
                        let digit = *self.digits[cell].first().unwrap();
                        self.write(cell, digit);
                    }
                }
            }
            for unit in self.units() {
                for digit in 1..=u8::try_from(self.shape.side()).unwrap() {
                    self.look_at(&unit, digit, technique);
                }
                if technique >= Technique::PreemptiveSets {
                    self.preempt(&unit);
                }
            }
            if *self == before || self.impossible() {
                return;
            }
        }
    }

    /// A digit's last place, and its places in common with another unit.
    fn look_at(&mut self, unit: &[usize], digit: u8, technique: Technique) {
        let places = self.places(unit, digit);
        if technique >= Technique::HiddenSingles
            && let [cell] = places[..]
            && !self.written[cell]
        {
            self.write(cell, digit);
        }
        if technique >= Technique::LockedCandidates && !places.is_empty() {
            for other in self.units() {
                if places.iter().all(|place| other.contains(place)) {
                    for cell in other.into_iter().filter(|cell| !unit.contains(cell)) {
                        self.digits[cell].remove(&digit);
                    }
                }
            }
        }
    }

    /// All choices of the unit's cells that have as many digits.
    fn preempt(&mut self, unit: &[usize]) {
        for choice in 1..1_u32 << unit.len() {
            let (of, others): (Vec<_>, Vec<_>) = (0..unit.len()).partition(|seat| choice >> seat & 1 == 1);
            let digits: BTreeSet<u8> =
                of.iter().flat_map(|&seat| self.digits[unit[seat]].iter().copied()).collect();
            if digits.len() < of.len() {
                self.digits[unit[of[0]]].clear();
            } else if digits.len() == of.len() {
                for seat in others {
                    self.digits[unit[seat]].retain(|digit| !digits.contains(digit));
                }
            }
        }
    }

    /// Trial and error of a depth.
    fn search(&mut self, depth: u8) {
        if depth == 0 {
            return self.apply(Technique::PreemptiveSets);
        }
        loop {
            self.search(depth - 1);
            let before = self.clone();
            for cell in 0..self.digits.len() {
                for digit in self.digits[cell].clone() {
                    if self.written[cell] || self.impossible() {
                        continue;
                    }
                    let mut trial = self.clone();
                    trial.write(cell, digit);
                    trial.search(depth - 1);
                    if trial.impossible() {
                        self.digits[cell].remove(&digit);
                    }
                }
            }
            if *self == before || self.impossible() {
                return;
            }
        }
    }
}

/// The level as the definition has it; `None` beyond depth 2.
fn slowly(shape: Shape, puzzle: &[u8]) -> Option<Level> {
    let found = reference::solve(shape, puzzle, 2).ok()?;
    if found.solutions != 1 {
        return None;
    }
    let start = Slow::new(shape, puzzle);
    let techniques = [
        Technique::Given,
        Technique::NakedSingles,
        Technique::HiddenSingles,
        Technique::LockedCandidates,
        Technique::PreemptiveSets,
    ];
    let enough = techniques.into_iter().find(|&technique| {
        let mut slow = start.clone();
        slow.apply(technique);
        slow.solved()
    });
    if let Some(technique) = enough {
        return Some(Level { technique, depth: 0 });
    }
    let depth = (1..=2).find(|&depth| {
        let mut slow = start.clone();
        slow.search(depth);
        slow.solved()
    });
    depth.map(|depth| Level { technique: Technique::Search, depth })
}

fn fast(shape: Shape, puzzle: &[u8]) -> Option<Level> {
    let solution = reference::solve(shape, puzzle, 2).ok().filter(|found| found.solutions == 1)?.first;
    let level_of = |solution| level(shape, puzzle, solution, &|| false);
    let level = level_of(solution.as_deref());
    assert_eq!(level, level_of(None));
    level
}

fn shapes() -> impl Iterator<Item = Shape> {
    let boxes = [(1, 4), (2, 2), (2, 3), (3, 2), (2, 4), (3, 3)];
    boxes.into_iter().map(|(rows, columns)| Shape::new(rows, columns).unwrap())
}

/// A puzzle with one solution and few or some clues, sometimes one more is taken away.
fn puzzle(shape: Shape, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let grid = random::grid(shape, rng);
    let mut puzzle = random::minimal(shape, grid.clone(), rng);
    for _ in 0..rng.random_range(0..4) {
        let cell = rng.random_range(0..grid.len());
        puzzle[cell] = grid[cell];
    }
    if rng.random_ratio(1, 8) {
        puzzle[rng.random_range(0..grid.len())] = 0;
    }
    puzzle
}

#[test]
fn levels_are_those_of_the_definition() {
    let mut seen = BTreeSet::new();
    for seed in 0..25 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        for shape in shapes() {
            let puzzle = puzzle(shape, rng);
            let fast = fast(shape, &puzzle);
            assert_eq!(fast, slowly(shape, &puzzle), "seed {seed}, {shape}: {puzzle:?}");
            seen.insert(fast);
        }
    }
    println!("{seen:?}");
    assert!(seen.len() >= 6, "not all levels came: {seen:?}");
}

#[test]
fn a_puzzle_keeps_its_level_however_it_is_turned() {
    for seed in 0..20 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        for shape in shapes() {
            let puzzle = puzzle(shape, rng);
            let before = fast(shape, &puzzle);
            let with_transpose = shape.rows() == shape.columns();
            let moves = SymmetryGroup::new(shape, with_transpose).generators();
            let mut turned = puzzle.clone();
            for _ in 0..30 {
                turned = moves[rng.random_range(0..moves.len())].apply(&turned);
            }
            let mut digits: Vec<u8> = (1..=u8::try_from(shape.side()).unwrap()).collect();
            digits.shuffle(rng);
            digits.insert(0, 0);
            turned.iter_mut().for_each(|digit| *digit = digits[usize::from(*digit)]);
            assert_eq!(fast(shape, &turned), before, "seed {seed}, {shape}: {puzzle:?}, {turned:?}");
        }
    }
}

#[test]
fn singles_solve_what_exact_cover_solves_without_a_choice() {
    // In the exact cover a cell's last digit and a digit's last place are both conditions that one move meets.
    for seed in 0..200 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let puzzle = puzzle(Shape::NINE, rng);
        let Some(level) = fast(Shape::NINE, &puzzle) else { continue };
        let guesses = |method| {
            let settings = Settings { limit: 2, cap: u64::MAX, seed };
            solve(method, Shape::NINE, &puzzle, settings, &|| false).unwrap().effort.guesses
        };
        let told = || format!("seed {seed}: {level}: {puzzle:?}");
        assert_eq!(guesses(Method::Dlx) == 0, level.technique <= Technique::HiddenSingles, "{}", told());
        // Crook's method knows preemptive sets; a locked digit that is in no such set, it has to guess.
        if guesses(Method::Crook) == 0 {
            assert!(level.technique <= Technique::PreemptiveSets, "{}", told());
        }
        if level.technique <= Technique::HiddenSingles {
            assert_eq!(guesses(Method::Crook), 0, "{}", told());
        }
    }
}

#[test]
fn puzzles_made_to_fall_to_naked_singles_do() {
    for line in include_str!("data/easy.txt").lines() {
        let level = fast(Shape::NINE, &nine(line.as_bytes()).unwrap()).unwrap();
        assert_eq!(level, Level { technique: Technique::NakedSingles, depth: 0 }, "{line}");
    }
}

#[test]
fn there_is_no_level_without_one_solution_and_none_when_stopped() {
    assert_eq!(fast(Shape::NINE, &[0; 81]), None);
    let mut clash = [0; 81];
    (clash[0], clash[1]) = (1, 1);
    assert_eq!(fast(Shape::NINE, &clash), None);
    assert_eq!(level(Shape::NINE, &nine(ESCARGOT).unwrap(), None, &|| true), None);
}

#[test]
fn one_assumption_is_not_enough_for_some_puzzles() {
    let escargot = nine(ESCARGOT).unwrap();
    assert_eq!(fast(Shape::NINE, &escargot), Some(Level { technique: Technique::Search, depth: 2 }));
    let mut slow = Slow::new(Shape::NINE, &escargot);
    slow.search(1);
    assert!(!slow.solved() && !slow.impossible());
}
