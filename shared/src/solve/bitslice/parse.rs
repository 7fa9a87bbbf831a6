//! Puzzles to records, as many at once as there are lanes.

use super::{
    record::{Records, unload},
    state::State,
    transpose::{Rows, transpose},
    word::{MAX_GROUPS, Word},
};

/// Matrices of planes: cells 0..64 of each, then the last 17 of three, and of the fourth.
pub const MATRICES: usize = 6;

/// The last 17 cells.
const HIGH: u64 = 0x1FFFF;

/// A matrix on its way in.
struct In<'a, W> {
    bits: &'a mut [[W; 81]; 4],
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
        if self.m < 4 {
            self.bits[self.m][r] = word;
        } else if r < 51 && (self.m == 4 || r < 17) {
            self.bits[3 * (self.m - 4) + r / 17][64 + r % 17] = word;
        }
    }
}

/// Candidates of the puzzles in `matrices` (`matrices[(64 m + r) * GROUPS + g]` for lane `64 g + r`), and the lanes
/// where a digit is given twice in a row, column or box, or a cell holds more than 9.
#[inline(always)]
pub fn candidates<W: Word>(matrices: &mut [u64], s: &mut State<W>) -> W {
    let mut bits = [[W::zero(); 81]; 4];
    for m in 0..MATRICES {
        let rows = &mut matrices[64 * m * W::GROUPS..64 * (m + 1) * W::GROUPS];
        transpose(&mut In { bits: &mut bits, m, rows });
    }
    let mut clash = W::zero();
    for cell in 0..81 {
        let (a, b, c, e) = (bits[0][cell], bits[1][cell], bits[2][cell], bits[3][cell]);
        let low = [a.or(b).not(), a.without(b), b.without(a), a.and(b)];
        let high = [c.or(e).not(), c.without(e), e.without(c)];
        let empty = low[0].and(high[0]);
        clash = clash.or(e.and(c.or(b)));
        for d in 0..9 {
            s.x[d][cell] = low[(d + 1) % 4].and(high[(d + 1) / 4]);
        }
        s.many[cell] = empty;
    }
    for x in &s.x {
        for unit in 0..9 {
            let (mut row, mut column, mut in_box) = ([W::zero(); 9], [W::zero(); 9], [W::zero(); 9]);
            let corner = 27 * (unit / 3) + 3 * (unit % 3);
            for i in 0..9 {
                row[i] = x[9 * unit + i];
                column[i] = x[9 * i + unit];
                in_box[i] = x[corner + 9 * (i / 3) + i % 3];
            }
            clash = clash.any3(twice(&row), twice(&column)).or(twice(&in_box));
        }
    }
    for x in &mut s.x {
        for (can, &empty) in x.iter_mut().zip(&s.many) {
            *can = can.or(empty);
        }
    }
    clash
}

/// Lanes where two or more of nine are set.
#[inline(always)]
fn twice<W: Word>(cells: &[W; 9]) -> W {
    let (a, two_a) = cells[0].add3(cells[1], cells[2]);
    let (b, two_b) = cells[3].add3(cells[4], cells[5]);
    let (c, two_c) = cells[6].add3(cells[7], cells[8]);
    two_a.any3(two_b, two_c).or(a.two3(b, c))
}

/// Puzzles waiting for a lane.
pub struct Waiting {
    pub records: Records,
    /// Bits of the places whose puzzles are wrong.
    pub wrong: [u64; MAX_GROUPS],
    /// Input number of the puzzle in place 0.
    pub first: usize,
    /// How many there are, and how many of them have been taken.
    pub len: usize,
    pub taken: usize,
    matrices: Vec<u64>,
}

impl Waiting {
    pub fn new(groups: usize) -> Self {
        Self {
            records: Records::new(groups),
            wrong: [0; MAX_GROUPS],
            first: 0,
            len: 0,
            taken: 0,
            matrices: vec![0; MATRICES * 64 * groups],
        }
    }

    /// Forgets what is waiting: the next puzzle is the one with number 0.
    pub fn reset(&mut self) {
        (self.first, self.len, self.taken) = (0, 0, 0);
    }

    /// Whether there are puzzles left to read.
    pub fn more(&self, puzzles: &[[u8; 81]]) -> bool {
        self.first + self.len < puzzles.len()
    }

    /// Takes the next puzzle: its place, and whether it is wrong.
    #[inline(always)]
    pub fn next(&mut self) -> Option<(usize, bool)> {
        if self.taken == self.len {
            return None;
        }
        let place = self.taken;
        self.taken += 1;
        Some((place, self.wrong[place / 64] >> (place % 64) & 1 == 1))
    }

    /// Reads the next puzzles, as many as there are places.
    #[inline(always)]
    pub fn read<W: Word>(&mut self, puzzles: &[[u8; 81]], scratch: &mut State<W>) {
        self.first += self.len;
        self.len = (puzzles.len() - self.first).min(64 * W::GROUPS);
        self.taken = 0;
        for (lane, puzzle) in puzzles[self.first..self.first + self.len].iter().enumerate() {
            let [a, b, c, d] = W::gather(puzzle);
            let words =
                [a.0, b.0, c.0, d.0, a.1 & HIGH | (b.1 & HIGH) << 17 | (c.1 & HIGH) << 34, d.1];
            let at = lane % 64 * W::GROUPS + lane / 64;
            for (m, word) in words.into_iter().enumerate() {
                self.matrices[64 * m * W::GROUPS + at] = word;
            }
        }
        let wrong = candidates(&mut self.matrices, scratch);
        wrong.store(&mut self.wrong);
        unload(scratch, &[W::zero(); 13], &mut self.records);
    }
}
