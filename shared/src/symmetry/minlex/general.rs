//! Rows in which a digit repeats: in no puzzle with a solution, but they have a least image too.
//!
//! Where the digits of a row differ, unnamed ones are named in the order they come to stand in. Where they do not, the
//! name that a digit gets in one stack decides what it is worth in the next, so the row is laid out cell by cell:
//! every cell takes the least name that the columns and stacks still tied allow, and all ways of doing so are followed.

use super::{
    Canonical, Cells, Transformation,
    layout::Layouts,
    state::{Row, State},
};

/// The canonical form of any cells.
pub fn canonical(cells: &Cells) -> Canonical {
    let transposition = Transformation { transposed: true, ..Transformation::IDENTITY };
    let sides = [Side::new(*cells), Side::new(transposition.apply(cells))];
    let states = least_states(&sides);
    let ways = |state: &State| state.column_orders() * sides[usize::from(state.transposed)].row_orders();
    let automorphisms = states.iter().map(ways).sum();
    let (form, transformation) = states[0].finish(&sides[usize::from(states[0].transposed)].rows);
    Canonical { form, transformation, automorphisms }
}

/// A puzzle as it is, or transposed.
struct Side {
    rows: [Row; 9],
    /// For each row the rows above it in its band that have the same cells, as bits.
    same_rows: [u16; 9],
    /// For each band the rows of the bands above it that have the same rows, as bits.
    same_bands: [u16; 3],
}

impl Side {
    fn new(cells: Cells) -> Self {
        let mut rows = [[0; 16]; 9];
        for (row, cells) in rows.iter_mut().zip(cells.as_chunks::<9>().0) {
            row[..9].copy_from_slice(cells);
        }
        let mut side = Self { rows, same_rows: [0; 9], same_bands: [0; 3] };
        let mut sorted = rows;
        for (b, band) in sorted.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            for (r, row) in band.iter().enumerate() {
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
        let open = if at.is_multiple_of(3) {
            let bands = self.same_bands.iter().zip([0b111, 0b111_000, 0b111_000_000]);
            unused & bands.filter(|(same, _)| **same & unused == 0).map(|(_, rows)| rows).sum::<u16>()
        } else {
            unused & 0b111 << (state.rows[at - 1] / 3 * 3)
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

/// All ways to the least image of any cells.
fn least_states(sides: &[Side; 2]) -> Vec<State> {
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
