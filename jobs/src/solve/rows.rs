//! Rows: what is known of a line, and how a part keeps it.
//!
//! Parts are half as long as the text they become: two digits a byte. They are written once and read once, and a
//! corpus can be larger than what a disk takes at the speed of the solver.

use std::borrow::Cow;

use shared::grid::Shape;

/// What a line is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// One solution.
    Unique,
    /// More than one.
    Multiple,
    /// No solution.
    None,
    /// Digits clash.
    Invalid,
    /// No puzzle.
    Unreadable,
}

impl Verdict {
    /// In the order of their numbers in parts.
    pub const ALL: [Self; 5] = [Self::Unique, Self::Multiple, Self::None, Self::Invalid, Self::Unreadable];

    /// By the number of solutions.
    pub fn of(solutions: u64) -> Self {
        match solutions {
            0 => Self::None,
            1 => Self::Unique,
            _ => Self::Multiple,
        }
    }

    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::Multiple => "multiple",
            Self::None => "none",
            Self::Invalid => "invalid",
            Self::Unreadable => "unreadable",
        }
    }
}

/// What is known of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    pub shape: Shape,
    /// Empty if there is no puzzle.
    pub cells: Cow<'a, [u8]>,
    pub verdict: Verdict,
    /// Up to the limit.
    pub solutions: u64,
    /// The only solution; else empty.
    pub solution: Cow<'a, [u8]>,
    /// What is wrong with the line, if something is.
    pub problem: Cow<'a, str>,
}

/// Bytes of a problem at most.
const MOST_PROBLEM_BYTES: usize = 300;

impl<'a> Row<'a> {
    /// A puzzle with its number of solutions; `solution` is kept if it is the only one.
    pub fn solved(
        shape: Shape,
        cells: impl Into<Cow<'a, [u8]>>,
        solutions: u64,
        solution: impl Into<Cow<'a, [u8]>>,
    ) -> Self {
        let verdict = Verdict::of(solutions);
        let solution = if verdict == Verdict::Unique { solution.into() } else { Cow::default() };
        Self { shape, cells: cells.into(), verdict, solutions, solution, problem: Cow::default() }
    }

    /// A puzzle whose clues clash.
    pub fn invalid(shape: Shape, cells: &'a [u8], problem: &str) -> Self {
        let row = Self::solved(shape, cells, 0, Cow::default());
        Self { verdict: Verdict::Invalid, problem: cut(problem), ..row }
    }

    /// A line that is no puzzle.
    pub fn unreadable(problem: &str) -> Self {
        let row = Self::solved(Shape::NINE, Cow::default(), 0, Cow::default());
        Self { verdict: Verdict::Unreadable, problem: cut(problem), ..row }
    }

    /// Given cells.
    pub fn clues(&self) -> usize {
        // Bytes are counted in bytes, many at once; 255 of them cannot overflow one.
        self.cells
            .chunks(255)
            .map(|cells| usize::from(cells.iter().map(|&cell| u8::from(cell != 0)).sum::<u8>()))
            .sum()
    }

    /// Appends the row to a part.
    pub fn write(&self, part: &mut Vec<u8>) {
        part.push(self.verdict as u8);
        match self.verdict {
            Verdict::Unreadable => write_text(&self.problem, part),
            Verdict::Unique => {
                write_cells(self.shape, &self.cells, part);
                pack(self.shape, &self.solution, part);
            }
            Verdict::Multiple => {
                write_cells(self.shape, &self.cells, part);
                part.extend_from_slice(&self.solutions.to_le_bytes());
            }
            Verdict::None => write_cells(self.shape, &self.cells, part),
            Verdict::Invalid => {
                write_cells(self.shape, &self.cells, part);
                write_text(&self.problem, part);
            }
        }
    }

    /// Reads the row that a part begins with, and takes it away; `None` if it is no row.
    pub fn read(part: &mut &[u8]) -> Option<Row<'static>> {
        let verdict = *Verdict::ALL.get(usize::from(*part.split_off_first()?))?;
        if verdict == Verdict::Unreadable {
            return Some(Row::unreadable(read_text(part)?));
        }
        let (rows, columns) = (*part.split_off_first()?, *part.split_off_first()?);
        let shape = Shape::new(rows, columns).ok()?;
        let cells = unpack(shape, part)?;
        let mut row = Row::solved(shape, cells, 0, Cow::default());
        match verdict {
            Verdict::Unique => (row.solutions, row.solution) = (1, unpack(shape, part)?.into()),
            Verdict::Multiple => row.solutions = u64::from_le_bytes(part.split_off(..8)?.try_into().ok()?),
            Verdict::Invalid => row.problem = read_text(part)?.to_owned().into(),
            Verdict::None | Verdict::Unreadable => {}
        }
        row.verdict = verdict;
        Some(row)
    }
}

/// The beginning of a text.
fn cut(text: &str) -> Cow<'static, str> {
    let end = (0..=MOST_PROBLEM_BYTES.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    text[..end.unwrap_or(0)].to_owned().into()
}

fn write_text(text: &str, part: &mut Vec<u8>) {
    let len = u16::try_from(text.len()).expect("texts are cut");
    part.extend_from_slice(&len.to_le_bytes());
    part.extend_from_slice(text.as_bytes());
}

fn read_text<'p>(part: &mut &'p [u8]) -> Option<&'p str> {
    let len = u16::from_le_bytes(part.split_off(..2)?.try_into().ok()?);
    str::from_utf8(part.split_off(..usize::from(len))?).ok()
}

fn write_cells(shape: Shape, cells: &[u8], part: &mut Vec<u8>) {
    let small = |n: usize| u8::try_from(n).expect("sides are at most 25");
    part.extend_from_slice(&[small(shape.rows()), small(shape.columns())]);
    pack(shape, cells, part);
}

/// Whether a byte takes two cells.
fn halves(shape: Shape) -> bool {
    shape.side() < 16
}

fn pack(shape: Shape, cells: &[u8], part: &mut Vec<u8>) {
    if halves(shape) {
        // Room first: what is filled in a loop without growth is filled many bytes at once.
        let start = part.len();
        part.resize(start + cells.len().div_ceil(2), 0);
        let (pairs, last) = cells.as_chunks::<2>();
        for (byte, [a, b]) in part[start..].iter_mut().zip(pairs) {
            *byte = a << 4 | b;
        }
        if let ([a], Some(byte)) = (last, part.last_mut()) {
            *byte = a << 4;
        }
    } else {
        part.extend_from_slice(cells);
    }
}

fn unpack(shape: Shape, part: &mut &[u8]) -> Option<Vec<u8>> {
    let count = shape.side() * shape.side();
    let len = if halves(shape) { count.div_ceil(2) } else { count };
    let bytes = part.split_off(..len)?;
    let mut cells = vec![0; if halves(shape) { 2 * len } else { count }];
    if halves(shape) {
        for (pair, byte) in cells.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
            *pair = [byte >> 4, byte & 15];
        }
        cells.truncate(count);
    } else {
        cells.copy_from_slice(bytes);
    }
    let most = cells.iter().fold(0, |most, &cell| most.max(cell));
    (usize::from(most) <= shape.side()).then_some(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_give_back_what_was_written_and_nothing_from_torn_ones() {
        let large = Shape::new(5, 5).unwrap();
        let nine: Vec<u8> = (0..81).map(|cell| cell % 10).collect();
        let huge: Vec<u8> = (0..625u16).map(|cell| u8::try_from(cell % 26).unwrap()).collect();
        let rows = [
            Row::solved(Shape::NINE, nine.clone(), 1, nine.clone()),
            Row::solved(Shape::NINE, nine.clone(), 1000, nine.clone()),
            Row::solved(large, huge.clone(), 1, huge),
            Row::solved(Shape::FOUR, vec![4; 16], 0, Cow::default()),
            Row::invalid(Shape::NINE, &nine, "5 is given twice"),
            Row::unreadable(&"é".repeat(1000)),
        ];
        let mut part = Vec::new();
        rows.iter().for_each(|row| row.write(&mut part));
        let mut rest = part.as_slice();
        for row in &rows {
            assert_eq!(Row::read(&mut rest).as_ref(), Some(row));
        }
        assert!(rest.is_empty());
        for len in 0..part.len() {
            let mut torn = &part[..len];
            while !torn.is_empty() && Row::read(&mut torn).is_some() {}
        }
        assert_eq!(Row::read(&mut [9].as_slice()), None);
        assert_eq!(Row::read(&mut [2, 2, 2, 0x55, 0, 0, 0, 0, 0, 0, 0].as_slice()), None, "5 in 4x4");
    }
}
