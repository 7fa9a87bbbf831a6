//! The lines of a drawing.

use std::ops::Range;

use super::{
    error::{NotationError, Place},
    list,
    sides::{MOST_ROWS, of_side},
    signs::{bare, is_cell_like, is_comment},
    strokes::{Strokes, drawn},
};
use crate::grid::Shape;

/// What a line of a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Nothing.
    Blank,
    /// A comment, or brackets around what matters.
    Passed,
    /// `[Puzzle]`, or another name.
    Section { puzzle: bool },
    /// Strokes between rows.
    Border,
    /// Words.
    Text,
    /// A row, perhaps.
    Row(Row),
    /// What would be a row without this fault.
    Bad(NotationError),
}

/// A row, or what could be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// In ASCII, with `|` for upright strokes.
    text: Vec<u8>,
    /// What is between upright strokes.
    parts: Vec<Range<usize>>,
    /// The shape, if characters between blanks are a cell.
    pub by_token: Option<Shape>,
    /// The shape, if each character is a cell.
    pub by_character: Option<Shape>,
    /// Cells, one way or the other.
    pub count: usize,
    /// Nothing between upright strokes: blank cells, or no row.
    pub hollow: bool,
    /// Nothing but this sign (`-`, `*` or `_`): empty cells, or a border.
    pub stroke: Option<u8>,
    /// Whether `-`, `*` and `_` are there among other cells.
    strokes: [bool; 3],
}

const STROKES: [u8; 3] = *b"-*_";

impl Line {
    /// Tells what a line is. `number` counts the rows before and this one.
    pub fn read(line: &[u8], number: usize, shape: Option<Shape>) -> Self {
        let trimmed = line.trim_ascii();
        if trimmed.is_empty() {
            return Self::Blank;
        }
        if is_comment(trimmed) || bare(trimmed).is_empty() {
            return Self::Passed;
        }
        if let Some(name) = section(trimmed) {
            return Self::Section { puzzle: name.eq_ignore_ascii_case(b"puzzle") };
        }
        let Strokes { mut text, strange } = drawn(line);
        if let Some(comment) = text.iter().position(|&byte| byte == b'#') {
            text.truncate(comment);
        }
        if is_border(&text) {
            return Self::Border;
        }
        let row = Row::new(text, shape);
        if row.parts.is_empty() {
            return Self::Border;
        }
        if is_words(&row) {
            return Self::Text;
        }
        let foreign = |byte: &u8| !is_cell_like(*byte) && !is_between(*byte);
        let found = strange.or_else(|| {
            let at = row.text.iter().position(foreign)?;
            Some((
                row.text[..at].iter().filter(|&&byte| is_cell_like(byte)).count(),
                char::from(row.text[at]),
            ))
        });
        if let Some((before, found)) = found {
            let side = row.by_character.or(row.by_token).map_or(9, Shape::side);
            return Self::Bad(NotationError::Character {
                place: Place::At { row: number, column: before + 1 },
                found,
                side,
            });
        }
        let perhaps = row.parts.len() > 1 || row.hollow || row.stroke.is_some();
        if row.parts.len() > MOST_ROWS || !perhaps && row.by_token.or(row.by_character).is_none() {
            return Self::Bad(NotationError::Width { row: number, found: row.count, expected: None });
        }
        Self::Row(row)
    }
}

impl Row {
    fn new(text: Vec<u8>, shape: Option<Shape>) -> Self {
        let parts = parts(&text);
        let mut row = Self {
            text,
            parts,
            by_token: None,
            by_character: None,
            count: 0,
            hollow: false,
            stroke: None,
            strokes: [false; 3],
        };
        if row.parts.len() <= MOST_ROWS {
            row.fit(shape);
        }
        let cells = || row.text.iter().copied().filter(|&byte| is_cell_like(byte));
        let only = |sign| cells().all(|cell| cell == sign);
        let stroke = STROKES.into_iter().find(|&sign| cells().next() == Some(sign) && only(sign));
        let strokes = STROKES.map(|sign| stroke.is_none() && row.text.contains(&sign));
        row.hollow = cells().next().is_none();
        (row.stroke, row.strokes) = (stroke, strokes);
        row
    }

    /// Finds out which cells there could be.
    fn fit(&mut self, shape: Option<Shape>) {
        let tokens: Vec<Vec<&[u8]>> = self.parts.iter().map(|part| self.tokens_of(part)).collect();
        let groups = tokens.len();
        let counts: Vec<usize> = tokens.iter().map(Vec::len).collect();
        let length = |part: &Vec<&[u8]>| part.iter().map(|token| token.len().max(1)).sum();
        let lengths: Vec<usize> = tokens.iter().map(length).collect();
        // In a part there is one token, or each of its characters stands for itself.
        let plain = |part: &Vec<&[u8]>| part.len() <= 1 || part.iter().all(|token| token.len() <= 1);
        let by_token = common(&counts).and_then(|cells| grouped(groups, cells, shape));
        let by_character = common(&lengths).filter(|_| tokens.iter().all(plain));
        let mut by_character = by_character.and_then(|cells| grouped(groups, cells, shape));
        if let ([part], None) = (&tokens[..], by_character) {
            by_character = boxes_apart(part, shape);
        }
        self.count = if groups == 1 && counts == [1] { lengths[0] } else { counts.iter().sum() };
        (self.by_token, self.by_character) = (by_token, by_character);
    }

    fn tokens_of(&self, part: &Range<usize>) -> Vec<&[u8]> {
        let text = &self.text[part.clone()];
        let tabs = self.parts.len() == 1 && {
            let cells = list::split(text, MOST_ROWS, true);
            of_side(cells.len(), None).is_some()
        };
        list::split(text, MOST_ROWS, tabs)
    }

    /// Its cells, separated by blanks.
    pub fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().flat_map(|part| self.tokens_of(part))
    }

    /// Its cells, a character each.
    pub fn symbols(&self) -> impl Iterator<Item = u8> {
        let symbols = |token: &[u8]| if token.is_empty() { vec![b'.'] } else { token.to_vec() };
        self.tokens().flat_map(symbols).collect::<Vec<_>>().into_iter()
    }

    /// What is between upright strokes, with all blanks.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.parts.iter().map(|part| &self.text[part.clone()])
    }

    /// Whether a row has this sign for an empty cell, among others.
    pub fn has_stroke(&self, sign: u8) -> bool {
        STROKES.iter().zip(self.strokes).any(|(&stroke, has)| stroke == sign && has)
    }
}

/// What all are, if they are the same.
fn common(all: &[usize]) -> Option<usize> {
    let first = all.first()?;
    all.iter().all(|one| one == first).then_some(*first)
}

/// The shape of rows of as many groups with as many cells each.
fn grouped(groups: usize, cells: usize, shape: Option<Shape>) -> Option<Shape> {
    let usual = of_side(groups * cells, shape)?;
    if shape.is_some() || groups == 1 || cells == 1 {
        return Some(usual);
    }
    // As many boxes side by side as a box has rows.
    Shape::new(groups.try_into().ok()?, cells.try_into().ok()?).ok()
}

/// The shape of rows whose cells are separated between boxes only, as in `53. .7. ...`.
fn boxes_apart(tokens: &[&[u8]], shape: Option<Shape>) -> Option<Shape> {
    let length = tokens.first()?.len();
    let usual = of_side(tokens.len() * length, shape)?;
    let equal = tokens.iter().all(|token| token.len() == length);
    (equal && tokens.len() == usual.rows()).then_some(usual)
}

/// What is between upright strokes; the margins are left out, and so is nothing at all.
fn parts(text: &[u8]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let is_upright = |byte: &u8| matches!(byte, b'|' | b'!');
    let count = text.iter().filter(|byte| is_upright(byte)).count();
    for (number, part) in text.split(is_upright).enumerate() {
        let is_margin = count > 0 && (number == 0 || number == count) && part.trim_ascii().is_empty();
        if !is_margin && !part.is_empty() && parts.len() <= MOST_ROWS {
            parts.push(start..start + part.len());
        }
        start += part.len() + 1;
    }
    parts
}

/// The name of a section, as in `[Puzzle]`.
fn section(text: &[u8]) -> Option<&[u8]> {
    let name = text.strip_prefix(b"[")?.strip_suffix(b"]")?.trim_ascii();
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() || b" _-".contains(byte);
    (name.iter().all(is_word) && name.iter().any(u8::is_ascii_alphabetic)).then_some(name)
}

/// Strokes that cannot be cells: with corners or crossings, or of several kinds.
fn is_border(text: &[u8]) -> bool {
    let has = |bytes: &[u8]| text.iter().any(|byte| bytes.contains(byte));
    text.iter().all(|byte| b"+-=|!.:'`*_~ \t\r".contains(byte))
        && (has(b"+=:'`~") || has(b"-") && has(b".*_"))
}

/// Words: at least half of what there is are letters, and they are no cells of a large grid.
fn is_words(row: &Row) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() && !b"xX".contains(byte) || *byte == b'@';
    let letters = row.text.iter().filter(|byte| is_letter(byte)).count();
    let all = row.text.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
    if letters == 0 || 2 * letters < all {
        return false;
    }
    let has = |what: fn(&u8) -> bool| row.text.iter().any(what);
    let is_wide = row.by_token.or(row.by_character).is_some_and(|shape| shape.side() > 9);
    // Cells are in letters of one case, and each stands for itself.
    let is_spelled =
        has(u8::is_ascii_lowercase) && (has(u8::is_ascii_uppercase) || row.by_character.is_none());
    !is_wide || is_spelled
}

/// Whether a byte may be between cells.
fn is_between(byte: u8) -> bool {
    b" \t\r|!,;\"'[](){}".contains(&byte)
}
