//! What is known of a puzzle only if it is asked for, and how a part keeps it.

use shared::{
    grid::Shape,
    solve::{
        level::{Level, Technique},
        methods::Effort,
    },
};

use super::{
    args::Asked,
    packing::{pack, unpack},
};

/// What else is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct More {
    /// For a puzzle with one solution, the cells of clues that can be left out (one, not all together).
    pub redundant: Option<Vec<u16>>,
    /// The minlex form.
    pub form: Option<Form>,
    /// For a puzzle with one solution, how hard it is.
    pub level: Option<Level>,
    /// What it took to solve.
    pub effort: Option<Effort>,
}

/// Nothing more.
pub const NO_MORE: &More = &More { redundant: None, form: None, level: None, effort: None };

/// A minlex form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Row by row.
    pub cells: Vec<u8>,
    /// Symmetries that take the puzzle to itself.
    pub automorphisms: u32,
}

impl More {
    /// Appends what was asked for to a part: for each a byte that tells whether it is known, then that.
    pub fn write(&self, shape: Shape, asked: Asked, part: &mut Vec<u8>) {
        if asked.redundant {
            part.push(self.redundant.is_some().into());
            if let Some(cells) = &self.redundant {
                write_number(cells.len(), part);
                cells.iter().for_each(|&cell| write_number(cell.into(), part));
            }
        }
        if asked.form {
            part.push(self.form.is_some().into());
            if let Some(form) = &self.form {
                part.extend_from_slice(&form.automorphisms.to_le_bytes());
                pack(shape, &form.cells, part);
            }
        }
        if asked.level {
            part.push(self.level.is_some().into());
            if let Some(level) = self.level {
                part.extend_from_slice(&[level.technique as u8, level.depth]);
            }
        }
        if asked.effort {
            part.push(self.effort.is_some().into());
            if let Some(Effort { nodes, guesses, iterations }) = self.effort {
                for count in [nodes, guesses, iterations] {
                    part.extend_from_slice(&count.to_le_bytes());
                }
            }
        }
    }

    /// Takes what was asked for from the beginning of a part; `None` if it is not there.
    pub fn read(shape: Shape, asked: Asked, part: &mut &[u8]) -> Option<Self> {
        let mut more = Self::default();
        if asked.redundant && *part.split_off_first()? == 1 {
            let count = read_number(part)?;
            let cells = (0..count).map(|_| read_number(part));
            let inside = |&cell: &u16| usize::from(cell) < shape.side() * shape.side();
            more.redundant = Some(cells.map(|cell| cell.filter(inside)).collect::<Option<_>>()?);
        }
        if asked.form && *part.split_off_first()? == 1 {
            let automorphisms = u32::from_le_bytes(part.split_off(..4)?.try_into().ok()?);
            let mut cells = Vec::new();
            unpack(shape, part, &mut cells)?;
            more.form = Some(Form { cells, automorphisms });
        }
        if asked.level && *part.split_off_first()? == 1 {
            let technique = *Technique::ALL.get(usize::from(*part.split_off_first()?))?;
            more.level = Some(Level { technique, depth: *part.split_off_first()? });
        }
        if asked.effort && *part.split_off_first()? == 1 {
            let (nodes, guesses, iterations) = (read_count(part)?, read_count(part)?, read_count(part)?);
            more.effort = Some(Effort { nodes, guesses, iterations });
        }
        Some(more)
    }
}

fn write_number(number: usize, part: &mut Vec<u8>) {
    let number = u16::try_from(number).expect("a cell or a number of cells");
    part.extend_from_slice(&number.to_le_bytes());
}

fn read_number(part: &mut &[u8]) -> Option<u16> {
    Some(u16::from_le_bytes(part.split_off(..2)?.try_into().ok()?))
}

fn read_count(part: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(part.split_off(..8)?.try_into().ok()?))
}
