//! From what each cell seems to show to the most likely board.
//!
//! A board of a newspaper has exactly one solution, filled in or not. So what the cells show is taken as it is if it has;
//! otherwise the complete grid is looked for that explains the evidence best, each cell showing its digit or nothing
//! (`grids`). How sure a cell is then depends on what else it could be: another digit that the rules allow counts as
//! much as it is likely, one that the rules forbid hardly.

mod grids;

use super::classify::{CANDIDATES, LogProbabilities, NOTHING};
use crate::{
    grid::Shape,
    solve::{
        bitslice::{self, Engine, Level},
        general::{Question, solve},
    },
};
use grids::best_grid;
pub(super) use grids::peers;

/// What speaks against each value of a cell, from 0 for what is most likely: differences of log-probabilities. The value
/// 0 is a cell without a digit.
pub(super) type Costs = [f32; 10];

/// The cost of a whole correction, and of one cell of it, that is believed: people make mistakes in filling in, too.
const MOST_COST: f32 = 60.0;
const MOST_COST_OF_CELL: f32 = 9.0;
/// The most cells of a board that is filled in of which a change may cost more: a hand that the classifier does not know is
/// misread several times, while one clash of two clear digits is somebody's mistake.
const MOST_MISREAD: std::ops::RangeInclusive<usize> = 2..=6;
/// The same for a change that makes one solution of several: a board may have several.
const MOST_COST_OF_CLUE: f32 = 4.5;

/// How likely a board is that has no solution, or several, against one that has one.
const OTHER_BOARDS: f32 = 0.02;

/// Boards that are tested for how sure the cells are.
const MOST_TESTS: usize = 600;

/// A board, and how sure it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decoded {
    /// Row by row, 0 for nothing.
    pub cells: Vec<u8>,
    /// The probability that each is right.
    pub confidence: Vec<f32>,
    /// Solutions, at most 2.
    pub solutions: u64,
    /// What the evidence says against it in all.
    pub cost: f32,
}

/// Counts solutions up to 2, for many boards.
pub(super) struct Counter {
    engine: Engine,
    answers: Vec<bitslice::Answer>,
}

impl Default for Counter {
    fn default() -> Self {
        Self { engine: Engine::new(Level::best()), answers: Vec::new() }
    }
}

impl Counter {
    /// The numbers of solutions, at most 2 each.
    pub(super) fn count(&mut self, shape: Shape, boards: &[Vec<u8>]) -> Vec<u64> {
        if shape == Shape::NINE {
            let nine = |board: &Vec<u8>| <[u8; 81]>::try_from(board.as_slice()).unwrap_or([0; 81]);
            let puzzles: Vec<[u8; 81]> = boards.iter().map(nine).collect();
            self.engine.solve(&puzzles, 2, &mut self.answers);
            return self.answers.iter().map(|answer| u64::from(answer.solutions)).collect();
        }
        let one = |cells: &Vec<u8>| {
            let question = Question { shape, cells, candidates: None, limit: 2, cap: 1 << 20 };
            solve(&question, &|| false).map_or(0, |answer| answer.solutions)
        };
        boards.iter().map(one).collect()
    }
}

/// The costs of a cell.
pub(super) fn costs(of: &LogProbabilities) -> Costs {
    let mut costs = [0.0_f32; 10];
    costs[0] = of[NOTHING].max(of[CANDIDATES]);
    costs[1..].copy_from_slice(&of[1..10]);
    let best = costs.iter().fold(f32::MIN, |a, &b| a.max(b));
    costs.map(|value| (best - value).min(MOST_DOUBT))
}

/// The largest cost. No probability is believed to be less than a millionth: everything can be mistaken.
const MOST_DOUBT: f32 = 13.815_51;

/// The most likely board.
pub(super) fn decode(shape: Shape, evidence: &[Costs], counter: &mut Counter) -> Decoded {
    let evidence = &with_prior(evidence);
    let digits = shape.side() + 1;
    let cheapest =
        |costs: &Costs| (0..digits).reduce(|a, b| if costs[b] < costs[a] { b } else { a }).unwrap_or(0) as u8;
    let raw: Vec<u8> = evidence.iter().map(cheapest).collect();
    let mut solutions = counter.count(shape, std::slice::from_ref(&raw))[0];
    let mut cells = raw.clone();
    // Digits that clash are many mistakes, or one of many cells; too few are a digit or two that were not seen.
    let better = match solutions {
        1 => None,
        0 => explained(shape, &raw, evidence, counter)
            .or_else(|| changed_a_little(shape, &raw, evidence, MOST_COST_OF_CELL, counter)),
        _ => changed_a_little(shape, &raw, evidence, MOST_COST_OF_CLUE, counter),
    };
    if let Some(better) = better {
        (cells, solutions) = (better, 1);
    }
    let cost = cells.iter().zip(evidence).map(|(&value, costs)| costs[usize::from(value)]).sum();
    let confidence = confidence(shape, &cells, solutions, evidence, counter);
    Decoded { cells, confidence, solutions, cost }
}

/// Per cent of the cells. Where more have a digit, somebody has filled the board in.
const NEARLY_FULL: usize = 85;

/// Whether a board with so many digits is one that somebody has filled in.
pub(super) fn is_nearly_full(digits: usize, cells: usize) -> bool {
    digits * 100 > cells * NEARLY_FULL
}

/// The part of the cells without a digit among those that the classifier was trained on.
const EMPTY: f32 = 0.32;

/// The evidence for cells like those of this board: where nearly every cell has a digit, one that seems empty is rather
/// one with a digit that is hard to see, for boards are either puzzles or filled in.
fn with_prior(evidence: &[Costs]) -> Vec<Costs> {
    let empty = evidence.iter().filter(|costs| costs[0] == 0.0).count();
    if !is_nearly_full(evidence.len() - empty, evidence.len()) {
        return evidence.to_vec();
    }
    let empty = empty as f32 / evidence.len() as f32;
    let part = (empty / 4.0).max(0.003);
    let more = ln(EMPTY / (1.0 - EMPTY) * (1.0 - part) / part);
    let one = |costs: &Costs| {
        let mut costs = *costs;
        costs[0] += more;
        let least = costs.iter().fold(f32::MAX, |a, &b| a.min(b));
        costs.map(|cost| (cost - least).min(MOST_DOUBT))
    };
    evidence.iter().map(one).collect()
}

/// Boards that are tried with one or two cells changed.
const MOST_CHANGES: usize = 3000;

/// The likeliest board with one solution that differs in one cell or two.
fn changed_a_little(
    shape: Shape,
    raw: &[u8],
    evidence: &[Costs],
    most: f32,
    counter: &mut Counter,
) -> Option<Vec<u8>> {
    let mut single: Vec<(f32, usize, u8)> = Vec::new();
    for (cell, costs) in evidence.iter().enumerate() {
        for value in (0..=shape.side() as u8).filter(|&value| value != raw[cell]) {
            if costs[usize::from(value)] <= most {
                single.push((costs[usize::from(value)], cell, value));
            }
        }
    }
    single.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut tried: Vec<(f32, Vec<(usize, u8)>)> =
        single.iter().map(|&(cost, cell, value)| (cost, vec![(cell, value)])).collect();
    for (place, &(cost, cell, value)) in single.iter().enumerate().take(80) {
        for &(more, other, also) in single[..place].iter().filter(|other| other.1 != cell) {
            tried.push((cost + more, vec![(cell, value), (other, also)]));
        }
    }
    tried.retain(|(cost, _)| *cost <= 1.5 * most);
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    tried.truncate(MOST_CHANGES);
    let with = |(_, changes): &(f32, Vec<(usize, u8)>)| {
        let mut board = raw.to_vec();
        changes.iter().for_each(|&(cell, value)| board[cell] = value);
        board
    };
    tried.chunks(500).find_map(|some| {
        let boards: Vec<Vec<u8>> = some.iter().map(with).collect();
        let counted = counter.count(shape, &boards);
        let first = counted.iter().position(|&count| count == 1)?;
        Some(boards[first].clone())
    })
}

/// The board with one solution of the grid that explains the evidence best, if every change is believable.
fn explained(shape: Shape, raw: &[u8], evidence: &[Costs], counter: &mut Counter) -> Option<Vec<u8>> {
    let grid = best_grid(shape, evidence, MOST_COST)?;
    let better = completed(shape, &grid, evidence, counter);
    let cost = |(&to, costs): (&u8, &Costs)| costs[usize::from(to)];
    let likely = better.iter().zip(evidence).map(cost).all(|cost| cost <= MOST_COST_OF_CELL);
    let changed = raw.iter().zip(&better).filter(|(from, to)| from != to).count();
    let digits = raw.iter().filter(|&&value| value != 0).count();
    let likely = likely || is_nearly_full(digits, raw.len()) && MOST_MISREAD.contains(&changed);
    let solutions = counter.count(shape, std::slice::from_ref(&better))[0];
    (likely && solutions == 1).then_some(better)
}

/// The board of a grid: each cell shows its digit if that is likelier than nothing. Where that leaves several solutions,
/// the likeliest digits that were taken for nothing are added.
fn completed(shape: Shape, grid: &[u8], evidence: &[Costs], counter: &mut Counter) -> Vec<u8> {
    let shown =
        |(&digit, costs): (&u8, &Costs)| if costs[usize::from(digit)] <= costs[0] { digit } else { 0 };
    let mut board: Vec<u8> = grid.iter().zip(evidence).map(shown).collect();
    let mut hidden: Vec<(f32, usize)> = (0..board.len())
        .filter(|&cell| board[cell] == 0)
        .map(|cell| (evidence[cell][usize::from(grid[cell])], cell))
        .filter(|&(cost, _)| cost < MOST_COST_OF_CELL)
        .collect();
    hidden.sort_by(|a, b| a.0.total_cmp(&b.0));
    for &(_, cell) in hidden.iter().take(4) {
        if counter.count(shape, std::slice::from_ref(&board))[0] <= 1 {
            break;
        }
        board[cell] = grid[cell];
    }
    board
}

/// How sure each cell is: its own likelihood against that of everything else it could be, each times how likely the
/// board is that it leads to.
fn confidence(
    shape: Shape,
    cells: &[u8],
    solutions: u64,
    evidence: &[Costs],
    counter: &mut Counter,
) -> Vec<f32> {
    let mut others: Vec<(usize, f32)> = Vec::new();
    let mut boards = Vec::new();
    for (cell, costs) in evidence.iter().enumerate() {
        let own = costs[usize::from(cells[cell])];
        for value in (0..=shape.side()).filter(|&value| value != usize::from(cells[cell])) {
            let against = costs[value] - own;
            if against < MOST_DOUBT - 1.0 && boards.len() < MOST_TESTS {
                let mut board = cells.to_vec();
                board[cell] = value as u8;
                boards.push(board);
                others.push((cell, against));
            }
        }
    }
    let counted = counter.count(shape, &boards);
    let prior = |solutions: u64| if solutions == 1 { 1.0 } else { OTHER_BOARDS };
    let mut sums = vec![0.0_f32; cells.len()];
    for (&(cell, against), &count) in others.iter().zip(&counted) {
        sums[cell] += exp(-against) * prior(count);
    }
    let own = prior(solutions);
    sums.into_iter().map(|sum| own / (own + sum)).collect()
}

/// The exponential of a number that is not large, the same everywhere: by halving and a short series.
pub(super) fn exp(x: f32) -> f32 {
    let part = f64::from(x) / 1024.0;
    let mut power = 1.0 + part + part * part / 2.0 + part * part * part / 6.0;
    for _ in 0..10 {
        power *= power;
    }
    power as f32
}

/// The natural logarithm of a number that is not near 0, the same everywhere: the power that gives it, by Newton.
fn ln(x: f32) -> f32 {
    (0..20).fold(0.0, |power, _| power + 2.0 * (x - exp(power)) / (x + exp(power)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUZZLE: &str = "000000010400000000020000000000050407008000300001090000300400200050100000000806000";

    fn board(text: &str) -> Vec<u8> {
        text.bytes().map(|byte| byte - b'0').collect()
    }

    /// Evidence for a board: everything else costs `sure`.
    fn evidence(board: &[u8], sure: f32) -> Vec<Costs> {
        let one = |&value: &u8| {
            let mut costs = [sure; 10];
            costs[usize::from(value)] = 0.0;
            costs
        };
        board.iter().map(one).collect()
    }

    #[test]
    fn what_has_one_solution_is_taken_as_it_is() {
        let puzzle = board(PUZZLE);
        let decoded = decode(Shape::NINE, &evidence(&puzzle, 9.0), &mut Counter::default());
        assert_eq!((decoded.cells, decoded.solutions, decoded.cost), (puzzle, 1, 0.0));
        assert!(decoded.confidence.iter().all(|&confidence| confidence > 0.99));
    }

    #[test]
    fn digits_that_clash_are_set_right_where_the_evidence_leaves_a_choice() {
        let puzzle = board(PUZZLE);
        let mut evidence = evidence(&puzzle, 9.0);
        // The 4 of the second row looks more like a 1, which leaves several solutions.
        evidence[9][4] = 1.0;
        evidence[9][1] = 0.0;
        let counter = &mut Counter::default();
        let decoded = decode(Shape::NINE, &evidence, counter);
        assert_eq!((decoded.cells, decoded.solutions), (puzzle.clone(), 1));
        // Two sevens in a row, both beyond doubt: people make mistakes.
        let mut evidence = self::evidence(&puzzle, 13.0);
        for cell in [0, 1] {
            evidence[cell][0] = 13.0;
            evidence[cell][7] = 0.0;
        }
        let decoded = decode(Shape::NINE, &evidence, counter);
        assert_eq!((decoded.cells[0], decoded.cells[1], decoded.solutions), (7, 7, 0));
    }

    #[test]
    fn a_digit_taken_for_nothing_is_missed() {
        let puzzle = board(PUZZLE);
        let mut evidence = evidence(&puzzle, 9.0);
        evidence[7][0] = 0.0;
        evidence[7][1] = 2.0;
        let decoded = decode(Shape::NINE, &evidence, &mut Counter::default());
        assert_eq!((decoded.cells, decoded.solutions), (puzzle, 1));
    }

    #[test]
    fn the_exponential_and_its_inverse_are_right() {
        for x in [-13.0_f32, -4.5, -1.0, -0.01, 0.0, 2.0] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-4, "{x}");
            assert!((ln(x.exp()) - x).abs() < 1e-3, "{x}");
        }
    }
}
