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

/// Where rows come from and go to. A trait and no closures: closures are compiled without the instruction sets of the
/// kernel they are in, unless they happen to be inlined.
pub trait Rows<W> {
    /// Row `r` of the matrix.
    fn row(&self, r: usize) -> W;

    /// Keeps a row half way.
    fn stash(&mut self, r: usize, word: W);

    /// A row that was kept.
    fn stashed(&self, r: usize) -> W;

    /// Takes row `r` of the transposed matrix.
    fn put(&mut self, r: usize, word: W);
}

/// Transposes: bit `c` of row `r` goes to bit `r` of row `c`, in each group.
///
/// Rows are worked on eight at a time, so that they stay in registers: first those eight apart, then neighbours. Between
/// the two they are stashed, which can be where they came from or where they go.
#[inline(always)]
pub fn transpose<W: Word>(matrix: &mut impl Rows<W>) {
    let masks = [W::splat(CLEAR[5]), W::splat(CLEAR[4]), W::splat(CLEAR[3])];
    for k in 0..8 {
        let mut r = [W::zero(); 8];
        for i in 0..8 {
            r[i] = matrix.row(8 * i + k);
        }
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
            matrix.stash(8 * i + k, r[i]);
        }
    }
    let masks = [W::splat(CLEAR[2]), W::splat(CLEAR[1]), W::splat(CLEAR[0])];
    for k in 0..8 {
        let mut r = [W::zero(); 8];
        for i in 0..8 {
            r[i] = matrix.stashed(8 * k + i);
        }
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
            matrix.put(8 * k + i, r[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::word::Portable, *};

    struct Matrix([[u64; 2]; 64], [[u64; 2]; 64]);

    impl Rows<Portable<2>> for Matrix {
        fn row(&self, r: usize) -> Portable<2> {
            Portable::<2>::load(&self.0[r])
        }

        fn stash(&mut self, r: usize, word: Portable<2>) {
            word.store(&mut self.1[r]);
        }

        fn stashed(&self, r: usize) -> Portable<2> {
            Portable::<2>::load(&self.1[r])
        }

        fn put(&mut self, r: usize, word: Portable<2>) {
            word.store(&mut self.1[r]);
        }
    }

    #[test]
    fn rows_become_columns() {
        let bit = |r: usize, c: usize| (r * r * 31 + c * 7 + r * c * 13) % 11 < 5;
        let group = |r: usize, flip: bool| (0..64).map(|c| u64::from(bit(r, c) != flip) << c).sum::<u64>();
        let mut matrix = Matrix(std::array::from_fn(|r| [group(r, false), group(r, true)]), [[0; 2]; 64]);
        transpose(&mut matrix);
        for r in 0..64 {
            for c in 0..64 {
                assert_eq!(matrix.1[c].map(|group| group >> r & 1 == 1), [bit(r, c), !bit(r, c)]);
            }
        }
    }
}
