//! The kind as the machinery sees it; what it finds is tested in `shared`.

use std::fs;

use shared::unavoidable::brute;

use super::*;
use crate::{
    laws::{self, run},
    plot::Marks,
};

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
    assert_eq!(report.json["range"], serde_json::json!([1, 2]));
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
    let changes: [fn(&mut Partial); 5] = [
        |partial| partial.units += 1,
        |partial| partial.with_puzzles = 9,
        |partial| partial.puzzles.clear(),
        |partial| partial.puzzles[0].0 = 12,
        |partial| assert_eq!(partial.by_clues.insert(5, 1), None),
    ];
    for change in changes {
        let mut bad = good.clone();
        change(&mut bad);
        assert!(job.check(0..4, &bad).is_err(), "{bad:?}");
    }
}
