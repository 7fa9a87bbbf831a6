//! Grids that a symmetry of the cells fixes, up to relabelling.
//!
//! A grid up to relabelling is a partition of its cells into *templates*: the places of one digit, a cell in every row,
//! column and box. A symmetry g fixes it exactly when g permutes its templates. So the grids that g fixes are the exact
//! covers of the cells by g-orbits of templates whose members are disjoint:
//!
//! - `orbits`: the orbits of g on the cells, and a test that most classes fail at once;
//! - `templates`: the g-orbits of templates;
//! - `blocks`: what they cover, with weights;
//! - `cover`: the exact covers, the first choices up to the centralizer of g (`choices`), with a memory (`memo`);
//! - `listing`: the grids themselves, one by one, every choice up to the centralizer (`commuting`, `template_lists`).
//!
//! Two orbits of templates may cover the same cells: they are counted apart, as a weight. Russell & Jarvis 2006 found
//! the numbers for 3x3 by cell-by-cell search.
//!
//! Cost, on one core: all 274 classes of 3x3 but the identity some 0.1 s, as many as there are of 2x4 as well; see
//! `benches/burnside.rs`.

mod blocks;
mod choices;
mod commuting;
mod cover;
mod listing;
mod mask;
mod memo;
mod orbits;
mod template_lists;
mod templates;

use std::{
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{
    grid::Shape,
    recent::Recent,
    symmetry::{ConjugacyClass, SymmetryGroup, conjugacy_classes},
};
use cover::{Cover, MANY_BLOCKS};
pub use listing::FixedListing;
use mask::Mask;
use memo::Memo;
use orbits::CellOrbits;

/// A shape whose symmetries are too many or whose grids are too large.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "shape {shape} is not one whose essentially different grids are counted here; accepted are {}",
    accepted()
)]
pub struct TooLarge {
    /// What was asked for.
    pub shape: Shape,
}

fn accepted() -> String {
    let named = SHAPES.map(|(rows, columns)| {
        Shape::new(rows, columns).map_or(String::new(), |shape| format!("{shape} ({})", shape.words()))
    });
    named.join(", ")
}

/// Boxes of rows and columns, either way round.
const SHAPES: [(u8, u8); 6] = [(2, 2), (2, 3), (2, 4), (2, 5), (3, 3), (3, 4)];

/// How far a unit is: opaque to everyone but the unit. The default is its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceProgress {
    /// The first pair of choices that has not been counted.
    next: u64,
    sum: u128,
}

/// How much of a class was counted by [`FixedGrids::sample`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Pairs of choices that the class has.
    pub pairs: u64,
    /// Those counted.
    pub counted: u64,
}

/// The fixed grids of all conjugacy classes of a shape.
///
/// A unit is a slice of the choices of one class: the pairs of a first choice (up to the centralizer) and a second one
/// are dealt out to the slices of the class in turn. Classes that fail the quick test, and the identity of shapes that
/// are recounted anyway, have no units.
pub struct FixedGrids {
    group: SymmetryGroup,
    classes: Vec<ConjugacyClass>,
    /// For each class its first unit; one more at the end.
    starts: Vec<u64>,
    slices: u64,
    /// Classes that are being counted, or were lately.
    kept: Recent<AnyCover>,
}

/// What the units of one class share; made by the first of them.
///
/// One word for a set of orbits where it is enough, two where it is not.
enum AnyCover {
    Narrow(Cover<u64>, Memos<u64>),
    Wide(Cover<u128>, Memos<u128>),
}

/// Memories that no unit uses at the moment: what one unit has counted is good for all of its class.
type Memos<M> = Mutex<Vec<Memo<M>>>;

/// Classes whose tables are kept: a worker's threads are seldom at more.
const KEPT: usize = 3;
/// Entries of a memory at most: 16 or 32 bytes each.
const MEMO_ENTRIES: usize = 1 << 21;

impl FixedGrids {
    /// Makes the plan: the classes, and which of them have units. Some 3 ms for 3x3, 30 ms for 2x5.
    ///
    /// # Errors
    ///
    /// When the shape is too large.
    ///
    /// # Panics
    ///
    /// Never: classes with more orbits than there is room for have no units.
    pub fn new(shape: Shape, with_transpose: bool) -> Result<Self, TooLarge> {
        let (rows, columns) = (shape.rows().min(shape.columns()), shape.rows().max(shape.columns()));
        if !SHAPES.iter().any(|&(r, c)| (usize::from(r), usize::from(c)) == (rows, columns)) {
            return Err(TooLarge { shape });
        }
        let slices = slices(shape);
        let classes = conjugacy_classes(shape, with_transpose);
        let mut starts = vec![0];
        let mut end = 0;
        for class in &classes {
            if has_units(class) {
                end += slices;
            }
            starts.push(end);
        }
        let group = SymmetryGroup::new(shape, with_transpose);
        Ok(Self { group, classes, starts, slices, kept: Recent::new(KEPT) })
    }

    /// The group.
    pub fn group(&self) -> SymmetryGroup {
        self.group
    }

    /// Its conjugacy classes, the identity first.
    pub fn classes(&self) -> &[ConjugacyClass] {
        &self.classes
    }

    /// Number of units.
    pub fn units(&self) -> u64 {
        self.starts[self.classes.len()]
    }

    /// The units of a class. None: the class is the identity, or fixes no grid.
    ///
    /// # Panics
    ///
    /// When there is no such class.
    pub fn units_of(&self, class: usize) -> Range<u64> {
        self.starts[class]..self.starts[class + 1]
    }

    /// The class that a unit belongs to.
    ///
    /// # Panics
    ///
    /// When there is no such unit.
    pub fn class_of(&self, unit: u64) -> usize {
        assert!(unit < self.units(), "there is no unit {unit}");
        self.starts.partition_point(|&start| start <= unit) - 1
    }

    /// Counts the fixed grids of a unit, from `progress` on. `pause` is asked every few milliseconds with the progress
    /// made; when it says true, the unit ends with `None` and can be taken up from there. The sums of the units of a
    /// class add up to its fixed grids.
    ///
    /// The first unit of a class that is run makes its tables: milliseconds for 3x3, up to a second for 2x5.
    ///
    /// # Panics
    ///
    /// When there is no such unit.
    pub fn run_unit(
        &self,
        unit: u64,
        progress: SliceProgress,
        pause: &mut dyn FnMut(SliceProgress) -> bool,
    ) -> Option<u128> {
        let class = self.class_of(unit);
        let slice = (unit - self.starts[class], self.slices);
        let tables = self.kept.slot(class);
        match tables.get_or_init(|| AnyCover::new(&self.classes[class])) {
            AnyCover::Narrow(cover, memos) => run(cover, memos, slice, progress, pause),
            AnyCover::Wide(cover, memos) => run(cover, memos, slice, progress, pause),
        }
    }

    /// Counts some of the pairs of choices of a class, up to `wanted` of them, spread evenly, and says how many of how
    /// many. What they cost tells what the class costs. `pause`, asked as in [`FixedGrids::run_unit`], ends it.
    ///
    /// A class whose tables are not there yet gets them first.
    ///
    /// # Panics
    ///
    /// When there is no such class.
    pub fn sample(&self, class: usize, wanted: u64, pause: &mut dyn FnMut() -> bool) -> Sample {
        let tables = self.kept.slot(class);
        let (pairs, counted) = match tables.get_or_init(|| AnyCover::new(&self.classes[class])) {
            AnyCover::Narrow(cover, memos) => sample(cover, memos, wanted, pause),
            AnyCover::Wide(cover, memos) => sample(cover, memos, wanted, pause),
        };
        Sample { pairs, counted }
    }
}

impl ConjugacyClass {
    /// A quick test: false when the shape of its orbits on the cells alone shows that it fixes no grid.
    #[must_use]
    pub fn may_fix_grids(&self) -> bool {
        CellOrbits::new(&self.representative).may_be_covered()
    }
}

/// Whether a class has to be counted.
fn has_units(class: &ConjugacyClass) -> bool {
    // The identity fixes every grid, and these are counted faster by other means (but for the smallest, tests do it).
    !class.is_identity() && class.may_fix_grids()
}

/// Slices of a class, so that several workers share the largest ones.
fn slices(shape: Shape) -> u64 {
    match shape.side() {
        0..=6 => 1,
        7 | 8 => 2,
        9 => 4,
        10 => 16,
        _ => 4096,
    }
}

impl AnyCover {
    fn new(class: &ConjugacyClass) -> Self {
        Self::with_stabilizers(class, MANY_BLOCKS)
    }

    /// With second choices up to stabilizers from so many blocks on.
    fn with_stabilizers(class: &ConjugacyClass, many_blocks: usize) -> Self {
        let orbits = CellOrbits::new(&class.representative);
        let centralizer = class.centralizer();
        if orbits.len() <= u64::BITS as usize {
            Self::Narrow(Cover::new(&orbits, &centralizer, many_blocks), Mutex::default())
        } else {
            Self::Wide(Cover::new(&orbits, &centralizer, many_blocks), Mutex::default())
        }
    }
}

fn run<M: Mask>(
    cover: &Cover<M>,
    memos: &Memos<M>,
    slice: (u64, u64),
    progress: SliceProgress,
    pause: &mut dyn FnMut(SliceProgress) -> bool,
) -> Option<u128> {
    let mut memo = lock(memos).pop().unwrap_or_else(|| Memo::new(MEMO_ENTRIES));
    let counted = cover.count_slice(slice, progress, &mut memo, pause);
    lock(memos).push(memo);
    counted
}

fn sample<M: Mask>(
    cover: &Cover<M>,
    memos: &Memos<M>,
    wanted: u64,
    pause: &mut dyn FnMut() -> bool,
) -> (u64, u64) {
    let mut memo = lock(memos).pop().unwrap_or_else(|| Memo::new(MEMO_ENTRIES));
    let counted = cover.sample(wanted, &mut memo, pause);
    lock(memos).push(memo);
    (cover.starts(), counted)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that is guarded is ever left half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
