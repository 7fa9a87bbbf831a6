//! What was read.

pub use super::read::Reader;
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
    /// The crossings of its lines, row by row, `(side + 1) * (side + 1)` of them, on [`Photo::gray`](super::load::Photo::gray): the first is the
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
