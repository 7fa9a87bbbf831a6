//! Is there another solution? A solver for sub-puzzles of a grid that is known.
//!
//! The answer wanted is a *second* filling, so the grid itself serves as a guide: as long as every digit placed is the
//! grid's, a cell to guess first gets the other digits (any solution below is an answer), and last the grid's own. Once
//! a digit differs, cells get the grid's digits first, so that the answer differs in few cells: it is an unavoidable set
//! that the clues miss, and small ones cut more.
//!
//! Candidates are kept as one set of cells for each digit, so that all cells with a single candidate are found together
//! by adding the nine sets bit by bit. Cost: 1 to 3 microseconds for a puzzle of 10 clues and a full band on 9x9.

use multiversion::multiversion;

use super::super::{CellSet, CompleteGrid, complete::Units};
use crate::grid::Shape;

const CELLS: usize = 81;

/// Looks for second solutions of puzzles of one grid.
pub(super) struct Another {
    side: usize,
    all: u128,
    /// For each digit (from 0) its cells in the grid.
    homes: [u128; 9],
    /// For each cell the cells that share a unit with it, itself among them.
    seen: [u128; CELLS],
    units: [u128; 27],
    /// For each cell its digit (from 0).
    own: [u8; CELLS],
    /// Puzzles that were looked at.
    pub tested: u64,
}

/// What is known of a puzzle on the way.
#[derive(Clone, Copy)]
struct State {
    /// Cells without a digit.
    empty: u128,
    /// For each digit the empty cells that may still get it.
    may: [u128; 9],
    /// For each digit the cells that got it.
    has: [u128; 9],
}

impl Another {
    pub(super) fn new(grid: &CompleteGrid) -> Self {
        Self::of(grid.shape(), grid.digits())
    }

    /// For digits that are known to be a grid of a shape.
    pub(super) fn of(shape: Shape, digits: &[u8]) -> Self {
        let units = Units::new(shape);
        let mut homes = [0; 9];
        let mut own = [0; CELLS];
        for (cell, &digit) in digits.iter().enumerate() {
            homes[usize::from(digit) - 1] |= 1 << cell;
            own[cell] = digit - 1;
        }
        let mut tables = Self {
            side: shape.side(),
            all: CellSet::below(digits.len()).0,
            homes,
            seen: [0; CELLS],
            units: [0; 27],
            own,
            tested: 0,
        };
        tables.seen.iter_mut().zip(&units.seen).for_each(|(to, seen)| *to = seen.0);
        tables.units.iter_mut().zip(&units.all).for_each(|(to, unit)| *to = unit.0);
        tables
    }

    /// Whether the clues leave no other solution.
    pub(super) fn is_only(&self, clues: u128) -> bool {
        difference::<true>(self, clues).is_none()
    }

    /// A minimal unavoidable set that has no cell among the clues, if these leave more than one solution.
    ///
    /// `HIDDEN`: look for hidden singles, which pays where clues are few, not where a whole band is given.
    pub(super) fn unhit<const HIDDEN: bool>(&mut self, clues: u128) -> Option<u128> {
        self.tested += 1;
        let set = difference::<HIDDEN>(self, clues)?;
        Some(minimal(self, set))
    }

    fn start(&self, clues: u128) -> State {
        let empty = self.all & !clues;
        let mut state = State { empty, may: [0; 9], has: [0; 9] };
        for digit in 0..self.side {
            let given = self.homes[digit] & clues;
            let mut may = empty;
            let mut rest = given;
            while rest != 0 {
                may &= !self.seen[rest.trailing_zeros() as usize];
                rest &= rest - 1;
            }
            state.may[digit] = may;
            state.has[digit] = given;
        }
        state
    }

    /// The digit of a cell in the grid.
    #[inline(always)]
    fn own(&self, cell: usize) -> usize {
        usize::from(self.own[cell])
    }

    /// Places a digit that the cell may get.
    #[inline(always)]
    fn place(&self, state: &mut State, cell: usize, digit: usize) {
        for may in &mut state.may {
            *may &= !(1 << cell);
        }
        self.place_single(state, cell, digit);
    }

    /// Places a digit in a cell that may get no other.
    #[inline(always)]
    fn place_single(&self, state: &mut State, cell: usize, digit: usize) {
        state.empty &= !(1 << cell);
        state.may[digit] &= !self.seen[cell];
        state.has[digit] |= 1 << cell;
    }

    /// Places what is forced. False when a cell has no candidate or a digit no place.
    #[inline(always)]
    fn settle<const HIDDEN: bool>(&self, state: &mut State) -> bool {
        loop {
            let (mut once, mut twice) = (0, 0);
            for may in &state.may[..self.side] {
                twice |= once & may;
                once |= may;
            }
            if state.empty & !once != 0 {
                return false;
            }
            let mut single = once & !twice;
            if single != 0 {
                for digit in 0..self.side {
                    let mut here = single & state.may[digit];
                    single &= !here;
                    while here != 0 {
                        let cell = here.trailing_zeros() as usize;
                        here &= here - 1;
                        if state.may[digit] >> cell & 1 == 0 {
                            // Two cells of a unit with the same only candidate.
                            return false;
                        }
                        self.place_single(state, cell, digit);
                    }
                }
                continue;
            }
            if state.empty == 0 || !HIDDEN {
                return true;
            }
            match self.hidden(state) {
                None => return false,
                Some(0) => return true,
                Some(_) => {}
            }
        }
    }

    /// Places digits that have one place only in a unit, and says how many; `None` when one has no place.
    #[inline(always)]
    fn hidden(&self, state: &mut State) -> Option<u32> {
        let mut placed = 0;
        for digit in 0..self.side {
            if state.may[digit] == 0 && state.has[digit].count_ones() as usize == self.side {
                continue;
            }
            for unit in &self.units[..3 * self.side] {
                let places = state.may[digit] & unit;
                if places & places.wrapping_sub(1) != 0 {
                    continue;
                }
                if places != 0 {
                    self.place(state, places.trailing_zeros() as usize, digit);
                    placed += 1;
                } else if state.has[digit] & unit == 0 {
                    return None;
                }
            }
        }
        Some(placed)
    }

    /// An empty cell with two candidates, or else one with the fewest.
    #[inline(always)]
    fn cell_to_guess(&self, state: &State) -> usize {
        let (mut once, mut twice, mut thrice) = (0, 0, 0);
        for may in &state.may[..self.side] {
            thrice |= twice & may;
            twice |= once & may;
            once |= may;
        }
        let two = twice & !thrice;
        if two != 0 {
            return two.trailing_zeros() as usize;
        }
        let number = |cell: &usize| state.may.iter().filter(|&may| may >> cell & 1 == 1).count();
        CellSet(state.empty).iter().min_by_key(number).unwrap_or(0)
    }
}

/// The cells in which some solution of the puzzle with these clues differs from the grid.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+popcnt+lzcnt"))]
fn difference<const HIDDEN: bool>(tables: &Another, clues: u128) -> Option<u128> {
    let mut state = tables.start(clues);
    search::<HIDDEN>(tables, &mut state, true)
}

/// A minimal unavoidable set inside an unavoidable one. Cells are given back their digits one by one: where another
/// solution is left, it is smaller, and where none is left, the cell belongs to every unavoidable set there is.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+popcnt+lzcnt"))]
fn minimal(tables: &Another, mut set: u128) -> u128 {
    let mut state = tables.start(tables.all & !set);
    let mut rest = set;
    while rest != 0 {
        let cell = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let mut next = state;
        tables.place(&mut next, cell, tables.own(cell));
        // So few cells are empty that hidden singles do not pay.
        if let Some(smaller) = search::<false>(tables, &mut next, true) {
            for given in CellSet(set & !smaller).iter() {
                tables.place(&mut state, given, tables.own(given));
            }
            set = smaller;
            rest &= smaller;
        }
    }
    set
}

/// `home`: everything placed so far is the grid's.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+popcnt+lzcnt"))]
fn search<const HIDDEN: bool>(tables: &Another, state: &mut State, home: bool) -> Option<u128> {
    loop {
        if !tables.settle::<HIDDEN>(state) {
            return None;
        }
        if state.empty == 0 {
            let same = (0..tables.side).fold(0, |same, digit| same | state.has[digit] & tables.homes[digit]);
            let set = tables.all & !same;
            return (set != 0).then_some(set);
        }
        let cell = tables.cell_to_guess(state);
        let own = tables.own(cell);
        let own_first = !home && state.may[own] >> cell & 1 == 1;
        if own_first {
            let mut next = *state;
            tables.place(&mut next, cell, own);
            if let Some(set) = search::<HIDDEN>(tables, &mut next, home) {
                return Some(set);
            }
        }
        for digit in (0..tables.side).filter(|&digit| digit != own) {
            if state.may[digit] >> cell & 1 == 1 {
                let mut next = *state;
                tables.place(&mut next, cell, digit);
                if let Some(set) = search::<HIDDEN>(tables, &mut next, false) {
                    return Some(set);
                }
            }
        }
        if !home {
            return None;
        }
        tables.place(state, cell, own);
    }
}
