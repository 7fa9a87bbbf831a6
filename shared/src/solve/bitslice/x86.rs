//! Words of 256 and 512 bits.
//!
//! With [`super::bytes`] the one place with intrinsics. Values of these types exist only inside engines of a level that the processor has
//! (see [`super::Level::is_available`]), which is why the calls below are sound; loads and stores go through slices
//! whose length is checked.

#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_and_si256, _mm256_andnot_si256, _mm256_blend_epi32, _mm256_blendv_epi8,
    _mm256_loadu_si256, _mm256_or_si256, _mm256_set1_epi64x, _mm256_slli_epi64, _mm256_srli_epi64,
    _mm256_storeu_si256, _mm256_xor_si256, _mm512_and_si512, _mm512_andnot_si512, _mm512_loadu_si512,
    _mm512_or_si512, _mm512_set1_epi64, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_storeu_si512,
    _mm512_ternarylogic_epi64, _mm512_xor_si512,
};

use super::{
    bytes::{gather, prefetch, scatter},
    planes::Planes,
    record::Record,
    word::Word,
};

/// 256 lanes.
#[derive(Clone, Copy)]
pub struct W256(__m256i);

impl Word for W256 {
    const GROUPS: usize = 4;

    #[inline(always)]
    fn splat(group: u64) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm256_set1_epi64x(group.cast_signed()) })
    }

    #[inline(always)]
    fn load(groups: &[u64]) -> Self {
        let groups: &[u64] = &groups[..4];
        // SAFETY: 32 bytes are there; for the instruction see the module.
        Self(unsafe { _mm256_loadu_si256(groups.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, groups: &mut [u64]) {
        let groups: &mut [u64] = &mut groups[..4];
        // SAFETY: 32 bytes are there; for the instruction see the module.
        unsafe { _mm256_storeu_si256(groups.as_mut_ptr().cast(), self.0) };
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn without(self, other: Self) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm256_andnot_si256(other.0, self.0) })
    }

    #[inline(always)]
    fn up<const BY: i32>(self) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm256_slli_epi64::<BY>(self.0) })
    }

    #[inline(always)]
    fn down<const BY: i32>(self) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm256_srli_epi64::<BY>(self.0) })
    }

    #[inline(always)]
    fn exchange<const BY: i32>(a: Self, b: Self, mask: Self) -> (Self, Self) {
        let (low, high) = (b.up::<BY>(), a.down::<BY>());
        match BY {
            // SAFETY: see the module.
            32 => unsafe {
                (Self(_mm256_blend_epi32::<0xAA>(a.0, low.0)), Self(_mm256_blend_epi32::<0xAA>(high.0, b.0)))
            },
            // SAFETY: see the module.
            8 | 16 => unsafe {
                (Self(_mm256_blendv_epi8(low.0, a.0, mask.0)), Self(_mm256_blendv_epi8(b.0, high.0, mask.0)))
            },
            _ => {
                let t = high.xor(b).and(mask);
                (a.xor(t.up::<BY>()), b.xor(t))
            }
        }
    }

    #[inline(always)]
    fn prefetch(record: &Record) {
        prefetch(record);
    }

    #[inline(always)]
    fn gather(cells: &[u8; 81]) -> Planes {
        gather(cells)
    }

    #[inline(always)]
    fn scatter(planes: &Planes, cells: &mut [u8; 81]) {
        scatter(planes, cells);
    }
}

/// 512 lanes.
#[derive(Clone, Copy)]
pub struct W512(__m512i);

impl W512 {
    /// Any function of three bits: bit `4 a + 2 b + c` of the table.
    #[inline(always)]
    fn table<const TABLE: i32>(self, b: Self, c: Self) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm512_ternarylogic_epi64::<TABLE>(self.0, b.0, c.0) })
    }
}

impl Word for W512 {
    const GROUPS: usize = 8;

    #[inline(always)]
    fn splat(group: u64) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm512_set1_epi64(group.cast_signed()) })
    }

    #[inline(always)]
    fn load(groups: &[u64]) -> Self {
        let groups: &[u64] = &groups[..8];
        // SAFETY: 64 bytes are there; for the instruction see the module.
        Self(unsafe { _mm512_loadu_si512(groups.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, groups: &mut [u64]) {
        let groups: &mut [u64] = &mut groups[..8];
        // SAFETY: 64 bytes are there; for the instruction see the module.
        unsafe { _mm512_storeu_si512(groups.as_mut_ptr().cast(), self.0) };
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm512_and_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm512_or_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn without(self, other: Self) -> Self {
        // SAFETY: see the module.
        Self(unsafe { _mm512_andnot_si512(other.0, self.0) })
    }

    #[inline(always)]
    fn up<const BY: i32>(self) -> Self {
        const { assert!(BY >= 0) };
        // SAFETY: see the module.
        Self(unsafe {
            match BY {
                1 => _mm512_slli_epi64::<1>(self.0),
                2 => _mm512_slli_epi64::<2>(self.0),
                4 => _mm512_slli_epi64::<4>(self.0),
                8 => _mm512_slli_epi64::<8>(self.0),
                16 => _mm512_slli_epi64::<16>(self.0),
                _ => _mm512_slli_epi64::<32>(self.0),
            }
        })
    }

    #[inline(always)]
    fn down<const BY: i32>(self) -> Self {
        // SAFETY: see the module.
        Self(unsafe {
            match BY {
                1 => _mm512_srli_epi64::<1>(self.0),
                2 => _mm512_srli_epi64::<2>(self.0),
                4 => _mm512_srli_epi64::<4>(self.0),
                8 => _mm512_srli_epi64::<8>(self.0),
                16 => _mm512_srli_epi64::<16>(self.0),
                _ => _mm512_srli_epi64::<32>(self.0),
            }
        })
    }

    #[inline(always)]
    fn any3(self, b: Self, c: Self) -> Self {
        self.table::<0xFE>(b, c)
    }

    #[inline(always)]
    fn odd3(self, b: Self, c: Self) -> Self {
        self.table::<0x96>(b, c)
    }

    #[inline(always)]
    fn two3(self, b: Self, c: Self) -> Self {
        self.table::<0xE8>(b, c)
    }

    #[inline(always)]
    fn add3(self, b: Self, c: Self) -> (Self, Self) {
        (self.odd3(b, c), self.two3(b, c))
    }

    #[inline(always)]
    fn or_both(self, b: Self, c: Self) -> Self {
        self.table::<0xF8>(b, c)
    }

    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        self.table::<0xCA>(a, b)
    }

    #[inline(always)]
    fn exchange<const BY: i32>(a: Self, b: Self, mask: Self) -> (Self, Self) {
        (mask.choose(a, b.up::<BY>()), mask.choose(a.down::<BY>(), b))
    }

    #[inline(always)]
    fn prefetch(record: &Record) {
        prefetch(record);
    }

    #[inline(always)]
    fn gather(cells: &[u8; 81]) -> Planes {
        gather(cells)
    }

    #[inline(always)]
    fn scatter(planes: &Planes, cells: &mut [u8; 81]) {
        scatter(planes, cells);
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Level, word::Portable},
        *,
    };

    /// Some groups of bits, all different.
    fn groups<const N: usize>(seed: u64) -> [u64; N] {
        std::array::from_fn(|g| (seed + g as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29))
    }

    /// All functions of a word.
    fn functions<W: Word, const N: usize>() -> Vec<[u64; N]> {
        let [a, b, c] = [1, 20, 300].map(|seed| W::load(&groups::<N>(seed)));
        let mask = W::splat(0x00FF_00FF_00FF_00FF);
        let (sum, carry) = a.add3(b, c);
        let (first, second) = W::exchange::<8>(a, b, mask);
        let (third, fourth) = W::exchange::<32>(a, c, W::splat(0xFFFF_FFFF));
        let (fifth, sixth) = W::exchange::<16>(b, c, W::splat(0x0000_FFFF_0000_FFFF));
        let (seventh, eighth) = W::exchange::<2>(b, c, W::splat(0x3333_3333_3333_3333));
        let words = [
            a,
            a.and(b),
            a.or(b),
            a.xor(b),
            a.without(b),
            a.not(),
            W::zero(),
            mask,
            a.any3(b, c),
            a.odd3(b, c),
            a.two3(b, c),
            a.or_both(b, c),
            a.choose(b, c),
            sum,
            carry,
            a.up::<1>(),
            a.up::<4>(),
            a.up::<32>(),
            a.down::<2>(),
            a.down::<8>(),
            a.down::<16>(),
            first,
            second,
            third,
            fourth,
            fifth,
            sixth,
            seventh,
            eighth,
        ];
        words
            .map(|word| {
                let mut groups = [0; N];
                word.store(&mut groups);
                groups
            })
            .to_vec()
    }

    #[test]
    fn vectors_compute_what_integers_do() {
        if Level::Avx2.is_available() {
            assert_eq!(functions::<W256, 4>(), functions::<Portable<4>, 4>());
            let cells = std::array::from_fn(|cell| u8::try_from(cell * 7 % 23).unwrap());
            let planes = W256::gather(&cells);
            let portable = Portable::<4>::gather(&cells);
            for (a, b) in planes.iter().zip(&portable) {
                assert_eq!((a.0, a.1 & 0x1FFFF), (b.0, b.1 & 0x1FFFF));
            }
            let mut digits = [77; 81];
            W256::scatter(&planes, &mut digits);
            assert_eq!(digits, cells.map(|cell| cell.min(15)));
        }
        if Level::Avx512.is_available() {
            assert_eq!(functions::<W512, 8>(), functions::<Portable<8>, 8>());
        }
    }
}
