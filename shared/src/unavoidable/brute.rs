//! The slow ancestors: obviously right, and what the fast methods are tested against.

use super::{CellSet, CompleteGrid, antichain::minimal, complete::Units};
use crate::grid::Shape;

/// All minimal unavoidable sets of at most `most` cells, by filling the grid cell by cell in every way that differs from
/// it in at most so many cells.
///
/// Cost: milliseconds for 4x4, seconds for 6x6 up to 12 cells, out of the question for 9x9 above some 8 cells.
pub fn unavoidable_sets(grid: &CompleteGrid, most: usize) -> Vec<CellSet> {
    let units = Units::new(grid.shape());
    let mut filling = Filling { grid, units: &units, cells: vec![0; grid.cells()], found: Vec::new() };
    filling.fill(0, CellSet::EMPTY, most);
    minimal(filling.found)
}

struct Filling<'a> {
    grid: &'a CompleteGrid,
    units: &'a Units,
    cells: Vec<u8>,
    found: Vec<CellSet>,
}

impl Filling<'_> {
    fn fill(&mut self, cell: usize, different: CellSet, most: usize) {
        if cell == self.cells.len() {
            if !different.is_empty() {
                self.found.push(different);
            }
            return;
        }
        for digit in (1..).take(self.grid.shape().side()) {
            let own = digit == self.grid.digits()[cell];
            if (own || different.len() < most) && fits(&self.cells, self.units, cell, digit) {
                self.cells[cell] = digit;
                let step = if own { different } else { different.union(CellSet::single(cell)) };
                self.fill(cell + 1, step, most);
                self.cells[cell] = 0;
            }
        }
    }
}

/// Whether no other cell of the units of a cell has the digit.
fn fits(cells: &[u8], units: &Units, cell: usize, digit: u8) -> bool {
    units.seen[cell].iter().all(|other| other == cell || cells[other] != digit)
}

/// Number of solutions of a puzzle (0 is empty), but not more than `limit`: the empty cell with the fewest digits gets
/// each of them in turn. It knows nothing of any grid, and shares nothing with the solver of the searches.
pub fn solutions(shape: Shape, puzzle: &[u8], limit: usize) -> usize {
    some_solutions(shape, puzzle, limit).len()
}

/// A solution of a puzzle, the first of [`solutions`].
pub fn solution(shape: Shape, puzzle: &[u8]) -> Option<Vec<u8>> {
    some_solutions(shape, puzzle, 1).pop()
}

fn some_solutions(shape: Shape, puzzle: &[u8], limit: usize) -> Vec<Vec<u8>> {
    let units = Units::new(shape);
    let mut found = Vec::new();
    let fits = |cell: usize| puzzle[cell] == 0 || fits(puzzle, &units, cell, puzzle[cell]);
    if puzzle.len() == units.of.len() && (0..puzzle.len()).all(fits) {
        solve(&mut puzzle.to_vec(), &units, limit, &mut found);
    }
    found
}

fn solve(cells: &mut [u8], units: &Units, limit: usize, found: &mut Vec<Vec<u8>>) {
    let side = units.all.len() / 3;
    let digits = |cells: &[u8], cell: usize| -> Vec<u8> {
        (1..).take(side).filter(|&digit| fits(cells, units, cell, digit)).collect()
    };
    let empty = (0..cells.len()).filter(|&cell| cells[cell] == 0);
    let Some((digits, cell)) =
        empty.map(|cell| (digits(cells, cell), cell)).min_by_key(|(digits, _)| digits.len())
    else {
        found.push(cells.to_vec());
        return;
    };
    for digit in digits {
        if found.len() < limit {
            cells[cell] = digit;
            solve(cells, units, limit, found);
        }
    }
    cells[cell] = 0;
}

/// Every puzzle with exactly so many clues and one solution, by deciding cell by cell whether it is a clue: the clues
/// must not become too many, and no unavoidable set of at most `most` cells may be left without one. What is left is
/// solved.
///
/// Cost: all 65,536 choices in a second for 4x4; on 6x6 minutes from 10 clues on.
pub fn puzzles(grid: &CompleteGrid, clues: usize, most: usize) -> Vec<CellSet> {
    let sets = unavoidable_sets(grid, most);
    let mut found = Vec::new();
    decide(grid, &sets, 0, CellSet::EMPTY, clues, &mut found);
    found
}

fn decide(
    grid: &CompleteGrid,
    sets: &[CellSet],
    cell: usize,
    chosen: CellSet,
    left: usize,
    found: &mut Vec<CellSet>,
) {
    let rest = CellSet::below(grid.cells()).without(CellSet::below(cell));
    if rest.len() < left || sets.iter().any(|set| !set.meets(chosen.union(rest))) {
        return;
    }
    if left == 0 {
        let hit = sets.iter().all(|set| set.meets(chosen));
        if hit && solutions(grid.shape(), &grid.puzzle(chosen), 2) == 1 {
            found.push(chosen);
        }
        return;
    }
    decide(grid, sets, cell + 1, chosen.union(CellSet::single(cell)), left - 1, found);
    decide(grid, sets, cell + 1, chosen, left, found);
}
