//! Sets that are not hit yet, by size: what every step of the searches works on.

/// Cells of a region as bits of a word.
pub(super) type Word = u64;

/// The unhit sets at one step of a search, cut down to the cells that may still be chosen.
#[derive(Clone, Default)]
pub(super) struct Unhit {
    /// The sets, smaller ones first (but for those learned since).
    pub sets: Vec<Word>,
    /// Cells that may still be chosen.
    pub alive: Word,
    /// Room for `cut`.
    spare: Vec<Word>,
}

/// Sizes from here on are not told apart.
const LARGE: usize = 15;

impl Unhit {
    /// Takes the sets among `from` that do not meet `hit`, cut down to `alive`, by size. False when one of them has no
    /// cell left: then it cannot be hit any more.
    #[inline(always)]
    pub(super) fn take(&mut self, from: &[Word], hit: Word, alive: Word) -> bool {
        self.alive = alive;
        let mut counts = [0u32; LARGE + 1];
        self.sets.clear();
        self.sets.resize(from.len(), 0);
        // Sizes first, then places: two passes over what is in the first level cache anyway.
        for &set in from {
            let size = ((set & alive).count_ones() as usize).min(LARGE);
            counts[size] += u32::from(set & hit == 0);
        }
        if counts[0] != 0 {
            return false;
        }
        let mut next = [0u32; LARGE + 1];
        for size in 1..=LARGE {
            next[size] = next[size - 1] + counts[size - 1];
        }
        let number = (next[LARGE] + counts[LARGE]) as usize;
        for &set in from {
            let cut = set & alive;
            if set & hit == 0 {
                let place = &mut next[(cut.count_ones() as usize).min(LARGE)];
                self.sets[*place as usize] = cut;
                *place += 1;
            }
        }
        self.sets.truncate(number);
        true
    }

    /// Cuts the sets down to `alive`. False when one of them has no cell left.
    #[inline(always)]
    pub(super) fn cut(&mut self, alive: Word) -> bool {
        let sets = std::mem::replace(&mut self.sets, std::mem::take(&mut self.spare));
        let possible = self.take(&sets, 0, alive);
        self.spare = sets;
        possible
    }

    /// The union of sets that do not meet each other, smaller ones first, and their number (which may stop at one more
    /// than `most`).
    #[inline(always)]
    pub(super) fn packing(&self, most: u32) -> (u32, Word) {
        let (mut number, mut union) = (0, 0);
        for &set in &self.sets {
            if set & union == 0 {
                union |= set;
                number += 1;
                if number > most {
                    break;
                }
            }
        }
        (number, union)
    }

    /// Whether `most` clues may hit the sets that do not meet `hit`, cut down to `alive`, judging by those that do not
    /// meet each other. Makes no list.
    #[inline(always)]
    pub(super) fn may_do(&self, hit: Word, alive: Word, most: u32) -> bool {
        let (mut union, mut number) = (0, 0);
        for &set in &self.sets {
            let cut = set & alive;
            if set & hit == 0 && cut & union == 0 {
                if number == most || cut == 0 {
                    return false;
                }
                number += 1;
                union |= cut;
            }
        }
        true
    }
}

/// The cells of a set, those that most of the sets have first: once dead they leave the others little.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "a word has 64 cells")]
pub(super) fn by_degree(set: Word, sets: &[Word], order: &mut [u8; 64]) -> usize {
    let mut keys = [0u32; 64];
    let mut number = 0;
    let mut rest = set;
    while rest != 0 {
        let cell = rest.trailing_zeros();
        rest &= rest - 1;
        let degree: u32 = sets.iter().map(|set| (set >> cell & 1) as u32).sum();
        // Insertion: there are few.
        let mut place = number;
        while place > 0 && keys[place - 1] < degree {
            keys[place] = keys[place - 1];
            order[place] = order[place - 1];
            place -= 1;
        }
        keys[place] = degree;
        order[place] = cell as u8;
        number += 1;
    }
    number
}
