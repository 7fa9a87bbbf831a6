//! Bands: from any band to the least one of its class by one look-up.
//!
//! A filled band (three rows; renaming digits is free) has 7,776 symmetries: 3! orders of its rows, 3! of its boxes,
//! 3!^3 of columns. Renaming so that the first box reads 123/456/789, then sorting the columns of the other boxes by
//! their top digits and these boxes by theirs gives one of 36,288 = 28 * 6^4 *normal* bands. The table holds for each
//! of them the number of its class among the 416, in the order of the least bands, and the symmetry that makes it
//! least.
//!
//! # Building it
//!
//! In the least band of a class the first row is 123456789, and the second starts with 456 or 457: of the three digits
//! below 123 at least two come from one box of the first row; let this be the second box and these its first two
//! columns. That leaves 144 second rows with 216 third rows each. Walked in lexicographic order, a band whose normal
//! form has no class yet is the least of a new one. Its 108 images under 3! orders of rows, 3 choices of the first
//! box and 3! orders of its columns have among their normal forms the whole class, because the other 72 symmetries
//! are what sorting undoes; and those with the same normal form as the band itself are its automorphisms, each once.

use std::{array, sync::OnceLock};

/// Classes of bands.
pub const CLASSES: usize = 416;

/// Normal bands.
const NORMAL: usize = 36_288;

/// The orders of three things, in lexicographic order.
pub const ORDERS: [[u8; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// How to sort three different values: by [`comparisons`], where the least stands, where the next, where the last.
const SORT: [[u8; 3]; 8] =
    [[0, 1, 2], [1, 0, 2], [0, 1, 2], [1, 2, 0], [0, 2, 1], [0, 1, 2], [2, 0, 1], [2, 1, 0]];

/// Numbers for the six outcomes of [`comparisons`].
const RANK: [u16; 8] = [0, 1, 0, 2, 3, 0, 4, 5];

/// Digits 1..=9, three rows.
pub type Band = [[u8; 9]; 3];

/// Where the rows and columns of a band come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// For each row of the image its row.
    pub rows: [u8; 3],
    /// For each column of the image its column.
    pub columns: [u8; 9],
}

impl Turn {
    const IDENTITY: Self = Self { rows: [0, 1, 2], columns: [0, 1, 2, 3, 4, 5, 6, 7, 8] };

    /// This one first, then `next`.
    pub fn then(&self, next: &Self) -> Self {
        Self {
            rows: next.rows.map(|r| self.rows[usize::from(r)]),
            columns: next.columns.map(|c| self.columns[usize::from(c)]),
        }
    }

    fn inverse(&self) -> Self {
        let mut inverse = Self::IDENTITY;
        for (to, &from) in (0..).zip(&self.rows) {
            inverse.rows[usize::from(from)] = to;
        }
        for (to, &from) in (0..).zip(&self.columns) {
            inverse.columns[usize::from(from)] = to;
        }
        inverse
    }

    fn apply(&self, band: &Band) -> Band {
        self.rows.map(|r| self.columns.map(|c| band[usize::from(r)][usize::from(c)]))
    }

    /// The 108 turns that sorting does not undo.
    fn all() -> impl Iterator<Item = Self> {
        let columns = |first: u8, order: [u8; 3]| {
            let start = [0, 3, 6].map(|b| (3 * first + b) % 9);
            array::from_fn(|c| start[c / 3] + if c < 3 { order[c] } else { ORDERS[0][c % 3] })
        };
        ORDERS.into_iter().flat_map(move |rows| {
            (0..3).flat_map(move |first| ORDERS.map(|order| Self { rows, columns: columns(first, order) }))
        })
    }
}

/// The 416 classes and the way from each normal band to the least of its class.
pub struct Bands {
    /// The least bands in order.
    pub least: Vec<Band>,
    /// For each class the turns that keep its least band, up to renaming.
    pub automorphisms: Vec<Vec<Turn>>,
    split: Splits,
    class: Vec<u16>,
    turn: Vec<Turn>,
}

/// A band's class, and its place in the table.
pub struct Found {
    /// Counted from 0.
    pub class: u16,
    normal: usize,
    sorting: Turn,
}

/// The table; built on first use in some milliseconds.
pub fn bands() -> &'static Bands {
    static TABLE: OnceLock<Bands> = OnceLock::new();
    TABLE.get_or_init(Bands::new)
}

impl Bands {
    fn new() -> Self {
        const NONE: u16 = u16::MAX;
        let mut bands = Self {
            least: Vec::with_capacity(CLASSES),
            automorphisms: Vec::with_capacity(CLASSES),
            split: Splits::new(),
            class: vec![NONE; NORMAL],
            turn: vec![Turn::IDENTITY; NORMAL],
        };
        let turns: Vec<Turn> = Turn::all().collect();
        let mut unassigned = NORMAL;
        first_bands(|band| {
            let (normal, sorting) = bands.normal(band.each_ref());
            if bands.class[normal] != NONE {
                return true;
            }
            let class = u16::try_from(bands.least.len()).expect("416 classes");
            let mut automorphisms = Vec::new();
            for turn in &turns {
                let (image, image_sorting) = bands.normal(turn.apply(band).each_ref());
                let there = turn.then(&image_sorting);
                if bands.class[image] == NONE {
                    bands.class[image] = class;
                    bands.turn[image] = there.inverse();
                    unassigned -= 1;
                }
                if image == normal {
                    automorphisms.push(there.then(&sorting.inverse()));
                }
            }
            bands.least.push(*band);
            bands.automorphisms.push(automorphisms);
            unassigned > 0
        });
        bands
    }

    /// Looks a band up.
    #[inline]
    pub fn find(&self, band: [&[u8; 9]; 3]) -> Found {
        let (normal, sorting) = self.normal(band);
        Found { class: self.class[normal], normal, sorting }
    }

    /// The turn that makes a band, up to renaming, the least of its class.
    pub fn to_least(&self, found: &Found) -> Turn {
        found.sorting.then(&self.turn[found.normal])
    }

    /// The number of a band's normal form, and the turn that sorts the band into it.
    #[inline]
    fn normal(&self, band: [&[u8; 9]; 3]) -> (usize, Turn) {
        let mut name = [0; 10];
        for (i, row) in band.iter().enumerate() {
            for (j, &digit) in row[..3].iter().enumerate() {
                name[usize::from(digit)] = 3 * i + j;
            }
        }
        let boxes = [SortedBox::new(band, &name, 3), SortedBox::new(band, &name, 6)];
        // Name 3 (digit 4) is on top of one of them.
        let [left, right] =
            if boxes[0].tops & 1 << 3 == 0 { [&boxes[1], &boxes[0]] } else { [&boxes[0], &boxes[1]] };
        let number =
            self.split.number(left) * 1296 + usize::from(left.orders) * 36 + usize::from(right.orders);
        let mut columns = Turn::IDENTITY.columns;
        columns[3..6].copy_from_slice(&left.columns);
        columns[6..].copy_from_slice(&right.columns);
        (number, Turn { columns, ..Turn::IDENTITY })
    }
}

/// The second or third box of a band: its columns sorted by their top digits, digits named by the first box.
struct SortedBox {
    columns: [u8; 3],
    /// Bits for the names in the first row.
    tops: usize,
    /// Bits for the names in the second row.
    seconds: usize,
    /// In which of 36 ways the second and the third row are ordered.
    orders: u16,
}

impl SortedBox {
    #[inline]
    fn new(band: [&[u8; 9]; 3], name: &[usize; 10], at: u8) -> Self {
        let start = usize::from(at);
        let row = |r: usize| -> [usize; 3] { array::from_fn(|j| name[usize::from(band[r][start + j])]) };
        let tops = row(0);
        let sort = SORT[comparisons(tops)];
        let sorted = |row: [usize; 3]| sort.map(|j| row[usize::from(j)]);
        let (second, third) = (sorted(row(1)), sorted(row(2)));
        Self {
            columns: sort.map(|j| at + j),
            tops: bits(tops),
            seconds: bits(second),
            orders: RANK[comparisons(second)] * 6 + RANK[comparisons(third)],
        }
    }
}

fn bits(names: [usize; 3]) -> usize {
    names.iter().map(|name| 1 << name).sum()
}

/// Which of three values exceed a later one.
fn comparisons([a, b, c]: [usize; 3]) -> usize {
    usize::from(a > b) | usize::from(a > c) << 1 | usize::from(b > c) << 2
}

/// Numbers the 28 ways to share names between the second and the third box: which are in the first and which in the
/// second row of the box with name 3 on top.
struct Splits([u8; 2048]);

impl Splits {
    fn new() -> Self {
        const TOPS: usize = 0b001_111_000;
        const SECONDS: usize = 0b111_000_111;
        let triples = |of: usize| (0..512usize).filter(move |set| set & !of == 0 && set.count_ones() == 3);
        let mut number = [0; 2048];
        let mut count = 0;
        // Rows of the first box are names 012, 345, 678; the first row has 3..=8 elsewhere, the second 0..=2, 6..=8.
        for tops in triples(TOPS | 0b110_000_000).filter(|tops| tops & 1 << 3 != 0) {
            for seconds in triples(SECONDS & !tops) {
                let right_tops = (TOPS | 0b110_000_000) & !tops;
                if SECONDS & !seconds & right_tops == 0 {
                    number[Self::key(tops, seconds)] = count;
                    count += 1;
                }
            }
        }
        debug_assert_eq!(count, 28);
        Self(number)
    }

    /// `tops` has bits among 3..=8, bit 3 set; `seconds` among 0..=2 and 6..=8.
    fn key(tops: usize, seconds: usize) -> usize {
        tops >> 4 << 6 | (seconds & 0b111) << 3 | seconds >> 6
    }

    fn number(&self, left: &SortedBox) -> usize {
        self.0[Self::key(left.tops, left.seconds) % 2048].into()
    }
}

/// Calls `f` on the bands whose rows start with 123456789 and 456 or 457, in lexicographic order, until it says no.
fn first_bands(mut f: impl FnMut(&Band) -> bool) {
    let mut band = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [0; 9], [0; 9]];
    fill(&mut band, 9, &mut f);
}

/// Fills a band from a cell on in every way.
fn fill(band: &mut Band, cell: usize, f: &mut impl FnMut(&Band) -> bool) -> bool {
    if cell == 27 {
        return f(band);
    }
    let (row, column) = (cell / 9, cell % 9);
    let digits = match cell {
        9 => 4..=4,
        10 => 5..=5,
        11 => 6..=7,
        _ => 1..=9,
    };
    for digit in digits {
        let start = column / 3 * 3;
        let in_box = band[..row].iter().any(|above| above[start..start + 3].contains(&digit));
        if !in_box && !band[row][..column].contains(&digit) {
            band[row][column] = digit;
            if !fill(band, cell + 1, f) {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::{bands::band_classes, nine};

    #[test]
    fn classes_are_those_found_by_orbits_of_fillings() {
        let table = bands();
        let known = band_classes();
        assert_eq!((table.least.len(), known.len()), (CLASSES, CLASSES));
        assert!(table.class.iter().all(|&class| usize::from(class) < CLASSES));
        for (i, class) in known.iter().enumerate() {
            let least: nine::Band = table.least[i].map(|row| row.map(|digit| digit - 1));
            assert_eq!(least, class.band);
            assert_eq!(table.automorphisms[i].len() as u64, class.automorphisms);
            let normal = table.class.iter().filter(|&&c| usize::from(c) == i).count();
            assert_eq!(normal as u64 * 72, class.fillings);
        }
    }

    #[test]
    fn turns_lead_to_the_least_band() {
        let named = |band: &Band| {
            let mut name = [0; 10];
            for (new, &digit) in (1..).zip(&band[0]) {
                name[usize::from(digit)] = new;
            }
            band.map(|row| row.map(|digit| name[usize::from(digit)]))
        };
        let table = bands();
        let mut count = 0;
        first_bands(|band| {
            count += 1;
            let found = table.find(band.each_ref());
            let least = &table.least[usize::from(found.class)];
            assert_eq!(named(&table.to_least(&found).apply(band)), *least);
            assert!(band >= least);
            true
        });
        assert_eq!(count, 144 * 216);
        for (least, automorphisms) in table.least.iter().zip(&table.automorphisms) {
            assert!(automorphisms.iter().all(|turn| named(&turn.apply(least)) == *least));
        }
    }
}
