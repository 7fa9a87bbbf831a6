//! What the lines of a unit hold.

use shared::grid::{
    Shape,
    notation::{self, Layout, LineLayout, NotationError, Puzzle},
};

use super::lines::{Line, Lines};

/// A line, read; or an element, or a drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Something that is no puzzle, and why.
    Unreadable(String),
    /// A 9x9 puzzle, the next of [`Entries::nines`].
    Nine,
    /// Another puzzle.
    Other(Box<Puzzle>),
}

/// What a unit holds.
pub struct Entries {
    /// Each with the number of its line in the unit, from 1.
    pub list: Vec<(u32, Entry)>,
    /// The 9x9 puzzles among them, in order: 0 is empty. They lie side by side as the solver takes them.
    pub nines: Vec<[u8; 81]>,
    /// Lines of the unit, or as many as there are entries.
    pub lines: u32,
}

/// Some entries that follow each other.
pub struct Batch<'a> {
    /// As in [`Entries`].
    pub entries: &'a [(u32, Entry)],
    /// As in [`Entries`].
    pub nines: &'a [[u8; 81]],
}

impl Entries {
    /// The entries, some at a time.
    pub fn batches(&self, most: usize) -> impl Iterator<Item = Batch<'_>> {
        let mut nines = self.nines.as_slice();
        self.list.chunks(most).map(move |entries| {
            let count = entries.iter().filter(|(_, entry)| *entry == Entry::Nine).count();
            let (of_batch, rest) = nines.split_at(count);
            nines = rest;
            Batch { entries, nines: of_batch }
        })
    }

    /// Reads the lines of a unit. With a shape, only puzzles of it.
    pub fn read(lines: &Lines, layout: &Layout, shape: Option<Shape>) -> Self {
        match layout {
            Layout::Lines(layout) => Self::of_lines(lines, layout, shape),
            Layout::Blocks => Self::of_document(lines, notation::blocks(lines.text(), shape)),
            Layout::OpenSudoku => Self::of_document(lines, notation::open_sudoku(lines.text(), shape)),
        }
    }

    fn of_lines(lines: &Lines, layout: &LineLayout, shape: Option<Shape>) -> Self {
        let mut header = layout.header && lines.from_the_beginning;
        let nines = layout.column == 0 && shape.is_none_or(|shape| shape == Shape::NINE);
        let mut all = Self { list: Vec::new(), nines: Vec::new(), lines: 0 };
        let mut number = 0;
        lines.each(|line| {
            number += 1;
            if header && matches!(line, Line::Text(text) if !LineLayout::passes_over(text)) {
                header = false;
                return;
            }
            // Nearly every line there is.
            if nines
                && let Line::Text(text) = line
                && let Some(cells) = notation::nine(text)
            {
                all.list.push((number, Entry::Nine));
                all.nines.push(cells);
                return;
            }
            let read = match line {
                Line::Text(text) => layout.read(text, shape),
                Line::TooLong => Err(NotationError::LongLine),
            };
            if let Some(read) = read.transpose() {
                all.add(number, read);
            }
        });
        Self { lines: number, ..all }
    }

    fn of_document(
        lines: &Lines,
        puzzles: impl Iterator<Item = (u64, Result<Puzzle, NotationError>)>,
    ) -> Self {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let mut all = Self { list: Vec::new(), nines: Vec::new(), lines: 0 };
        puzzles.for_each(|(line, read)| all.add(small(line), read));
        lines.each(|_| all.lines += 1);
        let least = all.list.last().map_or(0, |(line, _)| *line).max(small(all.list.len() as u64));
        Self { lines: all.lines.max(least), ..all }
    }

    fn add(&mut self, line: u32, read: Result<Puzzle, NotationError>) {
        let entry = match read {
            Err(error) => Entry::Unreadable(error.to_string()),
            Ok(puzzle) => match <&[u8; 81]>::try_from(puzzle.cells.as_slice()) {
                Ok(cells) if puzzle.shape == Shape::NINE && puzzle.candidates.is_none() => {
                    self.nines.push(*cells);
                    Entry::Nine
                }
                _ => Entry::Other(Box::new(puzzle)),
            },
        };
        self.list.push((line, entry));
    }
}
