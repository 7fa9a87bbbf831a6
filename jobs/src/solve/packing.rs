//! Cells in few bytes: a bulk run writes and reads a part for every one of them, so it counts.
//!
//! Everything here goes over many bytes at once: loops over slices of the same length without a branch, which the
//! compiler turns into vector instructions, and words of eight cells.

use shared::grid::Shape;

/// Whether a byte takes two cells.
fn halves(shape: Shape) -> bool {
    shape.side() < 16
}

/// Appends cells to a part. Where digits are below 16, a cell of the first half and one of the second share a byte.
pub fn pack(shape: Shape, cells: &[u8], part: &mut Vec<u8>) {
    if !halves(shape) {
        return part.extend_from_slice(cells);
    }
    let (first, second) = cells.split_at(cells.len().div_ceil(2));
    // Room first: what is filled in a loop without growth is filled many bytes at once.
    let start = part.len();
    part.resize(start + first.len(), 0);
    for ((byte, high), low) in part[start..].iter_mut().zip(first).zip(second) {
        *byte = high << 4 | low;
    }
    if let ([.., high], Some(byte)) = (first, part.last_mut())
        && first.len() > second.len()
    {
        *byte = high << 4;
    }
}

/// Takes cells from the beginning of a part; `None` if they are not there.
pub fn unpack(shape: Shape, part: &mut &[u8], cells: &mut Vec<u8>) -> Option<()> {
    let count = shape.side() * shape.side();
    let bytes = part.split_off(..if halves(shape) { count.div_ceil(2) } else { count })?;
    if halves(shape) {
        cells.resize(count, 0);
        let (first, second) = cells.split_at_mut(bytes.len());
        first.iter_mut().zip(bytes).for_each(|(cell, byte)| *cell = byte >> 4);
        second.iter_mut().zip(bytes).for_each(|(cell, byte)| *cell = byte & 15);
    } else {
        cells.clear();
        cells.extend_from_slice(bytes);
    }
    let most = cells.iter().fold(0, |most, &cell| most.max(cell));
    (usize::from(most) <= shape.side()).then_some(())
}

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// Appends a bit for each cell to a part: whether it is filled. Digits are below 128.
pub fn pack_filled(cells: &[u8], part: &mut Vec<u8>) {
    let bits = |eight: [u8; 8]| {
        let filled = (u64::from_le_bytes(eight) + (TOPS - ONES)) & TOPS;
        // Bit 8 i of the word goes to bit 56 + i: the product has it there once, and nothing else above 55.
        ((filled >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
    };
    let (eights, rest) = cells.as_chunks();
    part.extend(eights.iter().map(|&eight| bits(eight)));
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        part.push(bits(last));
    }
}

/// Takes a bit for each cell from the beginning of a part, and gives the cells that are filled the digits of a grid.
pub fn unpack_filled(grid: &[u8], part: &mut &[u8], cells: &mut Vec<u8>) -> Option<()> {
    let bits = part.split_off(..grid.len().div_ceil(8))?;
    let mask = |bits: u8| {
        // Byte i keeps bit i, then becomes 0x80 if that is set, then 0xff.
        let kept = (u64::from(bits) * ONES) & 0x8040_2010_0804_0201;
        (((kept + (TOPS - ONES)) & TOPS) >> 7) * 0xff
    };
    cells.clear();
    let (eights, rest) = grid.as_chunks();
    for (&eight, &bits) in eights.iter().zip(bits) {
        cells.extend_from_slice(&(u64::from_le_bytes(eight) & mask(bits)).to_le_bytes());
    }
    if let Some(&bits) = bits.get(eights.len()) {
        let filled =
            rest.iter().enumerate().map(|(cell, &digit)| if bits >> cell & 1 == 1 { digit } else { 0 });
        cells.extend(filled);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back_from_parts_of_every_shape() {
        for (rows, columns) in [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3), (3, 5), (4, 4), (5, 5)] {
            let shape = Shape::new(rows, columns).unwrap();
            let side = shape.side();
            let grid: Vec<u8> = (0..side * side).map(|cell| u8::try_from(cell % side + 1).unwrap()).collect();
            for hole in 1..=side * side {
                let digit = |(cell, &digit): (usize, &u8)| if cell % hole == hole / 2 { 0 } else { digit };
                let puzzle: Vec<u8> = grid.iter().enumerate().map(digit).collect();
                let mut part = vec![7];
                pack(shape, &puzzle, &mut part);
                let packed = part.len();
                pack_filled(&puzzle, &mut part);
                let (mut rest, mut cells) = (&part[1..], vec![9; 3]);
                assert_eq!(unpack(shape, &mut rest, &mut cells), Some(()));
                assert_eq!(cells, puzzle, "{shape}");
                assert_eq!(unpack_filled(&grid, &mut rest, &mut cells), Some(()));
                assert_eq!(cells, puzzle, "{shape}");
                assert!(rest.is_empty());
                assert_eq!(unpack(shape, &mut &part[1..packed - 1], &mut cells), None);
                assert_eq!(unpack_filled(&grid, &mut &part[packed..part.len() - 1], &mut cells), None);
            }
        }
        // 5 in a 4x4 grid.
        let mut cells = Vec::new();
        assert_eq!(unpack(Shape::FOUR, &mut [0x55, 0, 0, 0, 0, 0, 0, 0].as_slice(), &mut cells), None);
    }
}
