//! The four bits of the digits of a puzzle, as sets of cells.

/// For each bit the cells 0..64 and the cells 64..81 whose digit has it. Bits from the 17th on of the latter mean
/// nothing.
pub type Planes = [(u64, u64); 4];

/// The lowest bit of each of eight bytes.
const LOWEST: u64 = 0x0101_0101_0101_0101;

/// Bits of digits, cell by cell. What is above 15 becomes 15.
#[inline(always)]
pub fn gather(cells: &[u8; 81]) -> Planes {
    let mut planes = [(0, 0); 4];
    for (group, bytes) in cells[..80].as_chunks::<8>().0.iter().enumerate() {
        let mut word = u64::from_le_bytes(*bytes);
        let above = (word >> 4 | word >> 5 | word >> 6 | word >> 7) & LOWEST;
        word |= above * 0xF;
        for (bit, plane) in planes.iter_mut().enumerate() {
            // The lowest bits of bytes side by side.
            let bits = (word >> bit & LOWEST).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            if group < 8 {
                plane.0 |= bits << (8 * group);
            } else {
                plane.1 |= bits << (8 * (group - 8));
            }
        }
    }
    for (bit, plane) in planes.iter_mut().enumerate() {
        plane.1 |= u64::from(cells[80].min(15) >> bit & 1) << 16;
    }
    planes
}

/// Digits from their bits.
#[inline(always)]
pub fn scatter(planes: &Planes, cells: &mut [u8; 81]) {
    for (group, bytes) in cells[..80].as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let mut value = 0;
        for (bit, plane) in planes.iter().enumerate() {
            let byte = if group < 8 { plane.0 >> (8 * group) } else { plane.1 >> (8 * (group - 8)) };
            value |= spread(byte & 0xFF) << bit;
        }
        *bytes = value.to_le_bytes();
    }
    cells[80] = 0;
    for (bit, plane) in planes.iter().enumerate() {
        cells[80] |= u8::from(plane.1 >> 16 & 1 == 1) << bit;
    }
}

/// Eight bits to the lowest bits of eight bytes.
#[inline(always)]
fn spread(byte: u64) -> u64 {
    let low = (byte & 0x7F).wrapping_mul(0x0002_0408_1020_4081) & LOWEST >> 8;
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

    #[test]
    fn digits_come_back() {
        let cells = std::array::from_fn(|cell| u8::try_from((cell * cell + 3 * cell) % 16).unwrap());
        let mut back = [255; 81];
        scatter(&gather(&cells), &mut back);
        assert_eq!(back, cells);
        for wrong in [16, 32, 48, 99, 128, 255] {
            for place in 0..81 {
                let mut cells = cells;
                cells[place] = wrong;
                scatter(&gather(&cells), &mut back);
                cells[place] = 15;
                assert_eq!(back, cells);
            }
        }
    }
}
