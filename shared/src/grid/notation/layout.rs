//! How a file holds its puzzles, told by its beginning.

use serde::{Deserialize, Serialize};

use super::{
    binary,
    blocks::{Blocks, blocks},
    error::{LayoutError, NotationError},
    line_layout::LineLayout,
    open_sudoku::open_sudoku,
    puzzle::Puzzle,
    row::Line,
    signs::without_mark,
    table::{guess, reads},
};
use crate::grid::Shape;

/// Bytes of a file that are looked at.
pub const HEAD_BYTES: usize = 64 << 10;

/// How a file holds its puzzles.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Layout {
    /// Each line is a record: see [`LineLayout::read`].
    Lines(LineLayout),
    /// A puzzle takes several lines, as in drawings, `.sdk` and `.ss`: see [`super::blocks`].
    Blocks,
    /// Puzzles are elements, `<game data="..."/>`: see [`super::open_sudoku`].
    OpenSudoku,
}

impl Layout {
    /// Tells the layout of a file by its first [`HEAD_BYTES`], or all of it if it is shorter. When nothing can be
    /// read, it is a layout whose errors are likely to help.
    ///
    /// # Errors
    ///
    /// When this is no text; says what it looks like.
    ///
    /// Cost: some milliseconds at most.
    ///
    /// ```
    /// use shared::grid::notation::{Layout, LineLayout};
    ///
    /// let csv = b"id,puzzle,rating\n7,1.....3..2.....4,1.2\n";
    /// let lines = LineLayout { column: 1, delimiter: Some(b','), header: true };
    /// assert_eq!(Layout::detect(csv), Ok(Layout::Lines(lines)));
    /// assert_eq!(Layout::detect(b"1...\n..3.\n.2..\n...4\n"), Ok(Layout::Blocks));
    /// assert!(Layout::detect(b"\x1F\x8B\x08").unwrap_err().to_string().contains("gzip"));
    /// ```
    pub fn detect(head: &[u8]) -> Result<Self, LayoutError> {
        let is_cut = head.len() >= HEAD_BYTES;
        let head = &head[..head.len().min(HEAD_BYTES)];
        binary::check(head)?;
        let mut text = without_mark(head);
        if is_cut && let Some(last) = text.iter().rposition(|&byte| byte == b'\n') {
            text = &text[..last];
        }
        if is_markup(text) {
            return Ok(Self::OpenSudoku);
        }
        let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
        let lines: Vec<&[u8]> = lines.into_iter().filter(|line| !LineLayout::passes_over(line)).collect();
        let layout = guess(&lines);
        let records = &lines[usize::from(layout.header)..];
        let read = reads(&layout, records);
        if is_drawn(text, is_cut, records, read) { Ok(Self::Blocks) } else { Ok(Self::Lines(layout)) }
    }

    /// The first puzzle of a file, or what is wrong where it should be; `None` if nothing looks like one. With a shape,
    /// only puzzles of it.
    ///
    /// Cost: what comes before it is read.
    ///
    /// ```
    /// use shared::grid::notation::Layout;
    ///
    /// for text in [&b"# one\nid,puzzle\n7,1.....3..2.....4\n"[..], b"1...\n..3.\n.2..\n...4\n"] {
    ///     let first = Layout::detect(text).unwrap().first(text, None).unwrap().unwrap();
    ///     assert_eq!(first.cells, [1, 0, 0, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 0, 0, 4]);
    /// }
    /// ```
    pub fn first(&self, text: &[u8], shape: Option<Shape>) -> Option<Result<Puzzle, NotationError>> {
        let text = without_mark(text);
        match self {
            Self::Lines(layout) => {
                let lines = text.split(|&byte| byte == b'\n');
                let mut records = lines.filter(|line| !LineLayout::passes_over(line));
                records.nth(usize::from(layout.header)).and_then(|line| layout.read(line, shape).transpose())
            }
            Self::Blocks => blocks(text, shape).next().map(|(_, read)| read),
            Self::OpenSudoku => open_sudoku(text, shape).next().map(|(_, read)| read),
        }
    }
}

fn is_markup(text: &[u8]) -> bool {
    let has = |tag: &[u8]| text.windows(tag.len()).any(|window| window == tag);
    text.trim_ascii_start().starts_with(b"<") && (has(b"<opensudoku") || has(b"<game") || has(b"<?xml"))
}

/// Whether puzzles take several lines, when so many lines can be `read` as one each.
fn is_drawn(text: &[u8], is_cut: bool, records: &[&[u8]], read: usize) -> bool {
    // A row of a drawing of candidates may happen to be 81 digits and blanks.
    let is_blank = |line: &&&[u8]| line.trim_ascii_end().len() >= 81 && line[..81].contains(&b' ');
    let with_blanks = records.iter().filter(is_blank).count();
    if read * 10 >= records.len() * 9 && with_blanks * 2 < records.len().max(1) {
        return false;
    }
    let (mut drawn, mut errors) = (0, 0);
    let mut blocks = Blocks::new(text, None);
    while let Some((_, puzzle)) = blocks.next() {
        drawn += usize::from(puzzle.is_ok() && blocks.drawn);
        errors += usize::from(puzzle.is_err());
    }
    // The last one may be cut.
    errors -= usize::from(is_cut && errors > 0);
    if drawn > 0 && (errors == 0 || read * 2 < records.len()) {
        return true;
    }
    read == 0 && records.iter().filter(|line| is_row(line)).count() * 2 > records.len().max(2)
}

/// Whether a line could belong to a drawing.
fn is_row(line: &[u8]) -> bool {
    line.len() < 1024
        && matches!(Line::read(line, 1, None), Line::Border | Line::Row(_) | Line::Section { .. })
}
