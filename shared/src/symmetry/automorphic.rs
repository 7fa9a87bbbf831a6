//! The 9x9 grids with a symmetry of their own: those that some cell symmetry, together with a renaming of digits,
//! takes to themselves.
//!
//! # Finding all of them
//!
//! A group with more than one element has one of prime order, so such a grid is fixed by a symmetry of prime order:
//! 2 or 3, as 3,359,232 = 2^9 3^8. The representatives of these conjugacy classes fix some hundred million grids; up to
//! their centralizers far fewer ([`FixedListing`]), and each of those is made canonical.
//!
//! # Counting them without comparing them
//!
//! Let the essentially different grid X have `a` automorphisms, `p` of them of prime order. X is |G| / a grids, and a
//! representative of the class C fixes as many of them as there are pairs (grid of X, automorphism in C) divided by
//! |C|. Summed over all classes of prime order, with the weights w of what is listed,
//!
//! ```text
//! sum over classes C of  |C| * (sum of w over the listed grids in X)  =  |G| p / a
//! ```
//!
//! So the essentially different grids with `a` and `p` are as many as the sum of |C| w over all that is listed with
//! these, times a / (|G| p). What remains may be spread over any number of machines: nobody has to find out what
//! two of them have in common, and a division with a remainder gives lost or doubled grids away.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::{
    ConjugacyClass, SymmetryGroup, conjugacy_classes,
    minlex::{self, Cells, Transformation},
};
use crate::{
    count::{Exact, FixedListing},
    grid::Shape,
};

/// Slices of each class.
const SLICES: u64 = 16;

/// Grids between two questions whether to stop: a millisecond.
const GRIDS_BETWEEN_QUESTIONS: u32 = 1024;

/// Where the automorphic grids come from: the classes of prime order. Units are slices of their lists.
pub struct AutomorphicGrids {
    classes: Vec<PrimeClass>,
}

struct PrimeClass {
    /// Its number among the conjugacy classes of 3x3.
    number: usize,
    class: ConjugacyClass,
    listing: OnceLock<FixedListing>,
}

/// A canonical grid and its number of automorphisms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AutomorphicGrid {
    /// The minlex form.
    pub form: Cells,
    /// More than 1.
    pub automorphisms: u32,
}

/// Fixed grids of one class that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Alike {
    /// Automorphisms of each.
    pub automorphisms: u32,
    /// How many of these have prime order.
    pub of_prime_order: u32,
}

/// What a unit finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AutomorphicUnit {
    /// Fixed grids of the unit's class, up to relabelling, by what they are like; ascending.
    pub fixed: Vec<(Alike, u64)>,
    /// The canonical forms, ascending, each once in a unit; other units may have it too.
    pub grids: Vec<AutomorphicGrid>,
}

impl Default for AutomorphicGrids {
    fn default() -> Self {
        Self::new()
    }
}

impl AutomorphicGrids {
    /// Makes the plan, in milliseconds.
    #[must_use]
    pub fn new() -> Self {
        let classes = (0..).zip(conjugacy_classes(Shape::NINE, true));
        let prime = classes.filter(|(_, class)| [2, 3].contains(&class.order) && class.may_fix_grids());
        let classes = prime.map(|(number, class)| PrimeClass { number, class, listing: OnceLock::new() });
        Self { classes: classes.collect() }
    }

    /// Number of units.
    #[must_use]
    pub fn units(&self) -> u64 {
        self.classes.len() as u64 * SLICES
    }

    /// The conjugacy classes that are listed, with their numbers among all of 3x3.
    pub fn classes(&self) -> impl Iterator<Item = (usize, &ConjugacyClass)> {
        self.classes.iter().map(|class| (class.number, &class.class))
    }

    /// How many units belong to the class with a number among all of 3x3.
    #[must_use]
    pub fn units_of(&self, number: usize) -> u64 {
        if self.classes.iter().any(|class| class.number == number) { SLICES } else { 0 }
    }

    /// The class that a unit belongs to, and its number.
    ///
    /// # Panics
    ///
    /// When there is no such unit.
    #[must_use]
    pub fn class_of(&self, unit: u64) -> (usize, &ConjugacyClass) {
        let class = &self.classes[usize::try_from(unit / SLICES).expect("few classes")];
        (class.number, &class.class)
    }

    /// Which slice of its class a unit is, and how many there are.
    #[must_use]
    pub fn slice_of(&self, unit: u64) -> (u64, u64) {
        (unit % SLICES, SLICES)
    }

    /// Lists and canonicalises a unit's grids: up to a second, or two for the first of a class, which makes its tables.
    /// `None` when `stopped`, which is asked every millisecond or so, said true.
    ///
    /// # Panics
    ///
    /// When there is no such unit.
    pub fn run_unit(&self, unit: u64, stopped: &dyn Fn() -> bool) -> Option<AutomorphicUnit> {
        let class = &self.classes[usize::try_from(unit / SLICES).expect("few classes")];
        let listing = class.listing.get_or_init(|| {
            FixedListing::new(&class.class)
                .expect("symmetries of prime order have at most 54 orbits of cells")
        });
        let mut found = AutomorphicUnit::default();
        // Repetitions are removed often enough to stay small, and seldom enough to cost little.
        let mut compact_at = 2048;
        let mut until_question = GRIDS_BETWEEN_QUESTIONS;
        let whole = listing.each(self.slice_of(unit), &mut |grid, weight| {
            let cells = grid.try_into().expect("grids of 3x3 have 81 cells");
            found.add(&cells, weight);
            if found.grids.len() >= compact_at {
                found.compact();
                compact_at = 2 * found.grids.len().max(1024);
            }
            until_question -= 1;
            if until_question == 0 {
                until_question = GRIDS_BETWEEN_QUESTIONS;
                return !stopped();
            }
            true
        });
        found.compact();
        whole.then_some(found)
    }

    /// How many essentially different grids have `alike`, from the numbers of fixed grids with it of each class
    /// ([`ConjugacyClass`] number, grids): all units together. `None` when these cannot be all, as there is a remainder.
    #[must_use]
    pub fn essentially_different(&self, alike: Alike, fixed: &[(usize, u64)]) -> Option<Exact> {
        let classes = self.classes.iter().flat_map(|class| {
            let of_class = fixed.iter().filter(|(number, _)| *number == class.number);
            of_class.map(|&(_, fixed)| class.class.size.times(&Exact::from(fixed)))
        });
        let pairs: Exact = classes.sum();
        let order = SymmetryGroup::new(Shape::NINE, true).order();
        pairs
            .times(&Exact::from(u64::from(alike.automorphisms)))
            .divided_exactly(&order.times(&Exact::from(u64::from(alike.of_prime_order))))
    }
}

impl AutomorphicUnit {
    fn add(&mut self, cells: &Cells, weight: u64) {
        let canonical = minlex::grid(cells).expect("fixed grids are grids");
        let automorphisms = canonical.automorphisms;
        let of_prime_order = match automorphisms {
            2 => 1,
            3 => 2,
            _ => of_prime_order(cells),
        };
        let alike = Alike { automorphisms, of_prime_order };
        match self.fixed.binary_search_by_key(&alike, |&(alike, _)| alike) {
            Ok(place) => self.fixed[place].1 += weight,
            Err(place) => self.fixed.insert(place, (alike, weight)),
        }
        self.grids.push(AutomorphicGrid { form: canonical.form, automorphisms });
    }

    /// Sorts, and removes repetitions.
    fn compact(&mut self) {
        self.grids.sort_unstable();
        self.grids.dedup();
    }
}

/// Automorphisms of order 2 or 3.
fn of_prime_order(cells: &Cells) -> u32 {
    let all = minlex::automorphisms(cells).expect("fixed grids are grids");
    let prime = all.iter().filter(|&by| {
        let twice = by.then(by);
        *by != Transformation::IDENTITY
            && (twice == Transformation::IDENTITY || twice.then(by) == Transformation::IDENTITY)
    });
    u32::try_from(prime.count()).expect("at most 648")
}
