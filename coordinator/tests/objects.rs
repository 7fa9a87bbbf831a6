//! Parts in an object store: a real S3 server on loopback, real workers that are killed, and objects that are not what they
//! were.

mod farm;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
    time::{Duration, Instant},
};

use farm::{
    Farm, free_address, nonet, object_of, run,
    s3::{READER, serve, serve_at, with_keys},
    start, until,
};
use jobs::photos::drawn;

const PUZZLE: &str = "000000010400000000020000000000050407008000300001090000300400200050100000000806000";
const PARTS: &str = "s3://bucket/some/parts";

/// A farm whose workers write parts to a bucket.
struct Place {
    farm: Farm,
    _server: tokio::runtime::Runtime,
    url: String,
}

impl Place {
    fn new(workers: usize, parts: &str) -> Self {
        let mut farm = Farm::start(0, &["--lease-ms", "20"]);
        let root = farm.dir.path().join("root");
        fs::create_dir_all(root.join("bucket")).expect("a bucket");
        let (server, url) = serve(&root);
        farm.bucket = Some((parts.into(), url.clone()));
        farm.workers.resize_with(workers, || None);
        (0..workers).for_each(|i| farm.start_worker(i));
        Self { farm, _server: server, url }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.farm.dir.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().expect("UTF-8").to_owned()
    }

    /// Where the objects are on the server's disk.
    fn objects(&self) -> PathBuf {
        self.path("root/bucket/some/parts")
    }

    fn submit(&self, args: &[&str]) -> String {
        let job = self.farm.ask(&[&["submit"], args].concat());
        job["name"].as_str().expect("a name").to_owned()
    }

    /// `nonet result` of a job: exit code, standard output, standard error.
    fn result(&self, job: &str, parts: &str, options: &[&str]) -> (Option<i32>, String, String) {
        let args = ["result", job, "--parts", parts, "--coordinator", &self.farm.url];
        let command = with_keys(nonet(&[&args, options].concat()), &self.url);
        let Output { status, stdout, stderr } = { command }.output().expect("nonet runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (status.code(), text(stdout), text(stderr))
    }
}

/// Lines of which some are no puzzles.
fn corpus(path: &Path, lines: usize) {
    let line = |number: usize| match number % 100 {
        99 => "no puzzle\n".to_owned(),
        _ => format!("{PUZZLE},{number}\n"),
    };
    fs::write(path, (0..lines).map(line).collect::<String>()).expect("a corpus");
}

#[test]
fn parts_in_a_store_give_the_output_of_a_folder_though_workers_are_killed() {
    let mut place = Place::new(2, PARTS);
    let (input, out) = (place.name("corpus.txt"), place.name("out.csv"));
    corpus(Path::new(&input), 150_000);
    let (state, expected) = (place.name("state"), place.name("expected.csv"));
    let (code, _, stderr) = run(&["run", "solve", &input, "--state", &state, "--output", &expected]);
    assert_eq!(code, Some(0), "{stderr}");
    let expected = fs::read(expected).expect("the output");

    let job = place.submit(&["solve", &input]);
    // Wherever in a part, or between a part and its entry, it strikes.
    for _ in 0..3 {
        let before = entries(&place.objects());
        until("a part is written", || entries(&place.objects()) > before || rests(&place.farm, &job));
        place.farm.kill_worker(0);
        place.farm.start_worker(0);
    }
    assert_eq!(place.farm.wait(&job)["state"], "finished", "{}", place.farm.log());
    let (code, _, stderr) = place.result(&job, PARTS, &["--output", &out]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(fs::read(&out).expect("the output") == expected, "not the output of nonet run");
    // The bucket as a folder is a folder of parts.
    fs::remove_file(&out).expect("the output");
    let folder = place.objects();
    let (code, _, stderr) = place.result(&job, folder.to_str().expect("UTF-8"), &["--output", &out]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(fs::read(&out).expect("the output") == expected);

    // The same job anew finds its objects there, and writes none of them again.
    let unchanged = modified(&object_of(&folder, 0));
    place.submit(&["solve", &input, "--fresh"]);
    assert_eq!(place.farm.wait("solve")["state"], "finished");
    assert_eq!(fs::read_dir(folder.join("runs")).expect("runs").count(), 2);
    assert_eq!(modified(&object_of(&folder, 0)), unchanged);

    // What rots is named and refused, and so is what is gone; the output that was there stays.
    let object = object_of(&folder, 0);
    let name = object.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
    let mut bytes = fs::read(&object).expect("a part");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&object, bytes).expect("written");
    let (code, _, stderr) = place.result("solve", PARTS, &["--output", &out]);
    let url = format!("{PARTS}/{}/{name}", &name[..2]);
    assert!(code == Some(1) && stderr.contains(&url) && stderr.contains("rotten"), "{stderr}");
    fs::remove_file(&object).expect("the part");
    let (code, _, stderr) = place.result("solve", PARTS, &["--output", &out]);
    assert!(code == Some(1) && stderr.contains(&url) && stderr.contains("no such object"), "{stderr}");
    assert!(stderr.contains("unit 0") && stderr.contains("--fresh"), "{stderr}");
    assert!(fs::read(&out).expect("the output") == expected);
    let (code, _, stderr) = place.result("solve", "s3://bucket/elsewhere", &["--output", &out]);
    assert!(code == Some(1) && stderr.contains("s3://bucket/elsewhere/runs/"), "{stderr}");
    place.farm.check_ledger();
}

fn entries(parts: &Path) -> usize {
    let runs = fs::read_dir(parts.join("runs")).into_iter().flatten().flatten();
    runs.map(|run| fs::read_dir(run.path()).map_or(0, Iterator::count)).sum()
}

fn rests(farm: &Farm, job: &str) -> bool {
    farm.ask(&["status", job])["state"] != "running"
}

fn modified(path: &Path) -> std::time::SystemTime {
    fs::metadata(path).and_then(|it| it.modified()).expect("a time")
}

#[test]
fn the_page_of_photographs_has_thumbnails_from_a_store() {
    let place = Place::new(1, PARTS);
    let photo = place.name("page.png");
    fs::write(&photo, drawn::puzzle(PUZZLE).png().expect("a picture")).expect("a file");
    let job = place.submit(&["photos", &photo]);
    assert_eq!(place.farm.wait(&job)["state"], "finished");
    let (code, page, stderr) = place.result(&job, PARTS, &["--format", "html"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(page.matches("src=\"data:image/jpeg;base64,/9j/").count(), 1, "{stderr}");
}

/// The error that all units of a no-op job with parts fail with.
fn error_of_units(place: &Place) -> String {
    let job = place.submit(&["noop", "--units", "1", "--parts"]);
    error_of(&place.farm.wait(&job))
}

/// Why the only unit of a job was given up.
fn error_of(status: &serde_json::Value) -> String {
    assert_eq!(status["quarantined_units"], 1, "{status}");
    let error = status["quarantined"][0]["error"].as_str().expect("an error").to_owned();
    assert!(error.contains("cannot keep its part of the output") && error.contains("nonet retry"), "{error}");
    error
}

#[test]
fn a_bucket_that_is_not_there_and_keys_that_do_not_fit_are_told_by_the_job() {
    let place = Place::new(2, "s3://nowhere/parts");
    let error = error_of_units(&place);
    assert!(error.contains("s3://nowhere/parts/") && error.contains("no such bucket"), "{error}");

    let mut place = Place::new(0, PARTS);
    // A unit is given up only when a second worker has failed at it too.
    let worker = |number: u8, variable: &str, value: &str| {
        let state = place.name(&format!("stranger-{number}"));
        let args = ["worker", "--threads", "1", "--state", &state, "--parts", PARTS, "--coordinator"];
        let mut command = with_keys(nonet(&[&args[..], &[&place.farm.url]].concat()), &place.url);
        command.env(variable, value);
        start(command)
    };
    let strangers = [1, 2].map(|number| worker(number, "AWS_SECRET_ACCESS_KEY", "wrong"));
    let error = error_of_units(&place);
    assert!(error.contains(PARTS), "{error}");
    drop(strangers);
    let strangers = [3, 4].map(|number| worker(number, "AWS_ACCESS_KEY_ID", READER));
    place.farm.ask(&["retry", "noop"]);
    let error = error_of(&place.farm.wait("noop"));
    assert!(error.contains(PARTS) && error.contains("privileges"), "{error}");
    // It says what to do, and that helps.
    drop(strangers);
    place.farm.workers.push(None);
    place.farm.start_worker(0);
    place.farm.ask(&["retry", "noop"]);
    assert_eq!(place.farm.wait("noop")["state"], "finished");
    let out = place.name("out.txt");
    let (code, _, stderr) = place.result("noop", PARTS, &["--output", &out]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(fs::read_to_string(&out).expect("the output"), "0\n");

    for (parts, what) in [("https://host.example/parts", "web server"), ("ftp://host/a", "not read")] {
        let (code, _, stderr) = place.result("noop", parts, &["--output", &out]);
        assert!(code == Some(2) && stderr.contains(what) && stderr.contains("--parts"), "{stderr}");
        let (code, _, stderr) = run(&["worker", "--parts", parts]);
        assert!(code == Some(2) && stderr.contains(what) && stderr.contains("--parts"), "{stderr}");
    }
}

#[test]
fn a_part_without_a_byte_is_one_too() {
    let place = Place::new(1, PARTS);
    let (input, out) = (place.name("corpus.txt"), place.name("out.csv"));
    fs::write(&input, "\n\n").expect("a corpus");
    let job = place.submit(&["solve", &input]);
    let status = place.farm.wait(&job);
    assert_eq!((&status["state"], &status["quarantined_units"]), (&"finished".into(), &0.into()), "{status}");
    let (code, _, stderr) = place.result(&job, PARTS, &["--output", &out]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(fs::read_to_string(&out).expect("the output").lines().count(), 1);
}

#[test]
fn large_parts_go_up_and_come_down_in_pieces() {
    const ZEROS: usize = 20 << 20;
    let mut place = Place::new(1, PARTS);
    let job = place.submit(&["noop", "--units", "4", "--parts", "--zeros", &ZEROS.to_string()]);
    let uploads = || fs::read_dir(place.path("root")).expect("a folder").count();
    until("an upload has begun", || uploads() > 1);
    place.farm.kill_worker(0);
    place.farm.start_worker(0);
    assert_eq!(place.farm.wait(&job)["state"], "finished", "{}", place.farm.log());
    let out = place.name("out.txt");
    let (code, _, stderr) = place.result(&job, PARTS, &["--output", &out]);
    assert_eq!(code, Some(0), "{stderr}");
    let zeros = "0".repeat(ZEROS);
    let expected: String = (0..4).flat_map(|unit| [zeros.clone(), format!("{unit}\n")]).collect();
    assert!(fs::read_to_string(&out).expect("the output") == expected);
}

#[test]
fn a_store_that_is_away_for_a_moment_costs_no_unit() {
    let mut farm = Farm::start(0, &[]);
    let (root, address) = (farm.dir.path().join("root"), free_address());
    fs::create_dir_all(root.join("bucket")).expect("a bucket");
    farm.bucket = Some((PARTS.into(), format!("http://{address}")));
    farm.workers.push(None);
    farm.start_worker(0);
    farm.ask(&["submit", "noop", "--units", "20", "--parts"]);
    let begun = Instant::now();
    until("the worker has asked in vain", || {
        let log = fs::read_to_string(farm.dir.path().join("w0.log")).unwrap_or_default();
        log.contains("writing is tried again: s3://bucket/some/parts/")
    });
    let (_server, _) = serve_at(&root, &address);
    let status = farm.wait("noop");
    assert_eq!((&status["state"], &status["quarantined_units"]), (&"finished".into(), &0.into()), "{status}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}
