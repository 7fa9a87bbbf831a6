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
    /// A 9x9 puzzle: 0 is empty.
    Nine([u8; 81]),
    /// Another puzzle.
    Other(Puzzle),
}

/// What a unit holds.
pub struct Entries {
    /// Each with the number of its line in the unit, from 1.
    pub entries: Vec<(u32, Entry)>,
    /// Lines of the unit, or as many as there are entries.
    pub lines: u32,
}

impl Entries {
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
        let mut entries = Vec::new();
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
                entries.push((number, Entry::Nine(cells)));
                return;
            }
            let read = match line {
                Line::Text(text) => layout.read(text, shape),
                Line::TooLong => Err(NotationError::LongLine),
            };
            entries.extend(
                read.map_or_else(|error| Some(Err(error)), |puzzle| puzzle.map(Ok))
                    .map(|read| (number, Entry::of(read))),
            );
        });
        Self { entries, lines: number }
    }

    fn of_document(
        lines: &Lines,
        puzzles: impl Iterator<Item = (u64, Result<Puzzle, NotationError>)>,
    ) -> Self {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let entries: Vec<_> = puzzles.map(|(line, read)| (small(line), Entry::of(read))).collect();
        let mut count = 0;
        lines.each(|_| count += 1);
        let lines = small(entries.len() as u64).max(count).max(entries.last().map_or(0, |(line, _)| *line));
        Self { entries, lines }
    }
}

impl Entry {
    fn of(read: Result<Puzzle, NotationError>) -> Self {
        let puzzle = match read {
            Ok(puzzle) => puzzle,
            Err(error) => return Self::Unreadable(error.to_string()),
        };
        match <&[u8; 81]>::try_from(puzzle.cells.as_slice()) {
            Ok(cells) if puzzle.shape == Shape::NINE && puzzle.candidates.is_none() => Self::Nine(*cells),
            _ => Self::Other(puzzle),
        }
    }
}
