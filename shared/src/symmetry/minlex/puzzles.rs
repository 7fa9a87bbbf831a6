//! Any cells at all, row by row: of all ways to settle the rows so far, those with the least image go on.
//!
//! A [`State`] is an order of rows and a naming of their digits. Every state that is kept has the same image so far,
//! the least there is; each is tried with every row that can come next, and what has the least next row is kept. At
//! the end all states have the least image, and with the orders that were not told apart they count the
//! automorphisms.
//!
//! Rows of a band with the same cells are interchangeable, and so are bands with the same rows: only the first of them
//! is tried. With tied columns this keeps the empty puzzle, whose symmetries all give the same image, at two states.

use super::{
    Canonical, Cells, Transformation,
    general::Layouts,
    grids::{check, checked_grid},
    state::{Entries, NEW, State, image},
};

/// The canonical form of any cells: puzzles with one, many or no solutions, also with digits that repeat in a row, a
/// column or a box.
///
/// ```
/// use shared::symmetry::minlex::puzzle;
///
/// let mut cells = [0; 81];
/// assert_eq!(puzzle(&cells).automorphisms, 3_359_232);
/// cells[40] = 5;
/// let canonical = puzzle(&cells);
/// assert_eq!(canonical.form[80], 1);
/// assert_eq!(canonical.automorphisms, 3_359_232 / 81);
/// ```
///
/// # Panics
///
/// When a cell exceeds 9.
pub fn puzzle(cells: &Cells) -> Canonical {
    if cells.iter().all(|&digit| digit != 0) && check(cells).is_ok() {
        return checked_grid(cells);
    }
    let sides = [Side::new(*cells), Side::new(transposed(cells))];
    let states =
        if sides.iter().all(|side| side.plain) { plain_states(&sides) } else { general_states(&sides) };
    let ways = |state: &State| state.column_orders() * sides[usize::from(state.transposed)].row_orders();
    let automorphisms = states.iter().map(ways).sum();
    let State { transposed, rows, columns, mut names, mut next, .. } = states[0];
    for name in names.iter_mut().filter(|name| **name == NEW) {
        *name = next;
        next += 1;
    }
    let transformation = Transformation { transposed, rows, columns, digits: names };
    Canonical { form: transformation.apply(cells), transformation, automorphisms }
}

fn transposed(cells: &Cells) -> Cells {
    Transformation { transposed: true, ..Transformation::IDENTITY }.apply(cells)
}

/// A puzzle as it is, or transposed.
struct Side {
    rows: [[u8; 9]; 9],
    /// Whether the digits of every row differ.
    plain: bool,
    /// For each row the rows above it in its band that have the same cells, as bits.
    same_rows: [u16; 9],
    /// For each band the rows of the bands above it that have the same rows, as bits.
    same_bands: [u16; 3],
}

impl Side {
    fn new(cells: Cells) -> Self {
        let rows: [[u8; 9]; 9] = cells.as_chunks::<9>().0.try_into().expect("nine rows");
        let mut side = Self { rows, plain: true, same_rows: [0; 9], same_bands: [0; 3] };
        let mut sorted = rows;
        for (b, band) in sorted.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            for (r, row) in band.iter().enumerate() {
                let mut seen = 0u16;
                for &digit in row.iter().filter(|&&digit| digit != 0) {
                    side.plain &= seen >> digit & 1 == 0;
                    seen |= 1 << digit;
                }
                let same = (0..r).filter(|&above| band[above] == *row);
                side.same_rows[3 * b + r] = same.map(|above| 1 << (3 * b + above)).sum();
            }
            band.sort_unstable();
        }
        for b in 1..3 {
            let same = (0..b).filter(|&above| sorted[3 * above..3 * above + 3] == sorted[3 * b..3 * b + 3]);
            side.same_bands[b] = same.map(|above| 0b111 << (3 * above)).sum();
        }
        side
    }

    /// The rows that can come next in a state, of those interchangeable only one.
    fn next_rows(&self, state: &State, at: usize) -> impl Iterator<Item = u8> + use<'_> {
        let unused = !state.used & 0x1FF;
        let open = if at % 3 > 0 {
            unused & 0b111 << (state.rows[at - 1] / 3 * 3)
        } else {
            let bands = self.same_bands.iter().zip([0b111, 0b111_000, 0b111_000_000]);
            unused & bands.filter(|(same, _)| **same & unused == 0).map(|(_, rows)| rows).sum::<u16>()
        };
        (0..9u8).filter(move |&row| open >> row & 1 == 1 && self.same_rows[usize::from(row)] & unused == 0)
    }

    /// How many orders of rows are the same but for rows and bands that are interchangeable.
    fn row_orders(&self) -> u32 {
        let rows: u32 = self.same_rows.iter().map(|same| 1 + same.count_ones()).product();
        let bands: u32 = self.same_bands.iter().map(|same| 1 + same.count_ones() / 3).product();
        rows * bands
    }
}

/// A row that can come next, and its image.
struct Choice {
    state: usize,
    row: u8,
    entries: Entries,
}

/// All ways to the least image of a puzzle without a digit twice in a row or column.
fn plain_states(sides: &[Side; 2]) -> Vec<State> {
    let mut states = vec![State::new(false), State::new(true)];
    let mut choices: Vec<Choice> = Vec::new();
    for at in 0..9 {
        let mut least = u64::MAX;
        choices.clear();
        for (i, state) in states.iter().enumerate() {
            let side = &sides[usize::from(state.transposed)];
            for row in side.next_rows(state, at) {
                let entries = state.least(&side.rows[usize::from(row)]);
                let image = image(&entries);
                if image <= least {
                    if image < least {
                        choices.clear();
                        least = image;
                    }
                    choices.push(Choice { state: i, row, entries });
                }
            }
        }
        let mut extended = Vec::with_capacity(choices.len());
        for Choice { state, row, entries } in &choices {
            let state = &states[*state];
            let cells = &sides[usize::from(state.transposed)].rows[usize::from(*row)];
            state.extend(at, *row, cells, entries, &mut extended);
        }
        states = extended;
    }
    states
}

/// All ways to the least image of any cells.
fn general_states(sides: &[Side; 2]) -> Vec<State> {
    let mut states = vec![State::new(false), State::new(true)];
    for at in 0..9 {
        let mut least = u64::MAX;
        let mut extended = Vec::new();
        for state in &states {
            let side = &sides[usize::from(state.transposed)];
            for row in side.next_rows(state, at) {
                let cells = &side.rows[usize::from(row)];
                let layouts = Layouts::new(state, cells);
                if layouts.image < least {
                    least = layouts.image;
                    extended.clear();
                }
                if layouts.image == least {
                    let named = |(names, next): &_| state.renamed(at, row, cells, names, *next);
                    extended.extend(layouts.namings.iter().map(named));
                }
            }
        }
        states = extended;
    }
    states
}
