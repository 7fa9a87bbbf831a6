//! The groups of a board, with its open candidates numbered one after the other.

use crate::solve::general::{
    board::Board,
    layout::{Candidate, KINDS, Layout, split},
};

/// An open candidate of the board the search began with.
pub(super) type Var = u32;

/// The groups with more than one member, of which exactly one holds.
pub(super) struct Cover {
    candidates: Vec<Candidate>,
    /// The groups of each candidate and its bit in each.
    groups: Vec<[(u32, u8); KINDS]>,
    /// The members of each group, `side` places for each.
    members: Vec<Var>,
    side: usize,
    /// The members of each group to begin with, and those not known to be false.
    all: Vec<u32>,
    pub open: Vec<u32>,
}

impl Cover {
    pub fn new(layout: &Layout, board: &Board) -> Self {
        let mut cover = Self {
            candidates: Vec::new(),
            groups: Vec::new(),
            members: Vec::new(),
            side: layout.side,
            all: Vec::new(),
            open: Vec::new(),
        };
        let mut numbers = vec![u32::MAX; layout.len()];
        let narrow = |n: usize| u32::try_from(n).expect("there are at most 15625 candidates");
        for (cell, &digits) in board.open[..board.values.len()].iter().enumerate() {
            let mut digits = if board.values[cell] == 0 { digits } else { 0 };
            while digits != 0 {
                let candidate = layout.member(cell, digits);
                digits &= digits - 1;
                let var = narrow(cover.candidates.len());
                cover.candidates.push(candidate);
                let (groups, bits) = (layout.groups(candidate), layout.bits(candidate));
                cover.groups.push(std::array::from_fn(|kind| {
                    let number = &mut numbers[groups[kind]];
                    if *number == u32::MAX {
                        *number = narrow(cover.all.len());
                        cover.all.push(0);
                        cover.members.resize(cover.members.len() + layout.side, 0);
                    }
                    let bit = bits[kind].trailing_zeros();
                    cover.all[*number as usize] |= bits[kind];
                    cover.members[*number as usize * layout.side + bit as usize] = var;
                    (*number, u8::try_from(bit).expect("bits are below 25"))
                }));
            }
        }
        cover.open.clone_from(&cover.all);
        cover
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.candidates.len()
    }

    /// The cell of a candidate and its digit from 0.
    pub fn split(&self, var: Var) -> (usize, usize) {
        split(self.candidates[var as usize])
    }

    /// The groups of a candidate, and its bits in them.
    #[inline]
    pub fn groups(&self, var: Var) -> [(u32, u8); KINDS] {
        self.groups[var as usize]
    }

    /// The members of a group among the set of bits.
    #[inline]
    fn members(&self, group: u32, mut set: u32) -> impl Iterator<Item = Var> {
        let members = &self.members[group as usize * self.side..][..self.side];
        std::iter::from_fn(move || {
            (set != 0).then(|| {
                let member = members[set.trailing_zeros() as usize];
                set &= set - 1;
                member
            })
        })
    }

    /// All members of a group.
    #[inline]
    pub fn all(&self, group: u32) -> impl Iterator<Item = Var> {
        self.members(group, self.all[group as usize])
    }

    /// The members of a group that are not known to be false, apart from one.
    #[inline]
    pub fn others(&self, group: u32, bit: u8) -> impl Iterator<Item = Var> {
        self.members(group, self.open[group as usize] & !(1 << bit))
    }

    /// The only member of a group that is not known to be false. `None` if there are more.
    #[inline]
    pub fn last(&self, group: u32) -> Option<Var> {
        let open = self.open[group as usize];
        (open & open.wrapping_sub(1) == 0)
            .then(|| self.members[group as usize * self.side + open.trailing_zeros() as usize])
    }

    /// Notes that a candidate is false.
    #[inline]
    pub fn remove(&mut self, var: Var) {
        for (group, bit) in self.groups(var) {
            self.open[group as usize] &= !(1 << bit);
        }
    }

    /// Forgets that a candidate is false.
    #[inline]
    pub fn restore(&mut self, var: Var) {
        for (group, bit) in self.groups(var) {
            self.open[group as usize] |= 1 << bit;
        }
    }
}
