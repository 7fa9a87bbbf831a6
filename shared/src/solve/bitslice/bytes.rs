//! Cells as bytes, and records, with the instructions of AVX2. Called from words of 256 bits and more only, so for
//! soundness what [`super::x86`] says goes here too.

#![allow(unsafe_code)]

use std::arch::x86_64::{
    _MM_HINT_T0, _mm_prefetch, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_storeu_si256,
};

use super::{
    planes::Planes,
    record::{Record, WORDS},
};

/// Asks for the two cache lines of a record.
#[inline(always)]
pub fn prefetch(record: &Record) {
    // SAFETY: both are in the record, and nothing is done to them.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(&record[0]).cast());
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(&record[WORDS - 1]).cast());
    }
}

/// The bits of digits, with AVX2.
#[inline(always)]
pub fn gather(cells: &[u8; 81]) -> Planes {
    let mut planes = [(0, 0); 4];
    // Cells 0..32, 32..64 and 49..81.
    for (part, from) in [0, 32, 49].into_iter().enumerate() {
        let bytes: &[u8] = &cells[from..from + 32];
        // SAFETY: 32 bytes are there; for the instructions see the module.
        let masks: [u32; 4] = unsafe {
            // What is above 15 becomes 15; then bit 3 of each byte is brought to its top, bit 2 and so on.
            let digits = _mm256_min_epu8(_mm256_loadu_si256(bytes.as_ptr().cast()), _mm256_set1_epi8(15));
            [
                _mm256_movemask_epi8(_mm256_slli_epi16::<7>(digits)).cast_unsigned(),
                _mm256_movemask_epi8(_mm256_slli_epi16::<6>(digits)).cast_unsigned(),
                _mm256_movemask_epi8(_mm256_slli_epi16::<5>(digits)).cast_unsigned(),
                _mm256_movemask_epi8(_mm256_slli_epi16::<4>(digits)).cast_unsigned(),
            ]
        };
        for (plane, mask) in planes.iter_mut().zip(masks) {
            let mask = u64::from(mask);
            match part {
                0 => plane.0 = mask,
                1 => plane.0 |= mask << 32,
                _ => plane.1 = mask >> 15,
            }
        }
    }
    planes
}

/// Digits from their bits, with AVX2.
#[inline(always)]
pub fn scatter(planes: &Planes, cells: &mut [u8; 81]) {
    // Cells 49..81 from both parts.
    let last = |plane: &(u64, u64)| plane.0 >> 49 | plane.1 << 15;
    for (part, from) in [0, 32, 49].into_iter().enumerate() {
        let bytes: &mut [u8] = &mut cells[from..from + 32];
        // SAFETY: 32 bytes are there; for the instructions see the module.
        unsafe {
            // Byte i of a lane is to hold byte i / 8 of the bits, and of it bit i % 8.
            let spread =
                _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
            let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
            let mut digits = _mm256_setzero_si256();
            for (value, plane) in planes.iter().enumerate() {
                let bits = match part {
                    0 => plane.0,
                    1 => plane.0 >> 32,
                    _ => last(plane),
                };
                #[allow(clippy::cast_possible_truncation)] // The 32 cells of this part.
                let bits = _mm256_set1_epi32((bits as u32).cast_signed());
                let bits = _mm256_and_si256(_mm256_shuffle_epi8(bits, spread), bit);
                let set = _mm256_cmpeq_epi8(bits, bit);
                digits = _mm256_or_si256(digits, _mm256_and_si256(set, _mm256_set1_epi8(1 << value)));
            }
            _mm256_storeu_si256(bytes.as_mut_ptr().cast(), digits);
        }
    }
}
