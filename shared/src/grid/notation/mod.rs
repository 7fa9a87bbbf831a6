//! The notations in which puzzles are kept: lines and tables, drawings, `.sdm`, `.sdk`, `.ss`, `OpenSudoku`.
//!
//! [`Layout::detect`] tells from the beginning of a file how it holds its puzzles; [`LineLayout::read`], [`blocks`] and
//! [`open_sudoku`] read them, [`text`] and [`drawing`] write them. Whether digits clash is not looked at.
//!
//! # Rules
//!
//! Many files do not say how they are meant. What is done is this, and only this.
//!
//! *Size.* The number of cells tells the side: 4, 6, 8, 9, 10, 12, 15, 16, 20 or 25. Boxes are 2x2, 2x3, 2x4, 3x3, 2x5,
//! 3x4, 3x5, 4x4, 4x5 and 5x5 (rows x columns), unless upright strokes in a drawing show others. A shape that is asked
//! for goes before all this, and then only puzzles of its size are read.
//!
//! *Empty cells* are `. 0 * _ - x X ?`. A blank is an empty cell in a line of exactly 81 characters that are cells or
//! blanks, not all blank, and in drawings with upright strokes if all rows can be read so: each stroke encloses one
//! cell, or all boxes are equally wide with cells in regular columns. Between two commas, semicolons or tabs nothing
//! is an empty cell.
//!
//! *Digits over 9* are letters of either case. In a puzzle of side 10 or more
//! 1. without any of `1` to `9` but with a letter other than `X`, `A` is 1. At side 25 `X` is 24 then, unless there are
//!    more than 25 of them: then it is an empty cell.
//! 2. with `0` and another sign for empty cells, `0` is the digit 1, `1` the digit 2, and so on (hexadecimal at side
//!    16), unless there is the letter that would be one too many; the same if every one of these symbols is there as
//!    often as in a solved grid.
//! 3. otherwise `A` is 10.
//!
//! *Numbers* are cells separated by blanks, commas, semicolons or tabs, if some have two digits and the side is 10 or
//! more; 0 is empty.
//!
//! *Candidates* are several digits in one separated cell at side 9 or less, or 729 characters in a line: nine a cell,
//! each its digit or a sign for empty cells. A cell with all candidates is empty, one with a single candidate is a
//! clue, whether it is meant as one or not; only if there are others, [`Puzzle::candidates`] is given. A cell of the 729
//! characters without any candidate has none.
//!
//! *Lines.* A puzzle ends at its last cell, before anything that is neither a letter nor a digit nor a sign for empty
//! cells; what follows is left alone. Lines that are empty or begin with `#` or `//` are passed over. Rows of one puzzle
//! may be apart (`1234 3412 2143 4321`), by one blank, comma, semicolon, tab, `/`, `|` or `:`.
//!
//! *Tables.* The puzzle is in the column that is named so, or else in the first field that is a puzzle in most lines.
//!
//! *Drawings.* A puzzle is complete when there are as many rows as a row has cells. Lines of strokes are borders;
//! those of only `-`, `*` or `_` that are as long as a row are rows of empty cells, if the sign is one in another row, or
//! if the puzzle is complete only with them. If characters as well as what is between blanks could be the cells, the
//! characters are. Words between puzzles are passed over, and so is every section but `[Puzzle]`. A row
//! alone before the others counts as words. After an error, reading goes on after the next empty line, words or section.

mod binary;
mod block;
mod blocks;
mod cells;
mod error;
mod fields;
mod layout;
mod line_layout;
mod list;
mod nine;
mod one_line;
mod open_sudoku;
mod placed;
mod puzzle;
mod row;
mod sides;
mod signs;
mod strokes;
mod table;
mod write;

pub use blocks::blocks;
pub use error::{Counted, LayoutError, NotationError, Place};
pub use layout::{HEAD_BYTES, Layout};
pub use line_layout::LineLayout;
pub use nine::nine;
pub use open_sudoku::open_sudoku;
pub use puzzle::Puzzle;
pub use write::{drawing, text};

/// Bytes of a line at most, without its end; so also of the attribute of an element.
pub const MOST_LINE_BYTES: usize = 16 << 10;

#[cfg(test)]
mod tests;
