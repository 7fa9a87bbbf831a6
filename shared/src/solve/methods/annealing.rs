//! Simulated annealing: S. Kirkpatrick, C. D. Gelatt & M. P. Vecchi, Science 220 (1983), 671-680; for sudoku R. Lewis,
//! "Metaheuristics can solve sudoku puzzles", Journal of Heuristics 13 (2007), 387-401.
//!
//! Every box is filled with its missing digits at random, so that boxes are always right. The energy is the number of
//! digits that are missing in rows and columns; a grid has none. A step swaps two cells of a box that are no clues, if
//! that does not raise the energy, or raises it by e with probability exp(-e / temperature). The temperature falls by
//! a little after each round; when all rounds are over, it begins anew from another filling.
//!
//! exp of the mathematical libraries is not the same on all machines; here it is a sum and squares, each rounded once.
//!
//! Cost: some 100 nanoseconds a step. Hundreds of thousands of steps for puzzles with one solution, ten million and
//! more with 17 clues.

use std::ops::ControlFlow;

use super::watch::{Flow, Watch};
use crate::{
    grid::Shape,
    random::Random,
    solve::layout::{Layout, digit, members},
};

/// Steps after which to give up: some two seconds for 9x9.
pub(super) const CAP: u64 = 20_000_000;

/// Where to begin: one swap in twelve that raises the energy by 1 is made. Warmer than that no filling stays good.
const HOTTEST: f64 = 0.4;
/// What a round leaves of the temperature.
const COOLING: f64 = 0.995;
/// Rounds before it begins anew, at a temperature of 0.15: nothing moves uphill any more.
const ROUNDS: usize = 200;
/// Steps of a round for each pair of cells that can be swapped.
const STEPS_A_PAIR: usize = 3;

/// A swap changes two rows and two columns at most, and takes one digit out of each.
const MOST: usize = 4;

/// Steps between two questions whether to stop.
const BETWEEN: u64 = 8192;

pub(super) fn run(shape: Shape, cells: &[u8], watch: &mut Watch<'_>) -> Flow {
    let layout = Layout::new(shape);
    let mut filling = Filling::new(&layout, cells, watch.settings.seed);
    loop {
        filling.fill(cells);
        if filling.cool(watch)? {
            return watch.solution(|| filling.cells);
        }
    }
}

/// A filling of the boxes.
struct Filling<'a> {
    layout: &'a Layout,
    cells: Vec<u8>,
    /// For each row and column, how often it has each digit.
    counts: Vec<u8>,
    /// Digits missing in rows and columns.
    energy: usize,
    /// The boxes with two cells or more that are no clues, and those cells.
    free: Vec<Vec<usize>>,
    /// Boxes by pairs of free cells: one is drawn with the chance of its pairs.
    draws: Vec<usize>,
    random: Random,
}

impl<'a> Filling<'a> {
    fn new(layout: &'a Layout, clues: &[u8], seed: u64) -> Self {
        let side = layout.side();
        let boxes = (2 * side..3 * side).map(|unit| layout.cells(unit).iter().copied());
        let free: Vec<Vec<usize>> =
            boxes.map(|cells| cells.filter(|&cell| clues[cell] == 0).collect()).collect();
        let draws = free.iter().enumerate().flat_map(|(at, free): (usize, &Vec<usize>)| {
            std::iter::repeat_n(at, free.len() * free.len().saturating_sub(1) / 2)
        });
        Self {
            layout,
            cells: clues.to_vec(),
            counts: vec![0; 2 * side * side],
            energy: 0,
            draws: draws.collect(),
            free,
            random: Random::new(seed),
        }
    }

    /// Fills every box with its missing digits in any order.
    fn fill(&mut self, clues: &[u8]) {
        let side = self.layout.side();
        self.cells.copy_from_slice(clues);
        for (free, unit) in self.free.iter().zip(2 * side..) {
            let given = self.layout.cells(unit).iter().filter(|&&cell| clues[cell] != 0);
            let given = given.fold(0, |set, &cell| set | 1_u32 << (clues[cell] - 1));
            let mut missing: Vec<u8> = members(self.layout.all() & !given).map(digit).collect();
            self.random.shuffle(&mut missing);
            free.iter().zip(missing).for_each(|(&cell, digit)| self.cells[cell] = digit);
        }
        self.counts.fill(0);
        for (cell, &written) in self.cells.iter().enumerate() {
            for (unit, _) in &self.layout.seats(cell)[..2] {
                self.counts[side * unit + usize::from(written) - 1] += 1;
            }
        }
        self.energy = self.counts.iter().map(|&count| usize::from(count == 0)).sum();
    }

    /// Cools down from the beginning; whether a grid was found before it froze.
    fn cool(&mut self, watch: &mut Watch<'_>) -> ControlFlow<(), bool> {
        if self.energy > 0 && self.draws.is_empty() {
            // There is one filling, and it is wrong.
            watch.give_up()?;
        }
        let mut temperature = HOTTEST;
        for _ in 0..ROUNDS {
            let chances = chances(temperature);
            for _ in 0..STEPS_A_PAIR * self.draws.len() {
                if self.energy == 0 {
                    return ControlFlow::Continue(true);
                }
                watch.iteration(BETWEEN)?;
                self.swap(&chances);
            }
            temperature *= COOLING;
        }
        ControlFlow::Continue(self.energy == 0)
    }

    /// Swaps two cells, or weighs it and does not.
    fn swap(&mut self, chances: &[f64; MOST + 1]) {
        let free = &self.free[self.draws[self.random.below(self.draws.len())]];
        let first = self.random.below(free.len());
        let mut second = self.random.below(free.len() - 1);
        second += usize::from(second >= first);
        let (a, b) = (free[first], free[second]);
        let before = self.energy;
        self.exchange(a, b);
        let raised = self.energy.saturating_sub(before);
        if raised > 0 && self.random.fraction() >= chances[raised] {
            self.exchange(a, b);
        }
    }

    /// Exchanges two cells.
    fn exchange(&mut self, a: usize, b: usize) {
        let (of_a, of_b) = (self.cells[a], self.cells[b]);
        for line in 0..2 {
            let (from, to) = (self.layout.seats(a)[line].0, self.layout.seats(b)[line].0);
            if from != to {
                self.take(from, of_a);
                self.take(to, of_b);
                self.put(to, of_a);
                self.put(from, of_b);
            }
        }
        self.cells.swap(a, b);
    }

    fn take(&mut self, line: usize, digit: u8) {
        let count = &mut self.counts[self.layout.side() * line + usize::from(digit) - 1];
        *count -= 1;
        self.energy += usize::from(*count == 0);
    }

    fn put(&mut self, line: usize, digit: u8) {
        let count = &mut self.counts[self.layout.side() * line + usize::from(digit) - 1];
        self.energy -= usize::from(*count == 0);
        *count += 1;
    }
}

/// The probabilities of swaps that raise the energy by 0, 1, ...
fn chances(temperature: f64) -> [f64; MOST + 1] {
    let factor = 1.0 / exp(1.0 / temperature);
    let mut chances = [1.0; MOST + 1];
    for raised in 1..=MOST {
        chances[raised] = chances[raised - 1] * factor;
    }
    chances
}

/// e^x for x from 0 to 100: the beginning of the series for a 1024th of it, squared ten times.
fn exp(x: f64) -> f64 {
    let x = x / 1024.0;
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 1..10 {
        term *= x / f64::from(n);
        sum += term;
    }
    (0..10).fold(sum, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::notation::LineLayout;

    #[test]
    fn exp_is_that_of_the_library_up_to_rounding() {
        for x in [0.0_f64, 0.1, 1.0, 2.5, 7.0, 30.0] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-11, "{x}");
        }
    }

    #[test]
    fn energy_is_what_is_missing_however_it_came_about() {
        let layout = Layout::new(Shape::SIX);
        let clues =
            LineLayout::default().read(b"1..4.....1...2....3.....4......5..6.", None).unwrap().unwrap().cells;
        let mut filling = Filling::new(&layout, &clues, 3);
        filling.fill(&clues);
        for step in 0..2000 {
            filling.swap(&[1.0; MOST + 1]);
            let lines = (0..12).map(|line| layout.cells(line).iter().map(|&cell| filling.cells[cell]));
            let missing = lines.map(|line| 6 - line.collect::<std::collections::BTreeSet<_>>().len());
            assert_eq!(filling.energy, missing.sum::<usize>(), "step {step}");
            let kept = clues.iter().zip(&filling.cells).all(|(clue, cell)| [0, *cell].contains(clue));
            assert!(kept, "step {step}");
        }
    }
}
