//! 3x3: fillings and completions of all 280 * 280 choices of column sets of boxes 2 and 3.
//!
//! The sum of the gangster method, but with nothing folded except the exchange of the two lower bands: for each of 28
//! splits of box 1 a table of the bands that have these columns in their first box, made by itself without renaming,
//! and for each pair of cuts 28 * 56^2 products.

use super::super::{
    gangster::table::{BandTable, PaddedRow, gather as gather_row, sum_of_products},
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

    /// All pairs with this cut of box 2: 280 * 28 * 56 scalar products of length 56, some 6 ms.
    pub fn run(&self, box2: usize) -> Vec<AuditCount> {
        let split = &self.splits[box2];
        let mut completions = [0u64; CUTS];
        let (upper, lower) = (split.map(|pair| pair.0), split.map(|pair| pair.1));
        for (above, below) in &self.tables {
            // Bands by the 56 splits of box 2, for each cut of box 3; rows and columns of a table are alike.
            let rows: Vec<(PaddedRow, PaddedRow)> = (0..)
                .zip(&self.splits)
                .map(|(cut, _)| (gather_row(above.row(cut), &upper), gather_row(below.row(cut), &lower)))
                .collect();
            add_products(&mut completions, &self.splits, &rows);
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

/// For each cut of box 3 the products over its splits. The hot loop of the audit: compiled for several instruction sets,
/// of which the best is chosen at run time; all of them add the same integers.
#[multiversion::multiversion(targets("x86_64+avx+avx2+bmi1+bmi2"))]
fn add_products(
    completions: &mut [u64; CUTS],
    splits: &[[(Cut, Cut); SPLITS]],
    rows: &[(PaddedRow, PaddedRow)],
) {
    for (sum, split) in completions.iter_mut().zip(splits) {
        *sum += sum_of_products(split, |i| &rows[i].0, |i| &rows[i].1);
    }
}
