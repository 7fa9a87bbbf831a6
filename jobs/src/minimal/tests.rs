//! Everything about 4x4, and some of 6x6 by two ways.

use std::collections::BTreeSet;

use serde_json::json;
use shared::unavoidable::CellSet;

use super::*;
use crate::{
    laws::{run_with, splits_agree},
    parts::{PartSink, memory::Parts},
};

fn job(settings: serde_json::Value) -> Minimal {
    Minimal::new(serde_json::from_value(settings).unwrap()).unwrap()
}

/// The job of the exact counts.
fn every(job: &Minimal) -> &Every {
    let Minimal::Every(every) = job else { panic!("a sample") };
    every
}

fn counted(partial: &mut Partial) -> &mut Counted {
    let Partial::Counted(counted) = partial else { panic!("an estimate") };
    counted
}

fn finished(units: u64) -> Progress {
    Progress { units, done: units, ..Progress::default() }
}

fn output(job: &Minimal, form: Form) -> String {
    let parts = Parts::default();
    let partial = run_with(job, 0..job.units(), Some(&parts));
    let report = job.report(&partial, &finished(job.units())).unwrap();
    let mut out = Vec::new();
    job.assemble(&Finished { report: &report.json, parts: &parts, form }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn four_by_four_has_as_many_as_is_known() {
    let job = job(json!({ "shape": "2x2" }));
    let partial = run_with(&job, 0..2, None);
    let report = job.report(&partial, &finished(2)).unwrap();
    let known = json!({
        "grids": "288", "grids_up_to_relabelling": "12", "grids_essentially_different": "2",
        "minimal_puzzles": "85632", "up_to_relabelling": "3568", "essentially_different": "36",
        "with_one_solution": "13579680", "complete": true,
    });
    for (key, value) in known.as_object().unwrap() {
        assert_eq!(&report.json[key], value, "{key}");
    }
    let by_clues = [("4", "25728", "13"), ("5", "58368", "22"), ("6", "1536", "1")];
    for (clues, minimal, different) in by_clues {
        assert_eq!(report.json["by_clues"][clues]["minimal_puzzles"], minimal);
        assert_eq!(report.json["by_clues"][clues]["essentially_different"], different);
    }
    assert_eq!(report.json["by_clues"]["7"]["with_one_solution"], "2141184");
    let of_grids = report.json["by_grid"].as_array().unwrap().iter();
    let of_grids: BTreeSet<&str> = of_grids.map(|grid| grid["minimal_puzzles"].as_str().unwrap()).collect();
    assert_eq!(of_grids, ["284", "304"].into());
    assert!(report.table.contains("85,632"), "{}", report.table);
    assert_eq!(report.plots.len(), 1);
    splits_agree(&job, 0..2, [1]);
}

#[test]
fn lists_have_each_puzzle_once() {
    for (list, number, sum) in
        [("different", 36, 85_632), ("relabelling", 3568, 85_632), ("all", 85_632, 85_632)]
    {
        let job = job(json!({ "shape": "2x2", "list": list }));
        let csv = output(&job, Form::Csv);
        let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let puzzles: BTreeSet<&str> = rows.iter().map(|row| row[0]).collect();
        assert_eq!((rows.len(), puzzles.len()), (number, number), "{list}");
        assert_eq!(rows.iter().map(|row| row[3].parse::<u64>().unwrap()).sum::<u64>(), sum, "{list}");
        for row in rows.iter().step_by(97) {
            let given = row[0].bytes().zip(row[2].bytes());
            assert!(given.clone().all(|(clue, digit)| clue == digit || clue == b'.'), "{row:?}");
            assert_eq!(given.filter(|(clue, _)| *clue != b'.').count().to_string(), row[1]);
        }
    }
    let drawn = output(&job(json!({ "shape": "2x2" })), Form::Drawn);
    assert_eq!(drawn.matches("clues, stands for").count(), 36);
    assert_eq!(drawn.matches("+-----+-----+").count(), 3 * 36);
}

#[test]
fn a_part_with_cells_that_the_grid_has_not_is_refused() {
    let job = job(json!({ "shape": "2x2" }));
    let parts = Parts::default();
    run_with(&job, 0..2, Some(&parts));
    let sets = [CellSet(0xF), CellSet(1 << 16)];
    parts.put(1, postcard::to_stdvec(&sets[..]).unwrap()).unwrap();
    let finished = Finished { report: &json!({}), parts: &parts, form: Form::Csv };
    let error = job.assemble(&finished, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("part 1 has a puzzle with cells"), "{error}");
}

/// What is said and what goes without saying are the same job.
#[test]
fn the_same_job_has_one_name() {
    let prepared = |settings: serde_json::Value| {
        let args = serde_json::from_value(settings).unwrap();
        serde_json::to_value(Minimal::prepare(args, &Surroundings::local()).unwrap()).unwrap()
    };
    assert_eq!(prepared(json!({})), prepared(json!({ "shape": "2x2", "valid": true })));
    assert_ne!(prepared(json!({ "shape": "2x3" })), prepared(json!({ "shape": "2x3", "valid": true })));
    assert_eq!(prepared(json!({ "sample": 9 })), prepared(json!({ "sample": 9, "shape": "3x3", "seed": 1 })));
}

#[test]
fn shapes_and_lists_that_cannot_be_had_are_refused() {
    for (settings, word) in [
        (json!({ "shape": "3x3" }), "3.1e37"),
        (json!({ "shape": "2x4" }), "2x3"),
        (json!({ "shape": "2x3", "list": "all" }), "too many"),
        (json!({ "shape": "2x3", "sample": 10 }), "3x3"),
        (json!({ "shape": "3x3", "sample": 0 }), "1 to 1000000000"),
        (json!({ "sample": 10, "most_clues": 61 }), "28 to 60"),
        (json!({ "sample": 10, "valid": true }), "lists no puzzles"),
        (json!({ "shape": "2x2", "seed": 10 }), "--sample"),
    ] {
        let error = Minimal::new(serde_json::from_value(settings).unwrap()).err().unwrap();
        assert!(error.0.contains(word), "{error}");
    }
    let six = job(json!({ "shape": "2x3" }));
    assert_eq!((six.units(), every(&six).grids().classes().len()), (49, 49));
}

#[test]
fn yields_that_cannot_be_are_refused() {
    let job = job(json!({ "shape": "2x2" }));
    let good = run_with(&job, 0..1, None);
    let changes: [fn(&mut Partial); 5] = [
        |partial| counted(partial).grids.clear(),
        |partial| counted(partial).grids.get_mut(&0).unwrap().minimal[4] += 100_000,
        |partial| counted(partial).grids.get_mut(&0).unwrap().different[4] += 1000,
        |partial| counted(partial).grids.get_mut(&0).unwrap().valid.clear(),
        |partial| counted(partial).grids.get_mut(&0).unwrap().minimal.truncate(3),
    ];
    for change in changes {
        let mut bad = good.clone();
        change(&mut bad);
        assert!(job.check(0..1, &bad).is_err(), "{bad:?}");
    }
    let mut twice = good.clone();
    assert!(job.merge(&mut twice, good).is_err());
    let sample = self::job(json!({ "sample": 2 }));
    assert!(sample.check(0..1, &twice).is_err() && sample.merge(&mut sample.empty(), twice).is_err());
}

/// Our own numbers, which nobody else has published: two ways give them for single grids (`shared/tests/unavoidable.rs`).
#[test]
#[ignore = "some minutes with --release, hours without"]
fn six_by_six_has_as_many_as_it_had() {
    let job = job(json!({ "shape": "2x3" }));
    let report = job.report(&run_with(&job, 0..49, None), &finished(49)).unwrap();
    assert_eq!(report.json["minimal_puzzles"], "43149319488000");
    assert_eq!(report.json["up_to_relabelling"], "59929610400");
    assert_eq!(report.json["essentially_different"], "17343039");
    let different =
        [(8, 537), (9, 175_369), (10, 3_709_745), (11, 9_189_475), (12, 3_906_001), (13, 354_809)];
    for (clues, number) in different.into_iter().chain([(14, 7061), (15, 42)]) {
        let by_clues = &report.json["by_clues"][clues.to_string()];
        assert_eq!(by_clues["essentially_different"], number.to_string(), "{clues}");
    }
}

/// Unbiased whatever the populations: the mean of a few is near what is published, and the same however it was split.
#[test]
fn a_sample_of_nine_by_nine_is_near_what_is_published() {
    let job = job(json!({ "sample": 30, "seed": 5 }));
    let partial = run_with(&job, 0..30, None);
    let report = job.report(&partial, &finished(30)).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let total = &report.json["minimal_puzzles"];
    let (mean, error) = (number(&total["estimate"]), number(&total["standard_error"]));
    // The error is known badly itself: five of them, and a third of the number at most.
    assert!((mean - 3.10e37).abs() < (5.0 * error).min(1e37), "{mean} +- {error}");
    let different = number(&report.json["essentially_different"]["estimate"]);
    assert!((different / mean - 2.55e25 / 3.10e37).abs() < 0.01 * different / mean);
    let shares = report.json["by_clues"].as_object().unwrap().values().map(|of| number(&of["share_percent"]));
    assert!((shares.sum::<f64>() - 100.0).abs() < 1e-3);
    for clues in ["25", "26", "27", "28"] {
        let of = &report.json["by_clues"][clues];
        let (share, published) = (number(&of["share_percent"]), number(&of["published_share_percent"]));
        assert!((share / published - 1.0).abs() < 0.5, "{clues}: {share} % is published as {published} %");
    }
    assert!(report.table.contains("Berthier") && report.plots.len() == 1, "{}", report.table);
    let mut csv = Vec::new();
    job.assemble(&Finished { report: &report.json, parts: &Parts::default(), form: Form::Csv }, &mut csv)
        .unwrap();
    assert_eq!(String::from_utf8(csv).unwrap(), report.csv);
    splits_agree(&job, 0..3, [1, 2]);

    let Partial::Estimated(estimate) = &partial else { panic!("counts") };
    assert!(job.check(0..30, &partial).is_ok() && job.check(0..5, &partial).is_err());
    let twice = Partial::Estimated(estimate.clone().merge(estimate));
    assert!(job.check(0..30, &twice).is_err());
    let nothing = job.report(&job.empty(), &Progress { units: 30, ..Progress::default() }).unwrap();
    assert!(nothing.table.contains("0 of 30") && nothing.plots.is_empty(), "{}", nothing.table);
    let one =
        job.report(&run_with(&job, 0..1, None), &Progress { units: 30, done: 1, ..Progress::default() });
    assert!(one.unwrap().table.contains("unknown"));
}
