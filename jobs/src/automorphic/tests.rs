//! The kind as the machinery sees it. The whole list is made by a test with real processes.

use std::collections::BTreeMap;

use serde_json::json;
use shared::symmetry::minlex;

use super::*;
use crate::{
    laws,
    parts::{Form, PartSource, memory::Parts},
};

fn job() -> Automorphic {
    Automorphic::new(AutomorphicArgs {}).unwrap()
}

/// Units of the class with a name.
fn units_of(job: &Automorphic, name: &str) -> Range<u64> {
    let of_class = |unit: &u64| job.grids.class_of(*unit).1.name() == name;
    let first = (0..job.units()).find(of_class).expect("a class");
    first..first + (first..job.units()).take_while(of_class).count() as u64
}

/// Parts of some units; the others are empty.
struct Given(BTreeMap<u64, Vec<u8>>);

impl PartSource for Given {
    fn get(&self, unit: u64) -> Result<Vec<u8>, OutputError> {
        Ok(self.0.get(&unit).cloned().unwrap_or_default())
    }
}

#[test]
fn a_class_is_listed_with_all_its_fixed_grids_and_true_forms() {
    let job = job();
    let parts = Parts::default();
    let range = units_of(&job, "three bands cycled; three stacks cycled");
    let partial = laws::run_with(&job, range.clone(), Some(&parts));
    // Russell & Jarvis 2006.
    assert_eq!(partial.classes[0].total(), 323_928);
    let mut digest = PartsDigest::default();
    let parts = parts.0.into_inner().unwrap();
    for unit in 0..job.units() {
        digest = digest.plus(PartsDigest::of(unit, parts.get(&unit).map_or(&[], Vec::as_slice)));
    }
    let mut forms: Vec<&[u8]> = parts.values().flat_map(|part| part.chunks(38)).collect();
    forms.sort_unstable();
    forms.dedup();
    let report = json!({ "grids": forms.len().to_string(), "parts": digest.hex() });
    let mut out = Vec::new();
    let finished = Finished { report: &report, parts: &Given(parts.clone()), form: Form::Csv };
    job.assemble(&finished, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == forms.len() && lines.is_sorted(), "{} lines", lines.len());
    for line in lines.iter().step_by(7) {
        let (form, automorphisms) = line.split_once(' ').unwrap();
        let cells = std::array::from_fn(|cell| form.as_bytes()[cell] - b'0');
        let canonical = minlex::grid(&cells).unwrap();
        assert_eq!(canonical.form, cells);
        assert_eq!(canonical.automorphisms.to_string(), automorphisms);
        assert!(canonical.automorphisms.is_multiple_of(3));
    }

    // A part that is torn, lost, or another unit's is found out.
    let tear = |parts: &mut BTreeMap<u64, Vec<u8>>| parts.get_mut(&range.start).unwrap().truncate(38);
    let lose = |parts: &mut BTreeMap<u64, Vec<u8>>| drop(parts.remove(&range.start));
    let swap = |parts: &mut BTreeMap<u64, Vec<u8>>| {
        let moved = parts[&range.start].clone();
        parts.insert(range.start + 1, moved);
    };
    for damage in [&tear as &dyn Fn(&mut BTreeMap<_, _>), &lose, &swap] {
        let mut damaged = parts.clone();
        damage(&mut damaged);
        let finished = Finished { parts: &Given(damaged), ..finished };
        let error = job.assemble(&finished, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("--fresh"), "{error}");
    }
}

#[test]
fn any_split_of_the_units_gives_the_same_bytes() {
    let job = job();
    let range = units_of(&job, "three rows cycled in two bands; three stacks cycled");
    let range = range.start - 2..range.end;
    laws::splits_agree(&job, range.clone(), [range.start + 1, range.start + 2, range.end - 3]);
}

#[test]
fn partials_that_cannot_be_are_refused() {
    let job = job();
    let range = units_of(&job, "three bands cycled; three stacks cycled");
    let range = range.start..range.start + 2;
    let good = laws::run(&job, range.clone());
    assert!(job.check(range.start..range.start + 3, &good).is_err());
    assert!(job.check(range.clone(), &job.empty()).is_err());
    assert!(job.check(job.units()..job.units() + 1, &good).is_err());
    let mut impossible = good.clone();
    impossible.classes[0].fixed[0].0.automorphisms = 5;
    assert!(job.check(range.clone(), &impossible).is_err());
    let mut twice = good.clone();
    (0..10).for_each(|_| drop(job.merge(&mut twice, good.clone())));
    assert!(job.merge(&mut twice, good.clone()).is_err(), "a class has 16 units");
    let mut elsewhere = good.clone();
    elsewhere.classes[0].class = 3;
    assert!(job.merge(&mut job.empty(), elsewhere).is_err());
}

#[test]
fn what_is_wrong_in_a_complete_result_is_said() {
    let job = job();
    let range = units_of(&job, "three bands cycled; three stacks cycled");
    let partial = laws::run(&job, range);
    let progress = Progress { units: job.units(), done: 20, needed: vec![None], ..Progress::default() };
    let report = job.report(&partial, &progress).unwrap();
    assert!(report.table.contains("unfinished: 20 of 192"), "{}", report.table);
    assert_eq!((report.alarm, &report.json["grids"]), (None, &serde_json::Value::Null));
    // Units that are lost leave a remainder, or other numbers.
    let progress = Progress { done: job.units(), ..progress };
    let alarm = job.report(&partial, &progress).unwrap().alarm.expect("eleven classes are missing");
    assert!(alarm.contains("whole classes"), "{alarm}");
}
