//! Where in the lines of a file the puzzles are.

use super::{fields::Fields, line_layout::LineLayout, one_line};

/// Lines that are tried.
const SAMPLE: usize = 64;
/// Fields of a line that are tried.
const MOST_COLUMNS: u16 = 64;
/// Bytes of the name of a column at most.
const MOST_NAME_BYTES: usize = 40;

/// Delimiters, the likeliest first.
const DELIMITERS: [u8; 6] = *b",;\t|: ";

/// Names of a column with puzzles, the likeliest first: `clues` is often their number.
const NAMES: [&str; 20] = [
    "puzzle",
    "puzzles",
    "quizzes",
    "quiz",
    "sudoku",
    "sudokus",
    "question",
    "questions",
    "unsolved",
    "problem",
    "problems",
    "givens",
    "board",
    "grid",
    "start",
    "initial",
    "input",
    "task",
    "data",
    "clues",
];

/// The best way to read lines that are neither empty nor comments, at least one.
pub fn guess(lines: &[&[u8]]) -> LineLayout {
    let Some((first, data)) = lines.split_first() else {
        return LineLayout::default();
    };
    let data = &data[..data.len().min(SAMPLE)];
    let voted = vote(&lines[..lines.len().min(SAMPLE)]);
    let votes = reads(&voted, data);
    if let Some(named) = named(first)
        && (data.is_empty() || reads(&named, data) * 2 >= votes.max(1))
    {
        return named;
    }
    let header = votes > 0 && reads(&voted, &[*first]) == 0 && has_names(first, voted.delimiter);
    LineLayout { header, ..voted }
}

/// How many lines have a puzzle.
pub fn reads(layout: &LineLayout, lines: &[&[u8]]) -> usize {
    lines.iter().filter(|line| matches!(layout.read(line, None), Ok(Some(_)))).count()
}

/// The place where most lines have their first puzzle; the beginning, if as many have it there.
fn vote(lines: &[&[u8]]) -> LineLayout {
    let mut best = LineLayout::default();
    let mut most = reads(&best, lines);
    for delimiter in DELIMITERS {
        let mut votes = [0_usize; MOST_COLUMNS as usize];
        for line in lines {
            // Shorter fields would be small numbers and words only.
            let is_puzzle = |field: &[u8]| field.len() >= 16 && one_line::read(field, None).is_ok();
            let columns = Fields::new(line, delimiter).take(MOST_COLUMNS.into());
            if let Some(column) = columns.into_iter().position(is_puzzle) {
                votes[column] += 1;
            }
        }
        for (column, votes) in (0..).zip(votes) {
            if votes > most {
                most = votes;
                best = LineLayout { column, delimiter: Some(delimiter), header: false };
            }
        }
    }
    best
}

/// The layout told by the names of columns, if one of them is known.
fn named(first: &[u8]) -> Option<LineLayout> {
    let tables = [b',', b';', b'\t', b'|'].map(Some).into_iter().chain([None]);
    let tables = tables.filter(|delimiter| delimiter.is_none_or(|delimiter| first.contains(&delimiter)));
    let known = tables.filter(|&delimiter| has_names(first, delimiter)).flat_map(|delimiter| {
        let columns = (0..MOST_COLUMNS).zip(names(first, delimiter));
        columns.filter_map(move |(column, name)| {
            let rank = NAMES.iter().position(|known| name.eq_ignore_ascii_case(known.as_bytes()))?;
            Some((rank, LineLayout { column, delimiter, header: true }))
        })
    });
    known.min_by_key(|(rank, _)| *rank).map(|(_, layout)| layout)
}

/// The fields of a line, or the line.
fn names(line: &[u8], delimiter: Option<u8>) -> impl Iterator<Item = &[u8]> {
    // A delimiter that no text has leaves one field.
    Fields::new(line, delimiter.unwrap_or(0)).map(<[u8]>::trim_ascii)
}

/// Whether a line has names of columns: words. One may be missing, as that of the numbers of lines often is.
fn has_names(line: &[u8], delimiter: Option<u8>) -> bool {
    let is_name = |name: &[u8]| {
        name.len() <= MOST_NAME_BYTES
            && name.first().is_none_or(u8::is_ascii_alphabetic)
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b" _-.()/".contains(byte))
    };
    names(line, delimiter).all(is_name) && names(line, delimiter).any(|name| !name.is_empty())
}
