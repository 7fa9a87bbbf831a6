//! A search that learns from its conflicts (CDCL) with the rules of sudoku built in.

mod analyse;
mod clauses;
mod cover;
mod order;
mod propagate;
mod trail;

use super::{
    board::Board,
    layout::Layout,
    search::{End, Limits, Tally},
};
use analyse::Scratch;
use clauses::Clauses;
use cover::Cover;
use order::Order;
use trail::{Lit, Reason, Trail};

/// Conflicts and guesses between two looks at whether to stop.
const STOP_EVERY: u64 = 32;

/// The state of the search.
struct Learner {
    cover: Cover,
    trail: Trail,
    clauses: Clauses,
    order: Order,
    scratch: Scratch,
    conflicts: u64,
}

/// Counts the solutions of a board by learning, afresh.
pub(super) fn run(layout: &Layout, board: &Board, limits: &Limits<'_>, tally: &mut Tally) -> End {
    let cover = Cover::new(layout, board);
    let vars = cover.len();
    let mut learner = Learner {
        trail: Trail::new(vars),
        clauses: Clauses::new(vars),
        order: Order::new(vec![0; vars]),
        scratch: Scratch::new(vars),
        conflicts: 0,
        cover,
    };
    learner.run(board, limits, tally)
}

impl Learner {
    fn run(&mut self, board: &Board, limits: &Limits<'_>, tally: &mut Tally) -> End {
        let (mut restarts, mut restart_at, mut forget_at) = (0, restart(1), 2000);
        loop {
            if let Err(conflict) = self.propagate() {
                if self.trail.level() == 0 {
                    return End::Finished;
                }
                self.conflicts += 1;
                self.learn(conflict);
                continue;
            }
            if tally.guesses >= limits.guesses
                || (tally.guesses + self.conflicts).is_multiple_of(STOP_EVERY) && (limits.stop)()
            {
                return End::GaveUp;
            }
            if self.conflicts >= restart_at {
                restarts += 1;
                restart_at = self.conflicts + restart(restarts + 1);
                self.back(0);
                continue;
            }
            if self.clauses.loose() >= forget_at {
                self.clauses.forget(&mut self.trail);
                forget_at += 300;
            }
            if let Some(guess) = self.choose() {
                tally.guesses += 1;
                self.trail.guess(guess);
                continue;
            }
            tally.add(&self.solution(board));
            if tally.solutions >= limits.solutions || !self.exclude_solution() {
                return End::Finished;
            }
        }
    }

    /// Goes back from a conflict with a new clause that says why.
    fn learn(&mut self, conflict: propagate::Conflict) {
        let (back, glue) = self.analyse(conflict);
        self.back(back);
        let first = self.scratch.clause[0];
        let reason = match self.scratch.clause.len() {
            // A fact: at level 0 no reason is asked for.
            1 => Reason::Guess,
            _ => Reason::Clause(self.clauses.add(&self.scratch.clause, glue)),
        };
        self.trail.set(first, reason);
        self.order.age();
    }

    /// Excludes the solution on the trail: not all of its guesses at once. `false` if there were none.
    fn exclude_solution(&mut self) -> bool {
        let clause: Vec<Lit> = self.trail.guesses().rev().map(|guess| !guess).collect();
        let Some(&last) = clause.first() else { return false };
        self.back(self.trail.level() - 1);
        let reason = match clause.len() {
            1 => Reason::Guess,
            _ => Reason::Clause(self.clauses.add(&clause, 0)),
        };
        self.trail.set(last, reason);
        true
    }

    fn back(&mut self, level: u32) {
        let Self { cover, trail, order, .. } = self;
        trail.back(level, |lit, followed| {
            if followed && !lit.positive() {
                cover.restore(lit.var());
            }
            order.insert(lit.var());
        });
    }

    /// A candidate to assume next. `None` when all are decided.
    ///
    /// That it holds, always: twice as fast on hard grids of side 25 as what it last was, as is usual elsewhere.
    fn choose(&mut self) -> Option<Lit> {
        while let Some(var) = self.order.pop() {
            if self.trail.is_open(var) {
                return Some(Lit::holds(var));
            }
        }
        None
    }

    fn solution(&self, board: &Board) -> Vec<u8> {
        let mut values = board.values.clone();
        for lit in self.trail.lits.iter().filter(|lit| lit.positive()) {
            let (cell, digit) = self.cover.split(lit.var());
            values[cell] = u8::try_from(digit + 1).expect("no more digits than 25");
        }
        values
    }
}

/// Conflicts until the `n`th restart: the sequence of Luby, Sinclair and Zuckerman (1993), 1 1 2 1 1 2 4, ..., in units
/// of 64.
fn restart(mut n: u64) -> u64 {
    loop {
        let size = u64::BITS - n.leading_zeros();
        if n == (1 << size) - 1 {
            return 64 << (size - 1);
        }
        n -= (1 << (size - 1)) - 1;
    }
}
