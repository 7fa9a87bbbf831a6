//! Puzzles without a digit twice in a row or column, fast.
//!
//! Here two columns read the same only while both are empty, and rows or bands have the same cells only if they are
//! empty. Most rows fall out by which of their cells are filled, see [`Places`]; only those that are left are named
//! and sorted.

use std::cell::RefCell;

use super::{
    Canonical, Cells,
    places::Places,
    state::{Entries, Row, State, image},
};

/// The canonical form, unless a digit is twice in a row or column.
pub fn canonical(cells: &Cells) -> Option<Canonical> {
    thread_local! {
        static WORK: RefCell<Work> = RefCell::default();
    }
    let sides = sides(cells)?;
    WORK.with_borrow_mut(|work| {
        let states = work.least_states(&sides);
        let ways = |state: &State| state.column_orders() * sides[usize::from(state.transposed)].row_orders();
        let automorphisms = states.iter().map(ways).sum();
        let transformation = states[0].transformation();
        Some(Canonical { form: transformation.apply(cells), transformation, automorphisms })
    })
}

/// A puzzle as it is, or transposed.
#[derive(Default)]
struct Side {
    rows: [Row; 9],
    /// For each row its filled cells, as bits.
    filled: [u16; 9],
    /// The empty rows, as bits.
    empty: u16,
}

/// A puzzle as it is and transposed, unless a digit is twice in a row or column.
fn sides(cells: &Cells) -> Option<[Side; 2]> {
    // Clues are listed first, without branches; the number of them is the only thing left to guess.
    let mut clues = [(0, 0); 82];
    let mut count = 0;
    for (&place, &digit) in PLACES.iter().zip(cells) {
        clues[count] = place;
        count += usize::from(digit != 0);
    }
    let [mut upright, mut transposed] = [Side::default(), Side::default()];
    let mut digits = [[0u16; 9]; 2];
    let mut twice = 0;
    for &(r, c) in &clues[..count] {
        let [r, c] = [r, c].map(usize::from);
        let digit = cells[9 * r + c];
        upright.rows[r][c] = digit;
        transposed.rows[c][r] = digit;
        upright.filled[r] |= 1 << c;
        transposed.filled[c] |= 1 << r;
        let bit = 1 << digit;
        twice |= (digits[0][r] | digits[1][c]) & bit;
        digits[0][r] |= bit;
        digits[1][c] |= bit;
    }
    for side in [&mut upright, &mut transposed] {
        side.empty = side.filled.iter().rev().fold(0, |bits, &filled| bits << 1 | u16::from(filled == 0));
    }
    (twice == 0).then_some([upright, transposed])
}

/// Row and column of each cell.
const PLACES: [(u8, u8); 81] = {
    let mut places = [(0, 0); 81];
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
        if at % 3 > 0 {
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

/// A row that can come next.
struct Choice {
    state: usize,
    row: u8,
}

/// Room that is used again from puzzle to puzzle.
#[derive(Default)]
struct Work {
    states: Vec<State>,
    extended: Vec<State>,
    choices: Vec<Choice>,
    entries: Vec<Entries>,
}

impl Work {
    /// All ways to the least image.
    fn least_states(&mut self, sides: &[Side; 2]) -> &[State] {
        self.states.clear();
        self.states.extend([State::new(false), State::new(true)]);
        for at in 0..9 {
            let empty = self.choose(sides, at);
            self.extended.clear();
            if empty {
                let below = |choice: &Choice| self.states[choice.state].with_empty(at, choice.row);
                self.extended.extend(self.choices.iter().map(below));
            } else {
                self.extend(sides, at);
            }
            std::mem::swap(&mut self.states, &mut self.extended);
        }
        &self.states
    }

    /// Collects the rows that can come next and may be least by their filled cells. Returns whether they are empty.
    fn choose(&mut self, sides: &[Side; 2], at: usize) -> bool {
        let mut least = u16::MAX;
        self.choices.clear();
        for (i, state) in self.states.iter().enumerate() {
            let side = &sides[usize::from(state.transposed)];
            let (mut open, empty) = side.next_rows(state, at);
            let places = if empty { None } else { Some(Places::new(state)) };
            while open != 0 {
                let row = open.trailing_zeros() as usize;
                open &= open - 1;
                let key = places.as_ref().map_or(0, |places| places.key(side.filled[row]));
                if key < least {
                    least = key;
                    self.choices.clear();
                }
                if key == least {
                    self.choices.push(Choice { state: i, row: ROWS[row] });
                }
            }
        }
        least == 0
    }

    /// Of the choices extends the states of those that have the least image.
    fn extend(&mut self, sides: &[Side; 2], at: usize) {
        let row = |choice: &Choice| {
            let state = &self.states[choice.state];
            (state, &sides[usize::from(state.transposed)].rows[usize::from(choice.row)])
        };
        // Without names the filled cells tell the image.
        let decided = self.choices.len() == 1 || self.states[0].next == 1;
        self.entries.clear();
        let mut least = u64::MAX;
        let mut kept = 0;
        for i in 0..self.choices.len() {
            let (state, cells) = row(&self.choices[i]);
            let entries = state.least(cells);
            let image = if decided { 0 } else { image(&entries) };
            if image < least {
                least = image;
                kept = 0;
                self.entries.clear();
            }
            if image == least {
                self.choices.swap(kept, i);
                self.entries.push(entries);
                kept += 1;
            }
        }
        for (choice, entries) in self.choices[..kept].iter().zip(&self.entries) {
            let state = &self.states[choice.state];
            let cells = &sides[usize::from(state.transposed)].rows[usize::from(choice.row)];
            state.extend(at, choice.row, cells, entries, &mut self.extended);
        }
    }
}

/// Row numbers as they stand in a state.
const ROWS: [u8; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
