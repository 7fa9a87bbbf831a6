//! 3x3: completions of a class from the numbers of bands alone.
//!
//! Let a band have cuts `p1`, `p2`, `p3`. The six rows below are two bands. The upper one has cuts `q1`, `q2`, `q3`,
//! each one of the 56 that its box allows, and the lower one the complements `q1'`, `q2'`, `q3'`:
//!
//! ```text
//! completions(p1, p2, p3) = sum over 56^3 of  w(q1, q2, q3) * w(q1', q2', q3')
//! ```
//!
//! with `w` the number of bands with these cuts. Renaming digits makes `p1` standard, once for all classes. Then, for
//! a fixed split `s = (q1, q1')` of box 1, the inner sum over 56^2 is a function `T(s; p2, p3)`, and
//!
//! - `s` with `k = 0` and `k = 3` are (standard, standard): one function `T0`, counted twice;
//! - exchanging the two lower bands takes `k = 1` to `k = 2`: count `k = 1` twice;
//! - the 27 splits with `k = 1` are one orbit under the renamings that keep `p1`, so that with one of them as `s1`
//!   and `g s = s1`, `T(s; p2, p3) = T1(g p2, g p3)`, `T1` belonging to `s1`.
//!
//! ```text
//! completions(p2, p3) = 2 * (T0(p2, p3) + sum over 27 of T1(g p2, g p3))
//! ```
//!
//! `T0` and `T1` do not change under the renamings that keep their split either: 1,296 and 48 of them. They are used
//! to bring the first argument to one of 5 or about a dozen cuts, and for these the rows of the table that the sum
//! runs over are copied into contiguous memory: 56 scalar products of length 56 are left, some 0.5 µs.

use super::super::{
    nine::NineClasses,
    triples::{CUTS, Cut, Cuts, SPLITS, STANDARD, cuts, splits},
};
use super::table::{BandTable, PaddedRow, gather, sum_of_products};

/// Everything that all classes need.
pub struct NineTables {
    bands: BandTable,
    /// For each cut its 56 splits: (cut above, cut below).
    splits: Vec<[(Cut, Cut); SPLITS]>,
    both_standard: Term,
    one_apart: Term,
    /// For each of the 27 splits of the standard cut with `k = 1`, a keeper that takes it to the first of them.
    to_first: Vec<usize>,
}

/// `T0` or `T1`: the sum over the splits of boxes 2 and 3 for one split of box 1.
struct Term {
    /// Renamings that make the upper and the lower cut of box 1 standard.
    upper: [Cut; CUTS],
    lower: [Cut; CUTS],
    /// For each cut, a keeper of the split that takes it to a first cut, and the number of that.
    home: Vec<(usize, usize)>,
    firsts: Vec<Cut>,
}

/// For one first cut of box 2 and one cut of box 3: numbers of bands by the 56 splits of box 2.
struct Rows {
    upper: PaddedRow,
    lower: PaddedRow,
}

impl NineTables {
    /// Builds the tables.
    pub fn new(classes: &NineClasses) -> Self {
        let cuts = cuts();
        let moves = &classes.keepers.moves;
        let all: Vec<usize> = (0..moves.len()).collect();
        let same = std::array::from_fn(|i| Cut::try_from(i).expect("280 cuts"));
        let both_standard = Term::new(moves, &all, &same, &same);

        let standard = splits(STANDARD);
        let numbers = |i: usize| {
            let (upper, lower) = standard[i];
            (cuts.number(upper[0], upper[1]), cuts.number(lower[0], lower[1]))
        };
        // Splits 1..=27 are those with k = 1. Keepers may also exchange the two bands.
        let (upper, lower) = numbers(1);
        let takes = |g: usize, (a, b): (Cut, Cut)| {
            let image = (moves[g][usize::from(a)], moves[g][usize::from(b)]);
            image == (upper, lower) || image == (lower, upper)
        };
        let to_first = (1..=27).map(|i| {
            let split = numbers(i);
            (0..moves.len()).find(|&g| takes(g, split)).expect("the 27 splits are one orbit")
        });
        let to_first = to_first.collect();
        let keeping: Vec<usize> = (0..moves.len()).filter(|&g| takes(g, (upper, lower))).collect();
        let renaming = |cut: Cut| cuts.action(Cuts::to_standard(cuts.triples[usize::from(cut)]));
        let one_apart = Term::new(moves, &keeping, &renaming(upper), &renaming(lower));

        let splits = all_splits(cuts, moves, &both_standard.firsts);
        Self { bands: BandTable::new(cuts, STANDARD), splits, both_standard, one_apart, to_first }
    }

    /// Bands with the column sets of a class: those whose columns are given as sets.
    pub fn bands(&self, cuts: (Cut, Cut)) -> u32 {
        self.bands.bands(cuts.0, cuts.1)
    }

    /// Completions of bands with standard box 1 and these cuts of boxes 2 and 3.
    ///
    /// All at once: the terms of all bands are sorted by the first cut they are brought to, so that the rows of one
    /// first cut at a time are in memory, and equal terms of different bands are computed once.
    pub fn completions(&self, classes: &NineClasses, pairs: &[(Cut, Cut)]) -> Vec<u64> {
        let moves = &classes.keepers.moves;
        let mut sums = vec![0; pairs.len()];
        let standard = pairs.iter().map(|&(box2, box3)| self.both_standard.bring_home(moves, box2, box3));
        self.add(&self.both_standard, standard.zip(0..).collect(), &mut sums);
        let apart = self.to_first.iter().flat_map(|&g| {
            let images = pairs
                .iter()
                .map(move |&(box2, box3)| (moves[g][usize::from(box2)], moves[g][usize::from(box3)]));
            images.map(|(box2, box3)| self.one_apart.bring_home(moves, box2, box3)).zip(0..)
        });
        self.add(&self.one_apart, apart.collect(), &mut sums);
        sums.iter().map(|half| 2 * half).collect()
    }

    /// Adds the terms to the sums of their bands. A term is ((first cut, cut of box 3), number of the band).
    fn add(&self, term: &Term, mut terms: Vec<((usize, Cut), usize)>, sums: &mut [u64]) {
        terms.sort_unstable();
        let mut rows = Vec::with_capacity(CUTS);
        for of_first in terms.chunk_by(|a, b| a.0.0 == b.0.0) {
            self.gather(term, of_first[0].0.0, &mut rows);
            for same in of_first.chunk_by(|a, b| a.0 == b.0) {
                let split = &self.splits[usize::from(same[0].0.1)];
                let value = products(split, &rows);
                for &(_, band) in same {
                    sums[band] += value;
                }
            }
        }
    }

    /// The rows for one first cut of box 2.
    fn gather(&self, term: &Term, first: usize, rows: &mut Vec<Rows>) {
        let split = &self.splits[usize::from(term.firsts[first])];
        let upper = split.map(|(above, _)| term.upper[usize::from(above)]);
        let lower = split.map(|(_, below)| term.lower[usize::from(below)]);
        rows.clear();
        rows.extend(term.upper.iter().zip(&term.lower).map(|(&above, &below)| Rows {
            upper: gather(self.bands.row(above), &upper),
            lower: gather(self.bands.row(below), &lower),
        }));
    }
}

/// The products over the splits of one cut of box 3: compiled for several instruction sets, of which the best is chosen
/// at run time; all of them add the same integers.
#[multiversion::multiversion(targets("x86_64+avx+avx2+bmi1+bmi2"))]
fn products(split: &[(Cut, Cut); SPLITS], rows: &[Rows]) -> u64 {
    sum_of_products(split, |i| &rows[i].upper, |i| &rows[i].lower)
}

impl Term {
    fn new(moves: &[[Cut; CUTS]], keeping: &[usize], upper: &[Cut; CUTS], lower: &[Cut; CUTS]) -> Self {
        let mut firsts: Vec<Cut> = Vec::new();
        let mut first_number = [None; CUTS];
        let mut home = Vec::with_capacity(CUTS);
        for cut in 0..CUTS {
            let known = keeping
                .iter()
                .find_map(|&g| first_number[usize::from(moves[g][cut])].map(|number| (g, number)));
            home.push(known.unwrap_or_else(|| {
                first_number[cut] = Some(firsts.len());
                firsts.push(Cut::try_from(cut).expect("280 cuts"));
                // The identity keeps everything, and is keeper 0.
                (0, firsts.len() - 1)
            }));
        }
        Self { upper: *upper, lower: *lower, home, firsts }
    }

    fn bring_home(&self, moves: &[[Cut; CUTS]], box2: Cut, box3: Cut) -> (usize, Cut) {
        let (g, first) = self.home[usize::from(box2)];
        (first, moves[g][usize::from(box3)])
    }
}

/// The splits of every cut: those of the first of each orbit, moved along.
fn all_splits(cuts: &Cuts, moves: &[[Cut; CUTS]], firsts: &[Cut]) -> Vec<[(Cut, Cut); SPLITS]> {
    let number = |columns: [u16; 3]| cuts.number(columns[0], columns[1]);
    let mut all = vec![[(0, 0); SPLITS]; CUTS];
    let mut known = [false; CUTS];
    for &first in firsts {
        let split =
            splits(cuts.triples[usize::from(first)]).map(|(above, below)| (number(above), number(below)));
        for moves in moves {
            let cut = usize::from(moves[usize::from(first)]);
            if !known[cut] {
                known[cut] = true;
                all[cut] = split.map(|(above, below)| (moves[usize::from(above)], moves[usize::from(below)]));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::count::nine::classes;

    /// The sum as it is written at the top, with the numbers of bands looked up for each term.
    fn slow_completions(box2: Cut, box3: Cut) -> u64 {
        let cuts = cuts();
        let bands = BandTable::new(cuts, STANDARD);
        let number = |columns: [u16; 3]| cuts.number(columns[0], columns[1]);
        let [two, three] = [box2, box3].map(|cut| {
            splits(cuts.triples[usize::from(cut)]).map(|(above, below)| (number(above), number(below)))
        });
        let mut sum = 0;
        for (above, below) in splits(STANDARD) {
            let [above, below] = [above, below].map(|columns| cuts.action(Cuts::to_standard(columns)));
            for (above2, below2) in two {
                for (above3, below3) in three {
                    let upper = bands.bands(above[usize::from(above2)], above[usize::from(above3)]);
                    let lower = bands.bands(below[usize::from(below2)], below[usize::from(below3)]);
                    sum += u64::from(upper) * u64::from(lower);
                }
            }
        }
        sum
    }

    #[test]
    fn folding_by_symmetry_changes_nothing() {
        let seed = 0x9e37_79b9;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let tables = NineTables::new(classes());
        for _ in 0..20 {
            let (box2, box3) = (random.random_range(0..280), random.random_range(0..280));
            let fast = tables.completions(classes(), &[(box2, box3)])[0];
            assert_eq!(fast, slow_completions(box2, box3), "seed {seed}, cuts {box2} and {box3}");
        }
    }

    #[test]
    fn alike_pairs_complete_alike() {
        let tables = NineTables::new(classes());
        for box2 in (0..280).step_by(7) {
            for box3 in (0..280).step_by(11) {
                let class = classes().list[classes().of(box2, box3)];
                assert_eq!(tables.bands((box2, box3)), tables.bands(class.cuts));
                assert_eq!(
                    tables.completions(classes(), &[(box2, box3)])[0],
                    tables.completions(classes(), &[class.cuts])[0],
                    "cuts {box2} and {box3}"
                );
            }
        }
    }
}
