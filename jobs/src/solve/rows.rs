//! Rows: what is known of a line, and how a part keeps it.
//!
//! Parts are a third as long as the text they become: two digits a byte, and of a solved puzzle where it has its clues. They
//! are written once and read once, and a corpus can be larger than what a disk takes at the speed of the solver.

use shared::grid::Shape;

use super::{
    args::Asked,
    more::{More, NO_MORE},
    packing::{pack, pack_filled, unpack, unpack_filled},
};

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
    /// Given up.
    Unsolved,
    /// A solution was found, and others were not looked for.
    Solved,
}

impl Verdict {
    /// In the order of their numbers in parts.
    pub const ALL: [Self; 7] = [
        Self::Unique,
        Self::Multiple,
        Self::None,
        Self::Invalid,
        Self::Unreadable,
        Self::Unsolved,
        Self::Solved,
    ];

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
            Self::Unsolved => "unsolved",
            Self::Solved => "solved",
        }
    }
}

/// What is known of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    pub shape: Shape,
    /// Empty if there is no puzzle.
    pub cells: &'a [u8],
    /// Digits that each cell may have, a bit each, if the line says more than clues.
    pub candidates: Option<&'a [u32]>,
    pub verdict: Verdict,
    /// Up to the limit.
    pub solutions: u64,
    /// The only solution, or the one that was found; else empty.
    pub solution: &'a [u8],
    /// What is wrong with the line, if something is.
    pub problem: &'a str,
    /// What was asked for beside.
    pub more: &'a More,
}

/// Memory for rows that are read, used again from row to row.
#[derive(Default)]
pub struct Scratch {
    cells: Vec<u8>,
    candidates: Vec<u32>,
    solution: Vec<u8>,
    more: More,
}

/// Bytes of a problem at most.
const MOST_PROBLEM_BYTES: usize = 300;

/// Added to the rows of a box where candidates stand in the place of clues.
const WITH_CANDIDATES: u8 = 0x80;

impl<'a> Row<'a> {
    /// A puzzle with its number of solutions; `solution` is kept if it is the only one.
    pub fn solved(shape: Shape, cells: &'a [u8], solutions: u64, solution: &'a [u8]) -> Self {
        let verdict = Verdict::of(solutions);
        let solution = if verdict == Verdict::Unique { solution } else { &[] };
        Self { shape, cells, candidates: None, verdict, solutions, solution, problem: "", more: NO_MORE }
    }

    /// A line that is no puzzle.
    pub fn unreadable(problem: &'a str) -> Self {
        let row = Self::solved(Shape::NINE, &[], 0, &[]);
        Self { verdict: Verdict::Unreadable, problem: cut(problem), ..row }
    }

    /// A puzzle whose clues clash.
    pub fn invalid(shape: Shape, cells: &'a [u8], problem: &'a str) -> Self {
        let row = Self::solved(shape, cells, 0, &[]);
        Self { verdict: Verdict::Invalid, problem: cut(problem), ..row }
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
    pub fn write(&self, asked: Asked, part: &mut Vec<u8>) {
        part.push(self.verdict as u8);
        if self.verdict == Verdict::Unreadable {
            return write_text(self.problem, part);
        }
        self.write_shape(part);
        match self.verdict {
            // The puzzle is its solution and where that is given.
            Verdict::Unique | Verdict::Solved => {
                pack(self.shape, self.solution, part);
                pack_filled(self.cells, part);
            }
            _ => pack(self.shape, self.cells, part),
        }
        match self.verdict {
            Verdict::Multiple | Verdict::Unsolved => part.extend_from_slice(&self.solutions.to_le_bytes()),
            Verdict::Invalid => write_text(self.problem, part),
            Verdict::Unique | Verdict::Solved | Verdict::None | Verdict::Unreadable => {}
        }
        self.more.write(self.shape, asked, part);
    }

    fn write_shape(&self, part: &mut Vec<u8>) {
        let small = |n: usize| u8::try_from(n).expect("sides are at most 25");
        let (rows, columns) = (small(self.shape.rows()), small(self.shape.columns()));
        if let Some(candidates) = self.candidates {
            part.extend_from_slice(&[rows | WITH_CANDIDATES, columns]);
            candidates.iter().for_each(|digits| part.extend_from_slice(&digits.to_le_bytes()));
        } else {
            part.extend_from_slice(&[rows, columns]);
        }
    }

    /// Reads the row that a part begins with, and takes it away; `None` if it is no row.
    pub fn read<'p: 'a>(part: &mut &'p [u8], asked: Asked, scratch: &'a mut Scratch) -> Option<Self> {
        let verdict = *Verdict::ALL.get(usize::from(*part.split_off_first()?))?;
        if verdict == Verdict::Unreadable {
            return Some(Row::unreadable(read_text(part)?));
        }
        let (rows, columns) = (*part.split_off_first()?, *part.split_off_first()?);
        let shape = Shape::new(rows & !WITH_CANDIDATES, columns).ok()?;
        let has_candidates = rows & WITH_CANDIDATES != 0;
        if has_candidates {
            let (sets, _) = part.split_off(..4 * shape.side() * shape.side())?.as_chunks();
            scratch.candidates.clear();
            scratch.candidates.extend(sets.iter().map(|&set| u32::from_le_bytes(set)));
        }
        let (mut solutions, mut problem) = (0, "");
        if matches!(verdict, Verdict::Unique | Verdict::Solved) {
            unpack(shape, part, &mut scratch.solution)?;
            unpack_filled(&scratch.solution, part, &mut scratch.cells)?;
        } else {
            scratch.solution.clear();
            unpack(shape, part, &mut scratch.cells)?;
        }
        match verdict {
            Verdict::Unique | Verdict::Solved => solutions = 1,
            Verdict::Multiple | Verdict::Unsolved => {
                solutions = u64::from_le_bytes(part.split_off(..8)?.try_into().ok()?);
            }
            Verdict::Invalid => problem = read_text(part)?,
            Verdict::None | Verdict::Unreadable => {}
        }
        scratch.more = More::read(shape, asked, part)?;
        Some(Self {
            shape,
            cells: &scratch.cells,
            candidates: has_candidates.then_some(&scratch.candidates),
            verdict,
            solutions,
            solution: &scratch.solution,
            problem,
            more: &scratch.more,
        })
    }
}

/// The beginning of a text.
fn cut(text: &str) -> &str {
    let end = (0..=MOST_PROBLEM_BYTES.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
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

#[cfg(test)]
mod tests {
    use super::super::more::Form;
    use shared::solve::{
        level::{Level, Technique},
        methods::Effort,
    };

    use super::*;

    #[test]
    fn parts_give_back_what_was_written_and_nothing_from_torn_ones() {
        let large = Shape::new(5, 5).unwrap();
        let nine: Vec<u8> = (0..81).map(|cell| cell % 10).collect();
        let huge: Vec<u8> = (0..625u16).map(|cell| u8::try_from(cell % 26).unwrap()).collect();
        let problem = "é".repeat(1000);
        let form = Some(Form { cells: nine.clone(), automorphisms: 648 });
        let level = Some(Level { technique: Technique::Search, depth: 3 });
        let effort = Some(Effort { nodes: u64::MAX, guesses: 0, iterations: 7 });
        let more = [
            More { redundant: Some(vec![]), level, ..More::default() },
            More { redundant: Some(vec![0, 80]), form, effort, ..More::default() },
            More::default(),
        ];
        let marks: Vec<u32> = (0..81).map(|cell| 1 << (cell % 9)).collect();
        let rows = [
            Row::solved(Shape::NINE, &nine, 1, &nine),
            Row { more: &more[0], ..Row::solved(Shape::NINE, &nine, 1, &nine) },
            Row { more: &more[1], ..Row::solved(Shape::NINE, &nine, 1, &nine) },
            Row::solved(Shape::NINE, &nine, 1000, &nine),
            Row { candidates: Some(&marks), ..Row::solved(Shape::NINE, &nine, 0, &[]) },
            Row::solved(large, &huge, 1, &huge),
            Row::solved(Shape::FOUR, &[4; 16], 0, &[]),
            Row { verdict: Verdict::Unsolved, ..Row::solved(large, &huge, 1, &[]) },
            Row { solution: &[], ..Row::solved(large, &huge, 2, &[]) },
            Row { verdict: Verdict::Solved, ..Row::solved(Shape::NINE, &nine, 1, &nine) },
            Row::invalid(Shape::NINE, &nine, "5 is given twice"),
            Row::unreadable(&problem),
        ];
        let mut scratch = Scratch::default();
        for bits in 0..16 {
            let asked = |bit: u8| bits >> bit & 1 == 1;
            let asked = Asked { redundant: asked(0), form: asked(1), level: asked(2), effort: asked(3) };
            let mut part = Vec::new();
            rows.iter().for_each(|row| row.write(asked, &mut part));
            let mut rest = part.as_slice();
            for row in &rows {
                let more = More {
                    redundant: row.more.redundant.clone().filter(|_| asked.redundant),
                    form: row.more.form.clone().filter(|_| asked.form),
                    level: row.more.level.filter(|_| asked.level),
                    effort: row.more.effort.filter(|_| asked.effort),
                };
                let expected = Row { more: &more, ..row.clone() };
                assert_eq!(Row::read(&mut rest, asked, &mut scratch).as_ref(), Some(&expected));
            }
            assert!(rest.is_empty());
            for len in 0..part.len() {
                let mut torn = &part[..len];
                while !torn.is_empty() && Row::read(&mut torn, asked, &mut scratch).is_some() {}
            }
        }
        let asked = Asked::default();
        assert_eq!(Row::read(&mut [9].as_slice(), asked, &mut scratch), None);
        let five_in_four = [2, 2, 2, 0x55, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(Row::read(&mut five_in_four.as_slice(), asked, &mut scratch), None);
    }
}
