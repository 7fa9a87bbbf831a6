//! What units yield, and how yields add up.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};
use shared::symmetry::automorphic::{Alike, AutomorphicGrids};

use crate::{kind::BadPartial, parts::PartsDigest};

/// What some units have found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partial {
    /// By class, ascending.
    pub classes: Vec<ClassPartial>,
    /// Digest of the units' parts.
    pub parts: PartsDigest,
}

/// What is known of one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassPartial {
    /// Number of the class among all of 3x3, from 0.
    pub class: u32,
    /// Units of the class that are counted here.
    pub units: u64,
    /// Grids, up to relabelling, that they found fixed, by what these are like; ascending.
    pub fixed: Vec<(Alike, u64)>,
}

impl ClassPartial {
    /// All fixed grids.
    pub fn total(&self) -> u128 {
        self.fixed.iter().map(|&(_, fixed)| u128::from(fixed)).sum()
    }
}

fn bad<T>(what: impl Into<String>) -> Result<T, BadPartial> {
    Err(BadPartial(what.into()))
}

/// Whether `partial` can be the yield of `range`: its classes in order, each with as many units as lie in the range.
pub fn check(partial: &Partial, job: &AutomorphicGrids, range: Range<u64>) -> Result<(), BadPartial> {
    if range.is_empty() || range.end > job.units() {
        return bad(format!("units {range:?} are not of this job"));
    }
    let mut expected: BTreeMap<usize, u64> = BTreeMap::new();
    for unit in range.clone() {
        *expected.entry(job.class_of(unit).0).or_default() += 1;
    }
    if !partial.classes.iter().map(|class| (class.class as usize, class.units)).eq(expected) {
        return bad(format!("units {range:?} do not lie in the classes that are named"));
    }
    for class in &partial.classes {
        let ascending = class.fixed.is_sorted_by(|a, b| a.0 < b.0);
        let possible = |alike: &Alike| {
            3_359_232u32.checked_rem(alike.automorphisms) == Some(0)
                && (1..alike.automorphisms).contains(&alike.of_prime_order)
        };
        if !ascending || !class.fixed.iter().all(|(alike, fixed)| possible(alike) && *fixed > 0) {
            return bad(format!("class {} has fixed grids that there cannot be", class.class));
        }
    }
    Ok(())
}

/// The sum of two yields.
pub fn merge(a: &Partial, b: &Partial, job: &AutomorphicGrids) -> Result<Partial, BadPartial> {
    let mut classes: BTreeMap<u32, (u64, BTreeMap<Alike, u64>)> = BTreeMap::new();
    for class in a.classes.iter().chain(&b.classes) {
        let (units, fixed) = classes.entry(class.class).or_default();
        *units = units.saturating_add(class.units);
        for &(alike, more) in &class.fixed {
            let sum = fixed.entry(alike).or_default();
            *sum = sum.checked_add(more).ok_or_else(|| BadPartial("more than 2^64 fixed grids".into()))?;
        }
    }
    for (&class, (units, _)) in &classes {
        let of_class = job.units_of(class as usize);
        if *units > of_class {
            return bad(format!("class {class} has {of_class} units, and {units} are counted"));
        }
    }
    let classes = classes.into_iter().map(|(class, (units, fixed))| {
        let fixed = fixed.into_iter().collect();
        ClassPartial { class, units, fixed }
    });
    Ok(Partial { classes: classes.collect(), parts: a.parts.plus(b.parts) })
}
