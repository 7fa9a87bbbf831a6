//! The `gangster` method: a band's column sets are all that the rest of the grid sees, so the numbers of bands with
//! given column sets determine the number of grids.
//!
//! Shares no counting code with [`crate::count::search`]: only the enumeration of classes.

mod nine;
pub mod table;
pub mod two;

use std::sync::OnceLock;

use super::{
    classes::{ClassCount, Classes},
    nine::NineClasses,
};
use crate::grid::{Shape, ShapeError};
use nine::NineTables;

/// A recount by column sets. A unit is a class.
pub struct Gangster {
    classes: Classes,
    /// Of all classes of 3x3, bands and completions: found together by the first unit that is run, since they
    /// share most of the work.
    nine: OnceLock<Vec<(u128, u128)>>,
}

impl Gangster {
    /// Prepares a recount. Enumerates the classes (3x3: some 1.3 ms; 2x5: some 20 ms) and counts nothing yet.
    ///
    /// # Errors
    ///
    /// When the shape is not one of [`Shape::COUNTED`] or the transposed of one.
    pub fn new(shape: Shape) -> Result<Self, ShapeError> {
        Ok(Self { classes: Classes::new(shape)?, nine: OnceLock::new() })
    }

    /// The classes that are counted.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Number of units: one for each class.
    pub fn units(&self) -> u64 {
        self.classes.len() as u64
    }

    /// Counts class `unit`. On 3x3 the first unit counts all 44 classes, in milliseconds; on 2x5 each takes some 3 ms.
    ///
    /// # Panics
    ///
    /// When there is no such unit.
    pub fn run_unit(&self, unit: u64) -> ClassCount {
        let class = self.classes.index(unit);
        let (bands, completions) = match &self.classes {
            Classes::Nine(classes) => self.nine.get_or_init(|| count_nine(classes))[class],
            Classes::Two { list, .. } => {
                // The second band has, in each column, the digits that the first lacks there: those of the other
                // column of the same box. Exchanging the columns of every box makes one of the other.
                let bands = two::bands(&list[class].vectors);
                (bands, bands)
            }
        };
        ClassCount { class: u32::try_from(class).expect("few classes"), bands, completions }
    }
}

/// Bands and completions of each class of 3x3.
fn count_nine(classes: &NineClasses) -> Vec<(u128, u128)> {
    let tables = NineTables::new(classes);
    let pairs: Vec<_> = classes.list.iter().map(|class| class.cuts).collect();
    let completions = tables.completions(classes, &pairs);
    pairs.iter().zip(completions).map(|(&cuts, found)| (tables.bands(cuts).into(), found.into())).collect()
}
