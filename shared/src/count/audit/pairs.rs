//! 3x3: fillings and completions of all 280 * 280 choices of column sets of boxes 2 and 3.
//!
//! The sum of the gangster method, but with nothing folded except the exchange of the two lower bands: for each of 28
//! splits of box 1 a table of the bands that have these columns in their first box, made by itself without renaming,
//! and for each pair of cuts 28 * 56^2 products.

use super::super::{
    gangster::table::{BandTable, dot},
    triples::{CUTS, Cut, SPLITS, STANDARD, cuts, splits},
};
use super::{AuditCount, gather};

/// The tables. Some 10 ms and 9 MB.
pub struct Pairs {
    /// Bands by the cuts of boxes 2 and 3, for the columns that box 4 and box 7 can have.
    tables: Vec<(BandTable, BandTable)>,
    /// For each cut its 56 splits: (cut above, cut below).
    splits: Vec<[(Cut, Cut); SPLITS]>,
    fillings: BandTable,
}

impl Pairs {
    pub fn new() -> Self {
        let cuts = cuts();
        let number = |columns: [u16; 3]| cuts.number(columns[0], columns[1]);
        // Splits come with k ascending, and the complement of k is 3 - k: the second half is the first, exchanged.
        let tables = splits(STANDARD)[..SPLITS / 2]
            .iter()
            .map(|&(above, below)| (BandTable::new(cuts, above), BandTable::new(cuts, below)))
            .collect();
        let splits = cuts
            .triples
            .iter()
            .map(|&columns| splits(columns).map(|(above, below)| (number(above), number(below))))
            .collect();
        Self { tables, splits, fillings: BandTable::below_standard_box(cuts) }
    }

    /// All pairs with this cut of box 2: 280 * 28 * 56 scalar products of length 56, some 3 ms.
    pub fn run(&self, box2: usize) -> Vec<AuditCount> {
        let split = &self.splits[box2];
        let mut completions = [0u64; CUTS];
        for (above, below) in &self.tables {
            // Bands by the 56 splits of box 2, for each cut of box 3; rows and columns of a table are alike.
            let gathered: Vec<([i16; SPLITS], [i16; SPLITS])> = (0..)
                .zip(&self.splits)
                .map(|(cut, _)| {
                    let (upper, lower) = (above.row(cut), below.row(cut));
                    (
                        split.map(|pair| upper[usize::from(pair.0)]),
                        split.map(|pair| lower[usize::from(pair.1)]),
                    )
                })
                .collect();
            for (sum, split) in completions.iter_mut().zip(&self.splits) {
                *sum += split
                    .iter()
                    .map(|&(a, b)| u64::from(dot(&gathered[usize::from(a)].0, &gathered[usize::from(b)].1)))
                    .sum::<u64>();
            }
        }
        let fillings = self.fillings.row(Cut::try_from(box2).expect("below 280"));
        let counts = completions.iter().zip(fillings).map(|(&half, &fillings)| AuditCount {
            completions: u128::from(2 * half),
            choices: 1,
            fillings: u128::from(fillings.cast_unsigned()),
        });
        gather(counts.collect()).expect("280 small counts")
    }
}
