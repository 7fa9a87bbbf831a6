//! Sets and cells as a matrix of bits, for the last clues.
//!
//! With few clues left there are some dozen unhit sets. Numbered by size, they fit into a word; so does, for
//! each cell, which of them it hits. Choosing a cell then is one operation, and the sets still unhit are known at once,
//! where lists would have to be filtered. Sets beyond 64 (the largest) are kept apart and looked at last.

use super::lists::Word;

/// Columns: sets that fit.
const MOST: usize = 64;

/// Cells that are looked at together.
pub(super) const LANES: usize = 8;

/// Some of the columns.
pub(super) type Columns = u64;

/// Some sets, and which of them each cell hits.
pub(super) struct Matrix {
    sets: [Word; MOST],
    number: usize,
    hits: [Columns; 64],
    /// For each set those that do not meet it.
    apart: [Columns; MOST],
    /// Sets without a column.
    others: Vec<Word>,
    /// The sets that are unhit at each level; those below the current one are of no interest.
    pub unhit: [Columns; LEVELS],
}

/// Levels there are: before the first clue, after it, and so on.
pub(super) const LEVELS: usize = 5;

impl Matrix {
    pub(super) fn new() -> Self {
        Self {
            sets: [0; MOST],
            number: 0,
            hits: [0; 64],
            apart: [0; MOST],
            others: Vec::new(),
            unhit: [0; LEVELS],
        }
    }

    /// Takes these sets, smaller ones first.
    #[inline(always)]
    pub(super) fn fill(&mut self, sets: &[Word]) {
        self.hits = [0; 64];
        self.others.clear();
        let number = sets.len().min(MOST);
        for (place, &set) in sets[..number].iter().enumerate() {
            self.sets[place] = set;
            self.mark(set, 1 << place);
        }
        self.others.extend_from_slice(&sets[number..]);
        self.number = number;
        let all = if number == MOST { Columns::MAX } else { (1 << number) - 1 };
        for (place, &set) in sets[..number].iter().enumerate() {
            self.apart[place] = all & !self.met(set);
        }
        self.unhit[0] = all;
    }

    #[inline(always)]
    fn mark(&mut self, set: Word, column: Columns) {
        let mut rest = set;
        while rest != 0 {
            self.hits[rest.trailing_zeros() as usize & 63] |= column;
            rest &= rest - 1;
        }
    }

    /// The sets that some cells hit.
    #[inline(always)]
    fn met(&self, cells: Word) -> Columns {
        let (mut met, mut rest) = (0, cells);
        while rest != 0 {
            met |= self.hits[rest.trailing_zeros() as usize & 63];
            rest &= rest - 1;
        }
        met
    }

    /// Adds a set that is unhit at every level.
    pub(super) fn learn(&mut self, set: Word) {
        if self.number == MOST {
            self.others.push(set);
            return;
        }
        let column = 1 << self.number;
        self.sets[self.number] = set;
        let mut apart = 0;
        for place in 0..self.number {
            if self.sets[place] & set != 0 {
                continue;
            }
            apart |= 1 << place;
            self.apart[place] |= column;
        }
        self.apart[self.number] = apart;
        self.number += 1;
        self.mark(set, column);
        self.unhit.iter_mut().for_each(|unhit| *unhit |= column);
    }

    /// The first of some sets.
    #[inline(always)]
    pub(super) fn first(&self, some: Columns) -> Word {
        self.sets[some.trailing_zeros() as usize & (MOST - 1)]
    }

    /// The sets that a cell hits.
    #[inline(always)]
    pub(super) fn hits(&self, cell: usize) -> Columns {
        self.hits[cell & 63]
    }

    /// Leaves of the `partners` of each cell (given by its bit) those that hit all of the sets that the cell does not.
    #[inline(always)]
    pub(super) fn partners(&self, some: Columns, cells: &[Word; LANES], partners: &mut [Word; LANES]) {
        let mut rest = some & (some - 1);
        while rest != 0 {
            let set = self.first(rest);
            rest &= rest - 1;
            for (partner, cell) in partners.iter_mut().zip(cells) {
                *partner &= if set & cell == 0 { set } else { Word::MAX };
            }
        }
    }

    /// Whether three of some sets do not meet each other, taking the first ones first.
    #[inline(always)]
    pub(super) fn three_apart(&self, some: Columns) -> bool {
        let apart = |some: Columns| some & self.apart[some.trailing_zeros() as usize & (MOST - 1)];
        let two = apart(some);
        two != 0 && apart(two) != 0
    }

    /// Whether all sets without a column are hit by these cells.
    #[inline(always)]
    pub(super) fn hit_others(&self, chosen: Word) -> bool {
        self.others.iter().all(|set| set & chosen != 0)
    }
}
