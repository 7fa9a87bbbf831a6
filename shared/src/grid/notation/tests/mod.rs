//! Every notation that is claimed to be read, and what happens to everything else.

mod drawings;
mod hostile;
mod layouts;
mod lines;
mod round_trip;
mod sizes;

use super::*;
use crate::grid::Shape;

/// A puzzle of the usual size.
const DOTS: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

/// The cells of a puzzle of at most nine digits.
fn cells(dots: &str) -> Vec<u8> {
    dots.bytes().map(|byte| if byte == b'.' { 0 } else { byte - b'0' }).collect()
}

/// Reads a line on its own.
fn line(text: &str) -> Result<Puzzle, NotationError> {
    LineLayout::default().read(text.as_bytes(), None).map(|puzzle| puzzle.expect("not passed over"))
}

fn message(text: &str) -> String {
    line(text).expect_err("no puzzle").to_string()
}

/// Reads a document of which the layout is told by itself: the cells of its puzzles and the texts of errors, with
/// their lines.
fn document(text: &str) -> Vec<(u64, Result<Puzzle, String>)> {
    let text = text.as_bytes();
    let error =
        |(line, read): (u64, Result<Puzzle, NotationError>)| (line, read.map_err(|error| error.to_string()));
    match Layout::detect(text).expect("text") {
        Layout::Blocks => blocks(text, None).map(error).collect(),
        Layout::OpenSudoku => open_sudoku(text, None).map(error).collect(),
        Layout::Lines(layout) => {
            let lines = (1..).zip(text.split(|&byte| byte == b'\n'));
            let records = lines.filter(|(_, line)| !LineLayout::passes_over(line)).skip(layout.header.into());
            let read = |(number, line)| Some((number, layout.read(line, None).transpose()?));
            records.filter_map(read).map(error).collect()
        }
    }
}

/// The lines and cells of a document without errors.
fn puzzles(text: &str) -> Vec<(u64, Vec<u8>)> {
    let cells = |(line, read): (u64, Result<Puzzle, String>)| match read {
        Ok(puzzle) => (line, puzzle.cells),
        Err(error) => panic!("line {line}: {error}, in\n{text}"),
    };
    document(text).into_iter().map(cells).collect()
}
