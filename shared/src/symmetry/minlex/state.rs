//! What is settled of an image after some of its rows.
//!
//! Given the rows so far and the names of the digits in them, the best order of columns is known: columns of a stack
//! sorted by what they read downwards, then the stacks. Columns, and stacks, that read the same stay *tied*: no order
//! of theirs is chosen before something tells them apart. So a state is an order of rows and a naming, and nothing
//! multiplies with the orders of columns that look alike.

use super::{Cells, Transformation, bands::ORDERS};

/// The name of a digit that has none yet. More than any other, and the first one to be met is named next, so it
/// compares with names as its name will.
pub const NEW: u8 = 15;

/// Nine cells, and room so that any four bits are an index.
pub type Row = [u8; 16];

/// For each digit its name, or [`NEW`]; that of 0 is 0.
pub type Names = [u8; 16];

/// Rows of an image, settled from the top.
#[derive(Clone, Copy)]
pub struct State {
    /// Whether rows come from columns of the puzzle.
    pub transposed: bool,
    /// Bits for the rows that have their place.
    pub used: u16,
    /// Where the rows come from, as far as settled.
    pub rows: [u8; 9],
    /// Where the columns come from.
    pub columns: [u8; 9],
    /// Bit `k` for a column tied to the one before it in its stack; bit `3 j` for a stack tied to the one before it.
    pub ties: u16,
    /// The names so far.
    pub names: Names,
    /// The next name.
    pub next: u8,
}

/// A row of the image, with unnamed digits as [`NEW`]: name and column of each cell, four bits each.
pub type Entries = [u8; 9];

/// The tie bits of three stacks or of the columns of one: bit 0 for the second tied to the first, bit 1 for the third
/// tied to the second.
pub fn column_ties(ties: u16, stack: usize) -> u16 {
    ties >> (3 * stack + 1) & 0b11
}

pub fn stack_ties(ties: u16) -> u16 {
    ties >> 3 & 1 | ties >> 5 & 2
}

/// The column of each of eight entries.
const LOW: u64 = 0x0F0F_0F0F_0F0F_0F0F;

/// The highest bit of each of eight entries.
const HIGHEST: u64 = 0x8080_8080_8080_8080;

/// Tie bits of three things back in their places.
pub const ALL_TIES: u16 = 0b111_111_110;

impl State {
    /// No row settled.
    pub fn new(transposed: bool) -> Self {
        let mut names = [NEW; 16];
        names[0] = 0;
        let Transformation { rows, columns, .. } = Transformation::IDENTITY;
        Self { transposed, used: 0, rows, columns, ties: ALL_TIES, names, next: 1 }
    }

    /// The least image of a row whose digits are all different, below the settled rows.
    ///
    /// Unnamed digits come last among tied columns, and tied stacks compare as they will when named: the first of
    /// them gets the same names whichever it is.
    #[inline]
    pub fn least(&self, row: &Row) -> Entries {
        let mut entries = [0; 9];
        for (entry, &column) in entries.iter_mut().zip(&self.columns) {
            *entry = self.names[usize::from(row[usize::from(column & 0xF)] & 0xF)] << 4 | column;
        }
        if self.ties != 0 {
            sort(self.ties, &mut entries);
        }
        entries
    }

    /// Orders columns as `entries` do and leaves these `ties`; unnamed digits get the next names in this order.
    #[inline]
    pub fn arrange(&mut self, row: &Row, entries: &Entries, ties: u16) {
        let (first, last) = entries.split_at(8);
        let eight = u64::from_le_bytes(first.try_into().expect("eight cells"));
        self.columns[..8].copy_from_slice(&(eight & LOW).to_le_bytes());
        self.columns[8] = last[0] & 0xF;
        self.ties = ties;
        // NEW has all four bits.
        let mut new = eight & eight << 1 & eight << 2 & eight << 3 & HIGHEST;
        while new != 0 {
            self.name(row, new.trailing_zeros() as usize / 8);
            new &= new - 1;
        }
        if last[0] >> 4 == NEW {
            self.name(row, 8);
        }
    }

    /// Gives the digit in a place the next name.
    #[inline]
    fn name(&mut self, row: &Row, place: usize) {
        self.names[usize::from(row[usize::from(self.columns[place] & 0xF)] & 0xF)] = self.next;
        self.next += 1;
    }

    /// Calls `f` with the entries of a row with different digits in every order that has the least image: unnamed
    /// digits in tied columns, and in tied stacks that look the same, can be named in any order.
    #[inline]
    pub fn orders(&self, entries: &Entries, mut f: impl FnMut(&Entries)) {
        let stacks = entries.as_chunks::<3>().0;
        let free = |k: usize| u16::from(entries[k - 1].min(entries[k]) >> 4 == NEW);
        let mut columns = [0; 3];
        for (stack, columns) in columns.iter_mut().enumerate() {
            *columns = column_ties(self.ties, stack) & (free(3 * stack + 1) | free(3 * stack + 2) << 1);
        }
        let alike = |j: usize| {
            u16::from(entries[3 * j + 2] >> 4 == NEW && names_of(stacks[j - 1]) == names_of(stacks[j]))
        };
        let free_stacks = stack_ties(self.ties) & (alike(1) | alike(2) << 1);
        if columns == [0; 3] && free_stacks == 0 {
            f(entries);
            return;
        }
        for stack_order in free_orders(free_stacks) {
            let (a, b, c) =
                (usize::from(stack_order[0]), usize::from(stack_order[1]), usize::from(stack_order[2]));
            for first in free_orders(columns[a]) {
                for second in free_orders(columns[b]) {
                    for third in free_orders(columns[c]) {
                        let mut ordered = [0; 9];
                        for (k, &from) in first.iter().enumerate() {
                            ordered[k] = stacks[a][usize::from(from)];
                            ordered[3 + k] = stacks[b][usize::from(second[k])];
                            ordered[6 + k] = stacks[c][usize::from(third[k])];
                        }
                        f(&ordered);
                    }
                }
            }
        }
    }

    /// This state with a row below and the digits in it named as in `names`.
    pub fn renamed(&self, at: usize, number: u8, row: &Row, names: &Names, next: u8) -> Self {
        let mut state = Self { names: *names, next, used: self.used | 1 << number, ..*self };
        state.rows[at] = number;
        let entries = state.least(row);
        state.arrange(row, &entries, self.ties & alike(&entries));
        state
    }

    /// The transformation of a state with nine rows; digits without a name, which do not occur, get those left.
    fn transformation(&self) -> Transformation {
        let Self { transposed, rows, columns, mut names, mut next, .. } = *self;
        for name in names[..10].iter_mut().filter(|name| **name == NEW) {
            *name = next;
            next += 1;
        }
        let digits = names[..10].try_into().expect("ten names");
        Transformation { transposed, rows, columns, digits }
    }

    /// The image when nine rows are settled, and the transformation to it.
    pub fn finish(&self, rows: &[Row; 9]) -> (Cells, Transformation) {
        let transformation = self.transformation();
        let mut names = [0; 16];
        names[..10].copy_from_slice(&transformation.digits);
        let mut form = [0; 81];
        for (image, &row) in form.as_chunks_mut::<9>().0.iter_mut().zip(&self.rows) {
            let row = &rows[usize::from(row)];
            for (cell, &column) in image.iter_mut().zip(&self.columns) {
                *cell = names[usize::from(row[usize::from(column & 0xF)] & 0xF)];
            }
        }
        (form, transformation)
    }

    /// How many orders of columns give the same image: those of tied columns and stacks.
    pub fn column_orders(&self) -> u32 {
        let ways = |ties: u16| [1, 2, 2, 6][usize::from(ties)];
        (0..3).map(|stack| ways(column_ties(self.ties, stack))).product::<u32>() * ways(stack_ties(self.ties))
    }
}

/// The nine names of a row as a number that compares as rows do.
#[inline]
pub fn image(entries: &Entries) -> u64 {
    entries.iter().fold(0, |image, entry| image << 4 | u64::from(entry >> 4))
}

/// Which columns and stacks have the names of those before them, as tie bits. Unnamed digits are not alike: they get
/// different names.
#[inline]
fn alike(entries: &Entries) -> u16 {
    let mut alike = 0;
    for k in 1..9 {
        alike |= u16::from((entries[k] ^ entries[k - 1]) >> 4 == 0 && entries[k] >> 4 != NEW) << k;
    }
    // Columns 4 and 7 are compared as stacks.
    alike &= 0b110_110_110;
    for k in [3, 6] {
        let same =
            (0..3).all(|i| (entries[k + i] ^ entries[k + i - 3]) >> 4 == 0 && entries[k + i] >> 4 != NEW);
        alike |= u16::from(same) << k;
    }
    alike
}

/// Sorts tied columns, then tied stacks. Without branches where it matters: no outcome here is likelier than another.
#[inline]
fn sort(ties: u16, entries: &mut Entries) {
    for (stack, [a, b, c]) in entries.as_chunks_mut::<3>().0.iter_mut().enumerate() {
        let ties = column_ties(ties, stack);
        let [first, second] = [ties & 1 != 0, ties & 2 != 0];
        sort_two(first, a, b);
        sort_two(second, b, c);
        sort_two(first & second, a, b);
    }
    let ties = stack_ties(ties);
    if ties != 0 {
        let stacks: &mut [[u8; 3]; 3] = entries.as_chunks_mut::<3>().0.try_into().expect("three stacks");
        sort_tied(ties, stacks, |a, b| names_of(*a) > names_of(*b));
    }
}

#[inline]
fn sort_two(tied: bool, a: &mut u8, b: &mut u8) {
    let exchange = (*a ^ *b) & (u8::from(tied) & u8::from(*a > *b)).wrapping_neg();
    *a ^= exchange;
    *b ^= exchange;
}

/// The names in three entries, to compare.
fn names_of([a, b, c]: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, a, b, c]) & 0x00F0_F0F0
}

/// Sorts those of three things that are tied.
#[inline]
pub fn sort_tied<T>(ties: u16, things: &mut [T; 3], greater: impl Fn(&T, &T) -> bool) {
    if ties & 1 != 0 && greater(&things[0], &things[1]) {
        things.swap(0, 1);
    }
    if ties & 2 != 0 && greater(&things[1], &things[2]) {
        things.swap(1, 2);
    }
    if ties == 3 && greater(&things[0], &things[1]) {
        things.swap(0, 1);
    }
}

/// The orders of three things of which those with a tie bit can change places.
fn free_orders(ties: u16) -> &'static [[u8; 3]] {
    match ties {
        0 => &ORDERS[..1],
        1 => &[[0, 1, 2], [1, 0, 2]],
        2 => &ORDERS[..2],
        _ => &ORDERS,
    }
}
