//! Keeps count of what a method does, and says when it has to end.

use std::ops::ControlFlow;

use super::{Outcome, Settings};

/// Nodes between two questions whether to stop.
const NODES_BETWEEN: u64 = 4096;

/// Goes on, or ends: with all the solutions that were asked for, at the cap, or because it was stopped.
pub(super) type Flow = ControlFlow<()>;

/// What a method has found and done so far.
pub(super) struct Watch<'a> {
    pub settings: Settings,
    stop: &'a dyn Fn() -> bool,
    outcome: Outcome,
}

impl<'a> Watch<'a> {
    pub fn new(settings: Settings, stop: &'a dyn Fn() -> bool) -> Self {
        Self { settings, stop, outcome: Outcome { finished: true, ..Outcome::default() } }
    }

    /// A digit is going to be tried in a cell, where there is a choice or not.
    pub fn node(&mut self, choice: bool) -> Flow {
        let effort = &mut self.outcome.effort;
        let ask = effort.nodes.is_multiple_of(NODES_BETWEEN) && (self.stop)();
        if ask || effort.nodes >= self.settings.cap {
            return self.give_up();
        }
        effort.nodes += 1;
        effort.guesses += u64::from(choice);
        Flow::Continue(())
    }

    /// An iteration is going to be made; whether to stop is asked every so many.
    pub fn iteration(&mut self, between: u64) -> Flow {
        let effort = &mut self.outcome.effort;
        let ask = effort.iterations.is_multiple_of(between) && (self.stop)();
        if ask || effort.iterations >= self.settings.cap {
            return self.give_up();
        }
        effort.iterations += 1;
        Flow::Continue(())
    }

    /// Ends without having finished.
    pub fn give_up(&mut self) -> Flow {
        self.outcome.finished = false;
        Flow::Break(())
    }

    /// A solution was found, which none of those before is.
    pub fn solution(&mut self, cells: impl FnOnce() -> Vec<u8>) -> Flow {
        self.outcome.solutions += 1;
        self.outcome.first.get_or_insert_with(cells);
        if self.outcome.solutions < self.settings.limit { Flow::Continue(()) } else { Flow::Break(()) }
    }

    pub fn outcome(self) -> Outcome {
        self.outcome
    }
}
