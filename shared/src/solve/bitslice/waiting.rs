//! Puzzles that wait for a lane.

use super::{
    parse::{self, Digits},
    record::{self, Records},
    state::State,
    word::{Bits, MAX_GROUPS, Word},
};

/// The input from the first puzzle that no lane has been given.
///
/// Puzzles are read into records as many at once as there are lanes, or go straight to a lane.
pub struct Waiting {
    pub records: Records,
    pub digits: Digits,
    /// Places of records whose puzzles are wrong.
    wrong: Bits,
    /// Input number of the puzzle in place 0.
    first: usize,
    /// How many there are, and how many of them have been given to a lane.
    len: usize,
    taken: usize,
}

impl Waiting {
    pub fn new(groups: usize) -> Self {
        let (records, digits) = (Records::new(groups), Digits::new(groups));
        Self { records, digits, wrong: [0; MAX_GROUPS], first: 0, len: 0, taken: 0 }
    }

    /// Before a batch: the next puzzle is the one with number 0.
    pub fn reset(&mut self) {
        (self.first, self.len, self.taken) = (0, 0, 0);
    }

    /// Whether there are puzzles left to read.
    pub fn more(&self, puzzles: &[[u8; 81]]) -> bool {
        self.first + self.len < puzzles.len()
    }

    /// Whether there are puzzles left that no lane has been given.
    pub fn is_left(&self, puzzles: &[[u8; 81]]) -> bool {
        self.taken < self.len || self.more(puzzles)
    }

    /// The next puzzle that has been read: place, number, and whether it is wrong.
    #[inline(always)]
    pub fn next_read(&mut self) -> Option<(usize, usize, bool)> {
        if self.taken == self.len {
            return None;
        }
        let place = self.taken;
        self.taken += 1;
        Some((place, self.first + place, self.wrong[place / 64] >> (place % 64) & 1 == 1))
    }

    /// The number of the next puzzle, read or not.
    #[inline(always)]
    pub fn next(&mut self, puzzles: &[[u8; 81]]) -> Option<usize> {
        if self.taken < self.len {
            self.taken += 1;
            return Some(self.first + self.taken - 1);
        }
        if !self.more(puzzles) {
            return None;
        }
        self.first += self.len + 1;
        (self.len, self.taken) = (0, 0);
        Some(self.first - 1)
    }

    /// Reads the next puzzles, as many as there are places, when all that were read before have been given away.
    #[inline(always)]
    pub fn read<W: Word>(&mut self, puzzles: &[[u8; 81]], scratch: &mut State<W>) {
        self.first += self.len;
        self.len = (puzzles.len() - self.first).min(64 * W::GROUPS);
        self.taken = 0;
        for (place, puzzle) in puzzles[self.first..self.first + self.len].iter().enumerate() {
            self.digits.set(place, &W::gather(puzzle));
        }
        parse::givens(&mut self.digits, scratch).store(&mut self.wrong);
        for x in &mut scratch.x {
            for (can, &empty) in x.iter_mut().zip(&scratch.many) {
                *can = can.or(empty);
            }
        }
        record::unload(scratch, &[W::zero(); 13], &mut self.records);
    }
}
