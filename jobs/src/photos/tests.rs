//! The kind as the machinery sees it: real files, good and bad, in folders that change.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{drawn, record::Outcome, *};
use crate::{MAX_PARTIAL_BYTES, MAX_SETTINGS_BYTES, laws, parts::memory::Parts};

const UNIQUE: &str = "530070000600195000098000060800060003400803001700020006060000280000419005000080079";
const SOLUTION: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn put_page(path: &Path, puzzle: &str) {
    fs::write(path, drawn::puzzle(puzzle).png().unwrap()).unwrap();
}

fn typed(places: &[&Path]) -> PhotosArgs {
    let photos = places.iter().map(|place| Photos::typed(place.to_str().unwrap()).unwrap()).collect();
    PhotosArgs { photos, solve: false, overlay: None, corners: None, listing: None }
}

/// Settings as they come out of a ledger.
fn submitted(args: PhotosArgs, around: &Surroundings<'_>) -> String {
    serde_json::to_string(&Photographs::prepare(args, around).unwrap()).unwrap()
}

fn open(settings: &str) -> Photographs {
    Photographs::new(serde_json::from_str(settings).unwrap()).unwrap()
}

fn job(args: PhotosArgs) -> Photographs {
    open(&submitted(args, &Surroundings::local()))
}

fn finished(job: &Photographs) -> (Parts, Report) {
    let parts = Parts::default();
    let tally = laws::run_with(job, 0..job.units(), Some(&parts));
    let progress = Progress { units: job.units(), done: job.units(), ..Progress::default() };
    let report = job.report(&tally, &progress).unwrap();
    (parts, report)
}

fn output(job: &Photographs, parts: &Parts, report: &Report, form: Form) -> String {
    let mut out = Vec::new();
    job.assemble(&Finished { report: &report.json, parts, form }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The rows of the output in both forms, which have to tell the same.
fn rows(job: &Photographs) -> (Vec<Value>, Report) {
    let (parts, report) = finished(job);
    let lines = output(job, &parts, &report, Form::JsonLines);
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let csv = output(job, &parts, &report, Form::Csv);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let table: Vec<std::collections::HashMap<String, String>> =
        reader.deserialize().collect::<Result<_, _>>().unwrap();
    assert_eq!(table.len(), rows.len(), "{csv}");
    for (row, object) in table.iter().zip(&rows) {
        for key in ["file", "shape", "board", "verdict", "problem"] {
            assert_eq!(row[key], object[key].as_str().unwrap_or_default(), "{key}");
        }
        let list =
            |key: &str| row[key].split_whitespace().map(|n| n.parse::<f64>().unwrap()).collect::<Vec<_>>();
        let flat: Vec<f64> = object["corners"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|pair| pair.as_array().unwrap())
            .map(|n| n.as_f64().unwrap())
            .collect();
        assert_eq!(list("corners"), flat);
        for key in ["flagged", "candidates", "confidence"] {
            let numbers: Vec<f64> =
                object[key].as_array().into_iter().flatten().map(|n| n.as_f64().unwrap()).collect();
            assert_eq!(list(key), numbers, "{key}");
        }
    }
    (rows, report)
}

fn name(row: &Value) -> &str {
    row["file"].as_str().unwrap().rsplit('/').next().unwrap()
}

#[test]
fn boards_are_read_in_order_and_solved() {
    let dir = folder();
    fs::create_dir(dir.path().join("more")).unwrap();
    put_page(&dir.path().join("a.png"), UNIQUE);
    // So few that no single cell, read otherwise, would make it unique.
    let few = UNIQUE[..54].to_owned() + &"0".repeat(27);
    put_page(&dir.path().join("more/b, two.png"), &few);
    let mut args = typed(&[dir.path()]);
    args.solve = true;
    args.overlay = Some(dir.path().join("drawn").to_str().unwrap().into());
    let job = job(args);
    let (rows, report) = rows(&job);
    let verdicts: Vec<_> = rows.iter().map(|row| (name(row), row["verdict"].as_str().unwrap())).collect();
    assert_eq!(verdicts, [("a.png", "unique"), ("b, two.png", "multiple")]);
    assert_eq!((&rows[0]["board"], &rows[0]["solution"]), (&json!(UNIQUE), &json!(SOLUTION)));
    assert!(rows[1]["board"] == few && rows[1].get("solution").is_none(), "{}", rows[1]);
    assert_eq!(rows[0]["confidence"].as_array().unwrap().len(), 81);
    // Where it was drawn, in pixels of the file, within a line's width.
    for (corner, (column, row)) in (0..4).zip([(0, 0), (9, 0), (9, 9), (0, 9)]) {
        let drawn = drawn::corner(column, row);
        let read = &rows[0]["corners"][corner];
        let off = |at: &Value, drawn: f32| (at.as_f64().unwrap() - f64::from(drawn)).abs();
        assert!(off(&read[0], drawn.x) < 3.0 && off(&read[1], drawn.y) < 3.0, "{read} {drawn:?}");
    }
    let json = &report.json;
    assert_eq!((&json["photos"], &json["read"], &json["refused"]), (&json!("2"), &json!("2"), &json!("0")));
    assert_eq!((&json["boards"][0]["board"], &json["complete"]), (&json!(UNIQUE), &json!(true)));
    assert!(report.table.contains("       2  read"), "{}", report.table);

    let overlays: BTreeSet<_> =
        fs::read_dir(dir.path().join("drawn")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let expected = ["000001-a.jpg", "000002-b, two.jpg"].map(Into::into);
    assert_eq!(overlays, expected.into());
    let drawn = fs::read(dir.path().join("drawn/000001-a.jpg")).unwrap();
    let overlay = shared::photo::load::load_colour(&drawn).unwrap();
    let greenish = |pixel: &&[u8]| pixel[1] > pixel[0].saturating_add(40) && pixel[1] > pixel[2];
    assert!(overlay.pixels().chunks(3).filter(greenish).count() > 1000, "its lines are drawn");
}

#[test]
fn any_split_gives_the_same_bytes() {
    let dir = folder();
    for number in 0..6u8 {
        let digit = char::from(b'1' + number);
        put_page(&dir.path().join(format!("{number}.png")), &UNIQUE.replace(digit, "0"));
    }
    fs::write(dir.path().join("3a.jpg"), "no picture").unwrap();
    fs::write(dir.path().join("blank.png"), canvas::Canvas::filled(300, 200, [250; 3]).png().unwrap())
        .unwrap();
    let job = job(typed(&[dir.path()]));
    assert_eq!(job.units(), 8);
    laws::splits_agree(&job, 0..8, 1..8);
}

/// What somebody's folder may have in it. Each has one row that says what is wrong, and the good ones are read.
#[test]
fn nothing_in_a_folder_stops_the_others() {
    let dir = folder();
    let path = |name: &str| dir.path().join(name);
    let page = drawn::puzzle(UNIQUE);
    let jpeg = page.jpeg(90).unwrap();
    put_page(&path("a.png"), UNIQUE);
    fs::write(path("b-empty.jpg"), "").unwrap();
    fs::write(path("c-text.jpg"), "Dear Sir,\n".repeat(100)).unwrap();
    fs::write(path("d-cut.jpg"), &jpeg[..300]).unwrap();
    fs::write(path("e-bomb.png"), bomb()).unwrap();
    put_page(&path("f-vanishes.png"), UNIQUE);
    put_page(&path("g-changes.png"), UNIQUE);
    put_page(&path("h-secret.png"), UNIQUE);
    fs::set_permissions(path("h-secret.png"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::write(path("i-huge.jpg"), "").unwrap();
    fs::File::options().write(true).open(path("i-huge.jpg")).unwrap().set_len(MOST_FILE_BYTES + 1).unwrap();
    fs::write(path("j-blank.png"), canvas::Canvas::filled(400, 300, [240; 3]).png().unwrap()).unwrap();
    fs::write(path("notes.txt"), "not read at all").unwrap();
    put_page(&path("z.png"), UNIQUE);
    let settings = submitted(typed(&[dir.path()]), &Surroundings::local());
    fs::remove_file(path("f-vanishes.png")).unwrap();
    put_page(&path("g-changes.png"), &UNIQUE.replace('9', "0"));
    let root = fs::read(path("h-secret.png")).is_ok();

    let (rows, report) = rows(&open(&settings));
    let expected = [
        ("a.png", "unique", ""),
        ("b-empty.jpg", "unreadable", "empty"),
        ("c-text.jpg", "unreadable", ""),
        ("d-cut.jpg", "unreadable", ""),
        ("e-bomb.png", "unreadable", ""),
        ("f-vanishes.png", "unreadable", "No such file"),
        ("g-changes.png", "unreadable", "has changed since the job was submitted"),
        ("h-secret.png", if root { "unique" } else { "unreadable" }, if root { "" } else { "denied" }),
        ("i-huge.jpg", "unreadable", "bytes are too many"),
        ("j-blank.png", "refused", "no grid"),
        ("z.png", "unique", ""),
    ];
    assert_eq!(rows.len(), expected.len(), "one row for each photograph: {rows:#?}");
    for (row, (file, verdict, problem)) in rows.iter().zip(expected) {
        assert_eq!((name(row), row["verdict"].as_str().unwrap()), (file, verdict), "{row}");
        let said = row["problem"].as_str().unwrap_or_default();
        assert!(said.contains(problem) && (verdict == "unique") == said.is_empty(), "{row}");
    }
    let json = &report.json;
    let (read, unreadable) = if root { ("3", "7") } else { ("2", "8") };
    assert_eq!(
        (&json["photos"], &json["read"], &json["unreadable"]),
        (&json!("11"), &json!(read), &json!(unreadable))
    );
    assert_eq!(
        (&json["refused"], &json["refused_by_reason"]),
        (&json!("1"), &json!({ "no grid was found": "1" }))
    );
    let named: Vec<&str> = json["without_board"].as_array().unwrap().iter().map(name).collect();
    assert!(named.contains(&"f-vanishes.png") && named.contains(&"g-changes.png"), "{named:?}");
    assert!(report.table.contains("g-changes.png: the file has changed"), "{}", report.table);
}

/// A PNG of a few bytes that says it has 60,000 by 60,000 pixels.
fn bomb() -> Vec<u8> {
    let mut png = canvas::Canvas::filled(1, 1, [0; 3]).png().unwrap();
    let edge = 60_000u32.to_be_bytes();
    png[16..20].copy_from_slice(&edge);
    png[20..24].copy_from_slice(&edge);
    let mut crc = flate2::Crc::new();
    crc.update(&png[12..29]);
    png[29..33].copy_from_slice(&crc.sum().to_be_bytes());
    png
}

#[test]
fn ten_thousand_photographs_are_listed_in_a_file() {
    let (dir, inputs) = (folder(), folder());
    for number in 0..10_000 {
        fs::write(dir.path().join(format!("scan-{number:05}.jpg")), "").unwrap();
    }
    let around = || Surroundings { inputs: Some(inputs.path().into()), ..Surroundings::local() };
    let settings = submitted(typed(&[dir.path()]), &around());
    assert!(settings.len() < 1000 && MAX_SETTINGS_BYTES > 1000, "{settings}");
    assert_eq!(submitted(typed(&[dir.path()]), &around()), settings, "the same job");
    let job = open(&settings);
    assert_eq!((job.units(), job.unit_name(9_999).ends_with("scan-09999.jpg")), (10_000, true));
    let tally = laws::run(&job, 9_990..10_000);
    assert_eq!(tally.unreadable, 10);

    // Without a place of its own the list is beside the photographs, and is none of them.
    let beside = submitted(typed(&[dir.path()]), &Surroundings::local());
    let listing: Value = serde_json::from_str(&beside).unwrap();
    let at = listing["photos"][0]["listed"]["at"].as_str().unwrap().to_owned();
    assert_eq!(Path::new(&at).parent(), Some(dir.path()));
    assert_eq!(submitted(typed(&[dir.path()]), &Surroundings::local()), beside);
    // One more file is another job; touching the list is noticed.
    fs::write(dir.path().join("scan-10000.jpg"), "").unwrap();
    assert_ne!(submitted(typed(&[dir.path()]), &Surroundings::local()), beside);
    let text = fs::read_to_string(&at).unwrap();
    fs::write(&at, text.replace("scan-00007", "scan-00008")).unwrap();
    let error = open(&beside).run_unit(0, &UnitContext::free()).unwrap_err().to_string();
    assert!(error.contains(&at) && error.contains("not the one that was submitted"), "{error}");
    // A coordinator that does not see it can open the job all the same.
    fs::remove_file(&at).unwrap();
    let job = open(&beside);
    assert_eq!((job.units(), job.unit_name(6).as_str()), (10_000, "photograph 7 of the list"));
}

#[test]
fn a_list_that_cannot_be_kept_says_where_it_could_be() {
    let (dir, file) = (folder(), tempfile::NamedTempFile::new().unwrap());
    for number in 0..400 {
        fs::write(dir.path().join(format!("a-photograph-with-a-long-name-{number:05}.jpg")), "").unwrap();
    }
    let args = PhotosArgs { listing: Some(file.path().into()), ..typed(&[dir.path()]) };
    let error = Photographs::prepare(args, &Surroundings::local()).unwrap_err().to_string();
    assert!(error.contains("--listing DIR") && error.contains(file.path().to_str().unwrap()), "{error}");
}

#[test]
fn yields_in_another_order_are_refused() {
    let dir = folder();
    for name in ["a.png", "b.png"] {
        fs::write(dir.path().join(name), "no picture").unwrap();
    }
    let job = job(typed(&[dir.path()]));
    let check = |tally: &Tally| crate::ErasedJob::check(&job, 0..2, &postcard::to_stdvec(tally).unwrap());
    let mut tally = laws::run(&job, 0..2);
    check(&tally).unwrap();
    tally.failed.reverse();
    check(&tally).unwrap_err();
}

#[test]
fn partials_stay_small_whatever_the_photographs_are() {
    let long = |number: u64| format!("/{}/{number}.jpg", "ä".repeat(1900));
    let mut sum = Tally::default();
    for unit in 0..1000u64 {
        let record = match unit % 3 {
            0 => Record::unreadable(&long(unit), "e".repeat(5000)),
            1 => Record {
                outcome: Outcome::Refused("no grid".into()),
                ..Record::unreadable(&long(unit), String::new())
            },
            _ => Record {
                outcome: Outcome::Read,
                boards: vec![board(unit); 3],
                ..Record::unreadable(&long(unit), String::new())
            },
        };
        let one = Tally::of(unit, &record, &[]);
        one.check(&(unit..unit + 1), 1000).unwrap();
        sum = sum.plus(&one).unwrap();
    }
    sum.check(&(0..1000), 1000).unwrap();
    let bytes = postcard::to_stdvec(&sum).unwrap().len();
    assert!(bytes < MAX_PARTIAL_BYTES, "{bytes}");
    // The most doubtful ones come first on the sheet: those of the highest units, by `board`.
    let sheet: Vec<u32> = sum.sheet().take(2).collect();
    assert_eq!((sheet, sum.sheet().count()), (vec![998, 995], 200));
    assert!(sum.check(&(0..999), 1000).is_err() && sum.check(&(1..1001), 1001).is_err());
    let lying = Tally { read: sum.read + 1, ..sum.clone() };
    assert!(lying.check(&(0..1000), 1000).is_err());
}

/// A board that is the more doubtful the higher the unit.
fn board(unit: u64) -> record::Board {
    record::Board {
        shape: shared::grid::Shape::NINE,
        cells: vec![9; 81],
        confidence: vec![1000 - u16::try_from(unit).unwrap(); 81],
        flagged: shared::unavoidable::CellSet::below(81),
        candidates: shared::unavoidable::CellSet::EMPTY,
        corners: [shared::photo::reading::Point { x: 1e5, y: -1e5 }; 4],
        verdict: record::Verdict::Invalid,
        problem: "9 is given twice".into(),
        solution: None,
    }
}

#[test]
fn the_sheet_has_thumbnails_of_the_parts() {
    let dir = folder();
    put_page(&dir.path().join("a.png"), UNIQUE);
    fs::write(dir.path().join("b.png"), canvas::Canvas::filled(300, 200, [250; 3]).png().unwrap()).unwrap();
    let job = job(typed(&[dir.path()]));
    let (parts, report) = finished(&job);
    let finished = Finished { report: &report.json, parts: &parts, form: Form::Csv };
    let pictures = job.pictures(&finished).unwrap();
    let captions: Vec<&str> = pictures.iter().map(|p| p.caption.split_once('\n').unwrap().1).collect();
    assert_eq!(captions, ["unique, 0 doubtful", "refused: no grid was found"]);
    for picture in &pictures {
        let thumbnail = shared::photo::load::load_colour(&picture.jpeg).unwrap();
        assert!(thumbnail.width().max(thumbnail.height()) <= 220 && picture.jpeg.len() < 40_000);
    }
    // A part that is not there is left out, one that is damaged is an error.
    parts.0.lock().unwrap().remove(&1);
    assert_eq!(job.pictures(&finished).unwrap().len(), 1);
    parts.0.lock().unwrap().get_mut(&0).unwrap().truncate(50);
    assert!(job.pictures(&finished).unwrap_err().to_string().contains("part 0 is damaged"));
}

#[test]
fn corners_are_those_of_one_photograph() {
    let dir = folder();
    let page = dir.path().join("a.png");
    put_page(&page, UNIQUE);
    let at = |left: f32, right: f32| {
        Corners(
            [(left, left), (right, left), (right, right), (left, right)]
                .map(|(x, y)| shared::photo::reading::Point { x, y }),
        )
    };
    let read = |corners| rows(&job(PhotosArgs { corners: Some(corners), ..typed(&[&page]) })).0;
    assert_eq!(read(at(48.0, 480.0))[0]["board"], UNIQUE);
    put_page(&dir.path().join("b.png"), UNIQUE);
    let args = PhotosArgs { corners: Some(at(48.0, 480.0)), ..typed(&[dir.path()]) };
    let error = Photographs::new(Photographs::prepare(args, &Surroundings::local()).unwrap()).err().unwrap();
    assert!(error.to_string().contains("there are 2"), "{error}");
}

#[test]
fn what_names_no_photographs_is_refused() {
    let dir = folder();
    let error = |places: &[&Path]| {
        Photographs::prepare(typed(places), &Surroundings::local()).unwrap_err().to_string()
    };
    assert!(error(&[dir.path()]).contains("0 photographs"));
    assert!(error(&[&PathBuf::from("/nowhere/at/all.jpg")]).contains("/nowhere/at/all.jpg"));
    assert!(Photos::typed("-").is_err() && Photos::typed("").is_err());
    // The same file twice is one photograph.
    put_page(&dir.path().join("a.png"), UNIQUE);
    assert_eq!(job(typed(&[dir.path(), &dir.path().join("a.png")])).units(), 1);
    // Settings may come from anywhere.
    for hostile in [
        r#"{"photos":[],"solve":false}"#,
        r#"{"photos":[{"files":[]}],"solve":false}"#,
        r#"{"photos":[{"files":[{"at":"relative.jpg","stored_bytes":1,"version":""}]}],"solve":false}"#,
        r#"{"photos":[{"listed":{"at":"list","photos":5,"digest":"00"}}],"solve":false}"#,
        r#"{"photos":[{"listed":{"at":"/list","photos":18446744073709551615,"digest":"0000000000000000000000000000000000000000000000000000000000000000"}}],"solve":false}"#,
    ] {
        assert!(Photographs::new(serde_json::from_str(hostile).unwrap()).is_err(), "{hostile}");
    }
}
