//! Two bands: the second band, filled row by row.
//!
//! A column of the second band takes the digits that the first band does not have in it. Rows are filled cell by cell,
//! a row takes no digit twice, and a column gives each of its digits away once. The rows can be exchanged, so the
//! first column is held ascending, and that counts C! times.
//!
//! The last two rows are not tried cell by cell: two digits are left in each column, the first column tells which of
//! them goes up, and each choice forces others until a ring of columns closes. Following the rings finds the same
//! fillings without the dead ends.

use super::super::two::MAX_DIGITS;

/// Columns of a band as bit sets of the digits left in them.
type Columns = [u16; MAX_DIGITS];

/// A band to be filled.
pub struct Fill {
    side: usize,
    rows: usize,
    columns: Columns,
    /// What the first cells of each row hold: the digits of the first column ascending, or all of the first box.
    given: Vec<Vec<u16>>,
    /// By how much the order of the rows multiplies.
    orders: u64,
}

impl Fill {
    /// A band with these column sets.
    pub fn new(columns: &[u16]) -> Self {
        let rows = columns.len() / 2;
        let given = digits(columns[0]).map(|digit| vec![digit]).collect();
        Self::with(columns, given, (1..=rows as u64).product())
    }

    /// A band with these column sets in which the digits of the first box stand ascending in both columns.
    pub fn with_first_box(columns: &[u16]) -> Self {
        let given =
            digits(columns[0]).zip(digits(columns[1])).map(|(left, right)| vec![left, right]).collect();
        Self::with(columns, given, 1)
    }

    fn with(columns: &[u16], given: Vec<Vec<u16>>, orders: u64) -> Self {
        let mut all = [0; MAX_DIGITS];
        all[..columns.len()].copy_from_slice(columns);
        Self { side: columns.len(), rows: columns.len() / 2, columns: all, given, orders }
    }

    /// Ways to fill the band.
    pub fn ways(&self) -> u64 {
        self.ways_with(&[])
    }

    /// Ways to fill the band when the cells of row 1 after the given ones hold the digits `next`, each the number of a
    /// digit in its column (0 for the least).
    pub fn ways_with(&self, next: &[usize]) -> u64 {
        let mut columns = self.columns;
        let mut used = self.given[0].iter().sum::<u16>();
        let from = self.given[0].len();
        for (&number, column) in next.iter().zip(from..) {
            let Some(digit) = digits(columns[column]).nth(number).filter(|digit| digit & used == 0) else {
                return 0;
            };
            used |= digit;
            columns[column] ^= digit;
        }
        for (column, digit) in self.given[0].iter().enumerate() {
            columns[column] ^= digit;
        }
        self.orders * self.cell(&mut columns, 0, from + next.len(), used)
    }

    fn cell(&self, columns: &mut Columns, row: usize, column: usize, used: u16) -> u64 {
        if column == self.side {
            return self.next_row(columns, row + 1);
        }
        let mut options = columns[column] & !used;
        let mut ways = 0;
        while options != 0 {
            let digit = options & options.wrapping_neg();
            options ^= digit;
            columns[column] ^= digit;
            ways += self.cell(columns, row, column + 1, used | digit);
            columns[column] ^= digit;
        }
        ways
    }

    fn next_row(&self, columns: &mut Columns, row: usize) -> u64 {
        if row == self.rows {
            return 1;
        }
        if row + 2 == self.rows {
            return self.last_two_rows(columns);
        }
        let given = &self.given[row];
        for (column, digit) in given.iter().enumerate() {
            columns[column] ^= digit;
        }
        let ways = self.cell(columns, row, given.len(), given.iter().sum());
        for (column, digit) in given.iter().enumerate() {
            columns[column] ^= digit;
        }
        ways
    }

    /// Ways to fill the last two rows: two digits are left in each column.
    fn last_two_rows(&self, columns: &Columns) -> u64 {
        // up[c]: the digit of column c that goes into the upper row, 0 while it is open.
        let mut up: Columns = [0; MAX_DIGITS];
        let mut ways = 1;
        for (column, &digit) in self.given[self.rows - 2].iter().enumerate() {
            if up[column] == 0 {
                self.follow(columns, &mut up, column, digit);
            }
            if up[column] != digit {
                return 0;
            }
        }
        for column in 0..self.side {
            if up[column] == 0 {
                // A ring that nothing has touched yet: either digit may go up.
                ways *= 2;
                self.follow(columns, &mut up, column, columns[column] & columns[column].wrapping_neg());
            }
        }
        ways
    }

    /// Puts `digit` up in `column`; its partner goes down there, hence up in its other column, and so on.
    fn follow(&self, columns: &Columns, up: &mut Columns, mut column: usize, mut digit: u16) {
        while up[column] == 0 {
            up[column] = digit;
            digit ^= columns[column];
            let other = (0..self.side).find(|&c| c != column && columns[c] & digit != 0);
            column = other.expect("a digit is left in as many columns as rows are left");
        }
    }
}

/// The single digits of a set, ascending.
fn digits(set: u16) -> impl Iterator<Item = u16> {
    let mut rest = set;
    std::iter::from_fn(move || {
        let digit = rest & rest.wrapping_neg();
        rest ^= digit;
        (digit != 0).then_some(digit)
    })
}
