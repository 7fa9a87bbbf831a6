//! The unavoidable sets that reach into the third band, and which of them the clues of the two others miss.
//!
//! For each cell of the two bands a row of bits tells which sets it hits. The sets that ten clues miss are then an `or`
//! of ten rows away, and those with the fewest cells in the third band come first. Sets beyond the length of a row are
//! looked at one by one.

use super::lists::Word;

/// Words of a row, and sets that have a column.
const WORDS: usize = 8;
const COLUMNS: usize = 64 * WORDS;

type Row = [u64; WORDS];

/// Sets with cells in the third band.
pub(super) struct Cross {
    /// Their cells in the two bands, and in the third.
    sets: Vec<(Word, Word)>,
    /// For each cell of the two bands the sets it hits.
    hits: [Row; 64],
    /// All columns.
    all: Row,
}

impl Cross {
    pub(super) fn new(sets: Vec<(Word, Word)>) -> Self {
        let mut cross = Self { sets, hits: [[0; WORDS]; 64], all: [0; WORDS] };
        cross.tidy(usize::MAX);
        cross
    }

    /// Adds a set; it comes last until things are tidied.
    pub(super) fn push(&mut self, set: (Word, Word)) {
        self.mark(self.sets.len(), set.0);
        self.sets.push(set);
    }

    fn mark(&mut self, column: usize, pair: Word) {
        if column >= COLUMNS {
            return;
        }
        let (word, bit) = (column / 64, 1 << (column % 64));
        self.all[word] |= bit;
        let mut rest = pair;
        while rest != 0 {
            self.hits[rest.trailing_zeros() as usize][word] |= bit;
            rest &= rest - 1;
        }
    }

    /// Forgets sets of more than `most` cells, and orders the others.
    pub(super) fn tidy(&mut self, most: usize) {
        self.sets.retain(|set| (set.0.count_ones() + set.1.count_ones()) as usize <= most);
        self.sets.sort_by_key(|set| set.1.count_ones());
        self.hits = [[0; WORDS]; 64];
        self.all = [0; WORDS];
        for column in 0..self.sets.len() {
            self.mark(column, self.sets[column].0);
        }
    }

    /// Takes the parts in the third band of the sets that these clues miss into `unhit`, unless more than `most` of
    /// them do not meet each other: then this is false.
    #[inline(always)]
    pub(super) fn missed(&self, chosen: Word, most: u32, unhit: &mut Vec<Word>) -> bool {
        let mut hit: Row = [0; WORDS];
        let mut rest = chosen;
        while rest != 0 {
            let row = &self.hits[rest.trailing_zeros() as usize];
            rest &= rest - 1;
            hit.iter_mut().zip(row).for_each(|(hit, row)| *hit |= row);
        }
        unhit.clear();
        let (mut union, mut number) = (0, 0);
        let mut bound = |own: Word| {
            if own & union == 0 {
                union |= own;
                number += 1;
            }
            unhit.push(own);
            number <= most
        };
        for (word, (all, hit)) in self.all.iter().zip(&hit).enumerate() {
            let mut columns = all & !hit;
            while columns != 0 {
                let column = 64 * word + columns.trailing_zeros() as usize;
                columns &= columns - 1;
                if !bound(self.sets[column].1) {
                    return false;
                }
            }
        }
        let others = self.sets.get(COLUMNS..).unwrap_or_default();
        others.iter().filter(|set| set.0 & chosen == 0).all(|set| bound(set.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn what_is_missed_is_what_does_not_meet_the_clues() {
        for seed in 0..50 {
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            let mut some = |cells: u32, size: u32| -> Word {
                (0..size).map(|_| 1 << rng.random_range(0..cells)).fold(0, |a, b: Word| a | b)
            };
            let sets: Vec<(Word, Word)> = (0..700).map(|_| (some(54, 6), some(27, 5) | 1)).collect();
            let mut cross = Cross::new(sets[..500].to_vec());
            sets[500..].iter().for_each(|&set| cross.push(set));
            let chosen = some(54, 9);
            let mut slow: Vec<Word> =
                sets.iter().filter(|set| set.0 & chosen == 0).map(|set| set.1).collect();
            let mut fast = Vec::new();
            assert!(cross.missed(chosen, 27, &mut fast), "seed {seed}");
            slow.sort_unstable();
            fast.sort_unstable();
            assert_eq!(fast, slow, "seed {seed}");
            assert!(slow.is_empty() || !cross.missed(chosen, 0, &mut fast), "seed {seed}");
        }
    }
}
