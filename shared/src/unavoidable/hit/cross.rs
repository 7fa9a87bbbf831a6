//! The unavoidable sets that reach into the third band, and which of them some clues miss.
//!
//! For each cell a row of bits tells which sets it hits. The sets that ten clues miss are then an `or` of ten rows away,
//! and those with the fewest cells in the third band come first. Sets beyond the length of a row are looked at one by
//! one, where all others are hit.

use super::{
    lists::Word,
    pair::BAND,
    row::{CHUNK, COLUMNS, Row},
};

/// Sets with cells in the third band.
pub(super) struct Cross {
    /// Their cells in the two bands, and in the third.
    sets: Vec<(Word, Word)>,
    /// For each cell of the two bands the sets it hits.
    hits: [Row; 64],
    /// For each cell of the third band the sets it hits.
    inside: [Row; BAND as usize],
    /// For each column those of its word that do not meet it in the third band.
    apart: [u64; COLUMNS],
    /// All columns.
    all: Row,
}

/// Columns by the number of their living cells.
pub(super) struct Sizes {
    pub none: Row,
    pub one: Row,
    pub two: Row,
}

impl Cross {
    pub(super) fn new(sets: Vec<(Word, Word)>) -> Self {
        let mut cross = Self {
            sets,
            hits: [Row::NONE; 64],
            inside: [Row::NONE; BAND as usize],
            apart: [0; COLUMNS],
            all: Row::NONE,
        };
        cross.tidy(usize::MAX);
        cross
    }

    /// Adds a set, and gives its column if there is room; it comes last until things are tidied.
    pub(super) fn push(&mut self, set: (Word, Word)) -> Option<usize> {
        self.sets.push(set);
        self.mark(self.sets.len() - 1)
    }

    /// Puts a set into its column.
    fn mark(&mut self, column: usize) -> Option<usize> {
        if column >= COLUMNS {
            return None;
        }
        self.all.add(column);
        let (pair, third) = self.sets[column];
        cells(pair).for_each(|cell| self.hits[cell].add(column));
        cells(third).for_each(|cell| self.inside[cell].add(column));
        for other in column / 64 * 64..column {
            if self.sets[other].1 & third == 0 {
                self.apart[other] |= 1 << (column % 64);
                self.apart[column] |= 1 << (other % 64);
            }
        }
        Some(column)
    }

    /// Forgets sets of more than `most` cells, and orders the others.
    pub(super) fn tidy(&mut self, most: usize) {
        self.sets.retain(|set| (set.0.count_ones() + set.1.count_ones()) as usize <= most);
        self.sets.sort_by_key(|set| set.1.count_ones());
        self.hits = [Row::NONE; 64];
        self.inside = [Row::NONE; BAND as usize];
        self.apart = [0; COLUMNS];
        self.all = Row::NONE;
        for column in 0..self.sets.len() {
            self.mark(column);
        }
    }

    /// The sets without a column that these clues in the two bands and in the third miss.
    pub(super) fn missed_other(&self, pair: Word, third: Word) -> Option<Word> {
        let others = self.sets.get(COLUMNS..).unwrap_or_default();
        others.iter().find(|set| set.0 & pair == 0 && set.1 & third == 0).map(|set| set.1)
    }

    /// The cells of a set in the third band.
    #[inline(always)]
    pub(super) fn inside(&self, column: usize) -> Word {
        self.sets[column].1
    }

    /// What is left of some sets when a cell of the third band is chosen.
    #[inline(always)]
    pub(super) fn without(&self, some: Row, cell: usize) -> Row {
        some & !self.inside[cell]
    }

    /// Some sets by the number of their cells that are alive.
    #[inline(always)]
    pub(super) fn sizes(&self, some: Row, alive: Word) -> Sizes {
        let (mut once, mut twice, mut thrice) = (Row::NONE, Row::NONE, Row::NONE);
        for cell in cells(alive) {
            let row = self.inside[cell];
            thrice = thrice | twice & row;
            twice = twice | once & row;
            once = once | row;
        }
        Sizes { none: some & !once, one: some & once & !twice, two: some & twice & !thrice }
    }

    /// Takes the sets that these clues in the two bands miss, and gives the union of some that do not meet each other in
    /// the third band, the first ones first, with their number; `None` when there are more than `most`.
    #[inline(always)]
    pub(super) fn missed(&self, chosen: Word, most: u32, missed: &mut Row) -> Option<(u32, Word)> {
        let (mut number, mut union) = (0, 0);
        for (chunk, missed) in missed.chunks_mut().iter_mut().enumerate() {
            // Most calls end in the first chunks, so that the others are not needed.
            let mut hit = [0; CHUNK];
            for cell in cells(chosen) {
                let row = &self.hits[cell & 63].chunks()[chunk];
                hit.iter_mut().zip(row).for_each(|(hit, row)| *hit |= row);
            }
            for word in 0..CHUNK {
                missed[word] = self.all.chunks()[chunk][word] & !hit[word];
                let inside = |cell: usize| self.inside[cell].chunks()[chunk][word];
                let mut apart = cells(union).fold(missed[word], |apart, cell| apart & !inside(cell));
                while apart != 0 {
                    if number == most {
                        return None;
                    }
                    number += 1;
                    let column = 64 * (CHUNK * chunk + word) + apart.trailing_zeros() as usize;
                    union |= self.sets[column].1;
                    apart &= self.apart[column];
                }
            }
        }
        Some((number, union))
    }

    /// Adds sets of `some` that meet neither each other nor those before, the first ones first. False when there are
    /// more than `most` then.
    #[inline(always)]
    pub(super) fn pack(&self, packing: &mut Packing, some: Row, alive: Word, most: u32) -> bool {
        while let Some(column) = (packing.apart & some).first() {
            packing.number += 1;
            if packing.number > most {
                return false;
            }
            let own = self.sets[column].1 & alive;
            packing.union |= own;
            for cell in cells(own) {
                packing.apart = packing.apart & !self.inside[cell];
            }
        }
        true
    }
}

/// Sets that do not meet each other.
pub(super) struct Packing {
    pub number: u32,
    pub union: Word,
    /// The sets that meet none of them.
    apart: Row,
}

impl Packing {
    /// None of some sets yet.
    #[inline(always)]
    pub(super) fn of(some: Row) -> Self {
        Self { number: 0, union: 0, apart: some }
    }
}

/// The cells of a word.
#[inline(always)]
pub(super) fn cells(mut set: Word) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let cell = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            cell
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Some cells of the first `all`.
    fn some(rng: &mut ChaCha8Rng, all: u32, size: u32) -> Word {
        (0..size).map(|_| 1 << rng.random_range(0..all)).fold(0, |a, b: Word| a | b)
    }

    /// Sets of which some have no column, and the clues in the two bands.
    fn example(rng: &mut ChaCha8Rng) -> (Cross, Vec<(Word, Word)>, Word) {
        let sets: Vec<(Word, Word)> = (0..1200).map(|_| (some(rng, 54, 6), some(rng, 27, 4) | 1)).collect();
        let mut cross = Cross::new(sets[..800].to_vec());
        sets[800..]
            .iter()
            .for_each(|&set| assert_eq!(cross.push(set).is_some(), cross.sets.len() <= COLUMNS));
        (cross, sets, some(rng, 54, 9))
    }

    fn columns(row: &Row) -> Vec<usize> {
        let words = row.chunks().as_flattened();
        (0..COLUMNS).filter(|column| words[column / 64] >> (column % 64) & 1 == 1).collect()
    }

    #[test]
    fn what_is_missed_is_what_does_not_meet_the_clues() {
        for seed in 0..50 {
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            let (cross, sets, chosen) = example(rng);
            let mut row = Row::NONE;
            // All sets of this example meet.
            let (number, union) = cross.missed(chosen, 1, &mut row).unwrap();
            let mut fast: Vec<Word> = columns(&row).into_iter().map(|column| cross.inside(column)).collect();
            let missed = sets.iter().filter(|set| set.0 & chosen == 0).map(|set| set.1);
            assert_eq!((number, union), (1, fast[0]), "seed {seed}");
            assert!(cross.missed(chosen, 0, &mut row).is_none(), "seed {seed}");
            let others = cross.sets[COLUMNS..].iter().filter(|set| set.0 & chosen == 0).map(|set| set.1);
            fast.extend(others.clone());
            let mut slow: Vec<Word> = missed.collect();
            slow.sort_unstable();
            fast.sort_unstable();
            assert_eq!(fast, slow, "seed {seed}");
            let third = some(rng, 27, 4);
            let other = others.into_iter().find(|set| set & third == 0);
            assert_eq!(cross.missed_other(chosen, third), other, "seed {seed}");
        }
    }

    #[test]
    fn sizes_and_packings_are_those_of_the_living_cells() {
        for seed in 0..50 {
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            let sets: Vec<(Word, Word)> = (0..300).map(|_| (some(rng, 54, 6), some(rng, 27, 3))).collect();
            let (cross, chosen) = (Cross::new(sets), some(rng, 54, 9));
            let mut row = Row::NONE;
            let (number, union) = cross.missed(chosen, 27, &mut row).unwrap();
            let missed = columns(&row);
            let (mut slow, mut own) = (0, 0);
            for set in missed.iter().map(|&column| cross.inside(column)) {
                if set & own == 0 {
                    own |= set;
                    slow += 1;
                }
            }
            assert_eq!((number, union), (slow, own), "seed {seed}");
            let mut packing = Packing::of(row);
            assert!(cross.pack(&mut packing, row, Word::MAX, slow), "seed {seed}");
            assert_eq!((packing.number, packing.union), (slow, own), "seed {seed}");
            assert!(!cross.pack(&mut Packing::of(row), row, Word::MAX, slow - 1), "seed {seed}");

            let alive = some(rng, 27, 12);
            let sizes = cross.sizes(row, alive);
            let of = |size| -> Vec<usize> {
                let living = |column: usize| (cross.inside(column) & alive).count_ones();
                missed.iter().copied().filter(|&column| living(column) == size).collect()
            };
            assert_eq!(
                [&sizes.none, &sizes.one, &sizes.two].map(columns),
                [of(0), of(1), of(2)],
                "seed {seed}"
            );
        }
    }
}
