//! How many bands have given column sets, for all pairs of cuts at once.
//!
//! Used by the `gangster` method and by the audit; the `search` method has its own way and never comes here.

use super::super::triples::{CUTS, Cut, Cuts, Digits, SPLITS, splits};

/// Numbers of bands by the cuts of boxes 2 and 3.
#[derive(Clone)]
pub struct BandTable {
    /// Row by row; symmetric, since boxes 2 and 3 can be exchanged.
    entries: Vec<i16>,
}

impl BandTable {
    /// Bands whose first box has the columns `box1`, by the cuts of boxes 2 and 3, columns in a fixed order.
    ///
    /// A filling of box 1 with these columns is a crossing cut (its three rows as sets) and an order of the rows.
    /// Exchanging rows of the band is a bijection, so the order counts 6 times. Whatever the rows of box 1 are, the
    /// rows of boxes 2 and 3 are one of the 56 ways to share what they leave: the same sum as for the columns of two
    /// bands (see [`splits`]).
    ///
    /// Entries are at most 6^3 * 56 = 12,096 (the fillings of box 1 times 56 ways for the rows), so they fit `i16`.
    /// Some 0.15 ms.
    pub fn new(cuts: &Cuts, box1: [Digits; 3]) -> Self {
        let rows = cuts.crossing[usize::from(cuts.number(box1[0], box1[1]))];
        let rows = rows.map(|cut| cuts.triples[usize::from(cut)]);
        Self::sum(cuts, &rows, 6)
    }

    /// Bands whose first box is 123/456/789, cell by cell, by the cuts of boxes 2 and 3 with the columns of these in
    /// any order, which counts 3!^2 times. All entries together are 56 * 6^6 = 2,612,736.
    pub fn below_standard_box(cuts: &Cuts) -> Self {
        Self::sum(cuts, &[[0b111, 0b111_000, 0b111_000_000]], 36)
    }

    fn sum(cuts: &Cuts, rows: &[[Digits; 3]], times: i16) -> Self {
        // by_rows[r][i]: ways so far that box 3 has rows r and box 2 columns i.
        let mut by_rows = vec![[0i16; CUTS]; CUTS];
        for (box2, box3) in rows.iter().flat_map(|&rows| splits(rows)) {
            let ways = &mut by_rows[usize::from(cuts.number(box3[0], box3[1]))];
            for &columns in &cuts.crossing[usize::from(cuts.number(box2[0], box2[1]))] {
                ways[usize::from(columns)] += times;
            }
        }
        let mut entries = vec![0; CUTS * CUTS];
        for (entry, crossing) in entries.chunks_exact_mut(CUTS).zip(&cuts.crossing) {
            for &rows in crossing {
                for (sum, ways) in entry.iter_mut().zip(&by_rows[usize::from(rows)]) {
                    *sum += ways;
                }
            }
        }
        Self { entries }
    }

    /// The bands whose box 2 has this cut, by the cut of box 3.
    ///
    /// # Panics
    ///
    /// When there is no such cut.
    pub fn row(&self, box2: Cut) -> &[i16; CUTS] {
        let start = usize::from(box2) * CUTS;
        self.entries[start..start + CUTS].try_into().expect("a row has 280 entries")
    }

    /// The bands with these cuts.
    pub fn bands(&self, box2: Cut, box3: Cut) -> u32 {
        self.row(box2)[usize::from(box3)].cast_unsigned().into()
    }
}

/// Length of a row of 56 numbers with zeros behind, so that no part of it is left over in vectors of 4, 8 or 16.
pub const PADDED: usize = 64;

/// 56 numbers and eight zeros.
pub type PaddedRow = [i16; PADDED];

/// The entries of a row of the table at 56 places.
pub fn gather(row: &[i16; CUTS], places: &[Cut; SPLITS]) -> PaddedRow {
    let mut gathered = [0; PADDED];
    for (entry, &place) in gathered.iter_mut().zip(places) {
        *entry = row[usize::from(place)];
    }
    gathered
}

/// The sum of `upper(i) . lower(j)` over 56 pairs `(i, j)`.
///
/// Exact: entries are at most 1,728 (a test holds the table to that), so that a scalar product of 56 of them stays
/// below 2^28, and wrapping additions never wrap.
#[allow(
    clippy::inline_always,
    reason = "its callers are compiled for several instruction sets, and it with them"
)]
#[inline(always)]
pub fn sum_of_products<'a>(
    pairs: &[(Cut, Cut); SPLITS],
    upper: impl Fn(usize) -> &'a PaddedRow,
    lower: impl Fn(usize) -> &'a PaddedRow,
) -> u64 {
    // A length that the compiler does not know keeps it from unrolling the loop before it has seen that this is one
    // for multiply-add instructions (pmaddwd on x86-64): 4 of them instead of some 50 instructions.
    let length = std::hint::black_box(PADDED);
    let mut sum = 0;
    for &(i, j) in pairs {
        let (a, b) = (&upper(i.into())[..length], &lower(j.into())[..length]);
        let product =
            a.iter().zip(b).fold(0i32, |sum, (&x, &y)| sum.wrapping_add(i32::from(x) * i32::from(y)));
        sum += u64::from(product.cast_unsigned());
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::triples::{STANDARD, cuts};

    #[test]
    fn tables_hold_every_band_once() {
        let all = BandTable::new(cuts(), STANDARD);
        // 216 fillings of box 1 have these columns, and the columns of boxes 2 and 3 are ordered here.
        let bands: u64 = all.entries.iter().map(|&bands| u64::from(bands.cast_unsigned())).sum();
        assert_eq!(bands * 36, 216 * 2_612_736);
        assert_eq!(all.entries.iter().max(), Some(&1_728));
        let fixed = BandTable::below_standard_box(cuts());
        assert_eq!(
            fixed.entries.iter().map(|&bands| u64::from(bands.cast_unsigned())).sum::<u64>(),
            2_612_736
        );
        for (i, j) in [(0, 5), (17, 200), (279, 31)] {
            assert_eq!(all.bands(i, j), all.bands(j, i));
            assert_eq!(fixed.bands(i, j), fixed.bands(j, i));
        }
    }
}
