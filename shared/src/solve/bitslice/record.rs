//! The state of one lane in a row: twelve 64-bit words.
//!
//! ```text
//!   word d      (0..9)   cells 0..64 of digit d + 1, cell c being bit c
//!   word 9 + k  (0..3)   cells 64..81 of digits 3k + 1, 3k + 2 and 3k + 3, 17 bits each; 13 spare bits
//! ```
//!
//! The spare bits of word 9 bring out the branch that was chosen for the lane (see [`super::choice`]).

use super::{
    state::State,
    transpose::{Rows, transpose},
    word::Word,
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

/// Records of all lanes, word by word: word `m` of lane `64 g + r` is at `(64 m + r) * GROUPS + g`, but for a gap
/// after each 64 rows that keeps the words of a lane from falling on each other in the cache.
pub struct Records {
    words: Vec<u64>,
    groups: usize,
}

/// Words of the gap.
const GAP: usize = 8;

impl Records {
    pub fn new(groups: usize) -> Self {
        Self { words: vec![0; WORDS * (64 * groups + GAP)], groups }
    }

    /// Index of word `m` of a lane.
    #[inline(always)]
    fn at(&self, m: usize, lane: usize) -> usize {
        m * (64 * self.groups + GAP) + (lane % 64) * self.groups + lane / 64
    }

    /// Word `m` of a lane.
    #[inline(always)]
    pub fn word(&self, m: usize, lane: usize) -> u64 {
        self.words[self.at(m, lane)]
    }

    /// Word `m` of a lane, to change it.
    #[inline(always)]
    pub fn word_mut(&mut self, m: usize, lane: usize) -> &mut u64 {
        let at = self.at(m, lane);
        &mut self.words[at]
    }

    /// The record of a lane.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> Record {
        std::array::from_fn(|m| self.word(m, lane))
    }

    /// Gives a lane a record.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, record: &Record) {
        for (m, &word) in record.iter().enumerate() {
            *self.word_mut(m, lane) = word;
        }
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
    fn put(&mut self, r: usize, word: W) {
        word.store(&mut self.rows[r * W::GROUPS..(r + 1) * W::GROUPS]);
    }
}

/// Matrix `m` on its way in.
struct In<'a, W> {
    state: &'a mut State<W>,
    m: usize,
    rows: &'a [u64],
}

impl<W: Word> Rows<W> for In<'_, W> {
    #[inline(always)]
    fn row(&self, r: usize) -> W {
        W::load(&self.rows[r * W::GROUPS..(r + 1) * W::GROUPS])
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
        let start = m * (64 * W::GROUPS + GAP);
        let rows = &mut records.words[start..start + 64 * W::GROUPS];
        transpose(&mut Out { state, spare, m, rows });
    }
}

/// Reads the candidates of all lanes from their records.
#[inline(always)]
pub fn load<W: Word>(state: &mut State<W>, records: &Records) {
    for m in 0..WORDS {
        let start = m * (64 * W::GROUPS + GAP);
        let rows = &records.words[start..start + 64 * W::GROUPS];
        transpose(&mut In { state, m, rows });
    }
}

/// The digits of a record whose cells have one candidate each.
#[inline(always)]
pub fn digits(record: &Record) -> [u8; 81] {
    // The bits of the digits of all cells, then spread over bytes.
    let mut low = [0u64; 4];
    let mut high_bits = [0u64; 4];
    for d in 0..9 {
        let (word, from) = high(d);
        let last = record[word] >> from & ((1 << HIGH) - 1);
        for bit in 0..4 {
            if (d + 1) >> bit & 1 == 1 {
                low[bit] |= record[d];
                high_bits[bit] |= last;
            }
        }
    }
    let mut cells = [0; 88];
    for (group, bytes) in cells.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let mut value = 0;
        for bit in 0..4 {
            let byte = if group < 8 { low[bit] >> (8 * group) } else { high_bits[bit] >> (8 * (group - 8)) };
            value |= spread(byte & 0xFF) << bit;
        }
        *bytes = value.to_le_bytes();
    }
    let mut answer = [0; 81];
    answer.copy_from_slice(&cells[..81]);
    answer
}

/// Eight bits to the lowest bits of eight bytes.
#[inline(always)]
fn spread(byte: u64) -> u64 {
    let low = (byte & 0x7F).wrapping_mul(0x0002_0408_1020_4081) & 0x0001_0101_0101_0101;
    low | (byte >> 7) << 56
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_spread() {
        for byte in 0..256u64 {
            let expected = (0..8).map(|bit| (byte >> bit & 1) << (8 * bit)).sum::<u64>();
            assert_eq!(spread(byte), expected);
        }
    }
}
