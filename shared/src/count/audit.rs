//! The audit: no two bands are taken to be alike.
//!
//! The other methods count one band of each class and multiply. If the classes were wrong, both would be wrong
//! together. The audit has no classes. With the first box held fast (renaming digits makes it so in all grids), it goes
//! through every choice of column sets of the other boxes, or through every filling of them, and finds fillings and
//! completions of each by themselves. What comes out is a list of completion numbers and how often each occurs.

pub(crate) mod fillings;
mod pairs;

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::{
    exact::Exact,
    gangster::two,
    search::{Fill, UnitProgress, nine::Remembered, steps},
    triples::{CUTS, SPLITS},
};
use crate::grid::{Shape, ShapeError};
use pairs::Pairs;

/// What an audit goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditOf {
    /// Every choice of column sets of the boxes after the first.
    ColumnSets,
    /// Every filling of boxes 2 and 3 of 3x3, up to the order of their columns and of the two boxes, completed by
    /// search: 36,288 = 2,612,736 / 72 fillings, since 3!^2 * 2 = 72 of them differ in these orders alone. Exchanging
    /// two columns of a box, or two boxes of a band, exchanges whole columns of the grid: completions correspond
    /// one to one. The rows are not touched (box 1 is fixed).
    Fillings,
}

/// An audit.
///
/// | shape | unit (column sets) | units |
/// |---|---|---|
/// | 3x3 | a cut of box 2, with all 280 of box 3 | 280 |
/// | 2x2, 2x3, 2x4, 2x5 | one choice of column sets of boxes 2..C | 3, 100, 42,875, 252,047,376 |
/// | 3x3, fillings | one filling | 36,288 |
pub struct Audit {
    shape: Shape,
    of: AuditOf,
    pairs: OnceLock<Pairs>,
    remembered: OnceLock<Remembered>,
}

/// Bands with the same number of completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AuditCount {
    /// Completions of each of them.
    pub completions: u128,
    /// Choices of column sets (or normalised fillings) with that many.
    pub choices: u64,
    /// Fillings of the boxes after the first that they stand for.
    pub fillings: u128,
}

/// An audit that there is none of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// The shape is not covered.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Fillings are listed on 3x3 only.
    #[error(
        "an audit by fillings covers shape 3x3 (three rows by three columns) only, not {shape}; \
        leave `fillings` out to audit {shape} by column sets"
    )]
    FillingsShape {
        /// What was asked for.
        shape: Shape,
    },
}

impl Audit {
    /// Plans an audit. Computes nothing yet.
    ///
    /// # Errors
    ///
    /// When the shape is not covered.
    pub fn new(shape: Shape, of: AuditOf) -> Result<Self, AuditError> {
        let shape = shape.counted()?;
        if of == AuditOf::Fillings && shape != Shape::NINE {
            return Err(AuditError::FillingsShape { shape });
        }
        Ok(Self { shape, of, pairs: OnceLock::new(), remembered: OnceLock::new() })
    }

    /// The shape, with no more rows than columns a box.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of units.
    ///
    /// # Panics
    ///
    /// Never: bands have few boxes.
    pub fn units(&self) -> u64 {
        match (self.of, self.shape) {
            (AuditOf::Fillings, _) => fillings::COUNT,
            (AuditOf::ColumnSets, Shape::NINE) => CUTS as u64,
            (AuditOf::ColumnSets, shape) => {
                halves(shape.columns()).pow(u32::try_from(shape.columns() - 1).expect("at most 5 boxes"))
            }
        }
    }

    /// Choices (column sets or fillings) in one unit.
    pub fn choices_per_unit(&self) -> u64 {
        if self.of == AuditOf::ColumnSets && self.shape == Shape::NINE { CUTS as u64 } else { 1 }
    }

    /// What a unit is, in words.
    ///
    /// # Panics
    ///
    /// When there is no such unit.
    pub fn unit_name(&self, unit: u64) -> String {
        match (self.of, self.shape) {
            (AuditOf::Fillings, _) => format!("filling {}", super::nine::band_text(&fillings::filling(unit))),
            (AuditOf::ColumnSets, Shape::NINE) => format!("column sets {unit} of box 2"),
            (AuditOf::ColumnSets, _) => format!("column sets {:?}", column_sets(self.shape, unit)),
        }
    }

    /// Computes a unit from `progress` on, asking `pause` after each step as [`Search`](super::Search) does. The
    /// result is sorted and has each number of completions once.
    ///
    /// # Panics
    ///
    /// When there is no such unit.
    pub fn run_unit(
        &self,
        unit: u64,
        progress: UnitProgress,
        pause: &mut dyn FnMut(UnitProgress) -> bool,
    ) -> Option<Vec<AuditCount>> {
        assert!(unit < self.units(), "there is no unit {unit} among {}", self.units());
        if self.of == AuditOf::Fillings {
            let below = super::search::nine::Below::new(&fillings::filling(unit));
            let remembered = self.remembered.get_or_init(Remembered::new);
            let completions = steps(u32::try_from(SPLITS).expect("56"), progress, pause, |choice| {
                let share = below.share(choice as usize, remembered);
                (0..super::search::nine::STEPS).map(|step| share.step(step)).sum()
            })?;
            return Some(vec![AuditCount { completions, choices: 1, fillings: fillings::ORDERS }]);
        }
        if self.shape == Shape::NINE {
            return Some(self.pairs.get_or_init(Pairs::new).run(usize::try_from(unit).expect("below 280")));
        }
        let columns = column_sets(self.shape, unit);
        let boxes = self.shape.columns();
        let vector = |digit: usize| {
            (0..boxes).map(|b| u8::from(columns[2 * b + 1] >> digit & 1 == 1) << b).sum::<u8>()
        };
        let flip = (1u8 << boxes) - 1;
        let below: Vec<u8> = (0..2 * boxes).map(|digit| flip ^ vector(digit)).collect();
        // The first box stands cell by cell, its columns ascending; those of the other boxes may be exchanged.
        let fillings = u128::from(Fill::with_first_box(&columns).ways()) << (boxes - 1);
        Some(vec![AuditCount { completions: two::bands(&below), choices: 1, fillings }])
    }

    /// Grids that `counts` account for: `side! * sum fillings * completions`. With all units this is the number of all
    /// grids.
    pub fn total(&self, counts: &[AuditCount]) -> Exact {
        let sum: Exact = counts
            .iter()
            .map(|count| Exact::from(count.completions).times(&Exact::from(count.fillings)))
            .sum();
        Exact::factorial(self.shape.side() as u64).times(&sum)
    }
}

/// Ways to cut the digits of a box of two columns into these: `C(2C, C) / 2`.
fn halves(columns: usize) -> u64 {
    let factorial = |n: usize| (1..=n as u64).product::<u64>();
    factorial(2 * columns) / factorial(columns).pow(2) / 2
}

/// The column sets of a band of Cx2 by number: box 1 has the digits 1..C in its first column; the boxes after it have
/// digit 1 in their first column, and go through all such sets like the digits of a number.
fn column_sets(shape: Shape, mut unit: u64) -> Vec<u16> {
    let boxes = shape.columns();
    let all = (1u16 << (2 * boxes)) - 1;
    let mut columns = vec![(1 << boxes) - 1];
    columns.push(all ^ columns[0]);
    for _ in 1..boxes {
        let number = usize::try_from(unit % halves(boxes)).expect("at most 126");
        unit /= halves(boxes);
        let mut sets = (0..=all).filter(|set| set & 1 == 1 && set.count_ones() as usize == boxes);
        let set = sets.nth(number).expect("half of all sets contain digit 1");
        columns.extend([set, all ^ set]);
    }
    columns
}

/// Brings counts into their one form: sorted, each number of completions once.
///
/// # Errors
///
/// `None` when a sum does not fit.
pub fn gather(mut counts: Vec<AuditCount>) -> Option<Vec<AuditCount>> {
    counts.sort_unstable();
    let mut gathered: Vec<AuditCount> = Vec::new();
    for count in counts {
        match gathered.last_mut() {
            Some(last) if last.completions == count.completions => {
                last.choices = last.choices.checked_add(count.choices)?;
                last.fillings = last.fillings.checked_add(count.fillings)?;
            }
            _ => gathered.push(count),
        }
    }
    Some(gathered)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn units_are_different_choices() {
        for shape in &Shape::COUNTED[..3] {
            let audit = Audit::new(*shape, AuditOf::ColumnSets).unwrap();
            let choices: HashSet<_> = (0..audit.units()).map(|unit| column_sets(*shape, unit)).collect();
            assert_eq!(choices.len() as u64, audit.units(), "{shape}");
        }
        let large = Audit::new(Shape::COUNTED[3], AuditOf::ColumnSets).unwrap();
        assert_eq!(large.units(), 252_047_376);
        assert!(large.unit_name(252_047_375).starts_with("column sets"));
    }

    #[test]
    fn only_nine_is_audited_by_fillings() {
        let error = Audit::new(Shape::COUNTED[1], AuditOf::Fillings).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("not 2x3"), "{error}");
    }
}
