//! Preemptive sets: m cells of a unit that have m digits between them.
//!
//! The cells of such a set use its digits up, so that the digits can be crossed out of the unit's other cells (the
//! occupancy theorem; J. F. Crook, "A Pencil-and-Paper Algorithm for Solving Sudoku Puzzles", Notices of the AMS 56
//! (2009), 460-468). The others then are a preemptive set too, of the remaining digits: the *complement*, known as a
//! hidden set.
//!
//! # All of them, without trying every choice of cells
//!
//! A unit with k cells has 2^k choices of them. They need not be tried. Give every cell a digit of its own out of its
//! mark-up (a matching). If there is none, the cells that were reached in looking for one more digit are more than the
//! digits they have, and the unit cannot be filled. Else draw an arrow from cell a to cell b when the mark-up of a has
//! the digit that was given to b. A set of cells has as many digits as cells exactly when no arrow leaves it. So the
//! preemptive sets are the unions of the sets S(a): a, and what can be reached from it. If digit d, given to b, is
//! crossed out of cell c by any preemptive set, then that set has b in it, hence S(b), but not c: the set S(b) crosses
//! d out of c as well. So the k sets S(b) tell everything. (This is the filter of J.-C. Régin for all-different
//! constraints, AAAI 1994, in Crook's words.)
//!
//! Cost: k^3 single steps at worst for the matching, k^2 steps on words for the arrows; half a microsecond for 9 cells.

use super::layout::members;
use crate::grid::shape::MAX_SIDE;

const MOST: usize = MAX_SIDE as usize;

/// A choice of a unit's cells and of digits, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    pub seats: u32,
    pub digits: u32,
}

/// The sets S of a unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// The cells there are.
    seats: u32,
    /// The digit (as a bit's number) given to each seat.
    given: [usize; MOST],
    /// The seats that can be reached from each seat, itself among them.
    reached: [u32; MOST],
}

impl Reach {
    /// Looks at the seats `seats` of a unit, seat by seat with the mark-up `marks(seat)`.
    ///
    /// # Errors
    ///
    /// When there is no digit for every seat: seats that have fewer digits than they are.
    pub fn new(seats: u32, marks: impl Fn(usize) -> u32) -> Result<Self, Choice> {
        let mut matching = Matching { marks: [0; MOST], given: [0; MOST], owner: [None; 32], taken: 0 };
        members(seats).for_each(|seat| matching.marks[seat] = marks(seat));
        for seat in members(seats) {
            let mut seen = 0;
            if !matching.augment(seat, &mut seen) {
                let reached = members(seen).filter_map(|digit| matching.owner[digit]);
                return Err(Choice {
                    seats: reached.fold(1 << seat, |seats, seat| seats | 1 << seat),
                    digits: seen,
                });
            }
        }
        let mut reached = [0; MOST];
        for seat in members(seats) {
            reached[seat] = 1 << seat;
            for digit in members(matching.marks[seat] & matching.taken) {
                reached[seat] |= 1 << matching.owner[digit].unwrap_or(seat);
            }
        }
        // Warshall: ways through ever more seats.
        for through in members(seats) {
            for seat in members(seats) {
                if reached[seat] >> through & 1 == 1 {
                    reached[seat] |= reached[through];
                }
            }
        }
        Ok(Self { seats, given: matching.given, reached })
    }

    /// The preemptive set S of a seat.
    pub fn set(&self, seat: usize) -> Choice {
        let seats = self.reached[seat];
        Choice { seats, digits: members(seats).fold(0, |digits, seat| digits | 1 << self.given[seat]) }
    }

    /// The digits that no preemptive set crosses out of a seat.
    pub fn left(&self, seat: usize) -> u32 {
        // The digit that was given to b is crossed out unless the seat is in S(b).
        members(self.seats)
            .filter(|&from| self.reached[from] >> seat & 1 == 1)
            .fold(0, |digits, from| digits | 1 << self.given[from])
    }
}

/// Digits for seats, one each.
struct Matching {
    marks: [u32; MOST],
    given: [usize; MOST],
    owner: [Option<usize>; 32],
    taken: u32,
}

impl Matching {
    /// Finds a digit for one more seat, moving others to other digits; `seen` gathers the digits that were tried.
    fn augment(&mut self, seat: usize, seen: &mut u32) -> bool {
        let free = self.marks[seat] & !self.taken;
        if free != 0 {
            self.give(seat, free.trailing_zeros() as usize);
            return true;
        }
        while let Some(digit) = members(self.marks[seat] & !*seen).next() {
            *seen |= 1 << digit;
            let owner = self.owner[digit].expect("a digit that is not free has an owner");
            if self.augment(owner, seen) {
                self.give(seat, digit);
                return true;
            }
        }
        false
    }

    fn give(&mut self, seat: usize, digit: usize) {
        self.given[seat] = digit;
        self.owner[digit] = Some(seat);
        self.taken |= 1 << digit;
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// What is left when every choice of seats is tried, again and again; `None` if some have too few digits.
    fn slowly(mut marks: Vec<u32>) -> Option<Vec<u32>> {
        let seats = marks.len();
        loop {
            let before = marks.clone();
            for choice in 1..1_u32 << seats {
                let digits = members(choice).fold(0, |digits, seat| digits | marks[seat]);
                if digits.count_ones() < choice.count_ones() {
                    return None;
                }
                if digits.count_ones() == choice.count_ones() {
                    let others = (0..seats).filter(|seat| choice >> seat & 1 == 0);
                    others.for_each(|seat| marks[seat] &= !digits);
                }
            }
            if marks == before {
                return Some(marks);
            }
        }
    }

    #[test]
    fn crosses_out_what_all_choices_of_cells_cross_out() {
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        let (mut impossible, mut crossed) = (0, 0);
        for round in 0..3000 {
            let seats = rng.random_range(1..8);
            let share = rng.random_range(0.2..0.7);
            let marks: Vec<u32> = (0..seats)
                .map(|_| (0..seats).fold(0, |set, digit| set | u32::from(rng.random_bool(share)) << digit))
                .collect();
            match (Reach::new((1 << seats) - 1, |seat| marks[seat]), slowly(marks.clone())) {
                (Err(short), None) => {
                    let digits = members(short.seats).fold(0, |digits, seat| digits | marks[seat]);
                    assert_eq!(digits, short.digits, "round {round}: {marks:?}");
                    assert!(short.digits.count_ones() < short.seats.count_ones(), "round {round}: {marks:?}");
                    impossible += 1;
                }
                (Ok(reach), Some(left)) => {
                    for (seat, &expected) in left.iter().enumerate() {
                        assert_eq!(reach.left(seat) & marks[seat], expected, "round {round}: {marks:?}");
                        let set = reach.set(seat);
                        let digits = members(set.seats).fold(0, |digits, seat| digits | marks[seat]);
                        assert_eq!(digits, set.digits, "round {round}: {marks:?}");
                        assert_eq!(set.digits.count_ones(), set.seats.count_ones());
                    }
                    crossed += usize::from(left != marks);
                }
                (fast, slow) => panic!("round {round}: {marks:?}: {fast:?} is not {slow:?}"),
            }
        }
        assert!(impossible > 300 && crossed > 300, "{impossible} impossible, {crossed} crossed out");
    }
}
