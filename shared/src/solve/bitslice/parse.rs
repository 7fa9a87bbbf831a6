//! Digits of puzzles to candidates and back, in all lanes at once.

use super::{
    planes::Planes,
    state::State,
    transpose::{Rows, transpose},
    word::Word,
};

/// Matrices of digits: cells 0..64 of each of four bits, then the last 17 cells of three bits, and of the fourth.
const MATRICES: usize = 6;

/// Cells in the first four.
const LOW: usize = 64;

/// Cells in a field of the last two.
const HIGH: usize = 17;

/// A field.
const FIELD: u64 = (1 << HIGH) - 1;

/// The four bits of the digits of all lanes, lane by lane: word `m` of lane `64 g + r` is at
/// `(64 m + r) * GROUPS + g`.
pub struct Digits {
    words: Vec<u64>,
    groups: usize,
}

impl Digits {
    pub fn new(groups: usize) -> Self {
        Self { words: vec![0; MATRICES * 64 * groups], groups }
    }

    /// Gives a lane digits.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, planes: &Planes) {
        let [a, b, c, d] = planes;
        let last = a.1 & FIELD | (b.1 & FIELD) << HIGH | (c.1 & FIELD) << (2 * HIGH);
        let at = lane % 64 * self.groups + lane / 64;
        for (m, word) in [a.0, b.0, c.0, d.0, last, d.1].into_iter().enumerate() {
            self.words[64 * m * self.groups + at] = word;
        }
    }

    /// The digits of a lane.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> Planes {
        let at = lane % 64 * self.groups + lane / 64;
        let word = |m: usize| self.words[64 * m * self.groups + at];
        [(word(0), word(4)), (word(1), word(4) >> HIGH), (word(2), word(4) >> (2 * HIGH)), (word(3), word(5))]
    }
}

/// A matrix on its way in or out: rows are of `bits`, columns of `rows`.
struct Matrix<'a, W> {
    bits: &'a mut [[W; 81]; 4],
    m: usize,
    rows: &'a mut [u64],
}

/// Bit and cell of a row of a matrix.
#[inline(always)]
fn place(m: usize, row: usize) -> Option<(usize, usize)> {
    if m < 4 {
        Some((m, row))
    } else if m == 4 && row < 3 * HIGH {
        Some((row / HIGH, LOW + row % HIGH))
    } else if m == 5 && row < HIGH {
        Some((3, LOW + row))
    } else {
        None
    }
}

/// From lanes to bits.
struct In<'a, W>(Matrix<'a, W>);

impl<W: Word> Rows<W> for In<'_, W> {
    #[inline(always)]
    fn row(&self, r: usize) -> W {
        W::load(&self.0.rows[r * W::GROUPS..(r + 1) * W::GROUPS])
    }

    #[inline(always)]
    fn stash(&mut self, r: usize, word: W) {
        word.store(&mut self.0.rows[r * W::GROUPS..(r + 1) * W::GROUPS]);
    }

    #[inline(always)]
    fn stashed(&self, r: usize) -> W {
        self.row(r)
    }

    #[inline(always)]
    fn put(&mut self, r: usize, word: W) {
        if let Some((bit, cell)) = place(self.0.m, r) {
            self.0.bits[bit][cell] = word;
        }
    }
}

/// From bits to lanes.
struct Out<'a, W>(Matrix<'a, W>);

impl<W: Word> Rows<W> for Out<'_, W> {
    #[inline(always)]
    fn row(&self, r: usize) -> W {
        place(self.0.m, r).map_or(W::zero(), |(bit, cell)| self.0.bits[bit][cell])
    }

    #[inline(always)]
    fn stash(&mut self, r: usize, word: W) {
        word.store(&mut self.0.rows[r * W::GROUPS..(r + 1) * W::GROUPS]);
    }

    #[inline(always)]
    fn stashed(&self, r: usize) -> W {
        W::load(&self.0.rows[r * W::GROUPS..(r + 1) * W::GROUPS])
    }

    #[inline(always)]
    fn put(&mut self, r: usize, word: W) {
        self.stash(r, word);
    }
}

/// Sets candidates to the digits given, with none in empty cells, and `many` to the empty cells. Lanes where a digit is
/// given twice in a row, column or box, or a cell holds more than 9.
#[inline(always)]
pub fn givens<W: Word>(digits: &mut Digits, s: &mut State<W>) -> W {
    let mut bits = [[W::zero(); 81]; 4];
    for m in 0..MATRICES {
        let rows = &mut digits.words[64 * m * W::GROUPS..64 * (m + 1) * W::GROUPS];
        transpose(&mut In(Matrix { bits: &mut bits, m, rows }));
    }
    let mut clash = W::zero();
    for cell in 0..81 {
        let (a, b, c, e) = (bits[0][cell], bits[1][cell], bits[2][cell], bits[3][cell]);
        let low = [a.or(b).not(), a.without(b), b.without(a), a.and(b)];
        let high = [c.or(e).not(), c.without(e), e.without(c)];
        clash = clash.or(e.and(c.or(b)));
        s.many[cell] = low[0].and(high[0]);
        for d in 0..9 {
            s.x[d][cell] = low[(d + 1) % 4].and(high[(d + 1) / 4]);
        }
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

/// Gives `lanes` the puzzles of the same lanes of `givens`, with all candidates in empty cells.
#[inline(always)]
pub fn take<W: Word>(s: &mut State<W>, givens: &State<W>, lanes: W) {
    for (x, given) in s.x.iter_mut().zip(&givens.x) {
        for cell in 0..81 {
            x[cell] = lanes.choose(given[cell].or(givens.many[cell]), x[cell]);
        }
    }
}

/// The digits of lanes whose cells have one candidate each.
#[inline(always)]
pub fn show<W: Word>(s: &State<W>, digits: &mut Digits) {
    let mut bits = [[W::zero(); 81]; 4];
    for cell in 0..81 {
        let five_or_six = s.x[4][cell].or(s.x[5][cell]);
        let seven = s.x[6][cell];
        let [one, two, three, four] = [s.x[0][cell], s.x[1][cell], s.x[2][cell], s.x[3][cell]];
        let nine = s.x[8][cell];
        bits[0][cell] = one.any3(three, s.x[4][cell]).any3(seven, nine);
        bits[1][cell] = two.any3(three, s.x[5][cell]).or(seven);
        bits[2][cell] = four.any3(five_or_six, seven);
        bits[3][cell] = s.x[7][cell].or(nine);
    }
    for m in 0..MATRICES {
        let rows = &mut digits.words[64 * m * W::GROUPS..64 * (m + 1) * W::GROUPS];
        transpose(&mut Out(Matrix { bits: &mut bits, m, rows }));
    }
}
