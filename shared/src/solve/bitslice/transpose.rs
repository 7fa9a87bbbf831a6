//! 64x64 bits, rows and columns exchanged, for all groups of a word at once.

use super::word::Word;

/// Bits with bit `log` of their number clear.
const CLEAR: [u64; 6] = [
    0x5555_5555_5555_5555,
    0x3333_3333_3333_3333,
    0x0F0F_0F0F_0F0F_0F0F,
    0x00FF_00FF_00FF_00FF,
    0x0000_FFFF_0000_FFFF,
    0x0000_0000_FFFF_FFFF,
];

/// Transposes: bit `c` of row `r` goes to bit `r` of row `c`, in each group.
///
/// Rows are read and written eight at a time, so that they stay in registers: first those eight apart, then neighbours.
#[inline(always)]
pub fn transpose<W: Word>(mut row: impl FnMut(usize) -> W, mut out: impl FnMut(usize, W)) {
    let mut rows = [W::zero(); 64];
    let masks = [W::splat(CLEAR[5]), W::splat(CLEAR[4]), W::splat(CLEAR[3])];
    for k in 0..8 {
        let mut r: [W; 8] = std::array::from_fn(|i| row(8 * i + k));
        for i in 0..4 {
            (r[i], r[i + 4]) = W::exchange::<32>(r[i], r[i + 4], masks[0]);
        }
        for i in [0, 1, 4, 5] {
            (r[i], r[i + 2]) = W::exchange::<16>(r[i], r[i + 2], masks[1]);
        }
        for i in [0, 2, 4, 6] {
            (r[i], r[i + 1]) = W::exchange::<8>(r[i], r[i + 1], masks[2]);
        }
        for i in 0..8 {
            rows[8 * i + k] = r[i];
        }
    }
    let masks = [W::splat(CLEAR[2]), W::splat(CLEAR[1]), W::splat(CLEAR[0])];
    for k in 0..8 {
        let mut r: [W; 8] = std::array::from_fn(|i| rows[8 * k + i]);
        for i in 0..4 {
            (r[i], r[i + 4]) = W::exchange::<4>(r[i], r[i + 4], masks[0]);
        }
        for i in [0, 1, 4, 5] {
            (r[i], r[i + 2]) = W::exchange::<2>(r[i], r[i + 2], masks[1]);
        }
        for i in [0, 2, 4, 6] {
            (r[i], r[i + 1]) = W::exchange::<1>(r[i], r[i + 1], masks[2]);
        }
        for i in 0..8 {
            out(8 * k + i, r[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::word::Portable, *};

    #[test]
    fn rows_become_columns() {
        let bit = |r: usize, c: usize| (r * r * 31 + c * 7 + r * c * 13) % 11 < 5;
        let row = |r: usize| {
            let group = |flip: bool| (0..64).map(|c| u64::from(bit(r, c) != flip) << c).sum::<u64>();
            Portable::load(&[group(false), group(true)])
        };
        let mut seen = [[0; 2]; 64];
        transpose(row, |r, word| word.store(&mut seen[r]));
        for r in 0..64 {
            for c in 0..64 {
                assert_eq!(seen[c].map(|group| group >> r & 1 == 1), [bit(r, c), !bit(r, c)]);
            }
        }
    }
}
