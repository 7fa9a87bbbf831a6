//! Puzzles without a digit twice in a row or column, fast.
//!
//! Here two columns read the same only while both are empty, and rows or bands have the same cells only if they are
//! empty. Most rows fall out by which of their cells are filled, see [`Places`]; only those that are left are named
//! and sorted.

use std::{cell::RefCell, mem, ops::Deref};

use super::{
    Canonical, Cells,
    places::{FIRST, Places, TIES},
    state::{Entries, Row, State, image},
};

/// The canonical form, unless a digit is twice in a row or column.
pub fn canonical(cells: &Cells) -> Option<Canonical> {
    thread_local! {
        static WORK: RefCell<Work> = RefCell::default();
    }
    WORK.with_borrow_mut(|work| {
        let Work { sides, beams } = work;
        read(cells, sides).then(|| {
            let states = beams.least_states(sides);
            let ways =
                |state: &Settled| state.column_orders() * sides[usize::from(state.transposed)].row_orders();
            let automorphisms = states.iter().map(ways).sum();
            let (form, transformation) = states[0].finish(&sides[usize::from(states[0].transposed)].rows);
            Canonical { form, transformation, automorphisms }
        })
    })
}

/// Room that is used again from puzzle to puzzle.
#[derive(Default)]
struct Work {
    sides: [Side; 2],
    beams: Beams,
}

/// A puzzle as it is, or transposed.
#[derive(Default)]
struct Side {
    rows: [Row; 9],
    /// For each row its filled cells, as bits.
    filled: [u16; 9],
    /// For each row its digits, as bits.
    digits: [u16; 9],
    /// The empty rows, as bits.
    empty: u16,
}

/// Fills in a puzzle as it is and transposed. Says no when a digit is twice in a row or column.
fn read(cells: &Cells, sides: &mut [Side; 2]) -> bool {
    *sides = [Side::default(), Side::default()];
    let [upright, transposed] = sides;
    let mut twice = 0;
    let mut clues = filled_cells(cells);
    while clues != 0 {
        let cell = clues.trailing_zeros() as usize;
        clues &= clues - 1;
        let (r, c) = PLACES[cell % 128];
        let (r, c) = (usize::from(r), usize::from(c));
        let digit = cells[cell];
        upright.rows[r][c] = digit;
        transposed.rows[c][r] = digit;
        upright.filled[r] |= 1 << c;
        transposed.filled[c] |= 1 << r;
        let bit = 1 << digit;
        twice |= (upright.digits[r] | transposed.digits[c]) & bit;
        upright.digits[r] |= bit;
        transposed.digits[c] |= bit;
    }
    for side in sides {
        side.empty = side.filled.iter().rev().fold(0, |bits, &filled| bits << 1 | u16::from(filled == 0));
    }
    twice == 0
}

/// The filled cells as bits.
fn filled_cells(cells: &Cells) -> u128 {
    const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    // Eight bits that are eight apart, brought together as the highest eight.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, last) = cells.as_chunks::<8>();
    let mut bits = u128::from(last[0] != 0) << 80;
    for (word, at) in words.iter().zip((0..).step_by(8)) {
        let word = u64::from_le_bytes(*word);
        let filled = (((word & LOW) + LOW) | word) & !LOW;
        bits |= u128::from((filled >> 7).wrapping_mul(GATHER) >> 56) << at;
    }
    bits
}

/// Row and column of each cell.
const PLACES: [(u8, u8); 128] = {
    let mut places = [(0, 0); 128];
    let mut cell = 0;
    while cell < 81 {
        places[cell] = (ROWS[cell / 9], ROWS[cell % 9]);
        cell += 1;
    }
    places
};

/// The rows of each band, as bits.
const BANDS: [u16; 3] = [0b111, 0b111_000, 0b111_000_000];

impl Side {
    /// The rows that can come next in a state, as bits. If there are empty ones, the least image is empty: of these,
    /// one in each band, and one in all empty bands.
    #[inline]
    fn next_rows(&self, state: &State, at: usize) -> (u16, bool) {
        let unused = !state.used & 0x1FF;
        if !at.is_multiple_of(3) {
            let open = unused & BANDS[usize::from(state.rows[at - 1] / 3)];
            let empty = open & self.empty;
            return if empty == 0 { (open, false) } else { (empty & empty.wrapping_neg(), true) };
        }
        let empty = unused & self.empty;
        if empty == 0 {
            return (unused, false);
        }
        let mut met_empty_band = false;
        let mut rows = 0;
        for band in BANDS {
            let empty = empty & band;
            if empty != band || !met_empty_band {
                rows |= empty & empty.wrapping_neg();
            }
            met_empty_band |= empty == band;
        }
        (rows, true)
    }

    /// How many orders of rows are the same but for rows and bands that are interchangeable.
    fn row_orders(&self) -> u32 {
        if self.empty & (self.empty - u16::from(self.empty != 0)) == 0 {
            return 1;
        }
        let ways = |alike: u32| [1, 1, 2, 6][alike as usize];
        let rows: u32 = BANDS.iter().map(|band| ways((self.empty & band).count_ones())).product();
        rows * ways(BANDS.iter().map(|band| u32::from(self.empty & band == *band)).sum())
    }
}

/// A state with what tells when a row can be put below it without looking at its cells.
#[derive(Clone, Copy)]
struct Settled {
    state: State,
    /// The columns of the puzzle that are not empty so far, as bits.
    reached: u16,
    /// The digits that have a name, as bits.
    named: u16,
}

impl Deref for Settled {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

/// A row that can come next.
#[derive(Clone, Copy)]
struct Choice {
    state: usize,
    row: u8,
    /// Its filled places.
    places: u16,
    /// Its least image, if it had to be looked at.
    entries: Option<Entries>,
}

/// The states that go on, row by row.
#[derive(Default)]
struct Beams {
    states: Vec<Settled>,
    extended: Vec<Settled>,
    choices: Vec<Choice>,
}

impl Beams {
    /// All ways to the least image.
    fn least_states(&mut self, sides: &[Side; 2]) -> &[Settled] {
        self.first_rows(sides);
        for at in 1..9 {
            if let [state] = &mut self.states[..]
                && state.advance(at, side_of(state, sides))
            {
                continue;
            }
            let empty = self.choose(sides, at);
            // Without names the filled cells tell the image.
            if self.choices.len() > 1 && !empty && self.states[0].named != 0 {
                self.compare(sides);
            }
            self.extended.clear();
            for choice in &self.choices {
                let state = &self.states[choice.state];
                state.extend(at, choice, side_of(state, sides), &mut self.extended);
            }
            mem::swap(&mut self.states, &mut self.extended);
        }
        &self.states
    }

    /// The states with one row. While nothing is settled the filled cells tell the image, whatever the digits.
    fn first_rows(&mut self, sides: &[Side; 2]) {
        let mut places = [[0; 9]; 2];
        let mut least = u16::MAX;
        for (places, side) in places.iter_mut().zip(sides) {
            for (places, filled) in places.iter_mut().zip(&side.filled) {
                *places = FIRST[usize::from(filled & 0x1FF)];
                least = least.min(*places);
            }
        }
        self.states.clear();
        for ((side, places), transposed) in sides.iter().zip(&places).zip([false, true]) {
            let state = Settled { state: State::new(transposed), reached: 0, named: 0 };
            let mut open =
                places.iter().rev().fold(0, |bits, &places| bits << 1 | u16::from(places == least));
            if least == 0 {
                open &= side.next_rows(&state, 0).0;
            }
            while open != 0 {
                let row = ROWS[open.trailing_zeros() as usize];
                open &= open - 1;
                let choice = Choice { state: 0, row, places: least, entries: None };
                state.extend(0, &choice, side, &mut self.states);
            }
        }
    }

    /// Collects the rows that can come next and may be least by their filled cells. Returns whether they are empty.
    #[inline]
    fn choose(&mut self, sides: &[Side; 2], at: usize) -> bool {
        let mut bound = Bound(u16::MAX);
        self.choices.clear();
        for (i, state) in self.states.iter().enumerate() {
            let side = side_of(state, sides);
            let (mut open, empty) = side.next_rows(state, at);
            if !empty && bound.0 == 0 {
                continue;
            }
            let below = Places::new(state);
            while open != 0 {
                let row = open.trailing_zeros() as usize;
                open &= open - 1;
                let places = below.of(side.filled[row]);
                if places <= bound.0 {
                    if bound.lowered(places, state.named != 0) {
                        self.choices.clear();
                    }
                    self.choices.push(Choice { state: i, row: ROWS[row], places, entries: None });
                }
            }
        }
        bound.0 == 0
    }

    /// Keeps the choices with the least image.
    fn compare(&mut self, sides: &[Side; 2]) {
        let named = |choice: &Choice| {
            let state = &self.states[choice.state];
            side_of(state, sides).digits[usize::from(choice.row)] & state.named
        };
        // Without named digits, too, the filled cells tell the image.
        let look = self.choices.iter().fold(0, |all, choice| all | named(choice)) != 0;
        let mut least = u64::MAX;
        let mut kept = 0;
        for i in 0..self.choices.len() {
            let mut choice = self.choices[i];
            let mut key = u64::from(choice.places);
            if look {
                let state = &self.states[choice.state];
                let entries = state.least(&side_of(state, sides).rows[usize::from(choice.row)]);
                key = image(&entries);
                choice.entries = Some(entries);
            }
            if key <= least {
                if key < least {
                    least = key;
                    kept = 0;
                }
                self.choices[kept] = choice;
                kept += 1;
            }
        }
        self.choices.truncate(kept);
    }
}

#[inline]
fn side_of<'a>(state: &State, sides: &'a [Side; 2]) -> &'a Side {
    &sides[usize::from(state.transposed)]
}

impl Settled {
    /// Puts a row below in every way that has its least image.
    #[inline]
    fn extend(&self, at: usize, choice: &Choice, side: &Side, states: &mut Vec<Self>) {
        let new = side.digits[usize::from(choice.row)] & !self.named;
        if new & new.wrapping_sub(1) == 0 {
            states.push(*self);
            if let Some(state) = states.last_mut() {
                state.put(at, choice, side);
            }
            return;
        }
        let cells = &side.rows[usize::from(choice.row)];
        let entries = choice.entries.unwrap_or_else(|| self.least(cells));
        self.orders(&entries, |entries| {
            states.push(*self);
            if let Some(state) = states.last_mut() {
                state.state.arrange(cells, entries, self.ties & TIES[usize::from(choice.places)]);
                state.note(at, choice.row, side);
            }
        });
    }

    /// Puts a row below that has at most one unnamed digit.
    #[inline]
    fn put(&mut self, at: usize, choice: &Choice, side: &Side) {
        let number = usize::from(choice.row);
        let new = side.digits[number] & !self.named;
        if self.ties != 0 && side.filled[number] & !self.reached != 0 {
            let cells = &side.rows[number];
            let entries = choice.entries.unwrap_or_else(|| self.least(cells));
            let ties = self.ties & TIES[usize::from(choice.places)];
            self.state.arrange(cells, &entries, ties);
        } else if new != 0 {
            // All filled columns have their places.
            self.state.names[new.trailing_zeros() as usize] = self.next;
            self.state.next += 1;
        }
        self.note(at, choice.row, side);
    }

    #[inline]
    fn note(&mut self, at: usize, row: u8, side: &Side) {
        self.state.rows[at] = row;
        self.state.used |= 1 << row;
        self.reached |= side.filled[usize::from(row)];
        self.named |= side.digits[usize::from(row)];
    }

    /// Puts the next row below in place, if one row is least by its filled cells and has at most one unnamed digit.
    #[inline]
    fn advance(&mut self, at: usize, side: &Side) -> bool {
        let (mut open, _) = side.next_rows(self, at);
        let (mut row, mut places, mut alone) = (0, 0, true);
        if open.is_power_of_two() && self.ties == 0 {
            row = open.trailing_zeros() as usize;
        } else {
            let below = Places::new(self);
            let mut bound = Bound(u16::MAX);
            while open != 0 {
                let its_row = open.trailing_zeros() as usize;
                open &= open - 1;
                let its_places = below.of(side.filled[its_row]);
                if its_places <= bound.0 {
                    alone = bound.lowered(its_places, self.named != 0);
                    (row, places) = (its_row, its_places);
                }
            }
        }
        let new = side.digits[row] & !self.named;
        if alone && new & new.wrapping_sub(1) == 0 {
            self.put(at, &Choice { state: 0, row: ROWS[row], places, entries: None }, side);
            return true;
        }
        false
    }
}

/// Row numbers as they stand in a state.
const ROWS: [u8; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/// The most that filled places may be for a row to be among the least so far. While no digit is named these are the
/// least filled places themselves, then their highest bit and all below it.
struct Bound(u16);

impl Bound {
    /// Takes in places within the bound. Returns whether they are less than those so far.
    #[inline]
    fn lowered(&mut self, places: u16, named: bool) -> bool {
        let less = if named { places <= self.0 >> 1 && self.0 != 0 } else { places < self.0 };
        if less {
            self.0 = if named { u16::MAX.checked_shr(places.leading_zeros()).unwrap_or(0) } else { places };
        }
        less
    }
}
