//! A puzzle with its mark-up: the digits that every empty cell may still have, and where every digit may still go.
//!
//! The deductions are those that need no guess: the last digit of a cell, the last place of a digit in a unit, a digit
//! whose places in a unit lie in one other unit, and preemptive sets. None of them ever crosses out what belongs to a
//! solution, and what one of them does in some mark-up it does in every smaller one too. So in whatever order they are
//! applied until nothing changes, the same is left, or nothing: it does not depend on how the puzzle is turned.
//!
//! Who looks on sees every deduction with its reason; the solvers that need none look on with `()`.

use super::{
    layout::{Layout, digit, members},
    preemptive::{Choice, Reach},
};

/// A reason to write a digit, or to cross digits out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deduction {
    /// A cell has one digit left.
    Naked { cell: usize, digit: u8 },
    /// A digit has one place left in a unit.
    Hidden { unit: usize, cell: usize, digit: u8 },
    /// Cells of a unit that use up their digits; `empty` are the empty cells of the unit with all their digits.
    Preemptive { unit: usize, set: Choice, empty: Choice },
}

/// Why a mark-up belongs to no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contradiction {
    /// A cell has no digit left.
    Cell { cell: usize },
    /// A digit has no place left in a unit.
    Place { unit: usize, digit: u8 },
    /// Cells of a unit have fewer digits than they are.
    Short { unit: usize, set: Choice },
}

/// Who is told of deductions, before they are carried out.
pub(crate) trait Observer {
    /// Something was deduced from these marks.
    fn see(&mut self, marks: &Marks<'_>, deduction: Deduction);
}

impl Observer for () {
    fn see(&mut self, _: &Marks<'_>, _: Deduction) {}
}

/// The state of a puzzle.
#[derive(Debug)]
pub(crate) struct Marks<'a> {
    layout: &'a Layout,
    /// The digits of each cell.
    digits: Vec<u32>,
    /// For each unit and digit, the seats.
    places: Vec<u32>,
    /// The cells that are written, 64 to a word.
    written: [u64; 10],
    /// The number of those that are not.
    empty: usize,
    /// Units in which something was crossed out since [`Marks::settle`] looked at them.
    stirred: u128,
    contradiction: Option<Contradiction>,
}

impl Clone for Marks<'_> {
    fn clone(&self) -> Self {
        Self { digits: self.digits.clone(), places: self.places.clone(), ..*self }
    }

    /// Takes no new memory: trial and error does it all the time.
    fn clone_from(&mut self, from: &Self) {
        let digits = std::mem::take(&mut self.digits);
        let places = std::mem::take(&mut self.places);
        *self = Self { digits, places, ..*from };
        self.digits.clone_from(&from.digits);
        self.places.clone_from(&from.places);
    }
}

impl<'a> Marks<'a> {
    /// The mark-up of a puzzle whose clues do not clash.
    pub fn new(layout: &'a Layout, cells: &[u8]) -> Self {
        let mut marks = Self {
            layout,
            digits: vec![layout.all(); cells.len()],
            places: vec![layout.all(); layout.units() * layout.side()],
            written: [0; 10],
            empty: cells.len(),
            stirred: u128::MAX,
            contradiction: None,
        };
        for (cell, &clue) in cells.iter().enumerate().filter(|(_, clue)| **clue != 0) {
            marks.write(cell, clue);
        }
        marks
    }

    /// The tables.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// The digits that a cell may have; of a written one its digit.
    pub fn digits(&self, cell: usize) -> u32 {
        self.digits[cell]
    }

    /// Whether a digit stands in the cell.
    pub fn is_written(&self, cell: usize) -> bool {
        self.written[cell / 64] >> (cell % 64) & 1 == 1
    }

    /// Number of empty cells.
    pub fn empty(&self) -> usize {
        self.empty
    }

    /// What has turned out to be impossible, if anything.
    pub fn contradiction(&self) -> Option<Contradiction> {
        self.contradiction
    }

    /// Whether there is nothing more to deduce: all is written, or something is impossible.
    pub fn is_over(&self) -> bool {
        self.empty == 0 || self.contradiction.is_some()
    }

    /// The digits written, 0 where there is none.
    pub fn cells(&self) -> Vec<u8> {
        let text = |(cell, set): (usize, &u32)| {
            if self.is_written(cell) { digit(set.trailing_zeros() as usize) } else { 0 }
        };
        self.digits.iter().enumerate().map(text).collect()
    }

    /// The empty cell with the fewest digits, the first one of several.
    pub fn tightest(&self) -> Option<usize> {
        let empty = (0..self.digits.len()).filter(|&cell| !self.is_written(cell));
        empty.min_by_key(|&cell| self.digits[cell].count_ones())
    }

    /// Crosses digits out of a cell.
    pub fn cross_out(&mut self, cell: usize, digits: u32) {
        let crossed = self.digits[cell] & digits;
        if crossed == 0 {
            return;
        }
        self.digits[cell] ^= crossed;
        if self.digits[cell] == 0 {
            self.contradiction.get_or_insert(Contradiction::Cell { cell });
        }
        for (unit, seat) in self.layout.seats(cell) {
            self.stirred |= 1 << unit;
            for bit in members(crossed) {
                let places = &mut self.places[self.layout.side() * unit + bit];
                *places &= !(1 << seat);
                if *places == 0 {
                    self.contradiction.get_or_insert(Contradiction::Place { unit, digit: digit(bit) });
                }
            }
        }
    }

    /// Writes a digit in an empty cell, and crosses it out of the others of its row, its column and its box.
    pub fn write(&mut self, cell: usize, digit: u8) {
        let bit = usize::from(digit) - 1;
        self.written[cell / 64] |= 1 << (cell % 64);
        self.empty -= 1;
        self.cross_out(cell, !(1 << bit));
        for (unit, seat) in self.layout.seats(cell) {
            let others = self.places[self.layout.side() * unit + bit] & !(1 << seat);
            for other in members(others) {
                self.cross_out(self.layout.cells(unit)[other], 1 << bit);
            }
        }
    }

    /// Goes through the cells once, and writes where one digit is left. Whether there was one.
    pub fn naked(&mut self, observer: &mut impl Observer) -> bool {
        let before = self.empty;
        for cell in 0..self.digits.len() {
            if self.digits[cell].is_power_of_two() && !self.is_written(cell) && self.contradiction.is_none() {
                let digit = digit(self.digits[cell].trailing_zeros() as usize);
                observer.see(self, Deduction::Naked { cell, digit });
                self.write(cell, digit);
            }
        }
        self.empty < before
    }

    /// Goes through the units once, and writes digits that have one place left. Whether there was one.
    pub fn hidden(&mut self, observer: &mut impl Observer) -> bool {
        let before = self.empty;
        for unit in 0..self.layout.units() {
            for bit in 0..self.layout.side() {
                self.last_place(unit, bit, observer);
            }
        }
        self.empty < before
    }

    /// Writes a digit in a unit if it has one place left there.
    pub fn last_place(&mut self, unit: usize, bit: usize, observer: &mut impl Observer) {
        let places = self.places[self.layout.side() * unit + bit];
        if places.is_power_of_two() && self.contradiction.is_none() {
            let cell = self.layout.cells(unit)[places.trailing_zeros() as usize];
            if !self.is_written(cell) {
                observer.see(self, Deduction::Hidden { unit, cell, digit: digit(bit) });
                self.write(cell, digit(bit));
            }
        }
    }

    /// Goes once through the lines and boxes that cross: if all places of a digit in one lie in the other, it has no
    /// other places there. Whether anything was crossed out.
    pub fn locked(&mut self) -> bool {
        let (layout, side) = (self.layout, self.layout.side());
        let mut changed = false;
        for crossing in layout.crossings() {
            let (line, of_box) = (crossing.line, crossing.of_box);
            for bit in 0..side {
                let in_line = self.places[side * line.0 + bit];
                let in_box = self.places[side * of_box.0 + bit];
                // Mostly there are places outside both ways, or on neither side.
                let (unit, others) = match (in_line & !line.1, in_box & !of_box.1) {
                    (0, others) if others != 0 && in_line != 0 => (of_box.0, others),
                    (others, 0) if others != 0 && in_box != 0 => (line.0, others),
                    _ => continue,
                };
                changed = true;
                members(others).for_each(|seat| self.cross_out(layout.cells(unit)[seat], 1 << bit));
            }
        }
        changed
    }

    /// The empty cells of a unit.
    fn open(&self, unit: usize) -> u32 {
        let seats = self.layout.cells(unit).iter().enumerate();
        seats.fold(0, |open, (seat, &cell)| open | u32::from(!self.is_written(cell)) << seat)
    }

    /// The preemptive sets of a unit, or a contradiction.
    fn reach(&mut self, unit: usize, open: u32) -> Option<Reach> {
        let cells = self.layout.cells(unit);
        match Reach::new(open, |seat| self.digits[cells[seat]]) {
            Ok(reach) => Some(reach),
            Err(set) => {
                self.contradiction.get_or_insert(Contradiction::Short { unit, set });
                None
            }
        }
    }

    /// Crosses out what any preemptive set of a unit crosses out, for every unit in which something has changed since.
    /// Whether anything was crossed out.
    pub fn settle(&mut self) -> bool {
        let layout = self.layout;
        let mut changed = false;
        while let Some(unit) = (0..layout.units()).find(|&unit| self.stirred >> unit & 1 == 1) {
            let open = self.open(unit);
            let Some(reach) = self.reach(unit, open) else { return true };
            for seat in members(open) {
                let cell = layout.cells(unit)[seat];
                let crossed = self.digits[cell] & !reach.left(seat);
                changed |= crossed != 0;
                self.cross_out(cell, crossed);
            }
            // Once is enough: with these crossed out, no preemptive set of the unit has anything left to cross out.
            self.stirred &= !(1 << unit);
            if self.contradiction.is_some() {
                return true;
            }
        }
        changed
    }

    /// Finds the preemptive set that is the easiest to see among those with something to cross out, and crosses it
    /// out: the smaller of set and complement counts, then the set, then the order of rows, columns and boxes.
    /// Whether there was one, or a contradiction.
    pub fn preempt(&mut self, observer: &mut impl Observer) -> bool {
        let layout = self.layout;
        let mut best: Option<(u32, u32, usize, Choice)> = None;
        for unit in 0..layout.units() {
            let open = self.open(unit);
            let Some(reach) = self.reach(unit, open) else { return true };
            for seat in members(open) {
                let set = reach.set(seat);
                let size = set.seats.count_ones();
                let ease = (size.min(open.count_ones() - size), size);
                let better = best.is_none_or(|(smaller, size, ..)| ease < (smaller, size));
                if better && self.digits_of(unit, open & !set.seats) & set.digits != 0 {
                    best = Some((ease.0, ease.1, unit, set));
                }
            }
        }
        let Some((_, _, unit, set)) = best else { return false };
        let seats = self.open(unit);
        let empty = Choice { seats, digits: self.digits_of(unit, seats) };
        observer.see(self, Deduction::Preemptive { unit, set, empty });
        for seat in members(seats & !set.seats) {
            self.cross_out(layout.cells(unit)[seat], set.digits);
        }
        true
    }

    /// The digits that cells of a unit have between them.
    pub fn digits_of(&self, unit: usize, seats: u32) -> u32 {
        let cells = self.layout.cells(unit);
        members(seats).fold(0, |digits, seat| digits | self.digits[cells[seat]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Shape, notation::LineLayout};

    fn cells(text: &str) -> Vec<u8> {
        LineLayout::default().read(text.as_bytes(), None).unwrap().unwrap().cells
    }

    #[test]
    fn a_mark_up_is_what_the_clues_leave() {
        let layout = Layout::new(Shape::FOUR);
        let marks = Marks::new(&layout, &cells("1....2..3......4"));
        let row = |row: usize| [0, 1, 2, 3].map(|column| marks.digits(4 * row + column));
        assert_eq!(row(0), [0b0001, 0b1100, 0b1110, 0b0110]);
        assert_eq!(row(1), [0b1000, 0b0010, 0b1101, 0b0101]);
        assert_eq!(marks.empty(), 12);
        assert_eq!(marks.tightest(), Some(4));
        assert_eq!(marks.contradiction(), None);
    }

    #[test]
    fn a_digit_locked_in_a_box_leaves_the_rest_of_the_row() {
        let layout = Layout::new(Shape::NINE);
        let mut cells = vec![0; 81];
        // Box 1 has 1 to 6 in its lower rows: 7, 8 and 9 are left for row 1.
        cells[9..12].copy_from_slice(&[1, 2, 3]);
        cells[18..21].copy_from_slice(&[4, 5, 6]);
        let mut marks = Marks::new(&layout, &cells);
        assert_eq!(marks.digits(5), layout.all());
        assert!(marks.locked());
        assert!((3..9).all(|cell| marks.digits(cell) == 0b11_1111));
        assert!(!marks.locked());
    }

    #[test]
    fn contradictions_are_named() {
        let layout = Layout::new(Shape::FOUR);
        let marks = |text: &str| Marks::new(&layout, &cells(text));
        assert_eq!(marks("12..3......44...").contradiction(), None);
        assert_eq!(marks(".123....4.......").contradiction(), Some(Contradiction::Cell { cell: 0 }));
        // The 3 of the second row is in the other box.
        assert_eq!(
            marks("12....3.........").contradiction(),
            Some(Contradiction::Place { unit: 8, digit: 3 })
        );
    }
}
