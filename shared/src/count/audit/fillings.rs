//! The fillings of boxes 2 and 3 of a 9x9 grid whose box 1 is 123/456/789, up to the order of their columns and of the
//! two boxes.

use super::super::{
    nine::Band,
    triples::{Digits, members, splits},
};

/// Their number: 28 * 36^2.
pub const COUNT: u64 = 36_288;

/// How many fillings each of them stands for: 3!^2 orders of columns, 2 orders of the boxes.
pub const ORDERS: u128 = 72;

/// Filling `number < COUNT`: the first rows of boxes 2 and 3 ascend, and digit 4 is in that of box 2.
///
/// The rows of the two boxes, as sets, are one of the 56 ways to share what the rows of box 1 leave; in half of them
/// box 2 has digit 4 in its first row (exchanging the boxes makes it the other half). Its other rows, and those of
/// box 3, are in any of their 6 orders.
pub fn filling(number: u64) -> Band {
    let number = usize::try_from(number).expect("below 36,288");
    let rows = splits([0b111, 0b111_000, 0b111_000_000]);
    let half = rows.iter().filter(|(box2, _)| box2[0] & 0b1000 != 0);
    let (box2, box3) = half.clone().nth(number / 1296).expect("there are 28 halves");
    let orders = [number / 216 % 6, number / 36 % 6, number / 6 % 6, number % 6];
    let row = |index: usize, order2: usize, order3: usize| {
        let first = [0, 1, 2].map(|column| u8::try_from(3 * index + column).expect("below 9"));
        let cells = [first, arranged(box2[index], order2), arranged(box3[index], order3)];
        cells.concat().try_into().expect("nine digits")
    };
    [row(0, 0, 0), row(1, orders[0], orders[2]), row(2, orders[1], orders[3])]
}

fn arranged(set: Digits, order: usize) -> [u8; 3] {
    let single = members(set).map(|bit| u8::try_from(bit.trailing_zeros()).expect("below 9"));
    super::super::triples::ORDERS[order].map(|k| single[k])
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn fillings_are_bands_and_all_different() {
        let all: HashSet<Band> = (0..COUNT).map(filling).collect();
        assert_eq!(all.len() as u64, COUNT);
        for band in &all {
            let full =
                |digits: &mut dyn Iterator<Item = u8>| digits.map(|digit| 1 << digit).sum::<u16>() == 0x1FF;
            assert!(band.iter().all(|row| full(&mut row.iter().copied())));
            assert!((0..3).all(|b| full(&mut (0..9).map(|cell| band[cell / 3][3 * b + cell % 3]))));
        }
    }
}
