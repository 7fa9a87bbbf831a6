//! Photographs through real processes that are killed: each once, in order; and the commands for one, and for many of
//! which it is known what is on them.

mod farm;

use std::path::Path;

use farm::{Farm, count_parts, page::texts, run, spawn, until};
use jobs::photos::drawn;

const PUZZLE: &str = "530070000600195000098000060800060003400803001700020006060000280000419005000080079";

/// The puzzle with its digits renamed in one of nine ways.
fn variant(number: usize) -> String {
    let renamed = |digit: char| match digit.to_digit(10) {
        Some(digit @ 1..) => {
            char::from_digit((digit - 1 + u32::try_from(number % 9).expect("small")) % 9 + 1, 10)
        }
        _ => Some(digit),
    };
    PUZZLE.chars().map(|digit| renamed(digit).expect("a digit")).collect()
}

/// A folder of photographs, every seventh of them none.
fn photograph(folder: &Path, photos: usize) {
    std::fs::create_dir_all(folder).expect("a folder");
    let pages: Vec<Vec<u8>> =
        (0..9).map(|number| drawn::puzzle(&variant(number)).png().expect("a picture")).collect();
    for number in 0..photos {
        let bytes = if number % 7 == 3 { b"no picture" } else { pages[number % 9].as_slice() };
        std::fs::write(folder.join(format!("{number:04}.png")), bytes).expect("a file");
    }
}

/// Every photograph has its row, in order.
fn check(output: &Path, photos: usize) {
    let text = std::fs::read_to_string(output).expect("the output");
    let rows: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.len(), photos);
    for (number, row) in rows.iter().enumerate() {
        let file = row["file"].as_str().expect("a name");
        assert!(file.ends_with(&format!("/{number:04}.png")), "row {number} is of {file}");
        if number % 7 == 3 {
            assert_eq!(row["verdict"], "unreadable", "{row}");
        } else {
            assert_eq!(
                (&row["board"], &row["verdict"]),
                (&variant(number).into(), &"unique".into()),
                "{file}"
            );
        }
    }
}

#[test]
fn a_run_that_is_killed_has_every_photograph_once() {
    const PHOTOS: usize = 400;
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (input, state, out, drawn) = (path("photos"), path("state"), path("boards.jsonl"), path("drawn"));
    photograph(Path::new(&input), PHOTOS);
    let args =
        ["run", "photos", &input, "--overlay", &drawn, "--state", &state, "-o", &out, "--format", "json"];
    let mut killed = spawn(&args);
    until("some photographs are read", || count_parts(Path::new(&state)) > 20);
    killed.kill();
    assert!(!Path::new(&out).exists(), "the output is whole or absent");
    let (code, stdout, stderr) = run(&args);
    assert_eq!(code, Some(0), "{stderr}");
    let report: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    let unreadable = (0..PHOTOS).filter(|number| number % 7 == 3).count();
    assert_eq!(report["photos"], PHOTOS.to_string());
    assert_eq!((&report["unreadable"], &report["refused"]), (&unreadable.to_string().into(), &"0".into()));
    check(Path::new(&out), PHOTOS);
    let drafts = |name: &str| {
        std::fs::read_dir(name)
            .expect("a folder")
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "jpg"))
            .count()
    };
    assert_eq!(drafts(&drawn), PHOTOS - unreadable, "an overlay for each that was read");
    // The page is made from the same ledger and parts.
    let args = ["run", "photos", &input, "--overlay", &drawn, "--state", &state, "--format", "html"];
    let (code, page, stderr) = run(&args);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(page.matches("src=\"data:image/jpeg;base64,/9j/").count(), 150);
    assert!(texts(&page, "title").contains(&"Boards by verdict".to_owned()));
}

#[test]
fn workers_share_photographs_and_one_of_them_dies() {
    const PHOTOS: usize = 500;
    let mut farm = Farm::start(2, &["--lease-ms", "20"]);
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (input, out) = (path("photos"), path("boards.jsonl"));
    photograph(Path::new(&input), PHOTOS);
    let parts = farm.parts();
    let (parts, url) = (parts.to_str().expect("UTF-8").to_owned(), farm.url.clone());
    let job = farm.ask(&["submit", "photos", &input]);
    // So many are listed beside them.
    assert!(
        job["settings"]["photos"][0]["listed"]["at"].as_str().is_some_and(|at| at.starts_with(&input)),
        "{job}"
    );
    let name = job["name"].as_str().expect("a name").to_owned();
    until("some are read", || farm.ask(&["status", &name])["done"].as_u64() > Some(0));
    farm.kill_worker(0);
    farm.start_worker(0);
    farm.kill_coordinator();
    farm.start_coordinator();
    assert_eq!(farm.wait(&name)["state"], "finished", "{}", farm.log());
    let (code, _, stderr) =
        run(&["result", &name, "--output", &out, "--parts", &parts, "--coordinator", &url]);
    assert_eq!(code, Some(0), "{stderr}");
    check(Path::new(&out), PHOTOS);
    farm.check_ledger();
}

#[test]
fn one_photograph_is_read_and_drawn() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (photo, overlay, steps) = (path("page.png"), path("read.jpg"), path("steps"));
    std::fs::write(&photo, drawn::puzzle(PUZZLE).png().expect("a picture")).expect("a file");
    let (code, text, stderr) = run(&["read", &photo, "--solve", "--overlay", &overlay, "--debug", &steps]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        text.contains("| 5 3 . | . 7 . | . . . |") && text.contains("| 5 3 4 | 6 7 8 | 9 1 2 |"),
        "{text}"
    );
    assert!(text.contains("verdict: unique"), "{text}");
    assert!(std::fs::read(&overlay).expect("an overlay").starts_with(&[0xFF, 0xD8]));
    assert!(Path::new(&steps).join("01-loaded.png").is_file());
    let (code, text, _) =
        run(&["read", &photo, "--format", "json", "--corners", "48,48,480,48,480,480,48,480"]);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, &json["boards"][0]["board"]), (Some(0), &PUZZLE.into()));

    // What is no picture, or shows no sudoku, is a failure; what is not there, or cannot be asked for, a mistake.
    let (nothing, blank) = (path("nothing.jpg"), path("blank.png"));
    std::fs::write(&nothing, "no picture").expect("a file");
    let white = jobs::photos::canvas::Canvas::filled(300, 300, [255; 3]);
    std::fs::write(&blank, white.png().expect("a picture")).expect("a file");
    for (args, expected, said) in [
        (["read", &nothing, "--format", "json"], 1, "unreadable"),
        (["read", &blank, "--format", "text"], 1, "refused"),
        (["read", &path("nowhere.jpg"), "--format", "text"], 2, "nowhere.jpg"),
        (["read", dir.path().to_str().expect("UTF-8"), "--format", "text"], 2, "not a file"),
        (["read", &photo, "--overlay", "drawn.gif"], 2, ".png or .jpg"),
        (["read", &photo, "--corners", "1,2,3"], 2, "eight"),
    ] {
        let (code, _, stderr) = run(&args);
        assert_eq!(code, Some(expected), "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
}

#[test]
fn what_was_read_is_held_against_what_is_there() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    photograph(&dir.path().join("pages"), 4);
    let white = jobs::photos::canvas::Canvas::filled(300, 300, [255; 3]);
    std::fs::write(path("blank.png"), white.png().expect("a picture")).expect("a file");
    // The second one is said to be what it is not in two cells, the fourth is no picture.
    let other = "12".to_owned() + &variant(1)[2..];
    let manifest = format!(
        "file,board\npages/0000.png,{}\npages/0001.png,{other}\npages/0002.png,{}\npages/0003.png,{}\nblank.png,-\n",
        variant(0).replacen("00", "cc", 1),
        variant(2),
        variant(3)
    );
    std::fs::write(path("manifest.csv"), manifest).expect("a file");
    let (code, json, stderr) = run(&["photos-eval", &path("manifest.csv"), "--format", "json", "--wrong"]);
    assert_eq!(code, Some(0), "{stderr}");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let sum = json["sources"].as_array().expect("sources").iter().find(|sum| sum["source"] == "pages");
    let sum = sum.expect("a sum");
    for (key, value) in [
        ("photos", 4),
        ("found", 3),
        ("unreadable", 1),
        ("cells_right", 3 * 81 - 2),
        ("boards_right", 2),
        ("cells_wrong", 2),
        ("cells_wrong_not_flagged", 2),
    ] {
        assert_eq!(sum[key], value, "{key}: {sum}");
    }
    let wrong = json["wrong"].as_array().expect("a list");
    assert_eq!((wrong.len(), &wrong[0]["wrong"]), (1, &serde_json::json!([0, 1])));
    let all = json["sources"].as_array().and_then(|sums| sums.last()).expect("the sum of all");
    assert_eq!((&all["without_sudoku"], &all["without_sudoku_refused"]), (&1.into(), &1.into()));
    let (_, table, _) = run(&["photos-eval", &path("manifest.csv"), "--threads", "1", "--limit", "2"]);
    assert!(table.lines().last().is_some_and(|line| line.starts_with("all")), "{table}");
    let (code, _, stderr) = run(&["photos-eval", &path("nowhere.csv")]);
    assert!(code == Some(2) && stderr.contains("nowhere.csv"), "{stderr}");

    let impostors = path("impostors");
    assert_eq!(run(&["photos-eval", "--make-impostors", &impostors]).0, Some(0));
    let (code, csv, stderr) = run(&["photos-eval", &(impostors + "/manifest.csv"), "--format", "csv"]);
    assert_eq!(code, Some(0), "{stderr}");
    let last: Vec<&str> = csv.lines().last().expect("a sum").split(',').collect();
    // Whether all are refused is for the reader's own tests.
    assert_eq!((last[0], last[1], last[12], last.len()), ("all", "0", "50", 15), "{csv}");
}
