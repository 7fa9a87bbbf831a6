//! What units yield, and how yields add up.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use shared::count::FixedGrids;

use crate::kind::BadPartial;

/// What is known of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassPartial {
    /// Number of the class, from 0.
    pub class: u32,
    /// Units of the class that are counted here.
    pub units: u64,
    /// Grids, up to relabelling, that these units found fixed.
    pub fixed: u128,
}

fn bad<T>(what: impl Into<String>) -> Result<T, BadPartial> {
    Err(BadPartial(what.into()))
}

/// Whether `list` can be the yield of `range`: its classes in order, each with as many units as lie in the range.
pub fn check(list: &[ClassPartial], job: &FixedGrids, range: &Range<u64>) -> Result<(), BadPartial> {
    if range.is_empty() || range.end > job.units() {
        return bad(format!("units {range:?} are not of this job"));
    }
    let touched = job.class_of(range.start)..=job.class_of(range.end - 1);
    let expected = touched.filter_map(|class| {
        let of_class = job.units_of(class);
        let units = of_class.end.min(range.end).saturating_sub(of_class.start.max(range.start));
        (units > 0).then_some((class, units))
    });
    if !list.iter().map(|count| (count.class as usize, count.units)).eq(expected) {
        return bad(format!("units {range:?} do not lie in the classes that are named"));
    }
    Ok(())
}

/// The sum of two lists.
pub fn merge(
    a: &[ClassPartial],
    b: &[ClassPartial],
    job: &FixedGrids,
) -> Result<Vec<ClassPartial>, BadPartial> {
    let mut all = [a, b].concat();
    all.sort_by_key(|count| count.class);
    let mut sum: Vec<ClassPartial> = Vec::with_capacity(all.len());
    for count in all {
        let ClassPartial { class, .. } = count;
        if class as usize >= job.classes().len() {
            return bad(format!("there is no class {class}"));
        }
        let of_class = job.units_of(class as usize);
        let before = match sum.last() {
            Some(last) if last.class == class => sum.pop(),
            _ => None,
        };
        let added = before.map_or(Some(count), |before| add(before, count));
        let fits = added.filter(|added| added.units <= of_class.end - of_class.start);
        sum.push(fits.map_or_else(|| bad(format!("class {class} is counted twice")), Ok)?);
    }
    Ok(sum)
}

fn add(a: ClassPartial, b: ClassPartial) -> Option<ClassPartial> {
    Some(ClassPartial {
        class: a.class,
        units: a.units.checked_add(b.units)?,
        fixed: a.fixed.checked_add(b.fixed)?,
    })
}
