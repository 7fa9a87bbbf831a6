//! The kind as the machinery sees it.

use super::*;
use crate::{
    kind::NeededReport,
    laws::{self, run},
};

fn job(shape: &str, no_transpose: bool) -> Burnside {
    Burnside::new(BurnsideArgs { shape: shape.parse().unwrap(), no_transpose }).unwrap()
}

/// All units done, and a recount that has found `total`.
fn finished(job: &Burnside, total: &str) -> Progress {
    let json = serde_json::json!({ "total": total });
    let needed = vec![Some(NeededReport { complete: true, json })];
    Progress { units: job.units(), done: job.units(), needed, ..Progress::default() }
}

const NINE: &str = "6670903752021072936960";

#[test]
fn small_shapes_agree_with_the_literature() {
    for (shape, total, different) in
        [("2x2", "288", "2"), ("2x3", "28200960", "49"), ("3x2", "28200960", "49")]
    {
        let job = job(shape, false);
        let report = job.report(&run(&job, 0..job.units()), &finished(&job, total)).unwrap();
        assert_eq!(report.json["essentially_different"], different, "{shape}");
        assert_eq!((&report.json["agrees"], &report.json["remainder"]), (&true.into(), &"0".into()));
        assert_eq!(report.alarm, None);
    }
}

#[test]
fn nine_is_reported_as_scripts_expect() {
    let job = job("3x3", false);
    let partial = run(&job, 0..job.units());
    let report = job.report(&partial, &finished(&job, NINE)).unwrap();
    let json = &report.json;
    assert_eq!(json["essentially_different"], "5472730538");
    assert_eq!((&json["group_order"], &json["complete"]), (&"3359232".into(), &true.into()));
    let classes = json["classes"].as_array().unwrap();
    assert_eq!(classes.len(), 275);
    let identity = &classes[0];
    assert_eq!((&identity["name"], &identity["fixed"]), (&"identity".into(), &"18383222420692992".into()));
    assert_eq!(identity["cycle_type"]["1"], 81);
    let quarter = classes.iter().find(|class| class["name"] == "quarter turn").unwrap();
    assert_eq!((&quarter["size"], &quarter["fixed"]), (&"69984".into(), &"13056".into()));
    assert!(report.table.contains("5,472,730,538, remainder 0"), "{}", report.table);
    assert!(report.table.contains("27 fix grids") && report.table.contains("they agree"), "{}", report.table);
    // The heading, 27 classes, and seven lines below.
    assert_eq!(report.table.lines().count(), 35, "{}", report.table);
    assert_eq!(report.csv.lines().count(), 276);
    // A recount that is wrong by one relabelling class is found out.
    let wrong = job.report(&partial, &finished(&job, "6670903752021073299840")).unwrap();
    assert!(wrong.alarm.is_some_and(|alarm| alarm.contains("no multiple of the group's order")));
    assert!(job.report(&partial, &finished(&job, "6670903752021072936961")).is_err());
}

#[test]
fn without_transposition_there_are_nearly_twice_as_many() {
    let job = job("3x3", true);
    let report = job.report(&run(&job, 0..job.units()), &finished(&job, NINE)).unwrap();
    assert_eq!(report.json["essentially_different"], "10945437157");
    assert_eq!((&report.json["agrees"], &report.json["group_order"]), (&true.into(), &"1679616".into()));
}

#[test]
fn any_split_of_the_units_gives_the_same_bytes() {
    let job = job("2x3", false);
    laws::splits_agree(&job, 0..job.units(), 1..job.units());
}

#[test]
fn what_is_not_known_is_not_reported() {
    let job = job("3x3", false);
    let some = run(&job, 0..10);
    let progress = Progress { units: job.units(), done: 10, needed: vec![None], ..Progress::default() };
    let report = job.report(&some, &progress).unwrap();
    assert_eq!(report.json["essentially_different"], serde_json::Value::Null);
    assert_eq!(report.json["classes"][0]["fixed"], serde_json::Value::Null);
    assert!(report.table.contains("unfinished"), "{}", report.table);
    assert_eq!(report.alarm, None);
    // Class 0 is the identity; a class that fails the quick test is known to fix nothing.
    let known = |class: &serde_json::Value| class["fixed"] == "0";
    assert!(report.json["classes"].as_array().unwrap().iter().filter(|class| known(class)).count() > 50);
}

#[test]
fn partials_that_cannot_be_are_refused() {
    let job = job("3x3", false);
    let good = run(&job, 0..6);
    assert!(job.check(0..6, &good).is_ok());
    assert!(job.check(0..7, &good).is_err());
    assert!(job.check(0..6, &vec![]).is_err());
    assert!(job.check(job.units()..job.units() + 1, &good).is_err());
    let mut elsewhere = good.clone();
    elsewhere[0].class = 0;
    assert!(job.check(0..6, &elsewhere).is_err());
    let mut twice = good.clone();
    assert!(job.merge(&mut twice, good.clone()).is_err());
    let mut sum = job.empty();
    assert!(job.merge(&mut sum, vec![ClassPartial { class: 9999, units: 1, fixed: 0 }]).is_err());
    assert!(
        job.merge(&mut sum, vec![ClassPartial { class: good[0].class, units: u64::MAX, fixed: 0 }]).is_err()
    );
}

#[test]
fn large_shapes_are_planned_and_too_large_ones_refused() {
    for shape in ["2x5", "3x4"] {
        let job = job(shape, false);
        assert!(job.units() > 1000);
        assert!(job.unit_name(job.units() - 1).contains("of"));
        assert_eq!(job.needs().len(), usize::from(shape == "2x5"));
        let progress =
            Progress { units: job.units(), needed: vec![None; job.needs().len()], ..Progress::default() };
        assert!(job.report(&job.empty(), &progress).is_ok());
    }
    let error =
        Burnside::new(BurnsideArgs { shape: "4x4".parse().unwrap(), no_transpose: false }).err().unwrap();
    assert!(error.to_string().contains("--shape 4x4") && error.to_string().contains("3x4"), "{error}");
}
