//! The candidates of as many puzzles as there are lanes.

use super::word::Word;

/// Candidates and what sweeps remember of them. Cells are numbered row by row.
///
/// ```text
///   x[d][c]   digit d + 1 can be in cell c               9 x 81 vectors
///   many[c]   cell c had two or more candidates when last looked at
///   taken[c]  cell c is the only place in its box for a digit met earlier in this sweep
///   parity[c] of the number of candidates when last looked at
///   full_h[3 r + k], full_v[3 c + k]   the three cells of row r in stack k, or of column c in band k, had three
///             candidates between them when last looked at: they hold exactly those
///   closed_h, closed_v   three digits had no place in the box but in these cells: they hold no others
/// ```
#[repr(C, align(64))]
pub struct State<W> {
    pub x: [[W; 81]; 9],
    pub many: [W; 81],
    pub taken: [W; 81],
    pub parity: [W; 81],
    pub full_h: [W; 27],
    pub full_v: [W; 27],
    pub closed_h: [W; 27],
    pub closed_v: [W; 27],
    /// Room for the sweep.
    pub room: Room<W>,
    /// Lanes that met a contradiction. Stays until the lane gets another puzzle.
    pub dead: W,
    /// Lanes where a cell has two candidates or more.
    pub unsolved: W,
    /// Lanes where the last sweep did something; now and then it misses one.
    pub changed: W,
}

/// What a sweep holds for a moment; here, so that it need not be cleared each time.
pub struct Room<W> {
    /// Row triads of a band.
    pub matrix: [W; 9],
    /// Column triads of a band that cannot hold the digit because another one of their box must.
    pub banned: [W; 9],
    /// Column triads: `vertical[9 k + 3 g + j]` is column `3 k + j` in band `g`.
    pub vertical: [W; 27],
}

impl<W: Word> State<W> {
    /// Nothing in any lane.
    pub fn new() -> Self {
        let zero = W::zero();
        Self {
            x: [[zero; 81]; 9],
            many: [zero; 81],
            taken: [zero; 81],
            parity: [zero; 81],
            full_h: [zero; 27],
            full_v: [zero; 27],
            closed_h: [zero; 27],
            closed_v: [zero; 27],
            room: Room { matrix: [zero; 9], banned: [zero; 9], vertical: [zero; 27] },
            dead: zero,
            unsolved: zero,
            changed: zero,
        }
    }
}

/// The six ways to give three rows three different stacks that a matrix allows: `matrix[3 r + k]` says whether row `r`
/// can have stack `k`.
#[inline(always)]
pub fn permutations<W: Word>(m: &[W; 9]) -> [W; 6] {
    [
        m[0].and(m[4]).and(m[8]),
        m[0].and(m[5]).and(m[7]),
        m[1].and(m[3]).and(m[8]),
        m[1].and(m[5]).and(m[6]),
        m[2].and(m[3]).and(m[7]),
        m[2].and(m[4]).and(m[6]),
    ]
}

/// What remains of the matrix when only these ways are left.
#[inline(always)]
pub fn allowed<W: Word>(p: &[W; 6]) -> [W; 9] {
    [
        p[0].or(p[1]),
        p[2].or(p[3]),
        p[4].or(p[5]),
        p[2].or(p[4]),
        p[0].or(p[5]),
        p[1].or(p[3]),
        p[3].or(p[5]),
        p[1].or(p[4]),
        p[0].or(p[2]),
    ]
}
