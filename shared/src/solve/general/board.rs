//! What is still possible, and what follows from it at once.

use super::layout::{Candidate, Group, KINDS, Layout, split};
use crate::grid::shape::MAX_SIDE;

/// The candidates that are left, as a set of members for each group, and the digits that are placed.
///
/// A candidate is in all of its groups' sets or in none. The set of a group whose digit is placed has one bit.
#[derive(Clone, Default)]
pub(super) struct Board {
    pub open: Vec<u32>,
    /// 0 is an open cell.
    pub values: Vec<u8>,
    /// Number of open cells.
    pub left: usize,
}

/// A group that has lost all of its members: no solution is here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dead(pub Group);

impl Board {
    /// Reads a puzzle without drawing any conclusion. `None` when two of its digits clash, or one is too large.
    ///
    /// Cost: a few steps for each candidate that is left.
    pub fn read(layout: &Layout, cells: &[u8], candidates: Option<&[u32]>) -> Option<Self> {
        let side = layout.side;
        let mut board = Self { open: vec![0; layout.len()], values: cells.to_vec(), left: cells.len() };
        // The digits of each row, column and box; no clash means that each adds a new bit.
        let mut given = [0u32; 3 * MAX_SIDE as usize];
        let units = |cell: usize| {
            let [_, row, column, of_box] = layout.groups(candidate(cell, 0));
            [row, column, of_box].map(|group| group / side - side)
        };
        for (cell, &digit) in cells.iter().enumerate().filter(|(_, digit)| **digit != 0) {
            if usize::from(digit) > side {
                return None;
            }
            let bit = 1 << (digit - 1);
            for unit in units(cell) {
                if given[unit] & bit != 0 {
                    return None;
                }
                given[unit] |= bit;
            }
            board.left -= 1;
        }
        let all = (1u32 << side) - 1;
        for (cell, &digit) in cells.iter().enumerate() {
            let allowed = all & candidates.map_or(all, |candidates| candidates[cell]);
            let [row, column, of_box] = units(cell).map(|unit| given[unit]);
            let mut digits = match digit {
                0 => allowed & !(row | column | of_box),
                // A clue that its own candidates exclude leaves the cell's group empty.
                clue => allowed & 1 << (clue - 1),
            };
            while digits != 0 {
                let candidate = candidate(cell, digits.trailing_zeros());
                for (group, bit) in layout.groups(candidate).into_iter().zip(layout.bits(candidate)) {
                    board.open[group] |= bit;
                }
                digits &= digits - 1;
            }
        }
        Some(board)
    }

    /// Puts the last member of each group that has but one in the queue.
    pub fn singles(&self, layout: &Layout, queue: &mut Vec<Candidate>) -> Result<(), Dead> {
        for (group, &open) in self.open.iter().enumerate() {
            if open == 0 {
                return Err(Dead(group));
            }
            if open.is_power_of_two() {
                let candidate = layout.member(group, open);
                if self.values[split(candidate).0] == 0 {
                    queue.push(candidate);
                }
            }
        }
        Ok(())
    }

    /// Places the candidates of the queue, and all that follow as the only ones left in a group. The queue is empty
    /// afterwards; after an error the board is of no use.
    pub fn settle(&mut self, layout: &Layout, queue: &mut Vec<Candidate>) -> Result<(), Dead> {
        while let Some(candidate) = queue.pop() {
            if let Err(dead) = self.place(layout, candidate, queue) {
                queue.clear();
                return Err(dead);
            }
        }
        Ok(())
    }

    /// Takes a candidate out.
    pub fn exclude(
        &mut self,
        layout: &Layout,
        candidate: Candidate,
        queue: &mut Vec<Candidate>,
    ) -> Result<(), Dead> {
        self.clear::<KINDS>(layout, candidate, queue)
    }

    fn place(
        &mut self,
        layout: &Layout,
        candidate: Candidate,
        queue: &mut Vec<Candidate>,
    ) -> Result<(), Dead> {
        let (cell, digit) = split(candidate);
        let value = u8::try_from(digit + 1).expect("no more digits than 25");
        if self.values[cell] == value {
            return Ok(());
        }
        if self.open[cell] >> digit & 1 == 0 {
            return Err(Dead(cell));
        }
        self.values[cell] = value;
        self.left -= 1;
        let (groups, bits) = (layout.groups(candidate), layout.bits(candidate));
        self.keep::<0>(layout, groups[0], bits[0], queue)?;
        self.keep::<1>(layout, groups[1], bits[1], queue)?;
        self.keep::<2>(layout, groups[2], bits[2], queue)?;
        self.keep::<3>(layout, groups[3], bits[3], queue)
    }

    /// Takes all members but one out of a group of the kind.
    #[inline]
    fn keep<const KIND: usize>(
        &mut self,
        layout: &Layout,
        group: Group,
        bit: u32,
        queue: &mut Vec<Candidate>,
    ) -> Result<(), Dead> {
        let mut others = self.open[group] & !bit;
        self.open[group] = bit;
        while others != 0 {
            self.clear::<KIND>(layout, layout.member(group, others), queue)?;
            others &= others - 1;
        }
        Ok(())
    }

    /// Takes a candidate out of its groups, except that of the kind, which has lost it before.
    #[inline]
    fn clear<const KIND: usize>(
        &mut self,
        layout: &Layout,
        candidate: Candidate,
        queue: &mut Vec<Candidate>,
    ) -> Result<(), Dead> {
        let (groups, bits) = (layout.groups(candidate), layout.bits(candidate));
        for kind in (0..KINDS).filter(|&kind| kind != KIND) {
            let open = &mut self.open[groups[kind]];
            *open &= !bits[kind];
            if *open & open.wrapping_sub(1) == 0 {
                if *open == 0 {
                    return Err(Dead(groups[kind]));
                }
                queue.push(layout.member(groups[kind], *open));
            }
        }
        Ok(())
    }
}

/// The candidate of a digit, from 0, in a cell.
fn candidate(cell: usize, digit: u32) -> Candidate {
    u16::try_from(32 * cell).expect("there are at most 625 cells") + u16::try_from(digit).expect("at most 24")
}
