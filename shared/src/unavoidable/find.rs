//! All minimal unavoidable sets of a grid up to a size.
//!
//! Take a second filling of an unavoidable set U, different from the grid in every cell of U. Every row, column and box
//! keeps its digits, so when a cell of U gets the digit e, the cells that hold e in its row, column and box lie in U
//! too. The search starts from each cell as the least of U, gives the cell of U with the fewest choices another digit,
//! adds the cells that this calls for, and ends a branch when U is closed or would be too large. Every minimal
//! unavoidable set is found: by its own second filling, whose cells are all called for sooner or later, as those that
//! are never called for would leave a smaller set. What is found and not minimal contains a smaller one that is found
//! too, and falls out at the end.
//!
//! Two counts end branches early: a cell alone in its row, column or box, or alone of its digit, needs another one, and
//! one new cell serves one row only (one column, box, digit).
//!
//! Cost: some 10 ms for 9x9 up to 12 cells, growing fivefold with every two cells more; see `benches/unavoidable.rs`.

use super::{CellSet, CompleteGrid, antichain::minimal, complete::Units};

/// The largest unavoidable sets that are looked for where nothing else is said.
pub const DEFAULT_SIZE: usize = 12;

/// All minimal unavoidable sets of at most `most` cells, by size, then by cells.
///
/// ```
/// use shared::unavoidable::{CompleteGrid, unavoidable_sets};
///
/// let grid = CompleteGrid::read("1234341223414123").unwrap();
/// let sizes: Vec<usize> = unavoidable_sets(&grid, 16).iter().map(|set| set.len()).collect();
/// assert_eq!(sizes.len(), 26);
/// assert_eq!(sizes[..5], [4, 4, 4, 4, 8]);
/// ```
pub fn unavoidable_sets(grid: &CompleteGrid, most: usize) -> Vec<CellSet> {
    let finder = Finder::new(grid);
    let mut found = Vec::new();
    for start in 0..grid.cells() {
        let mut state = State::new(most);
        if state.add(&finder, 1 << start) {
            finder.grow(&state, (1 << start) - 1, &mut found);
        }
    }
    minimal(found)
}

const CELLS: usize = 81;
const DIGITS: usize = 10;
/// Rows, columns, boxes and digits, nine each.
const GROUPS: usize = 36;

/// What the search looks up.
struct Finder {
    side: usize,
    /// For a cell and a digit the cells that hold the digit in the row, column and box of the cell.
    calls: Box<[[u128; DIGITS]; CELLS]>,
    /// For each cell its row, column, box and digit, numbered apart.
    groups: [[u8; 4]; CELLS],
    /// For each cell a bit for its digit.
    digit: [u16; CELLS],
}

/// An unavoidable set that is being put together.
#[derive(Clone)]
struct State {
    /// The cells so far.
    cells: u128,
    /// Those without a new digit yet.
    open: u128,
    /// Cells that may still be added.
    budget: u32,
    /// Cells of each row, column, box and digit.
    counts: [u8; GROUPS],
    /// How many rows, columns, boxes and digits have one cell only.
    alone: [u32; 4],
    /// Bits of the digits newly placed in each row, column and box.
    placed: [u16; GROUPS],
}

impl State {
    fn new(most: usize) -> Self {
        let budget = u32::try_from(most).unwrap_or(u32::MAX);
        Self { cells: 0, open: 0, budget, counts: [0; GROUPS], alone: [0; 4], placed: [0; GROUPS] }
    }

    /// Adds cells, and says whether the set can still be closed.
    fn add(&mut self, finder: &Finder, new: u128) -> bool {
        let Some(budget) = self.budget.checked_sub(new.count_ones()) else { return false };
        self.budget = budget;
        self.cells |= new;
        self.open |= new;
        for cell in CellSet(new).iter() {
            for (kind, &group) in finder.groups[cell].iter().enumerate() {
                let count = &mut self.counts[usize::from(group)];
                *count += 1;
                match *count {
                    1 => self.alone[kind] += 1,
                    2 => self.alone[kind] -= 1,
                    _ => {}
                }
            }
        }
        self.alone.iter().all(|&alone| alone <= budget)
    }
}

impl Finder {
    fn new(grid: &CompleteGrid) -> Self {
        let units = Units::new(grid.shape());
        let digits = grid.digits();
        let mut finder = Self {
            side: grid.shape().side(),
            calls: Box::new([[0; DIGITS]; CELLS]),
            groups: [[0; 4]; CELLS],
            digit: [0; CELLS],
        };
        for (cell, of) in units.of.iter().enumerate() {
            finder.digit[cell] = 1 << digits[cell];
            let digit = usize::from(digits[cell]) - 1;
            let groups = [of[0], of[1], of[2], 3 * finder.side + digit];
            finder.groups[cell] = groups.map(|group| u8::try_from(group).expect("at most 36 groups"));
            for other in units.seen[cell].iter() {
                finder.calls[cell][usize::from(digits[other])] |= 1 << other;
            }
        }
        finder
    }

    /// Digits that a cell may get: not its own, not placed in its units yet.
    fn choices(&self, state: &State, cell: usize) -> u16 {
        let groups = &self.groups[cell];
        let placed = state.placed[usize::from(groups[0])]
            | state.placed[usize::from(groups[1])]
            | state.placed[usize::from(groups[2])]
            | self.digit[cell];
        !placed & ((2 << self.side) - 2)
    }

    /// The choices that call for no dead cell and no more cells than the budget allows.
    fn affordable(&self, state: &State, cell: usize, dead: u128) -> u16 {
        let mut choices = self.choices(state, cell);
        let mut rest = choices;
        while rest != 0 {
            let digit = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let new = self.calls[cell][digit] & !state.cells;
            if new & dead != 0 || new.count_ones() > state.budget {
                choices &= !(1 << digit);
            }
        }
        choices
    }

    /// Finds the unavoidable sets that contain those of the state and no dead cell.
    fn grow(&self, state: &State, dead: u128, found: &mut Vec<CellSet>) {
        if state.open == 0 {
            found.push(CellSet(state.cells));
            return;
        }
        let mut best = (usize::MAX, 0, 0);
        for cell in CellSet(state.open).iter() {
            let choices = self.affordable(state, cell, dead);
            let number = choices.count_ones() as usize;
            if number < best.0 {
                best = (number, cell, choices);
                if number <= 1 {
                    break;
                }
            }
        }
        let (_, cell, mut choices) = best;
        while choices != 0 {
            let digit = choices.trailing_zeros() as usize;
            choices &= choices - 1;
            let mut next = state.clone();
            next.open &= !(1 << cell);
            for &group in &self.groups[cell][..3] {
                next.placed[usize::from(group)] |= 1 << digit;
            }
            if next.add(self, self.calls[cell][digit] & !state.cells) {
                self.grow(&next, dead, found);
            }
        }
    }
}
