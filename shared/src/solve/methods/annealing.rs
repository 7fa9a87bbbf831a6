//! Simulated annealing: S. Kirkpatrick, C. D. Gelatt & M. P. Vecchi, Science 220 (1983), 671-680; for sudoku R. Lewis,
//! "Metaheuristics can solve sudoku puzzles", Journal of Heuristics 13 (2007), 387-401.
//!
//! Every box is filled with its missing digits at random, so that boxes are always right. The energy is the number of
//! digits that are missing in rows and columns; a grid has none. A step swaps two cells of a box that are no clues, if
//! that lowers the energy, or raises it by e with probability exp(-e / temperature). The temperature falls by a little
//! after each round; when nothing has got better for many rounds, it begins anew from another filling.
//!
//! The probabilities are of whole numbers, and looked up: exp is not the same on all machines, so it is done here by
//! repeated multiplication of one rounded number.
//!
//! Cost: some 20 nanoseconds a step.

use super::watch::{Flow, Watch};
use crate::{
    grid::Shape,
    random::Random,
    solve::layout::{Layout, members},
};

/// Steps after which to give up: some ten seconds for 9x9.
pub(super) const CAP: u64 = 200_000_000;

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
    energy: i32,
    /// The boxes with two cells or more that are no clues, and those cells.
    free: Vec<Vec<usize>>,
    /// Boxes by pairs of free cells: one is drawn with the chance of its pairs.
    draws: Vec<usize>,
    random: Random,
}

fn env(name: &str, other: f64) -> f64 {
    std::env::var(name).map_or(other, |s| s.parse().unwrap())
}

impl<'a> Filling<'a> {
    fn new(layout: &'a Layout, clues: &[u8], seed: u64) -> Self {
        let side = layout.side();
        let boxes = (2 * side..3 * side).map(|unit| layout.cells(unit).iter().copied());
        let free: Vec<Vec<usize>> = boxes.map(|cells| cells.filter(|&cell| clues[cell] == 0).collect()).collect();
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
            let mut missing: Vec<u8> =
                members(self.layout.all() & !given).map(crate::solve::layout::digit).collect();
            self.random.shuffle(&mut missing);
            free.iter().zip(missing).for_each(|(&cell, digit)| self.cells[cell] = digit);
        }
        self.counts.fill(0);
        for (cell, &digit) in self.cells.iter().enumerate() {
            for (unit, _) in &self.layout.seats(cell)[..2] {
                self.counts[side * unit + usize::from(digit) - 1] += 1;
            }
        }
        self.energy = self.counts.iter().map(|&count| i32::from(count == 0)).sum();
    }

    /// Cools down from the beginning; whether a grid was found before it froze.
    fn cool(&mut self, watch: &mut Watch<'_>) -> std::ops::ControlFlow<(), bool> {
        let t0 = env("T0", 1.0);
        let alpha = env("ALPHA", 0.99);
        let rounds = env("ROUNDS", 400.0) as usize;
        let len = env("LEN", 1.0);
        let mut temperature = t0;
        let steps = (len * self.draws.len() as f64) as usize;
        for _ in 0..rounds {
            let factor = (-1.0 / temperature).exp();
            let mut chances = [1.0; 9];
            for e in 1..9 { chances[e] = chances[e - 1] * factor; }
            for _ in 0..steps.max(1) {
                if self.energy == 0 { return std::ops::ControlFlow::Continue(true); }
                watch.iteration(BETWEEN)?;
                self.swap(&chances);
            }
            temperature *= alpha;
        }
        std::ops::ControlFlow::Continue(self.energy == 0)
    }

    fn swap(&mut self, chances: &[f64; 9]) {
        let Some(&at) = self.draws.get(self.random.below(self.draws.len())) else { return };
        let free = &self.free[at];
        let first = self.random.below(free.len());
        let mut second = self.random.below(free.len() - 1);
        second += usize::from(second >= first);
        let (a, b) = (free[first], free[second]);
        let change = self.exchange(a, b);
        if change > 0 && self.random.fraction() >= chances[change as usize] {
            self.exchange(a, b);
        }
    }

    /// Exchanges two cells; the change of the energy.
    fn exchange(&mut self, a: usize, b: usize) -> i32 {
        let before = self.energy;
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
        self.energy - before
    }

    fn take(&mut self, line: usize, digit: u8) {
        let count = &mut self.counts[self.layout.side() * line + usize::from(digit) - 1];
        *count -= 1;
        self.energy += i32::from(*count == 0);
    }

    fn put(&mut self, line: usize, digit: u8) {
        let count = &mut self.counts[self.layout.side() * line + usize::from(digit) - 1];
        self.energy -= i32::from(*count == 0);
        *count += 1;
    }
}
