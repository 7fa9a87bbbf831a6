//! Douglas-Rachford: reflections in the exact rules, which are not convex.
//!
//! Four copies of the vector of [`super::rules`], one for each family of rules: cells, rows, columns and boxes. A
//! family divides the entries into groups of n, and wants one entry of each group to be 1 and the others 0. The nearest
//! such point keeps the largest entry of each group: a projection that is exact though the set is not convex. Clues
//! are kept in all four. The other set is where the copies agree; its nearest point is their mean.
//!
//! A step reflects the copies in their families, reflects the result in their mean, and goes half the way there:
//!
//! ```text
//! x' = (x + 2 m(r) - r) / 2, r = 2 p(x) - x, hence x' = x + m(r) - p(x)
//! ```
//!
//! with p the projection on the families and m the mean over copies. Where x' = x, all p(x) agree, and are a solution.
//! Nothing forces that to happen, as the theory is for convex sets; but it does. V. Elser, I. Rankenburg & P. Thibault,
//! "Searching with iterated maps", PNAS 104 (2007), 418-423; F. J. Aragón Artacho, J. M. Borwein & M. K. Tam, "Recent
//! results on Douglas-Rachford methods for combinatorial optimization problems", J. Optim. Theory Appl. 163 (2014),
//! 1-30.
//!
//! Cost: some thirty simple steps an entry and iteration, 20 microseconds for 9x9.

use super::{
    rules::{is_grid, largest},
    watch::{Flow, Watch},
};
use crate::{
    grid::Shape,
    random::Random,
    solve::layout::{Layout, digit},
};

pub(super) fn run(shape: Shape, cells: &[u8], watch: &mut Watch<'_>) -> Flow {
    let mut copies = Copies::new(shape, cells, watch.settings.seed);
    loop {
        watch.iteration(1)?;
        if let Some(grid) = copies.step() {
            return watch.solution(|| grid);
        }
    }
}

/// A family of rules and its copy of the vector.
struct Family {
    /// The entries of each group, group after group.
    groups: Vec<usize>,
    /// For each group the place in it that a clue takes.
    clues: Vec<Option<usize>>,
    /// The copy: entries in the order of the groups.
    entries: Vec<f64>,
}

struct Copies {
    layout: Layout,
    clues: Vec<u8>,
    families: [Family; 4],
    /// The mean of the reflections, by cell, then digit.
    mean: Vec<f64>,
}

impl Copies {
    fn new(shape: Shape, clues: &[u8], seed: u64) -> Self {
        let layout = Layout::new(shape);
        let side = layout.side();
        let random = &mut Random::new(seed);
        let start: Vec<f64> = (0..side * side * side).map(|_| random.fraction()).collect();
        let family = |kind: usize| {
            let entry = |at: usize| {
                let (group, place) = (at / side, at % side);
                match kind {
                    0 => at,
                    _ => side * layout.cells(side * (kind - 1) + group / side)[place] + group % side,
                }
            };
            let groups: Vec<usize> = (0..start.len()).map(entry).collect();
            let is_clue = |&entry: &usize| usize::from(clues[entry / side]) == entry % side + 1;
            let clues = groups.chunks_exact(side).map(|group| group.iter().position(is_clue)).collect();
            let entries = groups.iter().map(|&entry| start[entry]).collect();
            Family { groups, clues, entries }
        };
        Self { families: [0, 1, 2, 3].map(family), mean: start, clues: clues.to_vec(), layout }
    }

    /// One step; the grid that the mean of the reflections rounds to, if it is one and has the clues.
    fn step(&mut self) -> Option<Vec<u8>> {
        let side = self.layout.side();
        self.mean.fill(0.0);
        for family in &mut self.families {
            let copy = family.entries.chunks_exact_mut(side).zip(family.groups.chunks_exact(side));
            for ((entries, group), clue) in copy.zip(&family.clues) {
                let kept = clue.unwrap_or_else(|| largest(entries));
                for (entry, &at) in entries.iter().zip(group) {
                    self.mean[at] -= entry;
                }
                self.mean[group[kept]] += 2.0;
                // What is left of x + m - p is to add m.
                entries[kept] -= 1.0;
            }
        }
        self.mean.iter_mut().for_each(|mean| *mean *= 0.25);
        for family in &mut self.families {
            for (entry, &at) in family.entries.iter_mut().zip(&family.groups) {
                *entry += self.mean[at];
            }
        }
        self.grid()
    }

    fn grid(&self) -> Option<Vec<u8>> {
        let cells = self.mean.chunks_exact(self.layout.side()).map(|cell| digit(largest(cell)));
        let cells: Vec<u8> = cells.collect();
        let clues = cells.iter().zip(&self.clues).all(|(cell, clue)| [0, *cell].contains(clue));
        (clues && is_grid(&self.layout, &cells)).then_some(cells)
    }
}
