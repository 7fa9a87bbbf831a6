//! 3x3: the six rows below a band, filled and counted.
//!
//! Rows 4 to 6 are searched one filling after the other. What the last three rows still need is then nine sets of
//! three digits, one a column; in how many ways they can be filled is found by search too, once for each choice of
//! sets, and remembered.
//!
//! - Unit: a class and one of the 56 ways to share the digits that box 4 and box 7 get, column by column.
//! - Step: one of the 36 fillings of box 4 with these columns. Rows 4 to 6 can be exchanged, so the digits of its
//!   first column are held ascending, and everything counts 6 times.
//! - Inside: box 5 takes from each row any three of the six digits left (56 ways in all), then each row of boxes 5
//!   and 6 goes into its columns in every order that the columns allow: 5.9 million fillings a class, each of which
//!   adds one remembered number.
//!
//! Cost: some 20 ms a class on one core, and 0.15 s once for the remembered numbers.

use std::sync::atomic::{AtomicU32, Ordering};

use super::super::{
    nine::{Band, column_sets},
    triples::{ALL, CUTS, Cut, Cuts, Digits, ORDERS, SPLITS, cuts, members, splits},
};

/// Fillings of box 4 with given columns, the first held ascending.
pub const STEPS: u32 = 36;

/// Ways to fill three rows with given column sets, found when first asked for. Shared by all units of a process; what
/// is stored does not depend on who stores it.
pub struct Remembered {
    /// By the cuts of boxes 2 and 3 once box 1 is standard: one more than the ways, and 0 for "not yet known".
    known: Vec<AtomicU32>,
}

impl Default for Remembered {
    fn default() -> Self {
        Self::new()
    }
}

impl Remembered {
    /// Nothing known.
    pub fn new() -> Self {
        Self { known: (0..CUTS * CUTS).map(|_| AtomicU32::new(0)).collect() }
    }

    /// Ways to fill three rows with the standard columns in box 1 and these cuts in the others.
    ///
    /// # Panics
    ///
    /// When there is no such cut.
    pub fn ways(&self, box2: Cut, box3: Cut) -> u32 {
        // Boxes 2 and 3 can be exchanged.
        let (box2, box3) = (box2.min(box3), box2.max(box3));
        let entry = &self.known[usize::from(box2) * CUTS + usize::from(box3)];
        let known = entry.load(Ordering::Relaxed);
        if known > 0 {
            return known - 1;
        }
        let triples = |cut: Cut| cuts().triples[usize::from(cut)];
        let columns = [super::super::triples::STANDARD, triples(box2), triples(box3)];
        let ways = fill_three_rows(columns.concat().try_into().expect("nine columns"));
        entry.store(ways + 1, Ordering::Relaxed);
        ways
    }
}

/// Ways to put the digits of nine column sets into three rows, none twice in a row, by trying cell after cell. The
/// rows can be exchanged: the first column is held ascending and counts 6 times.
pub fn fill_three_rows(columns: [Digits; 9]) -> u32 {
    fn cell(free: &mut [Digits; 9], first: [Digits; 3], at: usize, used: Digits) -> u32 {
        if at == 27 {
            return 1;
        }
        let column = at % 9;
        if column == 0 {
            return cell(free, first, at + 1, first[at / 9]);
        }
        let mut options = free[column] & !used;
        let mut ways = 0;
        while options != 0 {
            let digit = options & options.wrapping_neg();
            options ^= digit;
            free[column] ^= digit;
            ways += cell(free, first, at + 1, used | digit);
            free[column] ^= digit;
        }
        ways
    }
    let first = members(columns[0]);
    6 * cell(&mut { columns }, first, 0, 0)
}

/// A band, prepared for the search below it.
pub struct Below {
    /// How the digits that box 1 leaves can be shared between boxes 4 and 7.
    shares: [([Digits; 3], [Digits; 3]); SPLITS],
    middle: BoxBelow,
    right: BoxBelow,
}

/// One of boxes 5 and 6, under a filled box.
struct BoxBelow {
    /// For every three digits, the orders in which they can stand in a row: column 1 in the low half of a key (bit set
    /// of the six digits it can take), column 2 in the high half.
    orders: Vec<Orders>,
    /// The share that a complete key is: the keys of three rows together.
    share: Vec<u8>,
    /// For each share, the cut that the box below gets.
    lower: [Cut; SPLITS],
}

/// Up to six keys.
#[derive(Clone, Copy, Default)]
struct Orders {
    count: usize,
    keys: [u16; 6],
}

impl BoxBelow {
    fn new(columns: [Digits; 3]) -> Self {
        // Which of the six digits that may stand in a column each digit is.
        let place = |column: usize, digit: Digits| {
            let allowed = ALL & !columns[column];
            1u16 << ((allowed & (digit - 1)).count_ones() + if column == 0 { 0 } else { 6 })
        };
        let mut orders = vec![Orders::default(); 512];
        for triple in (0..=ALL).filter(|triple| triple.count_ones() == 3) {
            let digits = members(triple);
            for order in ORDERS {
                let row = order.map(|k| digits[k]);
                if (0..3).all(|column| row[column] & columns[column] == 0) {
                    let entry = &mut orders[usize::from(triple)];
                    entry.keys[entry.count] = place(0, row[0]) | place(1, row[1]);
                    entry.count += 1;
                }
            }
        }
        let mut share = vec![0; 1 << 12];
        let all = splits(columns);
        for (number, (upper, _)) in (0..).zip(all) {
            let keys =
                |column: usize| members(upper[column]).map(|digit| place(column, digit)).iter().sum::<u16>();
            share[usize::from(keys(0) | keys(1))] = number;
        }
        Self { orders, share, lower: all.map(|(_, lower)| cuts().number(lower[0], lower[1])) }
    }

    /// Every filling of the box whose rows are these sets, as the number of the share it is.
    fn fillings<'a>(&self, rows: [Digits; 3], list: &'a mut [u8; 216]) -> &'a [u8] {
        let [first, second, third] = rows.map(|row| &self.orders[usize::from(row)]);
        let mut count = 0;
        for a in &first.keys[..first.count] {
            for b in &second.keys[..second.count] {
                for c in &third.keys[..third.count] {
                    list[count] = self.share[usize::from(a | b | c)];
                    count += 1;
                }
            }
        }
        &list[..count]
    }
}

impl Below {
    /// Prepares the search below a band. Some 20 µs.
    pub fn new(band: &Band) -> Self {
        let [left, middle, right] = column_sets(band);
        Self { shares: splits(left), middle: BoxBelow::new(middle), right: BoxBelow::new(right) }
    }

    /// Prepares to search one share of the digits below box 1: looks up, or finds, what the last three rows yield.
    pub fn share(&self, share: usize, remembered: &Remembered) -> Share<'_> {
        let (columns, lower) = self.shares[share];
        let action = cuts().action(Cuts::to_standard(lower));
        let last = self.middle.lower.map(|box8| {
            self.right.lower.map(|box9| remembered.ways(action[usize::from(box8)], action[usize::from(box9)]))
        });
        Share { below: self, columns, last }
    }
}

/// The search below a band with the columns of boxes 4 and 7 given.
pub struct Share<'a> {
    below: &'a Below,
    columns: [Digits; 3],
    /// Ways to fill the last three rows, by the shares that boxes 5 and 6 have taken.
    last: [[u32; SPLITS]; SPLITS],
}

impl Share<'_> {
    /// Completions with filling `step` of box 4, `step < STEPS`. Some 15 µs.
    pub fn step(&self, step: u32) -> u64 {
        let [first, second, third] = self.columns.map(members);
        let (p, q) = (ORDERS[step as usize / 6], ORDERS[step as usize % 6]);
        let rows = std::array::from_fn(|k| first[k] | second[p[k]] | third[q[k]]);
        let mut sum = 0;
        let (mut list5, mut list6) = ([0; 216], [0; 216]);
        for (rows5, rows6) in splits(rows) {
            let fillings5 = self.below.middle.fillings(rows5, &mut list5);
            let fillings6 = self.below.right.fillings(rows6, &mut list6);
            for &share5 in fillings5 {
                let last = &self.last[usize::from(share5)];
                sum += fillings6.iter().map(|&share6| u64::from(last[usize::from(share6)])).sum::<u64>();
            }
        }
        6 * sum
    }
}
