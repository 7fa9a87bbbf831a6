//! The kind as the machinery sees it; what it finds is tested in `shared`.

use std::fs;

use serde_json::json;
use shared::unavoidable::{CellSet, brute};

use super::{
    work::{OfGrid, Work},
    *,
};
use crate::{
    laws::{self, run},
    plot::Marks,
};

/// Units of a small grid.
const PARTS: u64 = 16;

const GRID: &str = "1234341221434321";
const OTHER: &str = "1234341223414123";

fn job(grids: &[&str], clues: &str) -> Hitting {
    let grids = grids.iter().map(|grid| found(grid)).collect();
    Hitting::new(HittingArgs { grids, range: None, clues: parse_clues(clues).unwrap() }).unwrap()
}

fn found(text: &str) -> Grids {
    Grids::look_up(vec![Grids::typed(text).unwrap()], &Surroundings::local()).unwrap().remove(0)
}

#[test]
fn small_grids_give_what_brute_force_gives() {
    let job = job(&[GRID, OTHER], "4..6");
    assert_eq!(job.units(), 2 * PARTS);
    let whole = run(&job, 0..job.units());
    let expected = [GRID, OTHER].map(|grid| {
        let grid = CompleteGrid::read(grid).unwrap();
        (4..=6).map(|clues| brute::puzzles(&grid, clues, usize::MAX).len() as u64).collect::<Vec<_>>()
    });
    for (i, clues) in (4..=6).enumerate() {
        assert_eq!(whole.by_clues.get(&clues).copied().unwrap_or(0), expected[0][i] + expected[1][i]);
    }
    let progress = Progress { units: job.units(), done: job.units(), ..Progress::default() };
    let report = job.report(&whole, &progress).unwrap();
    assert_eq!((&report.json["grids"], &report.json["grids_with_puzzles"]), (&"2".into(), &"2".into()));
    assert_eq!(report.json["range"], json!([1, 2]));
    assert!(report.table.contains("there are no others"), "{}", report.table);
    assert_eq!(report.csv.lines().count() as u64, 1 + whole.count().min(1000));
    let Marks::Bars { categories, series } = &report.plots[0].marks else { panic!("no bars") };
    assert_eq!(categories, &["4", "5", "6"]);
    assert_eq!(series[0].counts.iter().sum::<u64>(), whole.count());
    laws::splits_agree(&job, 0..job.units(), [1, 7, 16, 31]);
}

#[test]
fn grids_are_read_with_care() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("grids.txt");
    let path = file.to_str().unwrap();
    fs::write(&file, format!("\u{feff}# two grids\r\n{GRID}\r\n\r\n{OTHER}\n")).unwrap();
    assert_eq!(job(&[path], "4").list.grids.len(), 2);
    fs::write(&file, format!("{GRID}\n1234341221434322\n")).unwrap();
    let error =
        Hitting::new(HittingArgs { grids: vec![found(path)], range: None, clues: parse_clues("4").unwrap() });
    let error = error.err().unwrap().to_string();
    assert!(error.contains("grids.txt, line 2: "), "{error}");
    fs::write(&file, "\n").unwrap();
    assert!(read_error(path).contains("no grids"));
    assert!(Grids::typed("1234").unwrap_err().contains("no such file"));
    for wrong in ["", "x", "5..4", "82", "-1", "4...6"] {
        assert!(parse_clues(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(parse_clues("16..=18"), Ok(Clues { from: 16, to: 18 }));
}

fn read_error(path: &str) -> String {
    grids::read(&[found(path)], None).unwrap_err()
}

#[test]
fn yields_that_cannot_be_are_refused() {
    let job = job(&[GRID], "4");
    let good = run(&job, 0..4);
    assert!(good.count() > 0, "{good:?}");
    let changes: [fn(&mut Partial); 14] = [
        |partial| partial.nodes += 1,
        |partial| partial.work.by_grid.clear(),
        |partial| partial.work.by_grid.values_mut().for_each(|of| of.units += 1),
        |partial| assert_eq!(partial.work.by_bits.insert(3, 1), None),
        |partial| partial.units += 1,
        |partial| partial.with_puzzles = 9,
        |partial| partial.puzzles.clear(),
        |partial| partial.puzzles[0].0 = 12,
        |partial| assert_eq!(partial.by_clues.insert(5, 1), None),
        |partial| partial.puzzles[1] = partial.puzzles[0],
        |partial| partial.puzzles[0].1 = CellSet(0xF),
        |partial| partial.grids_with_puzzles.clear(),
        |partial| partial.grids_with_puzzles = [(1, partial.count())].into(),
        |partial| *partial.grids_with_puzzles.get_mut(&0).unwrap() += 1,
    ];
    for change in changes {
        let mut bad = good.clone();
        change(&mut bad);
        assert!(job.check(0..4, &bad).is_err(), "{bad:?}");
    }
}

/// So many grids that each is one unit.
fn many() -> Hitting {
    let job = job(&[GRID, OTHER].into_iter().cycle().take(40).collect::<Vec<_>>(), "4..5");
    assert_eq!((job.units(), job.parts), (40, 1));
    job
}

#[test]
fn work_of_many_grids_is_kept_in_classes() {
    let job = many();
    let whole = run(&job, 0..40);
    assert_eq!((whole.work.grids_done(1), whole.work.by_grid.len()), (40, 0));
    laws::splits_agree(&job, 0..40, [1, 20, 39]);
    let changes: [fn(&mut Partial); 5] = [
        |partial| partial.nodes = 0,
        |partial| partial.nodes = u64::MAX,
        |partial| partial.work.by_bits.values_mut().for_each(|grids| *grids += 1),
        |partial| partial.work.by_bits = [(65, 40)].into(),
        |partial| partial.work.by_grid = run(&self::job(&[GRID], "4"), 0..1).work.by_grid,
    ];
    for change in changes {
        let mut bad = whole.clone();
        change(&mut bad);
        assert!(job.check(0..40, &bad).is_err(), "{bad:?}");
    }
}

#[test]
fn averages_and_projections_are_those_of_the_time_that_was_measured() {
    let job = many();
    let quarter = Partial { nodes: 5000, tested: 25, ..run(&job, 0..10) };
    let progress = Progress { units: 40, done: 10, busy_us: 36_000_000, ..Progress::default() };
    let report = job.report(&quarter, &progress).unwrap();
    let json = |key: &str| report.json[key].clone();
    assert_eq!((json("grids_done"), json("seconds_per_grid")), ("10".into(), 3.6.into()));
    assert_eq!((json("nodes_per_grid"), json("tested_per_grid")), (500.0.into(), 2.5.into()));
    // Grids of 4x4 tell nothing of those of 9x9.
    assert_eq!(json("projected_core_hours"), json!({ "list": 0.04, "all_grids": null }));
    assert!(json("published_core_hours").is_null());
    let expected = "unfinished: 10 of 40 grids are done\n5000 nodes, 25 hitting sets tested\n\
        a grid on average: 500 nodes, 2.5 hitting sets tested, 3.6 s on one core\n\
        at this pace the 40 grids of the list take 0.04 core-hours\n";
    assert!(report.table.ends_with(expected), "{}", report.table);
    let plot = report.plots.last().unwrap();
    let Marks::Bars { categories, series } = &plot.marks else { panic!("no bars") };
    assert!(plot.title == "Grids by time" && categories[0].ends_with("ms"), "{plot:?}");
    assert!(
        plot.caption.contains("a node, 7.2 ms:") && series[0].counts.iter().sum::<u64>() == 10,
        "{plot:?}"
    );

    let unmeasured = job.report(&quarter, &Progress { busy_us: 0, ..progress }).unwrap();
    assert_eq!(unmeasured.json["seconds_per_grid"], json!(null));
    assert_eq!(unmeasured.json["projected_core_hours"], json!({ "list": null, "all_grids": null }));
    assert_eq!(unmeasured.plots.last().unwrap().title, "Grids by nodes");
    let nothing = job.report(&Partial::default(), &Progress::default()).unwrap();
    assert!(nothing.json["nodes_per_grid"].is_null() && nothing.plots.is_empty());
}

#[test]
fn grids_of_nine_by_nine_stand_for_all() {
    const NINE: &str = "123456789456789123789123456231564897564897231897231564312645978645978312978312645";
    let job = job(&[NINE, NINE], "18");
    let grid = OfGrid { units: PARTS, nodes: 700 };
    let work = Work { by_grid: [(0, grid), (1, OfGrid { units: 4, nodes: 300 })].into(), ..Work::default() };
    let partial = Partial { units: PARTS + 4, nodes: 1000, tested: 10, work, ..Partial::default() };
    let progress = Progress { units: 2 * PARTS, done: PARTS + 4, busy_us: 4_500_000, ..Progress::default() };
    let report = job.report(&partial, &progress).unwrap();
    // A quarter of the second grid took its share: 4.5 s for 1.25 grids.
    assert_eq!(report.json["seconds_per_grid"], json!(3.6));
    assert_eq!((&report.json["grids_done"], &report.json["nodes_per_grid"]), (&json!("1"), &json!(800.0)));
    let projected = &report.json["projected_core_hours"];
    assert!((projected["list"].as_f64().unwrap() - 0.002).abs() < 1e-12);
    assert!((projected["all_grids"].as_f64().unwrap() - 5_472_730.538).abs() < 1e-6);
    assert_eq!(report.json["published_core_hours"]["core_hours"], json!("7100000"));
    let all = "all 5,472,730,538 essentially different grids would take 5,472,731 core-hours, if they are like these\n";
    assert!(
        report.table.contains(all) && report.table.contains("about 7,100,000 core-hours (McGuire"),
        "{}",
        report.table
    );
    assert!(report.table.contains("unfinished: 1 of 2 grids are done, 20 of 32 units\n"), "{}", report.table);
    let Marks::Bars { series, .. } = &report.plots[0].marks else { panic!("no bars") };
    assert_eq!(series[0].counts, [1]);
    // All of the list is done: nothing is left to project for it.
    let partial = Partial {
        units: 2 * PARTS,
        work: Work { by_grid: [(0, grid), (1, grid)].into(), ..Work::default() },
        ..partial
    };
    let report = job.report(&partial, &Progress { done: 2 * PARTS, ..progress }).unwrap();
    assert!(report.json["projected_core_hours"]["list"].is_null());
}
