//! The state of one lane in a row: twelve 64-bit words.
//!
//! ```text
//!   word d      (0..9)   cells 0..64 of digit d + 1, cell c being bit c
//!   word 9 + k  (0..3)   cells 64..81 of digits 3k + 1, 3k + 2 and 3k + 3, 17 bits each; 13 spare bits
//! ```
//!
//! The spare bits of word 9 bring out the branch that was chosen for the lane (see [`super::choice`]).

use super::{
    choice::Masks,
    planes::Planes,
    state::State,
    transpose::{Rows, transpose},
    word::{MAX_GROUPS, Word},
};

/// Words of a record.
pub const WORDS: usize = 12;

/// The state of a lane.
pub type Record = [u64; WORDS];

/// Cells in the first nine words.
const LOW: usize = 64;

/// Cells of a digit in the last three words.
const HIGH: usize = 17;

/// First spare bit of word 9.
pub const SPARE: usize = 3 * HIGH;

/// Where digit `d` has its last cells: word, and first bit.
#[inline(always)]
pub const fn high(d: usize) -> (usize, usize) {
    (9 + d / 3, HIGH * (d % 3))
}

/// Rows of words of all lanes, with a gap that keeps the words of a lane from falling on each other in the cache.
const ROW: usize = 64 * MAX_GROUPS + 8;

/// Records of all lanes, word by word: word `m` of lane `64 g + r` is in row `m` at `r * GROUPS + g`.
pub struct Records {
    words: Box<[[u64; ROW]; WORDS]>,
    groups: usize,
}

impl Records {
    pub fn new(groups: usize) -> Self {
        let words = vec![[0; ROW]; WORDS].into_boxed_slice();
        Self { words: words.try_into().expect("as many rows as words"), groups }
    }

    /// Where the words of a lane are in their rows.
    #[inline(always)]
    fn at(&self, lane: usize) -> usize {
        lane % 64 * self.groups + lane / 64
    }

    /// The record of a lane.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> Record {
        let at = self.at(lane);
        std::array::from_fn(|m| self.words[m][at])
    }

    /// Gives a lane a record.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, record: &Record) {
        let at = self.at(lane);
        for (row, &word) in self.words.iter_mut().zip(record) {
            row[at] = word;
        }
    }

    /// Gives a lane the record of another one among others.
    #[inline(always)]
    pub fn set_from(&mut self, lane: usize, others: &Self, other: usize) {
        let (at, from) = (self.at(lane), others.at(other));
        for (row, other) in self.words.iter_mut().zip(others.words.iter()) {
            row[at] = other[from];
        }
    }

    /// Leaves the first child of the branch that was chosen in a lane, and writes the second one to `other`.
    #[inline(always)]
    pub fn branch(&mut self, lane: usize, masks: &[Masks; 32], other: &mut Record) {
        let at = self.at(lane);
        // Word by word: what is read again soon must be as wide as it was written.
        for (word, row) in other.iter_mut().zip(self.words.iter()) {
            *word = row[at];
        }
        let code = self.words[9][at] >> SPARE;
        let d = (code & 0xF) as usize % 9;
        let masks = &masks[(code >> 4 & 0x1F) as usize];
        let low = &mut self.words[d][at];
        other[d] = *low & masks.ruled_out.0;
        *low &= masks.asserted.0;
        let (word, from) = high(d);
        let high = &mut self.words[word][at];
        other[word] = *high & !(masks.ruled_out.1 << from);
        *high &= !(masks.asserted.1 << from);
    }
}

/// The vector that row `row` of matrix `m` is, of candidates: `None` for a spare row.
#[inline(always)]
fn place(m: usize, row: usize) -> Option<(usize, usize)> {
    if m < 9 {
        Some((m, row))
    } else if row < SPARE {
        Some((3 * (m - 9) + row / HIGH, LOW + row % HIGH))
    } else {
        None
    }
}

/// Matrix `m` on its way out.
struct Out<'a, W> {
    state: &'a State<W>,
    spare: &'a [W; 13],
    m: usize,
    rows: &'a mut [u64],
}

impl<W: Word> Rows<W> for Out<'_, W> {
    #[inline(always)]
    fn row(&self, r: usize) -> W {
        match place(self.m, r) {
            Some((d, cell)) => self.state.x[d][cell],
            None if self.m == 9 => self.spare[r - SPARE],
            None => W::zero(),
        }
    }

    #[inline(always)]
    fn stash(&mut self, r: usize, word: W) {
        word.store(&mut self.rows[r * W::GROUPS..(r + 1) * W::GROUPS]);
    }

    #[inline(always)]
    fn stashed(&self, r: usize) -> W {
        W::load(&self.rows[r * W::GROUPS..(r + 1) * W::GROUPS])
    }

    #[inline(always)]
    fn put(&mut self, r: usize, word: W) {
        self.stash(r, word);
    }
}

/// Matrix `m` on its way in.
struct In<'a, W> {
    state: &'a mut State<W>,
    m: usize,
    rows: &'a mut [u64],
}

impl<W: Word> Rows<W> for In<'_, W> {
    #[inline(always)]
    fn row(&self, r: usize) -> W {
        W::load(&self.rows[r * W::GROUPS..(r + 1) * W::GROUPS])
    }

    #[inline(always)]
    fn stash(&mut self, r: usize, word: W) {
        word.store(&mut self.rows[r * W::GROUPS..(r + 1) * W::GROUPS]);
    }

    #[inline(always)]
    fn stashed(&self, r: usize) -> W {
        self.row(r)
    }

    #[inline(always)]
    fn put(&mut self, r: usize, word: W) {
        if let Some((d, cell)) = place(self.m, r) {
            self.state.x[d][cell] = word;
        }
    }
}

/// Writes the records of all lanes, with `spare` in the spare bits of word 9.
#[inline(always)]
pub fn unload<W: Word>(state: &State<W>, spare: &[W; 13], records: &mut Records) {
    for m in 0..WORDS {
        let rows = &mut records.words[m][..64 * W::GROUPS];
        transpose(&mut Out { state, spare, m, rows });
    }
}

/// Reads the candidates of all lanes from their records, which are lost.
#[inline(always)]
pub fn load<W: Word>(state: &mut State<W>, records: &mut Records) {
    for m in 0..WORDS {
        let rows = &mut records.words[m][..64 * W::GROUPS];
        transpose(&mut In { state, m, rows });
    }
}

/// The bits of the digits of a record whose cells have one candidate each.
#[inline(always)]
pub fn planes(record: &Record) -> Planes {
    let mut planes = [(0, 0); 4];
    for d in 0..9 {
        let (word, from) = high(d);
        for (bit, plane) in planes.iter_mut().enumerate() {
            if (d + 1) >> bit & 1 == 1 {
                plane.0 |= record[d];
                plane.1 |= record[word] >> from;
            }
        }
    }
    planes
}
