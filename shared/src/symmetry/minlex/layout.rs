//! One row in which a digit may repeat, laid out in all the best ways.

use super::state::{NEW, Names, Row, State};

/// The least image of a row below the settled ones, and all namings that give it.
pub struct Layouts<'a> {
    state: &'a State,
    row: &'a Row,
    /// The least image so far, four bits a cell.
    pub image: u64,
    /// The namings with that image, and the next name of each.
    pub namings: Vec<(Names, u8)>,
}

/// A row laid out up to some cell.
#[derive(Clone, Copy)]
struct Partial {
    /// Bits for the places of the state whose columns are laid out.
    placed: u16,
    /// The stack place (of the state) that is being laid out.
    stack: usize,
    image: u64,
    names: Names,
    next: u8,
}

impl<'a> Layouts<'a> {
    /// Lays a row out in all the best ways.
    pub fn new(state: &'a State, row: &'a Row) -> Self {
        let mut layouts = Self { state, row, image: u64::MAX, namings: Vec::new() };
        let start = Partial { placed: 0, stack: 0, image: 0, names: state.names, next: state.next };
        layouts.lay(&start, 0);
        layouts
    }

    fn digit(&self, place: usize) -> u8 {
        self.row[usize::from(self.state.columns[place])]
    }

    fn lay(&mut self, partial: &Partial, cell: usize) {
        if self.image != u64::MAX && partial.image > self.image >> (36 - 4 * cell) {
            return;
        }
        if cell == 9 {
            if partial.image < self.image {
                self.image = partial.image;
                self.namings.clear();
            }
            self.namings.push((partial.names, partial.next));
            return;
        }
        if !cell.is_multiple_of(3) {
            self.lay_cell(partial, cell);
            return;
        }
        let mut met: Vec<[u8; 3]> = Vec::new();
        for stack in self.choices(cell / 3, |k| 3 * k, partial.placed) {
            let digits = self.digits_by_ties(stack);
            if !met.contains(&digits) {
                met.push(digits);
                self.lay_cell(&Partial { stack, ..*partial }, cell);
            }
        }
    }

    /// Lays out one cell in every way that has the least name there.
    fn lay_cell(&mut self, partial: &Partial, cell: usize) {
        let start = 3 * partial.stack;
        let choices = self.choices(cell % 3, |k| start + k, partial.placed);
        let digits = [0, 1, 2].map(|k| self.digit(start + k));
        let named = |k: usize| partial.names[usize::from(digits[k])];
        let least = choices.iter().map(|&k| named(k)).min().expect("three cells in a stack");
        let mut met = 0u16;
        for k in choices {
            let digit = digits[k];
            if named(k) == least && met >> digit & 1 == 0 {
                met |= 1 << digit;
                let mut extended = Partial { placed: partial.placed | 1 << (start + k), ..*partial };
                if least == NEW {
                    extended.names[usize::from(digit)] = extended.next;
                    extended.next += 1;
                }
                extended.image = extended.image << 4 | u64::from(extended.names[usize::from(digit)]);
                self.lay(&extended, cell + 1);
            }
        }
    }

    /// Which of three things, at places `place(k)`, may come as number `turn`: those not placed that are tied to the
    /// one which stands there in the state.
    fn choices(&self, turn: usize, place: impl Fn(usize) -> usize, placed: u16) -> Vec<usize> {
        let tied = |k: usize| self.state.ties >> place(k) & 1 == 1;
        let group = |k: usize| (1..=k).filter(|&j| !tied(j)).count();
        (0..3).filter(|&k| group(k) == group(turn) && placed >> place(k) & 1 == 0).collect()
    }

    /// The digits of a stack, sorted where its columns are tied: equal for stacks that are laid out alike.
    fn digits_by_ties(&self, stack: usize) -> [u8; 3] {
        let mut digits = [0, 1, 2].map(|k| self.digit(3 * stack + k));
        let tied = |k: usize| self.state.ties >> (3 * stack + k) & 1 == 1;
        let mut start = 0;
        for end in 1..=3 {
            if end == 3 || !tied(end) {
                digits[start..end].sort_unstable();
                start = end;
            }
        }
        digits
    }
}
