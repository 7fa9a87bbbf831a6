//! Which cells make up the rows, columns and boxes of a shape, as tables.
//!
//! Units are numbered rows first, then columns, then boxes; a unit's cells in reading order are its *seats*. A set of
//! seats, as a set of digits, is a word of bits: no side exceeds 25.

use super::reference::Unit;
use crate::grid::Shape;

/// The tables of a shape.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    shape: Shape,
    /// Cells of a unit, unit after unit.
    cells: Vec<usize>,
    /// The unit and the seat of each cell in its row, its column and its box.
    seats: Vec<[(usize, usize); 3]>,
    crossings: Vec<Crossing>,
}

/// A line and a box that have cells in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    /// The row or column, and the seats in it that are in the box too.
    pub line: (usize, u32),
    /// The box, and the seats in it that are in the line too.
    pub of_box: (usize, u32),
}

impl Layout {
    /// Cost: three words a cell and unit; a microsecond or two for 9x9.
    pub fn new(shape: Shape) -> Self {
        let side = shape.side();
        let mut cells = vec![0; 3 * side * side];
        let mut seats = Vec::with_capacity(side * side);
        for cell in 0..side * side {
            let (row, column) = (cell / side, cell % side);
            let of_box = shape.rows() * (row / shape.rows()) + column / shape.columns();
            let seat = shape.columns() * (row % shape.rows()) + column % shape.columns();
            let places = [(row, column), (side + column, row), (2 * side + of_box, seat)];
            for (unit, seat) in places {
                cells[side * unit + seat] = cell;
            }
            seats.push(places);
        }
        let mut layout = Self { shape, cells, seats, crossings: Vec::new() };
        for of_box in 2 * side..3 * side {
            layout.cross(of_box);
        }
        layout
    }

    /// Adds the crossings of a box: with its rows, then with its columns.
    fn cross(&mut self, of_box: usize) {
        let side = self.side();
        let mut crossings: Vec<Crossing> = Vec::new();
        for line in 0..2 {
            for seat in 0..side {
                let (unit, along) = self.seats[self.cells(of_box)[seat]][line];
                let crossing = crossings.iter_mut().find(|crossing| crossing.line.0 == unit);
                if let Some(crossing) = crossing {
                    crossing.line.1 |= 1 << along;
                    crossing.of_box.1 |= 1 << seat;
                } else {
                    crossings.push(Crossing { line: (unit, 1 << along), of_box: (of_box, 1 << seat) });
                }
            }
        }
        self.crossings.extend(crossings);
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Cells of a unit; digits.
    pub fn side(&self) -> usize {
        self.shape.side()
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        3 * self.side()
    }

    /// The cells of a unit, seat by seat.
    pub fn cells(&self, unit: usize) -> &[usize] {
        &self.cells[self.side() * unit..][..self.side()]
    }

    /// The unit and the seat of a cell in its row, its column and its box.
    pub fn seats(&self, cell: usize) -> [(usize, usize); 3] {
        self.seats[cell]
    }

    /// Every line and box that have cells in common.
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
    }

    /// All digits, or all seats.
    pub fn all(&self) -> u32 {
        (1 << self.side()) - 1
    }

    /// What a unit is, and its number among those of its kind, counted from 0.
    pub fn name(&self, unit: usize) -> (Unit, usize) {
        let kinds = [Unit::Row, Unit::Column, Unit::Box];
        (kinds[unit / self.side()], unit % self.side())
    }
}

/// The members of a set, the lowest first, counted from 0.
pub(crate) fn members(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lowest < 32).then_some(lowest as usize)
    })
}

/// The digit that stands at a bit.
pub(crate) fn digit(bit: usize) -> u8 {
    u8::try_from(bit + 1).expect("no side exceeds 25")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_seats_and_crossings_fit_together() {
        for (rows, columns) in [(1, 5), (2, 2), (2, 3), (3, 2), (3, 3), (5, 5)] {
            let shape = Shape::new(rows, columns).unwrap();
            let layout = Layout::new(shape);
            for cell in 0..shape.side() * shape.side() {
                for (unit, seat) in layout.seats(cell) {
                    assert_eq!(layout.cells(unit)[seat], cell);
                }
            }
            // A box has its rows and its columns to cross.
            assert_eq!(layout.crossings().len(), shape.side() * (shape.rows() + shape.columns()), "{shape}");
            for crossing in layout.crossings() {
                let [line, of_box] = [crossing.line, crossing.of_box].map(|(unit, seats)| {
                    members(seats).map(|seat| layout.cells(unit)[seat]).collect::<Vec<_>>()
                });
                assert_eq!(line, of_box, "{shape}");
            }
            assert_eq!(layout.name(layout.units() - 1), (Unit::Box, shape.side() - 1));
        }
        assert_eq!(members(0b10_1001).collect::<Vec<_>>(), [0, 3, 5]);
        assert_eq!(members(1 << 31).collect::<Vec<_>>(), [31]);
    }
}
