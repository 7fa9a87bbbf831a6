//! Reading the parts of a run: which unit has which part, and the parts.
//!
//! The index ([`crate::parts`]) may have several parts of a unit, where workers did not compute the same, or someone made
//! one up. Which of them the result was made from follows from its digest (`choice.rs`).

mod choice;

use std::{collections::BTreeMap, sync::OnceLock};

use jobs::{OutputError, PartSource, PartsDigest};

use crate::{
    objects::{Name, ObjectError, Objects},
    parts::{Entry, MAX_PART_BYTES, index_of},
};
use choice::{Doubtful, Made, agreeing, without_some};

/// Entries of an index that are read at most: some hundred bytes of memory each.
const MOST_ENTRIES: usize = 10_000_000;

/// The parts of one run, to be read. Its methods block: call them on threads that are not a runtime's own.
#[derive(Debug)]
pub struct Output {
    objects: Objects,
    index: String,
    units: u64,
    expected: Option<PartsDigest>,
    /// The parts of each unit. Read when the first part is asked for.
    names: OnceLock<Result<BTreeMap<u64, Vec<Name>>, String>>,
}

impl Output {
    /// The parts of run `run`, which has `units` units; `expected` is the digest of those that its result was made from.
    #[must_use]
    pub fn new(objects: Objects, run: [u8; 16], units: u64, expected: Option<PartsDigest>) -> Self {
        Self { objects, index: index_of(run), units, expected, names: OnceLock::new() }
    }

    fn names(&self) -> Result<&BTreeMap<u64, Vec<Name>>, OutputError> {
        let read = self.names.get_or_init(|| self.read_index().map_err(|error| error.to_string()));
        read.as_ref()
            .map_err(|error| OutputError::Part(format!("the index of the parts cannot be read: {error}")))
    }

    fn read_index(&self) -> Result<BTreeMap<u64, Vec<Name>>, ObjectError> {
        let entries = match self.objects.names(&self.index, MOST_ENTRIES) {
            // No part was written, which is told of the one that is asked for.
            Err(ObjectError::Missing { .. }) => Vec::new(),
            entries => entries?,
        };
        let mut made: BTreeMap<u64, Vec<Made>> = BTreeMap::new();
        for Entry { unit, name, by } in entries.iter().filter_map(|entry| Entry::read(entry)) {
            if unit < self.units {
                Made::note(made.entry(unit).or_default(), name, by);
            }
        }
        let all = |of_unit: &Vec<Made>| of_unit.iter().map(|made| made.name).collect();
        let mut names = made.iter().map(|(&unit, of_unit)| (unit, all(of_unit))).collect();
        if let Some(expected) = self.expected {
            self.choose(made, &mut names, expected);
        }
        Ok(names)
    }

    /// Where units have several parts, keeps those that give the digest of the result together. Nothing changes where none do.
    fn choose(
        &self,
        made: BTreeMap<u64, Vec<Made>>,
        names: &mut BTreeMap<u64, Vec<Name>>,
        expected: PartsDigest,
    ) {
        let mut single = PartsDigest::default();
        let mut several: Vec<Doubtful> = Vec::new();
        for (unit, of_unit) in made {
            match of_unit.as_slice() {
                [only] => single = single.plus(PartsDigest::of_name(unit, &only.name)),
                _ => several.push((unit, of_unit)),
            }
        }
        let choose = |several: &[Doubtful]| {
            agreeing(single, several, expected).or_else(|| without_some(single, several, expected))
        };
        let chosen = choose(&several).or_else(|| {
            // Fewer have to be tried without those that cannot be had anyway; to know them, all are read.
            for (_, of_unit) in &mut several {
                of_unit.retain(|made| self.is_whole(&made.name));
            }
            choose(&several)
        });
        for ((unit, _), name) in several.iter().zip(chosen.unwrap_or_default()) {
            names.insert(*unit, vec![name]);
        }
    }

    /// False where a part is lost or rotten; one that cannot be read for now may be whole.
    fn is_whole(&self, name: &Name) -> bool {
        use ObjectError::{Missing, Rotten, TooLong};
        let read = self.objects.get(name, MAX_PART_BYTES);
        !matches!(read, Err(Missing { .. } | Rotten { .. } | TooLong { .. }))
    }
}

impl PartSource for Output {
    fn get(&self, unit: u64) -> Result<Vec<u8>, OutputError> {
        let missing = |why: &dyn std::fmt::Display| {
            OutputError::Part(format!("the part of unit {unit}: {why}; --fresh computes all parts anew"))
        };
        let index = || self.objects.place_of(&self.index);
        match self.names()?.get(&unit).map_or(&[][..], Vec::as_slice) {
            [] => Err(missing(&format_args!("it is not in {}; is this where the workers write?", index()))),
            [name] => self.objects.get(name, MAX_PART_BYTES).map_err(|error| missing(&error)),
            [first, second, ..] => Err(missing(&format_args!(
                "workers did not agree on it: {} has {first} and {second}",
                index()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::Parts;

    const RUN: [u8; 16] = [7; 16];

    #[test]
    fn a_part_that_someone_else_made_of_a_unit_does_not_count() {
        let root = tempfile::tempdir().expect("a folder");
        let objects = Objects::folder(root.path().to_owned());
        let parts = Parts::new(objects.clone(), RUN, [1; 16]);
        let right = |unit: u64| format!("row {unit}").into_bytes();
        let mut digest = PartsDigest::default();
        for unit in 0..6 {
            parts.write(unit, &right(unit)).expect("written");
            digest = digest.plus(PartsDigest::of(unit, &right(unit)));
        }
        for (unit, made_up) in [(1, "lie"), (4, "lie"), (4, "another"), (9, "of no unit")] {
            parts.write(unit, made_up.as_bytes()).expect("written");
        }
        let output = Output::new(objects.clone(), RUN, 6, Some(digest));
        for unit in 0..6 {
            assert_eq!(output.get(unit).expect("the right one"), right(unit));
        }
        // Without a digest, or with another one, nobody can tell.
        for digest in [None, Some(PartsDigest::default())] {
            let output = Output::new(objects.clone(), RUN, 6, digest);
            assert_eq!(output.get(0).expect("only one"), right(0));
            let error = output.get(4).expect_err("several").to_string();
            assert!(error.contains("unit 4") && error.contains("did not agree"), "{error}");
        }
    }

    #[test]
    fn parts_that_are_lost_or_rotten_are_not_tried_beside_those_that_are_there() {
        let root = tempfile::tempdir().expect("a folder");
        let objects = Objects::folder(root.path().to_owned());
        let parts = Parts::new(objects.clone(), RUN, [1; 16]);
        let (right, wrong) = (|unit: u64| format!("row {unit}"), |unit: u64| format!("lie {unit}"));
        let mut digest = PartsDigest::default();
        // More than can be tried: 2^40.
        for unit in 0..40 {
            parts.write(unit, right(unit).as_bytes()).expect("written");
            parts.write(unit, wrong(unit).as_bytes()).expect("written");
            digest = digest.plus(PartsDigest::of(unit, right(unit).as_bytes()));
        }
        let get = |unit| Output::new(objects.clone(), RUN, 40, Some(digest)).get(unit);
        assert!(get(0).expect_err("too many").to_string().contains("did not agree"));
        for unit in 0..30 {
            let at = objects.at(&blake3::hash(wrong(unit).as_bytes()));
            if unit % 2 == 0 {
                std::fs::remove_file(at).expect("removed");
            } else {
                std::fs::write(at, "rotten").expect("written");
            }
        }
        for unit in 0..40 {
            assert_eq!(get(unit).expect("the right one"), right(unit).into_bytes());
        }
    }

    #[test]
    fn what_liars_made_of_many_units_is_told_by_who_made_it() {
        let root = tempfile::tempdir().expect("a folder");
        let objects = Objects::folder(root.path().to_owned());
        let made_by = |worker| Parts::new(objects.clone(), RUN, [worker; 16]);
        let [honest, other, liar, second] = [1, 2, 3, 4].map(made_by);
        let right = |unit: u64| format!("row {unit}").into_bytes();
        let mut digest = PartsDigest::default();
        // More than can be tried: 2^60, and of some units three.
        for unit in 0..60 {
            honest.write(unit, &right(unit)).expect("written");
            liar.write(unit, format!("lie {unit}").as_bytes()).expect("written");
            digest = digest.plus(PartsDigest::of(unit, &right(unit)));
        }
        let get = |unit, digest| Output::new(objects.clone(), RUN, 60, Some(digest)).get(unit);
        for unit in 0..60 {
            assert_eq!(get(unit, digest).expect("the right one"), right(unit));
        }
        // Two of them, and one that has made right parts too.
        for unit in 0..30 {
            second.write(unit, b"another lie").expect("written");
            other.write(unit, &right(unit)).expect("written");
            liar.write(unit, &right(unit)).expect("written");
        }
        for unit in 0..60 {
            assert_eq!(get(unit, digest).expect("the right one"), right(unit));
        }
        assert!(get(3, PartsDigest::default()).expect_err("of another result").to_string().contains("agree"));
    }
}
