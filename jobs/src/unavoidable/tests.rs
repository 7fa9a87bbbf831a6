//! The kind as the machinery sees it; what it finds is tested in `shared`.

use serde_json::json;
use shared::unavoidable::CompleteGrid;

use super::*;
use crate::{
    laws,
    parts::{Form, memory::Parts},
};

fn job(grids: &[&str], max_size: u32, sets: bool) -> Unavoidable {
    let grids = grids.iter().map(|grid| Grids::typed(grid).unwrap()).collect();
    Unavoidable::new(UnavoidableArgs { grids, range: None, max_size, sets }).unwrap()
}

#[test]
fn the_grid_with_most_automorphisms_is_reported() {
    let grid = "123456789456789123789123456231564897564897231897231564312645978645978312978312645";
    let job = job(&[grid], 9, true);
    let parts = Parts::default();
    let partial = laws::run_with(&job, 0..1, Some(&parts));
    let progress = Progress { units: 1, done: 1, ..Progress::default() };
    let report = job.report(&partial, &progress).unwrap();
    let sets = unavoidable_sets(&CompleteGrid::read(grid).unwrap(), 9);
    let of_six = sets.iter().filter(|set| set.len() == 6).count();
    assert_eq!(report.json["grids"][0]["sets_by_size"]["6"], of_six);
    assert_eq!(report.json["grids"][0]["mcn"], most_disjoint(&sets).len());
    let titles = report.plots.iter().map(|plot| plot.title.as_str());
    assert!(titles.eq(["Unavoidable sets by size", "Grids by MCN"]));
    let mut out = Vec::new();
    let finished = Finished { report: &report.json, parts: &parts, form: Form::Csv };
    job.assemble(&finished, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "grid,mcn,size_4,size_5,size_6,size_7,size_8,size_9,sets");
    let listed = lines[1].rsplit(',').next().unwrap();
    assert_eq!(listed.split(' ').count(), sets.len());
    let cells: Vec<Vec<usize>> = serde_json::from_value(report.json["grids"][0]["sets"].clone()).unwrap();
    assert!(cells.into_iter().map(CellSet::from_iter).eq(sets.iter().copied()));
    let in_table = report.table.lines().filter(|line| line.starts_with("   6  r") && line.contains("c1="));
    assert_eq!(in_table.count(), sets.iter().filter(|set| set.iter().any(|cell| cell % 9 == 0)).count());
    assert!(report.csv.starts_with("grid,mcn,size_4") && report.table.contains(grid), "{}", report.table);
}

#[test]
fn any_split_of_the_units_gives_the_same_bytes() {
    let grids: Vec<&str> = ["1234341221434321", "1234341223414123"].into_iter().cycle().take(30).collect();
    let job = job(&grids, 8, false);
    assert_eq!(job.units(), 4);
    laws::splits_agree(&job, 0..4, 1..4);
    let whole = laws::run(&job, 0..4);
    assert_eq!(whole.grids, 30);
    assert!(job.check(0..3, &whole).is_err());
    let mut bad = whole.clone();
    bad.first[0].grid = 1;
    assert!(job.check(0..4, &bad).is_err());
    bad = whole;
    bad.by_size.push(1);
    assert!(job.check(0..4, &bad).is_err());
}

#[test]
fn a_range_is_reported_and_settings_without_one_mean_all() {
    let grids = ["1234341221434321", "1234341223414123"].map(|grid| json!({ "grid": grid }));
    let old = json!({ "grids": grids, "max_size": 8, "sets": false });
    let args: UnavoidableArgs = serde_json::from_value(old.clone()).unwrap();
    assert_eq!(serde_json::to_value(&args).unwrap(), old);
    assert_eq!(Unavoidable::new(args).unwrap().list.grids.len(), 2);
    let mut second = old;
    second["range"] = json!({ "from": 2 });
    let job = Unavoidable::new(serde_json::from_value(second).unwrap()).unwrap();
    assert_eq!(job.unit_name(0), "grids 2 to 2");
    let report = job.report(&laws::run(&job, 0..1), &Progress::default()).unwrap();
    assert_eq!((&report.json["range"], &report.json["grids_in_list"]), (&json!([2, 2]), &json!("2")));
    assert!(report.table.contains("\ngrid 2 of a list of 2\n"), "{}", report.table);
}

#[test]
fn sets_of_the_first_grids_are_kept_by_a_rule_that_splits_agree_on() {
    let grids: Vec<&str> = ["1234341221434321", "1234341223414123"].into_iter().cycle().take(200).collect();
    let job = job(&grids, 14, true);
    let whole = laws::run(&job, 0..job.units());
    let kept = whole.kept();
    let (with, without) = whole.first.split_at(kept);
    let sets = |of: &[OfGrid]| of.iter().map(|of| of.sets.len()).sum::<usize>();
    assert!(kept < 200 && (2950..=3000).contains(&sets(with)) && sets(without) == 0, "{kept}");
    // Cut inside what is kept, at its end, and behind it.
    laws::splits_agree(&job, 0..job.units(), [1, 9, kept as u64 / 8, kept as u64 / 8 + 1, 18]);
    let report = job.report(&whole, &Progress::default()).unwrap();
    assert!(
        !report.json["grids"][kept - 1]["sets"].is_null() && report.json["grids"][kept]["sets"].is_null()
    );
    assert!(
        report.table.contains(&format!("of the first {kept} grids with --format json")),
        "{}",
        report.table
    );
}

#[test]
fn sets_that_cannot_be_are_refused() {
    let job = job(&["1234341221434321"], 8, true);
    let good = laws::run(&job, 0..1);
    let changes: [fn(&mut Vec<CellSet>); 5] = [
        Vec::clear,
        |sets| sets.swap(0, 1),
        |sets| sets[1] = sets[0],
        |sets| sets[0] = CellSet(0b111),
        |sets| *sets.last_mut().unwrap() = CellSet(0xff << 16),
    ];
    for change in changes {
        let mut bad = good.clone();
        change(&mut bad.first[0].sets);
        assert!(job.check(0..1, &bad).is_err(), "{bad:?}");
    }
    let nothing = job.report(&Partial::default(), &Progress::default()).unwrap();
    assert!(!nothing.table.contains("the sets"), "{}", nothing.table);
    let unasked = Unavoidable { sets: false, ..job };
    assert!(unasked.check(0..1, &good).is_err());
}

#[test]
fn the_largest_partial_is_small_enough() {
    let mut partial = Partial::default();
    for grid in 0..600 {
        let all = CellSet::below(81);
        let sets = (0..25).map(|cell| all.without(CellSet::single(cell))).collect();
        partial.take(OfGrid {
            grid: u32::MAX - 600 + grid,
            mcn: 20,
            by_size: vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25],
            sets,
        });
    }
    // Sets of grids that are kept without them can be many.
    partial.first[130..].iter_mut().for_each(|of| of.by_size = vec![20_000; 11]);
    let bytes = postcard::to_stdvec(&partial).unwrap().len();
    assert!(partial.first.iter().map(|of| of.sets.len()).sum::<usize>() == 3000 && bytes < 60_000, "{bytes}");
}
