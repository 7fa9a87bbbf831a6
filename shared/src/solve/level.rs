//! The level of a puzzle: the weakest techniques that solve it.
//!
//! Each technique is applied together with those before it until nothing changes. What is left then does not depend on
//! the order (see `solve/marks.rs`), nor on how the puzzle is turned, so the level belongs to the puzzle and not to the
//! program.
//!
//! When no technique is enough, the level is how deep trial and error has to go: D. Berthier, "Pattern-Based Constraint
//! Satisfaction and Logic Puzzles" (2012), T&E(T, k). In T&E(T, 0) the techniques T are applied. In T&E(T, k + 1) any
//! digit of any cell is assumed, T&E(T, k) applied, and the digit crossed out if that leads to a contradiction, again and
//! again until nothing changes. Only contradictions count: that an assumption happens to lead to the solution is no
//! reason. A smaller mark-up never makes T&E weaker, so this too is the same in any order.
//!
//! Cost for 9x9: 25 to 90 microseconds where the techniques are enough, some 200 for depth 1, some 20 milliseconds for
//! depth 2. Larger shapes cost more in every respect.

use std::borrow::Cow;

use super::{
    layout::Layout,
    marks::Marks,
    methods::{Method, Settings, solve},
};
use crate::grid::Shape;

/// A set of techniques; each has those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Technique {
    /// Nothing is empty.
    Given,
    /// The last digit of a cell.
    NakedSingles,
    /// The last place of a digit in a row, column or box.
    HiddenSingles,
    /// A digit whose places in a row, column or box all lie in one other.
    LockedCandidates,
    /// m cells of a row, column or box that have m digits; naked and hidden, of any size.
    PreemptiveSets,
    /// Trial and error on top of all of these.
    Search,
}

/// How hard a puzzle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level {
    /// The weakest techniques that solve it.
    pub technique: Technique,
    /// Assumptions within each other that are needed; 0 unless it takes a search.
    pub depth: u8,
}

impl Technique {
    /// From the weakest to the strongest.
    pub const ALL: [Self; 6] = [
        Self::Given,
        Self::NakedSingles,
        Self::HiddenSingles,
        Self::LockedCandidates,
        Self::PreemptiveSets,
        Self::Search,
    ];

    /// In words, as reports use them.
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::NakedSingles => "naked singles",
            Self::HiddenSingles => "hidden singles",
            Self::LockedCandidates => "locked candidates",
            Self::PreemptiveSets => "preemptive sets",
            Self::Search => "search",
        }
    }

    /// Applies the techniques until nothing changes.
    fn apply(self, marks: &mut Marks<'_>) {
        // The cheapest first; a stronger one is asked when those before it have nothing to say.
        while !marks.is_over() {
            let changed = (self >= Self::NakedSingles && marks.naked(&mut ()))
                || (self >= Self::HiddenSingles && marks.hidden(&mut ()))
                || (self >= Self::LockedCandidates && marks.locked())
                || (self >= Self::PreemptiveSets && marks.settle());
            if !changed {
                break;
            }
        }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.technique {
            Technique::Search => write!(f, "search of depth {}", self.depth),
            technique => f.write_str(technique.name()),
        }
    }
}

/// The level of a puzzle (row by row, 0 is empty). Whoever knows the only solution saves looking for it. `stop` is asked
/// at each assumption.
///
/// `None` for anything but a puzzle with one solution, and when it was stopped.
///
/// ```
/// use shared::{grid::{Shape, notation::LineLayout}, solve::level::level};
///
/// let puzzle = LineLayout::default().read(b"1.....3..2.....4", None).unwrap().unwrap();
/// let level = level(Shape::FOUR, &puzzle.cells, None, &|| false).unwrap();
/// assert_eq!(level.to_string(), "naked singles");
/// ```
pub fn level(shape: Shape, cells: &[u8], solution: Option<&[u8]>, stop: &dyn Fn() -> bool) -> Option<Level> {
    super::reference::check(shape, cells).ok()?;
    let layout = Layout::new(shape);
    let mut marks = Marks::new(&layout, cells);
    for technique in Technique::ALL.into_iter().filter(|&technique| technique != Technique::Search) {
        technique.apply(&mut marks);
        if marks.contradiction().is_some() {
            return None;
        }
        // Nothing was ever guessed, so this is the only solution.
        if marks.empty() == 0 {
            return Some(Level { technique, depth: 0 });
        }
    }
    let solution = match solution {
        Some(solution) => Cow::Borrowed(solution),
        None => Cow::Owned(only_solution(shape, cells, stop)?),
    };
    for depth in 1.. {
        let mut trial = Trial { stop, spare: Vec::new() };
        trial.settle(&mut marks, depth, Some(&*solution))?;
        if marks.empty() == 0 {
            return Some(Level { technique: Technique::Search, depth });
        }
    }
    // A depth of as many assumptions as there are empty cells is always enough, and 255 were not reached.
    None
}

fn only_solution(shape: Shape, cells: &[u8], stop: &dyn Fn() -> bool) -> Option<Vec<u8>> {
    let settings = Settings { limit: 2, cap: u64::MAX, seed: 0 };
    let outcome = solve(Method::Crook, shape, cells, settings, stop).ok()?;
    outcome.first.filter(|_| outcome.finished && outcome.solutions == 1)
}

/// Trial and error.
struct Trial<'s, 'l> {
    stop: &'s dyn Fn() -> bool,
    /// Mark-ups to be used again.
    spare: Vec<Marks<'l>>,
}

impl<'l> Trial<'_, 'l> {
    /// T&E(all techniques, `depth`); `None` when stopped. What is in `solution` never leads to a contradiction, and is
    /// not tried; within an assumption there is no solution to go by.
    fn settle(&mut self, marks: &mut Marks<'l>, depth: u8, solution: Option<&[u8]>) -> Option<()> {
        let Some(shallower) = depth.checked_sub(1) else {
            Technique::PreemptiveSets.apply(marks);
            return Some(());
        };
        self.settle(marks, shallower, solution)?;
        let candidates = marks.layout().shape().side().pow(3);
        // The round ends where nothing has changed since the last time here.
        let (mut at, mut quiet) = (0, 0);
        while quiet < candidates && !marks.is_over() {
            let (cell, bit) = (at / marks.layout().side(), at % marks.layout().side());
            at = (at + 1) % candidates;
            quiet += 1;
            let digit = super::layout::digit(bit);
            let settled = marks.is_written(cell) || marks.digits(cell) >> bit & 1 == 0;
            if settled || solution.is_some_and(|solution| solution[cell] == digit) {
                continue;
            }
            if self.leads_nowhere(marks, (cell, digit), shallower)? {
                marks.cross_out(cell, 1 << bit);
                self.settle(marks, shallower, solution)?;
                quiet = 0;
            }
        }
        Some(())
    }

    /// Whether to assume a digit in a cell leads to a contradiction.
    fn leads_nowhere(&mut self, marks: &Marks<'l>, (cell, digit): (usize, u8), depth: u8) -> Option<bool> {
        if (self.stop)() {
            return None;
        }
        let mut trial = self.spare.pop().unwrap_or_else(|| marks.clone());
        trial.clone_from(marks);
        trial.write(cell, digit);
        self.settle(&mut trial, depth, None)?;
        let nowhere = trial.contradiction().is_some();
        self.spare.push(trial);
        Some(nowhere)
    }
}
