//! A solver for every shape up to 25x25.

mod board;
mod layout;
mod learn;
#[cfg(test)]
mod made;
mod search;
#[cfg(test)]
mod tests;

use board::Board;
use layout::Layout;
use search::{End, Limits, Tally};

use super::reference::{PuzzleError, check};
use crate::grid::Shape;

/// What to solve, and how far to go.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The shape of the grid.
    pub shape: Shape,
    /// Row by row; 0 is empty.
    pub cells: &'a [u8],
    /// Digits each cell may have, a bit each (bit d-1); `None`: no restriction. Bits above the side do not matter.
    pub candidates: Option<&'a [u32]>,
    /// Stop counting at this many solutions.
    pub limit: u64,
    /// Give up after this many guesses.
    pub cap: u64,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Number of solutions, at most the limit.
    pub solutions: u64,
    /// The solution that was found first.
    pub first: Option<Vec<u8>>,
    /// Whether `solutions` is the number of solutions or the limit; if not, the search gave up at the cap or was
    /// stopped, and `solutions` is a lower bound.
    pub finished: bool,
    /// Guesses that were made.
    pub guesses: u64,
}

/// How a question is answered.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Guesses of the plain search since its last solution before it hands over.
    patience: u64,
    /// Solutions that the learning search lists before it hands back.
    listed: u64,
}

impl Plan {
    const BEST: Self = Self { patience: 100, listed: 4096 };
}

/// Counts the solutions of a puzzle up to a limit, and gives the first one that was found.
///
/// `stop` is asked about every millisecond, and ends the search when it says so.
///
/// # Errors
///
/// As [`check`] does; also when there are not as many candidate sets as cells.
pub fn solve(question: &Question<'_>, stop: &dyn Fn() -> bool) -> Result<Answer, PuzzleError> {
    solve_by(Plan::BEST, question, stop)
}

fn solve_by(plan: Plan, question: &Question<'_>, stop: &dyn Fn() -> bool) -> Result<Answer, PuzzleError> {
    let &Question { shape, cells, candidates, limit, cap } = question;
    let layout = Layout::of(shape);
    for given in [Some(cells.len()), candidates.map(<[u32]>::len)].into_iter().flatten() {
        if given != shape.side() * shape.side() {
            return Err(PuzzleError::Size { cells: given, shape });
        }
    }
    let Some(mut board) = Board::read(layout, cells, candidates) else {
        check(shape, cells)?;
        unreachable!("the board refuses only what the check refuses");
    };
    let mut queue = Vec::new();
    let settled = board.singles(layout, &mut queue).and_then(|()| board.settle(layout, &mut queue));
    if settled.is_err() || limit == 0 {
        return Ok(Answer { finished: true, ..Answer::default() });
    }
    Ok(count(plan, layout, board, &Limits { solutions: limit, guesses: cap, patience: plan.patience, stop }))
}

/// Searches by turns: plainly, then learning if that gets stuck, then plainly again if there are very many solutions.
fn count(plan: Plan, layout: &Layout, board: Board, limits: &Limits<'_>) -> Answer {
    let mut plain = Tally::default();
    let root = (plan.patience < u64::MAX).then(|| board.clone());
    let mut end = search::run(layout, board, limits, &mut plain);
    let mut best = plain;
    if let (End::Stuck, Some(root)) = (end, root) {
        // Each search counts all solutions afresh: what one has seen cannot be told to the next.
        let listed = Limits { solutions: plan.listed.min(limits.solutions), ..*limits };
        let mut learnt = Tally { guesses: best.guesses, ..Tally::default() };
        end = learn::run(layout, &root, &listed, &mut learnt);
        let many =
            end == End::Finished && learnt.solutions == plan.listed && learnt.solutions < limits.solutions;
        best = merged(best, learnt);
        if many {
            let patient = Limits { patience: u64::MAX, ..*limits };
            let mut again = Tally { guesses: best.guesses, ..Tally::default() };
            end = search::run(layout, root, &patient, &mut again);
            best = merged(best, again);
        }
    }
    Answer {
        solutions: best.solutions,
        first: best.first,
        finished: end == End::Finished,
        guesses: best.guesses,
    }
}

/// The larger of two counts of the same solutions, and the first solution of the earlier one.
fn merged(earlier: Tally, later: Tally) -> Tally {
    Tally {
        solutions: earlier.solutions.max(later.solutions),
        first: earlier.first.or(later.first),
        guesses: later.guesses,
    }
}
