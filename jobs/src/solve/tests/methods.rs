//! The methods that people learn from, and what is measured of puzzles.

use super::*;

#[test]
fn every_method_says_what_it_can() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("puzzles");
    let clash = "55".to_owned() + &".".repeat(79);
    let marks = "12 2 3 4 3 4 1 2 2 1 4 3 4 3 2 1";
    // Two empty rows of a band can change places.
    let two = ".".repeat(18) + &UNIQUE[18..];
    fs::write(&file, format!("{UNIQUE}\n{two}\n{clash}\n1.....3..2.....4\n{marks}\n")).unwrap();
    let columns = [
        Column::Verdict,
        Column::Solutions,
        Column::Solution,
        Column::Nodes,
        Column::Guesses,
        Column::Iterations,
    ];
    let plain = args(&[&file], 2);
    let usual = rows(&Solve::new(SolveArgs { columns: columns.to_vec(), ..plain.clone() }).unwrap()).0;
    for method in Method::all().skip(1) {
        let Method::Taught(taught) = method else { unreachable!("all but the first") };
        let asked = SolveArgs { method, cap: None, columns: columns.to_vec(), ..plain.clone() };
        let (rows, tally) = rows(&Solve::new(asked).unwrap());
        let verdicts: Vec<_> = rows.iter().map(|row| row.split(',').next().unwrap()).collect();
        let field = |row: &String, at: usize| row.split(',').nth(at).unwrap().to_owned();
        if taught.searches() {
            let expected = ["unique", "multiple", "invalid", "unique", "unreadable"];
            assert_eq!(verdicts, expected, "{method}");
            let same =
                |(ours, theirs): (&String, &String)| (0..3).all(|at| field(ours, at) == field(theirs, at));
            assert!(rows.iter().zip(&usual).take(4).all(same), "{method}: {rows:?}");
            assert!(
                field(&rows[0], 3).parse::<u64>().unwrap() >= 50 && field(&rows[0], 5) == "0",
                "{rows:?}"
            );
        } else {
            // Between several solutions the convex sets share the points in the middle, and there projections stay.
            let two = if method.name().starts_with("projections") { "unsolved" } else { "solved" };
            assert_eq!(verdicts, ["solved", two, "invalid", "solved", "unreadable"], "{method}");
            assert_eq!(
                (field(&rows[0], 1), field(&rows[0], 2)),
                (">=1".into(), field(&usual[0], 2)),
                "{method}"
            );
            assert!(field(&rows[0], 5).parse::<u64>().unwrap() >= 1, "{rows:?}");
        }
        assert_eq!(tally.wrong.len(), 2, "{method}");
        assert!(tally.wrong[1].what.contains("pencil marks"), "{:?}", tally.wrong);
        // Within one node or iteration nothing is known.
        let asked = SolveArgs { method, cap: Some(1), columns: columns.to_vec(), ..plain.clone() };
        let capped = self::rows(&Solve::new(asked).unwrap()).0;
        let known = if method.name() == "projections-singles" { "solved,>=1" } else { "unsolved,>=0" };
        assert!(capped[0].starts_with(known), "{method}: {capped:?}");
    }
}

#[test]
fn levels_and_efforts_are_told_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("puzzles");
    let escargot = "1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3..";
    let grid = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
    fs::write(&file, format!("{escargot}\n{UNIQUE}\n{grid}\n{}\n", ".".repeat(81))).unwrap();
    let columns = vec![Column::Level, Column::Depth, Column::Guesses];
    let job = Solve::new(SolveArgs { columns, ..args(&[&file], 2) }).unwrap();
    let (rows, tally) = rows(&job);
    assert!(rows[0].starts_with("search,2,"), "{rows:?}");
    assert_eq!(rows[1..3], ["naked singles,0,0", "given,0,0"]);
    assert!(rows[3].starts_with(",,"), "{rows:?}");
    job.check(0..1, &tally).unwrap();
    let progress = Progress { units: 1, done: 1, ..Progress::default() };
    let report = job.report(&tally, &progress).unwrap();
    let expected = json!({ "given": "1", "naked singles": "1", "search of depth 2": "1" });
    assert_eq!(report.json["by_level"], expected);
    assert!(report.table.contains("need assumptions, 2 within each other"), "{}", report.table);
    let mut many = tally.clone();
    many.levels.insert((1, 0), 9);
    assert!(job.check(0..1, &many).is_err());
    let mut unknown = tally;
    unknown.levels.clear();
    unknown.levels.insert((99, 0), 1);
    assert!(job.check(0..1, &unknown).is_err());
}

#[test]
fn a_search_that_is_given_up_measures_nothing_and_a_seed_that_is_not_used_names_no_other_job() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("puzzles");
    fs::write(&file, UNIQUE).unwrap();
    let columns = vec![Column::Verdict, Column::Nodes, Column::Guesses];
    let nodes = |cap| {
        let args = SolveArgs { cap: Some(cap), columns: columns.clone(), ..args(&[&file], 2) };
        rows(&Solve::new(args).unwrap()).0[0].clone()
    };
    assert_eq!(nodes(10), "unique,,");
    assert!(nodes(1000).starts_with("unique,51,"), "51 cells are empty: {}", nodes(1000));
    let seed = |method, seed| {
        let typed = SolveArgs { method, seed, ..typed(&[&file], 2) };
        Solve::prepare(typed, &Surroundings::local()).unwrap().seed
    };
    for method in Method::all() {
        assert_eq!(seed(method, 5) == seed(method, 6), method.proves(), "{method}");
    }
}
