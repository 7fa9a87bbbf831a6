//! A grid seen so that one band comes last.

use super::super::CellSet;

/// Cells of a band, and of a 9x9 grid.
const BAND: u32 = 27;
const ALL: u128 = (1 << 81) - 1;

/// A way to see a 9x9 grid: transposed or not, then with its bands in cyclic order so that a given one is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Whether columns are seen as rows.
    pub transposed: bool,
    /// The band (of the grid seen so) that comes last.
    pub third: u32,
}

impl Frame {
    /// How far bands are turned: band `third + 1` comes first.
    fn turn(self) -> u32 {
        (self.third + 1) % 3 * BAND
    }

    /// A set of cells of the grid, as it is seen here.
    pub(super) fn see(self, set: CellSet) -> u128 {
        let set = if self.transposed { transposed(set.0) } else { set.0 };
        let turn = self.turn();
        (set >> turn | set << (3 * BAND - turn)) & ALL
    }

    /// The set of cells of the grid that is seen as this.
    pub(super) fn back(self, seen: u128) -> CellSet {
        let turn = self.turn();
        let set = (seen << turn | seen >> (3 * BAND - turn)) & ALL;
        CellSet(if self.transposed { transposed(set) } else { set })
    }

    /// The digits of a grid as they are seen here.
    pub(super) fn digits(self, digits: &[u8]) -> Vec<u8> {
        let place = |seen: usize| self.back(1 << seen).0.trailing_zeros() as usize;
        (0..digits.len()).map(|seen| digits[place(seen)]).collect()
    }
}

fn transposed(set: u128) -> u128 {
    CellSet(set).iter().fold(0, |sum, cell| sum | 1 << (cell % 9 * 9 + cell / 9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_back_undoes_looking() {
        for transposed in [false, true] {
            for third in 0..3 {
                let frame = Frame { transposed, third };
                for cell in 0..81 {
                    let set = CellSet::single(cell);
                    assert_eq!(frame.back(frame.see(set)), set);
                    let line = if transposed { cell % 9 } else { cell / 9 };
                    let last = frame.see(set) >> 54 != 0;
                    assert_eq!(last, line / 3 == third as usize, "{frame:?}, cell {cell}");
                }
            }
        }
    }
}
