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
mod third;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::{CellSet, CompleteGrid};
use crate::grid::Shape;
use another::Another;
use nine::Nine;
use small::Small;

/// Unavoidable sets that are found on the way are kept from one block to the next up to this size: larger ones cost
/// more in every list than they cut.
const KEPT_SIZE: usize = 18;

/// Puzzles that a unit may find: as a list they take 80 megabytes, and nobody looks at more of one grid.
pub const MOST_PUZZLES: usize = 1_000_000;

/// Why a unit is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfinished {
    /// It was asked to pause, and can be taken up again.
    #[error("the search was interrupted")]
    Paused,
    /// It has more puzzles than a list should have.
    #[error(
        "there are more than {MOST_PUZZLES} puzzles with so many clues in this part of the grid: too many to list"
    )]
    TooMany,
}

/// A grid that is too large to be searched.
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

/// Whether to go on after a block.
fn go_on(
    progress: &HittingProgress,
    pause: &mut dyn FnMut(&HittingProgress) -> bool,
) -> Result<(), Unfinished> {
    if progress.found.puzzles.len() > MOST_PUZZLES {
        return Err(Unfinished::TooMany);
    }
    if pause(progress) { Err(Unfinished::Paused) } else { Ok(()) }
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

/// How far a unit is: opaque to everyone but the unit. The default is its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HittingProgress {
    /// The first block that has not been searched.
    next: u64,
    found: Found,
    /// Unavoidable sets that have been found on the way.
    learned: Vec<CellSet>,
}

/// The search of one grid for puzzles of some numbers of clues.
///
/// A unit is a part of the blocks, dealt out in turn; each unit can be searched by itself, and what they find together
/// is every puzzle, each once. What a unit finds and does depends on the grid, the numbers of clues and the number of
/// units only: not on the machine, nor on where it was interrupted.
pub struct HittingSearch {
    grid: CompleteGrid,
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
    /// use shared::unavoidable::{CompleteGrid, hit::{HittingProgress, HittingSearch}};
    ///
    /// let grid = CompleteGrid::read("1234341221434321").unwrap();
    /// let search = HittingSearch::new(&grid, 4..=4, 1).unwrap();
    /// let found = search.run_unit(0, HittingProgress::default(), &mut |_| false).unwrap();
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
            Engine::Nine(Box::new(Nine::new(grid, clues, units > 1)))
        } else if grid.cells() <= 64 {
            Engine::Small(Small::new(grid, clues))
        } else {
            return Err(CannotSearch::Shape { shape });
        };
        Ok(Self { grid: grid.clone(), engine, units })
    }

    /// Number of units.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Searches a unit from `progress` on. `pause` is asked between blocks with the progress made; when it says true,
    /// the unit ends and can be taken up from there. Nothing is found in a unit that there is not.
    ///
    /// # Errors
    ///
    /// When it is asked to pause, or finds more than [`MOST_PUZZLES`].
    pub fn run_unit(
        &self,
        unit: u64,
        mut progress: HittingProgress,
        pause: &mut dyn FnMut(&HittingProgress) -> bool,
    ) -> Result<Found, Unfinished> {
        // Progress comes from a file: a set that is not unavoidable would hide puzzles.
        let all = CellSet::below(self.grid.cells());
        let mut uniqueness = Uniqueness::new(&self.grid);
        progress.learned.retain(|&set| set.is_within(all) && !uniqueness.holds(all.without(set)));
        match &self.engine {
            Engine::Nine(nine) => nine.run((unit, self.units), &mut progress, pause)?,
            Engine::Small(small) => small.run((unit, self.units), &mut progress, pause)?,
        }
        Ok(progress.found)
    }
}
