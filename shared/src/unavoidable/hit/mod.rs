//! Every puzzle of a grid with a given number of clues.
//!
//! A puzzle of a grid has one solution exactly when its clues hit every unavoidable set of the grid. So the puzzles are
//! the *hitting sets* of the unavoidable sets, of which those up to 12 cells are found first, and others as they are
//! missed. The method is that of McGuire, Tugemann & Civario 2012 ("There is no 16-clue sudoku"), with the tree cut
//! further:
//!
//! - `region`: the tree of hitting sets, its bounds, and how it learns new sets;
//! - 9x9: the two bands with the fewest clues first (`limits`, `pair`; `last` and `matrix` for the last clues), seen as
//!   the first two (`frame`), then the third (`third`, `cross`, `row`); `nine` chooses between bands and stacks;
//! - smaller shapes: the whole grid as one region (`small`);
//! - `plan`: how a search is cut into blocks; `another`: the solver.
//!
//! Nothing is skipped: that every cut loses nothing is argued where it stands, and [`super::brute`] finds the same on
//! small shapes. Cost on one core, 9x9: see `benches/hitting.rs`.

#![allow(
    clippy::inline_always,
    reason = "what is compiled for several instruction sets has to be one function with all that it calls"
)]
#![allow(clippy::doc_markdown, reason = "McGuire is a name")]

mod another;
mod cross;
mod frame;
mod last;
mod limits;
mod lists;
mod matrix;
mod nine;
mod pair;
mod plan;
mod region;
mod row;
mod small;
mod stop;
mod third;

use std::{collections::HashSet, ops::RangeInclusive};

use serde::{Deserialize, Serialize};

use super::{CellSet, CompleteGrid};
use crate::grid::Shape;
use another::Another;
use nine::Nine;
use small::Small;
use stop::Stop;

/// Unavoidable sets that are found on the way are kept from one block to the next up to this size: larger ones cost
/// more in every list than they cut.
const KEPT_SIZE: usize = 18;

/// Puzzles that a unit may find: as text they take 80 megabytes, and nobody looks at more of one grid.
pub const MOST_PUZZLES: usize = 1_000_000;

/// Why a unit is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfinished {
    /// It was asked to pause, and can be taken up again.
    #[error("the search was interrupted")]
    Paused,
    /// It has more puzzles than a list should have.
    #[error(
        "there are more than {MOST_PUZZLES} puzzles with so many clues in this part of the grid, too many to list: \
         ask for fewer clues"
    )]
    TooMany,
}

/// Why there is no search.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotSearch {
    /// Neither 9x9 nor of at most 64 cells.
    #[error("grids of shape {shape} are not searched for puzzles; 3x3 is, and shapes of at most 64 cells")]
    Shape {
        /// What was given.
        shape: Shape,
    },
    /// No unit.
    #[error("a search needs at least one unit")]
    NoUnits,
}

/// Who looks on while a unit is searched.
pub struct Watch<'a> {
    /// Asked every few milliseconds: when it says true, the unit ends where its last block ended.
    pub stopped: &'a dyn Fn() -> bool,
    /// Told after every block, and at the end, how far the unit is.
    pub reached: &'a mut dyn FnMut(&HittingProgress),
}

impl Watch<'_> {
    /// Whether what a block has found is all that it has.
    fn may_keep(
        &mut self,
        progress: &HittingProgress,
        stop: &Stop<'_>,
        found: usize,
    ) -> Result<(), Unfinished> {
        if stop.stopped() {
            (self.reached)(progress);
            return Err(Unfinished::Paused);
        }
        if stop.is_full(found) { Err(Unfinished::TooMany) } else { Ok(()) }
    }

    /// Whether to go on after a block.
    fn after_block(&mut self, progress: &HittingProgress) -> Result<(), Unfinished> {
        (self.reached)(progress);
        if (self.stopped)() { Err(Unfinished::Paused) } else { Ok(()) }
    }
}

/// Tells whether clues of a grid leave one solution only. Cost: 1 to 10 microseconds on 9x9.
pub struct Uniqueness {
    another: Another,
}

impl Uniqueness {
    /// For puzzles of this grid.
    pub fn new(grid: &CompleteGrid) -> Self {
        Self { another: Another::new(grid) }
    }

    /// Whether these clues have one solution.
    pub fn holds(&mut self, clues: CellSet) -> bool {
        self.another.is_only(clues.0)
    }

    /// A minimal unavoidable set that these clues miss, if they have more than one solution.
    pub fn unhit(&mut self, clues: CellSet) -> Option<CellSet> {
        self.another.unhit::<true>(clues.0).map(CellSet)
    }
}

/// What a search has found and done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The clues of every puzzle, in the order of the search.
    pub puzzles: Vec<CellSet>,
    /// Steps of the tree.
    pub nodes: u64,
    /// Choices of clues that hit all sets known at the time and were tested for another solution.
    pub tested: u64,
}

impl Found {
    fn count(&mut self, nodes: u64, tested: u64) {
        self.nodes = self.nodes.saturating_add(nodes);
        self.tested = self.tested.saturating_add(tested);
    }
}

/// How far a unit is: opaque to everyone but the unit. The default is its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HittingProgress {
    /// The first block that has not been searched.
    next: u64,
    found: Found,
    /// Unavoidable sets that have been found on the way.
    learned: Vec<CellSet>,
}

impl HittingProgress {
    /// Puzzles that may still be found.
    fn room(&self) -> usize {
        MOST_PUZZLES.saturating_sub(self.found.puzzles.len())
    }

    /// Sets of cells that it consists of: what it takes to write it down, at most 12 bytes each.
    pub fn sets(&self) -> usize {
        self.found.puzzles.len() + self.learned.len()
    }
}

/// The search of one grid for puzzles of some numbers of clues.
///
/// A unit is a part of the blocks, dealt out in turn; each unit can be searched by itself, and what they find together
/// is every puzzle, each once. What a unit finds and does depends on the grid, the numbers of clues and the number of
/// units only: not on the machine, nor on where it was interrupted.
pub struct HittingSearch {
    grid: CompleteGrid,
    clues: RangeInclusive<u32>,
    engine: Engine,
    units: u64,
}

enum Engine {
    Nine(Box<Nine>),
    Small(Small),
}

impl HittingSearch {
    /// Prepares the search: some 15 ms for 9x9, of which the unavoidable sets take most.
    ///
    /// One unit is right for 16 clues (less than a second), and more for more clues (minutes for the hardest grids).
    ///
    /// # Errors
    ///
    /// When the shape is too large, or there are to be no units.
    ///
    /// ```
    /// use shared::unavoidable::{CompleteGrid, hit::{HittingProgress, HittingSearch, Watch}};
    ///
    /// let grid = CompleteGrid::read("1234341221434321").unwrap();
    /// let search = HittingSearch::new(&grid, 4..=4, 1).unwrap();
    /// let watch = Watch { stopped: &|| false, reached: &mut |_| {} };
    /// let found = search.run_unit(0, HittingProgress::default(), watch).unwrap();
    /// assert_eq!(found.puzzles.len(), 12);
    /// ```
    pub fn new(grid: &CompleteGrid, clues: RangeInclusive<u32>, units: u64) -> Result<Self, CannotSearch> {
        if units == 0 {
            return Err(CannotSearch::NoUnits);
        }
        let shape = grid.shape();
        // A puzzle has no more clues than there are cells.
        let cells = u32::try_from(grid.cells()).unwrap_or(u32::MAX);
        let clues = *clues.start()..=(*clues.end()).min(cells);
        let engine = if shape == Shape::NINE {
            Engine::Nine(Box::new(Nine::new(grid, clues.clone(), units > 1)))
        } else if grid.cells() <= 64 {
            Engine::Small(Small::new(grid, clues.clone()))
        } else {
            return Err(CannotSearch::Shape { shape });
        };
        Ok(Self { grid: grid.clone(), clues, engine, units })
    }

    /// Number of units.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Searches a unit from `progress` on. When it is stopped, it can be taken up from what `reached` was told last.
    ///
    /// Progress comes from a file. What it holds is tested as far as can be: a set that is not unavoidable would hide
    /// puzzles and is left out, and with a puzzle that is none the unit begins anew.
    ///
    /// # Errors
    ///
    /// When it is asked to pause, or finds more than [`MOST_PUZZLES`].
    pub fn run_unit(
        &self,
        unit: u64,
        mut progress: HittingProgress,
        mut watch: Watch<'_>,
    ) -> Result<Found, Unfinished> {
        self.test(&mut progress);
        match &self.engine {
            Engine::Nine(nine) => nine.run((unit, self.units), &mut progress, &mut watch)?,
            Engine::Small(small) => small.run((unit, self.units), &mut progress, &mut watch)?,
        }
        Ok(progress.found)
    }

    /// Leaves out of a progress what cannot be.
    fn test(&self, progress: &mut HittingProgress) {
        let all = CellSet::below(self.grid.cells());
        let mut uniqueness = Uniqueness::new(&self.grid);
        let mut is_puzzle = |&clues: &CellSet| {
            clues.is_within(all) && self.clues.contains(&clues.0.count_ones()) && uniqueness.holds(clues)
        };
        let mut once = HashSet::new();
        let puzzles = &progress.found.puzzles;
        if !puzzles.iter().all(|clues| is_puzzle(clues) && once.insert(*clues)) {
            *progress = HittingProgress::default();
        }
        progress.learned.retain(|&set| set.is_within(all) && !uniqueness.holds(all.without(set)));
    }
}
