//! The solvers that people learn from, side by side: plain search, exact cover, pencil and paper, projections, and
//! chance.
//!
//! | method | what it does | source |
//! |---|---|---|
//! | `backtrack` | the first empty cell, digits 1 to n | folklore |
//! | `fewest` | the empty cell with the fewest digits | folklore; Golomb & Baumert 1965 for the rule |
//! | `dlx` | the condition of the exact cover that fewest moves meet, by dancing links | Knuth 2000 |
//! | `crook` | forced digits, preemptive sets, then guesses in colours | Crook 2009 |
//! | `projections` | alternating projections on the rules and the cube | von Neumann; Bregman 1965 |
//! | `projections-singles` | the same, filling in what follows | as above |
//! | `douglas-rachford` | reflections in the exact rules | Elser 2007; Aragón Artacho, Borwein & Tam 2014 |
//! | `annealing` | swaps within boxes, cooled down | Kirkpatrick 1983; Lewis 2007 |
//!
//! The first four search: they prove how many solutions there are, up to the limit. The others look for one solution
//! and know no more: that they find none proves nothing. All are deterministic given the seed, and where they count in
//! floating point they add in a fixed order, one rounding a step, so that all machines go the same way.

mod annealing;
mod backtrack;
mod board;
pub mod crook;
mod dlx;
mod douglas_rachford;
mod fewest;
mod projections;
mod rules;
mod singles;
mod watch;

use crate::{
    grid::Shape,
    solve::reference::{self, PuzzleError},
};
use watch::Watch;

/// A solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Typewriter order.
    Backtrack,
    /// Fewest digits first.
    Fewest,
    /// Dancing links.
    Dlx,
    /// Pencil and paper.
    Crook,
    /// Alternating projections.
    Projections,
    /// Alternating projections with naked singles.
    ProjectionsSingles,
    /// Reflections in constraints that are not convex.
    DouglasRachford,
    /// Simulated annealing.
    Annealing,
}

impl Method {
    /// All there are.
    pub const ALL: [Self; 8] = [
        Self::Backtrack,
        Self::Fewest,
        Self::Dlx,
        Self::Crook,
        Self::Projections,
        Self::ProjectionsSingles,
        Self::DouglasRachford,
        Self::Annealing,
    ];

    /// The name that commands and reports use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Backtrack => "backtrack",
            Self::Fewest => "fewest",
            Self::Dlx => "dlx",
            Self::Crook => "crook",
            Self::Projections => "projections",
            Self::ProjectionsSingles => "projections-singles",
            Self::DouglasRachford => "douglas-rachford",
            Self::Annealing => "annealing",
        }
    }

    /// What it does and where it comes from, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Backtrack => "backtracking in typewriter order, digits from 1 up",
            Self::Fewest => "backtracking on the cell with the fewest digits (Golomb & Baumert 1965)",
            Self::Dlx => "dancing links on the exact cover (Knuth 2000)",
            Self::Crook => "forced digits, preemptive sets, then guesses in colours (Crook 2009)",
            Self::Projections => "alternating projections on the rules and the cube (Bregman 1965)",
            Self::ProjectionsSingles => "alternating projections that fill in naked singles after each step",
            Self::DouglasRachford => {
                "Douglas-Rachford on the exact rules (Elser 2007; Aragón Artacho, Borwein & Tam 2014)"
            }
            Self::Annealing => "simulated annealing by swaps within boxes (Lewis 2007)",
        }
    }

    /// Whether it proves the number of solutions; the others only look for one.
    pub fn searches(self) -> bool {
        matches!(self, Self::Backtrack | Self::Fewest | Self::Dlx | Self::Crook)
    }

    /// Nodes or iterations after which it is time to give up: a minute or less for 9x9.
    pub fn default_cap(self) -> u64 {
        match self {
            Self::Backtrack | Self::Fewest | Self::Dlx | Self::Crook => 20_000_000,
            Self::Projections | Self::ProjectionsSingles | Self::DouglasRachford => 20_000,
            Self::Annealing => annealing::CAP,
        }
    }
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Solutions after which a search ends.
    pub limit: u64,
    /// Nodes or iterations after which any method ends.
    pub cap: u64,
    /// Of the methods that start anywhere.
    pub seed: u64,
}

/// What it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Digits tried in cells.
    pub nodes: u64,
    /// Those of them that were tried where there was a choice.
    pub guesses: u64,
    /// Steps of a method that does not search; for annealing, the swaps weighed.
    pub iterations: u64,
}

impl std::ops::Add for Effort {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            nodes: self.nodes + other.nodes,
            guesses: self.guesses + other.guesses,
            iterations: self.iterations + other.iterations,
        }
    }
}

/// What a method found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Solutions found, at most the limit; at most one by a method that does not search.
    pub solutions: u64,
    /// The one that was found first.
    pub first: Option<Vec<u8>>,
    /// Whether it came to its end: all solutions or the limit, or one for a method that does not search. If not, it
    /// was stopped.
    pub finished: bool,
    /// What it took.
    pub effort: Effort,
}

/// Solves a puzzle (row by row, 0 is empty) by a method. `stop` is asked every few thousand nodes and at each
/// iteration (annealing: every few thousand) whether to give up.
///
/// # Errors
///
/// As [`reference::check`]: a puzzle of the wrong size, or with clues that clash.
///
/// Cost: see each method; a search can take forever but for the cap.
///
/// ```
/// use shared::{grid::{Shape, notation::LineLayout}, solve::methods::{Method, Settings, solve}};
///
/// let puzzle = LineLayout::default().read(b"1.....3..2.....4", None).unwrap().unwrap();
/// for method in Method::ALL {
///     let settings = Settings { limit: 1, cap: method.default_cap(), seed: 1 };
///     let outcome = solve(method, Shape::FOUR, &puzzle.cells, settings, &|| false).unwrap();
///     let grid = outcome.first.unwrap();
///     assert_eq!((grid[0], grid[6], grid[9], grid[15]), (1, 3, 2, 4), "{}", method.name());
/// }
/// ```
pub fn solve(
    method: Method,
    shape: Shape,
    cells: &[u8],
    settings: Settings,
    stop: &dyn Fn() -> bool,
) -> Result<Outcome, PuzzleError> {
    reference::check(shape, cells)?;
    let mut watch = Watch::new(settings, stop);
    if settings.limit > 0 {
        // How it ended is in the watch.
        let _ = match method {
            Method::Backtrack => backtrack::run(shape, cells, &mut watch),
            Method::Fewest => fewest::run(shape, cells, &mut watch),
            Method::Dlx => dlx::run(shape, cells, &mut watch),
            Method::Crook => crook::run(shape, cells, &mut watch, &mut ()),
            Method::Projections => projections::run(shape, cells, &mut watch),
            Method::ProjectionsSingles => singles::run(shape, cells, &mut watch),
            Method::DouglasRachford => douglas_rachford::run(shape, cells, &mut watch),
            Method::Annealing => annealing::run(shape, cells, &mut watch),
        };
    }
    Ok(watch.outcome())
}
