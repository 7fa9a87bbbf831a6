//! The `search` method: for each class of bands, the rest of the grid is filled and counted.
//!
//! Shares no counting code with [`crate::count::gangster`]: only the enumeration of classes.

pub mod nine;
mod two;

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::{
    classes::{ClassCount, Classes},
    nine::standardised,
    triples::SPLITS,
};
use crate::grid::{Shape, ShapeError};
use nine::{Below, Remembered, STEPS};
pub(super) use two::Fill;

/// A recount by search.
///
/// A unit is a class and a first choice below its band: on 3x3 one of 56 ways to share the digits of boxes 4 and 7
/// (2,464 units of some 0.4 ms), on 2xC the second and third digit of the first row (C^2 units a class).
pub struct Search {
    classes: Classes,
    remembered: OnceLock<Remembered>,
}

/// How far a unit is: opaque to everyone but the unit. The default is its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitProgress {
    next: u32,
    sum: u128,
}

impl Search {
    /// Prepares a recount. Enumerates the classes and searches nothing yet.
    ///
    /// # Errors
    ///
    /// When the shape is not one of [`Shape::COUNTED`] or the transposed of one.
    pub fn new(shape: Shape) -> Result<Self, ShapeError> {
        Ok(Self { classes: Classes::new(shape)?, remembered: OnceLock::new() })
    }

    /// The classes that are counted.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Units of one class.
    pub fn choices(&self) -> u64 {
        match &self.classes {
            Classes::Nine(_) => SPLITS as u64,
            Classes::Two { shape, .. } => (shape.columns() * shape.columns()) as u64,
        }
    }

    /// Number of units: unit `u` is choice `u % choices()` of class `u / choices()`.
    pub fn units(&self) -> u64 {
        self.classes.len() as u64 * self.choices()
    }

    /// Searches a unit from `progress` on. `pause` is asked after each step (at most some 10 ms) with the progress
    /// made; when it says true, the unit ends with `None` and can be taken up from there.
    ///
    /// The result holds the completions with this first choice, and a share of the number of bands with given column
    /// sets such that both add up over the units of a class.
    ///
    /// # Panics
    ///
    /// When there is no such unit.
    pub fn run_unit(
        &self,
        unit: u64,
        progress: UnitProgress,
        pause: &mut dyn FnMut(UnitProgress) -> bool,
    ) -> Option<ClassCount> {
        let class = self.classes.index(unit / self.choices());
        let choice = usize::try_from(unit % self.choices()).expect("few choices");
        let (bands, completions) = match &self.classes {
            Classes::Nine(classes) => {
                let remembered = self.remembered.get_or_init(Remembered::new);
                let band = &classes.list[class].band;
                let below = Below::new(band);
                let share = below.share(choice, remembered);
                let completions = steps(STEPS, progress, pause, |step| share.step(step))?;
                let (box2, box3) = standardised(super::nine::column_sets(band));
                (if choice == 0 { remembered.ways(box2, box3).into() } else { 0 }, completions)
            }
            Classes::Two { list, shape } => {
                let columns = list[class].columns();
                let all = (1u16 << columns.len()) - 1;
                let below: Vec<u16> = columns.iter().map(|column| all ^ column).collect();
                let fill = Fill::new(&below);
                let (second, third) = (choice / shape.columns(), choice % shape.columns());
                let fourths = u32::try_from(shape.columns()).expect("at most 5");
                let completions = steps(fourths, progress, pause, |fourth| {
                    fill.ways_with(&[second, third, fourth as usize])
                })?;
                // Exchanging the columns of every box makes the bands below of the bands of the class itself.
                (completions, completions)
            }
        };
        Some(ClassCount { class: u32::try_from(class).expect("few classes"), bands, completions })
    }
}

/// Adds up steps `progress.next..count`. Progress that no unit can have made is taken for none.
pub(super) fn steps(
    count: u32,
    progress: UnitProgress,
    pause: &mut dyn FnMut(UnitProgress) -> bool,
    step: impl Fn(u32) -> u64,
) -> Option<u128> {
    let mut progress = if progress.next <= count { progress } else { UnitProgress::default() };
    while progress.next < count {
        progress.sum =
            progress.sum.checked_add(step(progress.next).into()).expect("a count exceeds 128 bits");
        progress.next += 1;
        if progress.next < count && pause(progress) {
            return None;
        }
    }
    Some(progress.sum)
}
