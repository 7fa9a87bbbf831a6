//! What units yield, and how yields add up.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use shared::count::{Audit, AuditCount, audit};

use crate::kind::BadPartial;

/// What a range of units yields, in its one form: sorted, nothing twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Partial {
    /// Of methods that go through classes.
    Classes(Vec<ClassPartial>),
    /// Of audits: choices by their number of completions.
    Choices(Vec<AuditCount>),
}

/// What is known of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassPartial {
    /// Number of the class, from 0.
    pub class: u32,
    /// Units of the class that are counted here.
    pub units: u64,
    /// Bands with given column sets, as far as these units report them.
    pub bands: u128,
    /// Completions found in these units.
    pub completions: u128,
}

fn bad<T>(what: impl Into<String>) -> Result<T, BadPartial> {
    Err(BadPartial(what.into()))
}

/// Whether `list` can be the yield of `range`, of units `class * choices + choice`.
pub fn check_classes(
    list: &[ClassPartial],
    classes: usize,
    choices: u64,
    range: &Range<u64>,
) -> Result<(), BadPartial> {
    // The classes that the range touches, and how many units of each lie in it.
    let touched = range.start / choices..range.end.div_ceil(choices);
    if touched.end > classes as u64 || range.is_empty() {
        return bad(format!("units {range:?} are not of this job"));
    }
    if list.len() as u64 != touched.end - touched.start {
        return bad(format!("units {range:?} touch {touched:?}, not {} classes", list.len()));
    }
    for (count, class) in list.iter().zip(touched) {
        let (first, end) = (class * choices, (class + 1) * choices);
        let units = end.min(range.end) - first.max(range.start);
        if u64::from(count.class) != class || count.units != units {
            return bad(format!(
                "{} units of class {} where {units} of {class} belong",
                count.units, count.class
            ));
        }
    }
    Ok(())
}

/// Whether `list` can be the yield of `range` of an audit.
pub fn check_choices(list: &[AuditCount], audit: &Audit, range: &Range<u64>) -> Result<(), BadPartial> {
    if range.end > audit.units() {
        return bad(format!("units {range:?} are not of this job"));
    }
    if !list.is_sorted_by(|a, b| a.completions < b.completions) {
        return bad("the numbers of completions are not ascending");
    }
    let choices = list.iter().map(|count| u128::from(count.choices)).sum::<u128>();
    let expected = u128::from(range.end - range.start) * u128::from(audit.choices_per_unit());
    if choices != expected {
        return bad(format!("{choices} choices in units {range:?}, where {expected} belong"));
    }
    Ok(())
}

/// The sum of two lists of classes.
pub fn merge_classes(
    a: &[ClassPartial],
    b: &[ClassPartial],
    classes: usize,
    choices: u64,
) -> Result<Vec<ClassPartial>, BadPartial> {
    let mut all = [a, b].concat();
    all.sort_by_key(|count| count.class);
    let mut sum: Vec<ClassPartial> = Vec::with_capacity(all.len());
    for count in all {
        match sum.last_mut() {
            Some(last) if last.class == count.class => {
                let added = add(*last, count).filter(|added| added.units <= choices);
                *last = added.map_or_else(|| bad(format!("class {} is counted twice", count.class)), Ok)?;
            }
            _ if count.class as usize >= classes || count.units > choices => {
                return bad(format!("{} units of class {} of {classes}", count.units, count.class));
            }
            _ => sum.push(count),
        }
    }
    Ok(sum)
}

fn add(a: ClassPartial, b: ClassPartial) -> Option<ClassPartial> {
    Some(ClassPartial {
        class: a.class,
        units: a.units.checked_add(b.units)?,
        bands: a.bands.checked_add(b.bands)?,
        completions: a.completions.checked_add(b.completions)?,
    })
}

/// The sum of two lists of choices.
pub fn merge_choices(a: &[AuditCount], b: Vec<AuditCount>) -> Result<Vec<AuditCount>, BadPartial> {
    let all = a.iter().copied().chain(b).collect();
    audit::gather(all).map_or_else(|| bad("counts do not fit"), Ok)
}
