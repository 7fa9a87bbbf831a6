//! Whether what was read is a sudoku, and which of its cells are doubtful.

use super::{
    classify::{CANDIDATES, LogProbabilities},
    decode::{Costs, Decoded, is_nearly_full, peers},
};
use crate::{grid::Shape, unavoidable::CellSet};

/// A cell that is less sure than this is doubtful.
const SURE: f32 = 0.97;
/// The same on a board that has no one solution.
const SURER: f32 = 0.999;

/// What is thought of a lattice with digits.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub flagged: CellSet,
    pub candidates: CellSet,
    /// Whether it is a sudoku that can be read.
    pub readable: bool,
    /// To compare readings of the same place: more is better.
    pub value: f32,
}

/// Cells with one number twice in a row, column or box.
fn clashing(cells: &[u8], shape: Shape) -> CellSet {
    let peers = peers(shape);
    let clashes =
        |&cell: &usize| cells[cell] != 0 && peers[cell].iter().any(|&peer| cells[peer] == cells[cell]);
    (0..cells.len()).filter(clashes).collect()
}

/// Judges a board. `present` is the share of the lattice's edges that are there.
pub(super) fn judge(
    shape: Shape,
    decoded: &Decoded,
    evidence: &[Costs],
    seen: &[LogProbabilities],
    present: f64,
) -> Judged {
    let digits = decoded.cells.iter().filter(|&&value| value != 0).count();
    // There an empty cell is doubtful.
    let nearly_full = is_nearly_full(digits, decoded.cells.len());
    let clashes = clashing(&decoded.cells, shape);
    let doubtful = |&cell: &usize| {
        decoded.confidence[cell] < if decoded.solutions == 1 { SURE } else { SURER }
            || (nearly_full && decoded.cells[cell] == 0)
            || clashes.contains(cell)
    };
    let flagged: CellSet = (0..decoded.cells.len()).filter(doubtful).collect();
    let small = |&cell: &usize| decoded.cells[cell] == 0 && is_candidates(&seen[cell]);
    let candidates: CellSet = (0..decoded.cells.len()).filter(small).collect();
    // How far each cell is from being told apart: nothing for one that is clear.
    let unclear: f32 = evidence.iter().map(unclear).sum::<f32>() / evidence.len() as f32;
    let least = shape.side() * shape.side() / 5;
    let clashes = clashes.len();
    let readable = match decoded.solutions {
        1 => unclear < 0.25,
        // Some digits were rubbed out, or are not seen.
        2 => digits > least && unclear < 0.08 && present > 0.8,
        // A board that is filled in has few clashes even with several mistakes: other numbers clash nearly everywhere.
        _ if nearly_full && present > 0.95 => unclear < 0.12 && clashes * 3 < digits,
        // A mistake in filling in leaves a few clashes, and everything else is clear.
        _ => digits > 2 * least && unclear < 0.08 && present > 0.85 && clashes * 6 < digits,
    } && digits * 2 > least
        && (shape == Shape::NINE || is_clear_small_board(decoded, flagged, unclear, present));
    let others = if decoded.solutions == 1 { 0.0 } else { 12.0 };
    // A part of a larger grid looks like a smaller one.
    let large = if shape == Shape::NINE { 4.0 } else { 0.0 };
    let value = large + 60.0 * present as f32 - 40.0 * unclear - others - decoded.cost.min(40.0) * 0.5;
    Judged { flagged, candidates, readable, value }
}

/// Whether a board of 4x4 or 6x6 is beyond doubt: a few lines and strokes that are none look like one sooner than like
/// 9x9.
fn is_clear_small_board(decoded: &Decoded, flagged: CellSet, unclear: f32, present: f64) -> bool {
    let few = flagged.len() * 8 < decoded.cells.len();
    decoded.solutions == 1 && decoded.cost == 0.0 && few && unclear < 0.08 && present > 0.9
}

/// How near the second best value of a cell is, from 0 (far) to 1 (as good).
fn unclear(costs: &Costs) -> f32 {
    let second = costs.iter().filter(|&&cost| cost > 0.0).fold(f32::MAX, |a, &b| a.min(b));
    let equal = costs.iter().filter(|&&cost| cost == 0.0).count() > 1;
    if equal { 1.0 } else { (1.0 - second / 4.0).clamp(0.0, 1.0) }
}

fn is_candidates(seen: &LogProbabilities) -> bool {
    seen.iter().all(|&other| other <= seen[CANDIDATES])
}
