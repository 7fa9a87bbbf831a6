//! The complete grid that explains the evidence best.

use super::Costs;
use crate::grid::Shape;

/// Steps of the search: more are not worth the time.
const MOST_STEPS: u32 = 6_000;

/// A state of the search: the digits that each cell may have, a bit each.
#[derive(Clone)]
struct State {
    may: [u16; 81],
    placed: [bool; 81],
}

struct Search<'a> {
    cells: usize,
    /// For each cell its digit's cost, or that of showing nothing if that is less.
    costs: Vec<[f32; 9]>,
    peers: &'a [Vec<usize>],
    best: Option<Vec<u8>>,
    /// What a better grid has to stay below.
    limit: f32,
    steps: u32,
}

/// The grid of the least cost below `limit`, each cell showing its digit or nothing. The best that was found when it
/// takes too long.
pub(super) fn best_grid(shape: Shape, evidence: &[Costs], limit: f32) -> Option<Vec<u8>> {
    let side = shape.side();
    let peers = peers(shape);
    let costs = evidence.iter().map(|costs| {
        let mut least = [f32::MAX; 9];
        for (digit, least) in least.iter_mut().enumerate().take(side) {
            *least = costs[digit + 1].min(costs[0]);
        }
        least
    });
    let mut search =
        Search { cells: side * side, costs: costs.collect(), peers: &peers, best: None, limit, steps: 0 };
    let all = u16::try_from((1_u32 << side) - 1).unwrap_or(u16::MAX);
    search.node(&State { may: [all; 81], placed: [false; 81] });
    search.best
}

/// The cells that share a row, column or box with each.
pub(in crate::photo) fn peers(shape: Shape) -> Vec<Vec<usize>> {
    let side = shape.side();
    let units = |cell: usize| {
        let (row, column) = (cell / side, cell % side);
        (row, column, row / shape.rows() * shape.rows() + column / shape.columns())
    };
    let share = |a: usize, b: usize| {
        let (a, b) = (units(a), units(b));
        a.0 == b.0 || a.1 == b.1 || a.2 == b.2
    };
    let of = |cell| (0..side * side).filter(|&other| other != cell && share(cell, other)).collect();
    (0..side * side).map(of).collect()
}

impl Search<'_> {
    fn node(&mut self, state: &State) {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return;
        }
        let mut state = state.clone();
        // Cells with one digit left are placed, until there are none.
        loop {
            let single =
                (0..self.cells).find(|&cell| !state.placed[cell] && state.may[cell].is_power_of_two());
            let Some(cell) = single else { break };
            let digit = state.may[cell].trailing_zeros() as usize;
            if !self.place(&mut state, cell, digit) {
                return;
            }
        }
        let (mut bound, mut choice) = (0.0, None);
        for cell in 0..self.cells {
            let (least, next) = self.two_least(cell, state.may[cell]);
            bound += least;
            if !state.placed[cell] {
                // Where the evidence decides most; where it does not, where the fewest digits are left.
                let urgency = (next - least).min(8.0) - 0.1 * state.may[cell].count_ones() as f32;
                if choice.is_none_or(|(most, _)| urgency > most) {
                    choice = Some((urgency, cell));
                }
            }
        }
        if bound >= self.limit {
            return;
        }
        let Some((_, cell)) = choice else {
            self.limit = bound;
            let digit = |cell: usize| state.may[cell].trailing_zeros() as u8 + 1;
            self.best = Some((0..self.cells).map(digit).collect());
            return;
        };
        let mut digits: Vec<usize> = (0..9).filter(|&digit| state.may[cell] >> digit & 1 == 1).collect();
        digits.sort_by(|&a, &b| self.costs[cell][a].total_cmp(&self.costs[cell][b]));
        for digit in digits {
            let mut next = state.clone();
            if self.place(&mut next, cell, digit) {
                self.node(&next);
            }
        }
    }

    /// Gives a cell a digit. False when another cell has none left.
    fn place(&self, state: &mut State, cell: usize, digit: usize) -> bool {
        let bit = 1 << digit;
        state.may[cell] = bit;
        state.placed[cell] = true;
        for &other in &self.peers[cell] {
            state.may[other] &= !bit;
            if state.may[other] == 0 {
                return false;
            }
        }
        true
    }

    /// The two least costs of the digits that a cell may have.
    fn two_least(&self, cell: usize, may: u16) -> (f32, f32) {
        let (mut least, mut next) = (f32::MAX, f32::MAX);
        for (digit, &cost) in self.costs[cell].iter().enumerate() {
            if may >> digit & 1 == 1 {
                next = next.min(cost.max(least));
                least = least.min(cost);
            }
        }
        (least, if next == f32::MAX { least } else { next })
    }
}
