//! Which cells of a row are filled, in the order that is best below some settled rows.
//!
//! The least image of a row has its empty cells first among tied columns, and tied stacks with fewer filled cells
//! first; so where its filled cells are to be does not depend on their digits. A row whose first filled cell comes
//! later has the lesser image, whatever the digits; and while no digit has a name, the filled cells tell everything.

use super::{
    bands::ORDERS,
    state::{ALL_TIES, State, column_ties, sort_tied, stack_ties},
};

/// For an order of the columns of a stack, tie bits and filled columns: the filled places, the first as the highest
/// bit.
const STACK: [[[u8; 8]; 4]; 6] = stack_table();

/// [`Places::of`] the filled cells when all columns are tied.
pub const FIRST: [u16; 512] = first_table();

const fn stack_table() -> [[[u8; 8]; 4]; 6] {
    let mut table = [[[0; 8]; 4]; 6];
    let mut i = 0;
    while i < 6 * 4 * 8 {
        let (order, ties, filled) = (ORDERS[i / 32], i / 8 % 4, i % 8);
        let [mut a, mut b, mut c] = [filled >> order[0] & 1, filled >> order[1] & 1, filled >> order[2] & 1];
        let count = a + b + c;
        if ties == 3 {
            (a, b, c) = ((count > 2) as usize, (count > 1) as usize, (count > 0) as usize);
        } else if ties == 1 {
            (a, b) = (a & b, a | b);
        } else if ties == 2 {
            (b, c) = (b & c, b | c);
        }
        table[i / 32][ties][filled] = [0, 1, 2, 3, 4, 5, 6, 7][a << 2 | b << 1 | c];
        i += 1;
    }
    table
}

const fn first_table() -> [u16; 512] {
    let mut table = [0; 512];
    let mut filled = 0;
    while filled < 512 {
        let tied = &STACK[0][3];
        let [a, b, c] = [tied[filled & 7] as u16, tied[filled >> 3 & 7] as u16, tied[filled >> 6] as u16];
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        table[filled] = if c <= low {
            c << 6 | low << 3 | high
        } else if c <= high {
            low << 6 | c << 3 | high
        } else {
            low << 6 | high << 3 | c
        };
        filled += 1;
    }
    table
}

/// For filled places the tie bits of columns and stacks that are still empty.
pub const TIES: [u16; 512] = ties_table();

const fn ties_table() -> [u16; 512] {
    let mut table = [0; 512];
    let mut places = 0usize;
    while places < 512 {
        let mut k = 1;
        while k < 9 {
            // The first place is the highest bit.
            let tied = if k % 3 == 0 {
                (places >> (6 - k)).trailing_zeros() >= 6
            } else {
                (places >> (8 - k)).trailing_zeros() >= 2
            };
            table[places] |= (tied as u16) << k;
            k += 1;
        }
        places += 1;
    }
    table
}

/// How filled cells are placed below the settled rows of a state.
pub enum Places {
    /// All columns tied.
    First,
    /// Any other way.
    Any {
        /// The lowest column of each stack, in order.
        starts: [u8; 3],
        /// The part of [`STACK`] for each.
        stacks: [&'static [u8; 8]; 3],
        /// Tied stacks.
        ties: u16,
    },
}

impl Places {
    /// The places below the settled rows of a state.
    #[inline]
    pub fn new(state: &State) -> Self {
        if state.ties == ALL_TIES {
            return Self::First;
        }
        let mut starts = [0; 3];
        let mut stacks = [&STACK[0][0]; 3];
        for j in 0..3 {
            let [a, b, c] = [state.columns[3 * j], state.columns[3 * j + 1], state.columns[3 * j + 2]];
            starts[j] = STARTS[usize::from(a & 0xF)];
            let order = usize::from((a - starts[j]) * 2 + u8::from(b > c));
            stacks[j] = &STACK[order][usize::from(column_ties(state.ties, j))];
        }
        Self::Any { starts, stacks, ties: stack_ties(state.ties) }
    }

    /// The places of the filled cells of a row.
    #[inline]
    pub fn of(&self, filled: u16) -> u16 {
        match self {
            Self::First => FIRST[usize::from(filled & 0x1FF)],
            Self::Any { starts, stacks, ties } => {
                let part = |j: usize| stacks[j][usize::from(filled >> starts[j] & 0b111)];
                let mut parts = [part(0), part(1), part(2)];
                if *ties != 0 {
                    sort_tied(*ties, &mut parts, |a, b| a > b);
                }
                u16::from(parts[0]) << 6 | u16::from(parts[1]) << 3 | u16::from(parts[2])
            }
        }
    }
}

/// The first column of the stack of each column.
const STARTS: [u8; 16] = [0, 0, 0, 3, 3, 3, 6, 6, 6, 0, 0, 0, 0, 0, 0, 0];
