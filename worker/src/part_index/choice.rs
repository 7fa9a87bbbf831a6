//! Which of several parts of a unit the result was made from: those that give its digest together.
//!
//! Every choice is tried where there are few. Where a worker has made many wrong parts there are too many; then parts are
//! left out by who made them, as one or two liars are far likelier than an honest farm that agrees on nothing.

use std::collections::BTreeMap;

use jobs::PartsDigest;

use crate::{objects::Name, parts::Maker};

/// A part of a unit, and the workers that have made it.
#[derive(Clone, Debug)]
pub struct Made {
    pub name: Name,
    by: Vec<Maker>,
}

/// A unit, and its parts.
pub type Doubtful = (u64, Vec<Made>);

/// Choices that are tried at most.
const MOST_TRIED: usize = 1 << 16;
/// The same where workers are left out: there are many ways to do that.
const MOST_TRIED_WITHOUT: usize = 1 << 6;
/// Workers that are left out in turn, alone and two at a time: those that most of the doubtful parts are by.
const MOST_SUSPECTS: usize = 48;

impl Made {
    /// Adds that a worker has made a part to what is known of its unit.
    pub fn note(of_unit: &mut Vec<Self>, name: Name, by: Maker) {
        match of_unit.iter_mut().find(|made| made.name == name) {
            Some(made) => made.by.push(by),
            None => of_unit.push(Self { name, by: vec![by] }),
        }
    }

    /// Whether somebody else has made it too.
    fn is_by_others(&self, suspects: &[Maker]) -> bool {
        self.by.iter().any(|worker| !suspects.contains(worker))
    }
}

/// The parts that give the digest of the result, one of each unit in `several`; `single` is the digest of all other units.
/// `None` where no choice does, or too many would have to be tried.
pub fn agreeing(single: PartsDigest, several: &[Doubtful], expected: PartsDigest) -> Option<Vec<Name>> {
    let names: Vec<(u64, Vec<Name>)> = several
        .iter()
        .map(|(unit, of_unit)| (*unit, of_unit.iter().map(|made| made.name).collect()))
        .collect();
    try_all(single, &names, expected, MOST_TRIED)
}

/// The same without the parts that one or two workers, and nobody else, have made.
pub fn without_some(single: PartsDigest, several: &[Doubtful], expected: PartsDigest) -> Option<Vec<Name>> {
    let suspects = suspects(several);
    let alone = suspects.iter().map(|&one| vec![one]);
    let pairs = suspects
        .iter()
        .enumerate()
        .flat_map(|(i, &one)| suspects[..i].iter().map(move |&two| vec![one, two]));
    alone.chain(pairs).find_map(|out| {
        let left = several.iter().map(|(unit, of_unit)| {
            let names: Vec<Name> =
                of_unit.iter().filter(|made| made.is_by_others(&out)).map(|made| made.name).collect();
            (!names.is_empty()).then_some((*unit, names))
        });
        try_all(single, &left.collect::<Option<Vec<_>>>()?, expected, MOST_TRIED_WITHOUT)
    })
}

/// The workers that have made any of these parts, those with most of them first.
fn suspects(several: &[Doubtful]) -> Vec<Maker> {
    let mut parts: BTreeMap<Maker, usize> = BTreeMap::new();
    for made in several.iter().flat_map(|(_, of_unit)| of_unit) {
        for worker in &made.by {
            *parts.entry(*worker).or_default() += 1;
        }
    }
    let mut suspects: Vec<_> = parts.into_iter().collect();
    suspects.sort_by_key(|&(worker, parts)| (std::cmp::Reverse(parts), worker));
    suspects.into_iter().take(MOST_SUSPECTS).map(|(worker, _)| worker).collect()
}

fn try_all(
    single: PartsDigest,
    several: &[(u64, Vec<Name>)],
    expected: PartsDigest,
    most: usize,
) -> Option<Vec<Name>> {
    let ways = several.iter().try_fold(1usize, |ways, (_, of_unit)| ways.checked_mul(of_unit.len()));
    let ways = ways.filter(|&ways| ways <= most)?;
    // The number of a way has a digit for each unit.
    let chosen = |mut way: usize| {
        several.iter().map(move |(unit, of_unit)| {
            let place = way % of_unit.len();
            way /= of_unit.len();
            (*unit, of_unit[place])
        })
    };
    let gives = |way: &usize| {
        let digests = chosen(*way).map(|(unit, name)| PartsDigest::of_name(unit, &name));
        digests.fold(single, PartsDigest::plus) == expected
    };
    (0..ways).find(gives).map(|way| chosen(way).map(|(_, name)| name).collect())
}
