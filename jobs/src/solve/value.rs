//! What stands in a column.

use std::borrow::Cow;

use shared::{
    grid::{Shape, notation},
    solve::methods::Effort,
};

use super::{
    args::Column,
    rows::{Row, Verdict},
};

/// A value, before it has a form.
pub enum Value<'a> {
    /// Not known, or there is none.
    Nothing,
    /// Cells of a puzzle or a grid.
    Cells(Shape, &'a [u8]),
    /// A word, or a name without commas or quotes.
    Word(Cow<'a, str>),
    /// Any words.
    Text(&'a str),
    Count(u64),
    /// At least so many.
    AtLeast(u64),
    Flag(bool),
}

/// What a row has in a column. Counts of solutions that reach the limit are lower bounds.
pub fn value<'a>(row: &Row<'a>, column: Column, limit: u32) -> Value<'a> {
    let is_puzzle = row.verdict != Verdict::Unreadable;
    let cells =
        |cells: &'a [u8]| if cells.is_empty() { Value::Nothing } else { Value::Cells(row.shape, cells) };
    match column {
        Column::Puzzle => row.candidates.map_or_else(|| cells(row.cells), |sets| marks(row.shape, sets)),
        Column::Verdict => Value::Word(row.verdict.word().into()),
        Column::Solutions => match row.verdict {
            Verdict::Unsolved | Verdict::Solved => Value::AtLeast(row.solutions),
            Verdict::Multiple if row.solutions >= limit.into() => Value::AtLeast(row.solutions),
            Verdict::Unreadable => Value::Nothing,
            _ => Value::Count(row.solutions),
        },
        Column::Solution => cells(row.solution),
        Column::Problem => match problem(row) {
            "" => Value::Nothing,
            text => Value::Text(text),
        },
        Column::Clues if is_puzzle => Value::Count(row.clues() as u64),
        Column::Level => {
            row.more.level.map_or(Value::Nothing, |level| Value::Word(level.technique.name().into()))
        }
        Column::Depth => row.more.level.map_or(Value::Nothing, |level| Value::Count(level.depth.into())),
        Column::Nodes => effort(row, |effort| effort.nodes),
        Column::Guesses => effort(row, |effort| effort.guesses),
        Column::Iterations => effort(row, |effort| effort.iterations),
        Column::Minimal => {
            row.more.redundant.as_ref().map_or(Value::Nothing, |all| Value::Flag(all.is_empty()))
        }
        Column::Redundant => row.more.redundant.as_ref().map_or(Value::Nothing, |all| places(row.shape, all)),
        Column::Minlex => {
            row.more.form.as_ref().map_or(Value::Nothing, |form| Value::Cells(row.shape, &form.cells))
        }
        Column::Group => row.more.form.as_ref().map_or(Value::Nothing, |form| group(row.shape, &form.cells)),
        Column::Automorphisms => {
            row.more.form.as_ref().map_or(Value::Nothing, |form| Value::Count(form.automorphisms.into()))
        }
        Column::Clues => Value::Nothing,
    }
}

fn effort<'a>(row: &Row<'a>, count: impl Fn(&Effort) -> u64) -> Value<'a> {
    row.more.effort.as_ref().map_or(Value::Nothing, |effort| Value::Count(count(effort)))
}

/// What is wrong with a line, or why its puzzle cannot have one solution.
fn problem<'a>(row: &Row<'a>) -> &'a str {
    let searched = !matches!(row.verdict, Verdict::Unique | Verdict::Invalid | Verdict::Unreadable);
    match hopeless(row) {
        Some(why) if searched && row.problem.is_empty() => why,
        _ => row.problem,
    }
}

/// Why a 9x9 puzzle cannot have one solution, if its clues tell: there is none with fewer than 17 clues (`McGuire`,
/// Tugemann & Civario 2012), and two digits that are absent could change places.
pub fn hopeless(row: &Row<'_>) -> Option<&'static str> {
    if row.cells.len() != 81 || row.shape != Shape::NINE || row.candidates.is_some() {
        return None;
    }
    let digits = row.cells.iter().fold(0u16, |digits, &cell| digits | 1 << cell) >> 1;
    if row.clues() < 17 {
        Some("fewer than 17 clues: there cannot be one solution")
    } else if digits.count_ones() < 8 {
        Some("two digits are absent: there cannot be one solution")
    } else {
        None
    }
}

/// Candidates, cell by cell: its digits, `.` where all are possible.
fn marks<'a>(shape: Shape, sets: &[u32]) -> Value<'a> {
    let all = (1 << shape.side()) - 1;
    let cell = |&set: &u32| {
        if set == all {
            return ".".to_owned();
        }
        let digits = (0..shape.side()).filter(|digit| set >> digit & 1 == 1);
        digits.map(|digit| (digit + 1).to_string()).collect()
    };
    Value::Word(sets.iter().map(cell).collect::<Vec<String>>().join(" ").into())
}

/// Cells by row and column.
fn places<'a>(shape: Shape, cells: &[u16]) -> Value<'a> {
    let side = shape.side();
    let place = |&cell: &u16| format!("r{}c{}", usize::from(cell) / side + 1, usize::from(cell) % side + 1);
    Value::Word(cells.iter().map(place).collect::<Vec<_>>().join(" ").into())
}

/// A name for a class of puzzles: 16 hexadecimal digits of a hash of shape and form.
fn group<'a>(shape: Shape, form: &[u8]) -> Value<'a> {
    let mut hash = blake3::Hasher::new_derive_key("nonet group of puzzles v1");
    hash.update(shape.to_string().as_bytes()).update(&[0]).update(form);
    Value::Word(hash.finalize().to_hex()[..16].to_owned().into())
}

/// Appends cells as they are read back: a character a cell, where that can be.
pub fn write_cells(shape: Shape, cells: &[u8], out: &mut Vec<u8>) {
    if cells.len() == 81 {
        let start = out.len();
        out.resize(start + 81, b'.');
        for (symbol, &digit) in out[start..].iter_mut().zip(cells) {
            // Without a branch: many at once.
            *symbol = if digit == 0 { b'.' } else { b'0' | digit };
        }
    } else {
        out.extend_from_slice(notation::text(shape, cells).as_bytes());
    }
}
