//! The plain search: all that follows at once, then the choice with the fewest ways.

use super::{
    board::{Board, Dead},
    layout::{Candidate, Group, Layout},
};

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All solutions are found, or as many as were asked for.
    Finished,
    /// Too many guesses, or it was told to stop.
    GaveUp,
    /// Too many guesses since the last solution: another way might be better.
    Stuck,
}

/// When a search ends without having finished.
pub(super) struct Limits<'a> {
    /// Solutions.
    pub solutions: u64,
    /// Guesses in all.
    pub guesses: u64,
    /// Guesses since the last solution.
    pub patience: u64,
    pub stop: &'a dyn Fn() -> bool,
}

/// What was found by now.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub solutions: u64,
    pub first: Option<Vec<u8>>,
    pub guesses: u64,
}

impl Tally {
    pub fn add(&mut self, solution: &[u8]) {
        self.solutions += 1;
        if self.first.is_none() {
            self.first = Some(solution.to_vec());
        }
    }
}

/// Guesses between two looks at whether to stop. One takes some 20 microseconds on a grid of side 25.
const STOP_EVERY: u64 = 32;

/// The open ends of a search.
struct Search<'a> {
    layout: &'a Layout,
    queue: Vec<Candidate>,
    /// Boards before guesses, with the candidates that were guessed; those from `depth` on are kept for their memory.
    stack: Vec<(Board, Candidate)>,
    depth: usize,
    /// How often each group has been the one that had no member left, plus 1: the hard parts of a puzzle.
    weights: Vec<u32>,
}

/// Counts the solutions of a board on which all that follows at once is done.
pub(super) fn run(layout: &Layout, board: Board, limits: &Limits<'_>, tally: &mut Tally) -> End {
    let mut search = Search { layout, queue: Vec::new(), stack: Vec::new(), depth: 0, weights: Vec::new() };
    search.run(board, limits, tally)
}

impl Search<'_> {
    fn run(&mut self, mut board: Board, limits: &Limits<'_>, tally: &mut Tally) -> End {
        let mut since = 0;
        loop {
            if board.left == 0 {
                tally.add(&board.values);
                since = 0;
                if tally.solutions >= limits.solutions {
                    return End::Finished;
                }
                if !self.back(&mut board) {
                    return End::Finished;
                }
                continue;
            }
            if tally.guesses >= limits.guesses || tally.guesses.is_multiple_of(STOP_EVERY) && (limits.stop)()
            {
                return End::GaveUp;
            }
            if since >= limits.patience {
                return End::Stuck;
            }
            let guess = self.choose(&board);
            self.push(&board, guess);
            tally.guesses += 1;
            since += 1;
            self.queue.push(guess);
            if let Err(dead) = board.settle(self.layout, &mut self.queue) {
                self.blame(dead);
                if !self.back(&mut board) {
                    return End::Finished;
                }
            }
        }
    }

    /// Takes the last guess back and excludes it, the one before if that leaves nothing, and so on. `false` when there
    /// is no guess left.
    fn back(&mut self, board: &mut Board) -> bool {
        while self.depth > 0 {
            self.depth -= 1;
            let (before, guess) = &mut self.stack[self.depth];
            std::mem::swap(board, before);
            let excluded = board.exclude(self.layout, *guess, &mut self.queue);
            match excluded.and_then(|()| board.settle(self.layout, &mut self.queue)) {
                Ok(()) => return true,
                Err(dead) => {
                    self.queue.clear();
                    self.blame(dead);
                }
            }
        }
        false
    }

    fn push(&mut self, board: &Board, guess: Candidate) {
        if self.depth == self.stack.len() {
            self.stack.push((board.clone(), guess));
        } else {
            let (kept, last) = &mut self.stack[self.depth];
            kept.open.clone_from(&board.open);
            kept.values.clone_from(&board.values);
            kept.left = board.left;
            *last = guess;
        }
        self.depth += 1;
    }

    fn blame(&mut self, Dead(group): Dead) {
        if self.weights.is_empty() {
            self.weights = vec![0; self.layout.len()];
        }
        self.weights[group] += 1;
    }

    /// The first member of the group that has the fewest; of equal ones, of that which was most often to blame.
    fn choose(&self, board: &Board) -> Candidate {
        let weight = |group: Group| self.weights.get(group).copied().unwrap_or(0);
        let mut best: Option<(u32, u32, Group)> = None;
        for (group, &open) in board.open.iter().enumerate() {
            let rest = open & (open - 1);
            if rest == 0 {
                continue;
            }
            let size = if rest.is_power_of_two() { 2 } else { open.count_ones() };
            let weight = weight(group);
            if best.is_none_or(|(fewest, heaviest, _)| size < fewest || size == fewest && weight > heaviest) {
                best = Some((size, weight, group));
            }
        }
        let (_, _, group) = best.expect("an open cell has more than one digit when all that follows is done");
        self.layout.member(group, board.open[group])
    }
}
