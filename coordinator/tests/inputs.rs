//! One corpus from everywhere: files, packed or not, folders, standard input, URLs, and a real S3 server on loopback.

mod farm;

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Output, Stdio},
    time::{Duration, Instant, SystemTime},
};

use farm::{
    Farm, PATIENCE, count_parts, nonet, run,
    s3::{serve, with_keys},
    start, until,
};
use flate2::{Compression, write::GzEncoder};

const PUZZLE: &str = "000000010400000000020000000000050407008000300001090000300400200050100000000806000";

/// Lines of which no two beside each other are the same, some of them wrong.
fn corpus(lines: usize) -> Vec<u8> {
    let line = |number: usize| {
        let mut cells = PUZZLE.as_bytes().to_vec();
        let clues: Vec<usize> = (0..81).filter(|&cell| cells[cell] != b'0').collect();
        cells[clues[number % 17]] = b'0';
        match number % 1000 {
            999 => "no puzzle\n".to_owned(),
            0..500 => format!("{PUZZLE},{number}\n"),
            _ => String::from_utf8(cells).expect("digits") + "\n",
        }
    };
    (0..lines).map(line).collect::<String>().into_bytes()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text).expect("packed");
    packer.finish().expect("packed")
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().expect("UTF-8").to_owned()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, bytes).expect("written");
        self.name(name)
    }

    /// `nonet run solve` of some corpora, with its state and output here.
    fn solve(&self, corpora: &[&str], state: &str) -> Command {
        let (state, out) = (self.name(state), self.name("out.csv"));
        let options = ["--state", &state, "--output", &out, "--format", "json"];
        nonet(&[&["run", "solve"], corpora, &options].concat())
    }

    /// The output of a run that ends well.
    fn solved(&self, mut command: Command) -> String {
        drop(fs::remove_file(self.path("out.csv")));
        let Output { status, stderr, .. } = command.output().expect("nonet runs");
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        fs::read_to_string(self.path("out.csv")).expect("the output")
    }
}

/// What is said of a run that has to fail for its input.
fn refused(mut command: Command) -> String {
    let begun = Instant::now();
    let Output { status, stderr, .. } = command.output().expect("nonet runs");
    let said = String::from_utf8(stderr).expect("UTF-8");
    assert_eq!(status.code(), Some(2), "{said}");
    assert!(begun.elapsed() < PATIENCE);
    said
}

#[test]
fn the_same_corpus_gives_the_same_rows_from_everywhere() {
    let place = Place::new();
    let text = corpus(30_000);
    let plain = place.write("corpus.txt", &text);
    let expected = place.solved(place.solve(&[&plain], "plain"));
    assert_eq!(expected.lines().count(), 30_001);
    let (first, second) = text.split_at(81 + 2);
    let packed = place.write("corpus.gz", &[gzip(first), gzip(second)].concat());
    assert!(place.solved(place.solve(&[&packed], "gz")) == expected);
    let frames = zstd::encode_all(&text[..], 1).expect("packed");
    let frames = place.write("no-name-that-tells", &frames);
    assert!(place.solved(place.solve(&[&frames], "zst")) == expected);
    let url = format!("file://{plain}");
    assert!(place.solved(place.solve(&[&url], "url")) == expected);

    // A folder: the corpus in two files, one packed.
    let half =
        text.iter().enumerate().skip(text.len() / 2).find(|(_, byte)| **byte == b'\n').expect("a line").0 + 1;
    place.write("folder/a.zst", &zstd::encode_all(&text[..half], 1).expect("packed"));
    place.write("folder/b.txt", &text[half..]);
    place.write("folder/.hidden", b"nothing");
    assert!(place.solved(place.solve(&[&place.name("folder")], "folder")) == expected);

    // Standard input, twice with one state: it is the same job.
    for _ in 0..2 {
        let mut child =
            place.solve(&["-"], "piped").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("starts");
        child.stdin.take().expect("piped").write_all(&text).expect("written");
        assert!(child.wait().expect("ends").success());
        assert!(fs::read_to_string(place.path("out.csv")).expect("the output") == expected);
    }
    let kept = fs::read_dir(place.path("piped/inputs")).expect("a folder").count();
    assert_eq!(kept, 1);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_name() {
    let place = Place::new();
    let torn = place.write("torn.gz", &gzip(&corpus(1000))[..2000]);
    let said = refused(place.solve(&[&torn], "state"));
    assert!(said.contains("torn.gz: the gzip file is cut off"), "{said}");
    let picture = place.write("picture.txt", b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR");
    assert!(refused(place.solve(&[&picture], "state")).contains("picture.txt"));
    assert!(refused(place.solve(&["/nowhere/at/all"], "state")).contains("/nowhere/at/all"));
    let (code, _, said) = run(&["run", "solve", "ftp://host/a"]);
    assert!(code == Some(2) && said.contains("ftp:// is not read"), "{said}");
}

#[test]
fn objects_of_an_s3_server_are_read_by_ranges() {
    let place = Place::new();
    let text = corpus(30_000);
    let plain = place.write("corpus.txt", &text);
    let expected = place.solved(place.solve(&[&plain], "plain"));
    place.write("root/bucket/corpus.txt", &text);
    place.write("root/bucket/packed/a.gz", &gzip(&text));
    let (_runtime, url) = serve(&place.path("root"));
    let solve = |at: &str, state: &str| with_keys(place.solve(&[at], state), &url);
    assert!(place.solved(solve("s3://bucket/corpus.txt", "s3")) == expected);
    assert!(place.solved(solve("s3://bucket/packed/", "below")) == expected);

    let said = refused(solve("s3://bucket/nothing", "missing"));
    assert!(said.contains("s3://bucket/nothing"), "{said}");
    assert!(refused(solve("s3://nowhere/corpus.txt", "missing")).contains("s3://nowhere/corpus.txt"));
    let mut stranger = solve("s3://bucket/corpus.txt", "missing");
    stranger.env("AWS_SECRET_ACCESS_KEY", "wrong");
    assert!(refused(stranger).contains("s3://bucket/corpus.txt"));
}

#[test]
fn a_run_from_a_store_goes_on_after_sigkill() {
    let place = Place::new();
    let text = corpus(300_000);
    let plain = place.write("corpus.txt", &text);
    let expected = place.solved(place.solve(&[&plain], "plain"));
    place.write("root/bucket/corpus.gz", &gzip(&text));
    let (_runtime, url) = serve(&place.path("root"));
    let solve = || with_keys(place.solve(&["s3://bucket/corpus.gz"], "s3"), &url);
    fs::remove_file(place.path("out.csv")).expect("the output");
    let mut killed = start(solve());
    until("some parts are written", || count_parts(&place.path("s3")) > 3);
    killed.kill();
    assert!(!place.path("out.csv").exists(), "the output is whole or absent");
    assert!(place.solved(solve()) == expected);
}

#[test]
fn a_store_that_is_not_there_is_an_error_in_time() {
    let place = Place::new();
    let nobody = format!("http://{}", farm::free_address());
    let said = refused(with_keys(place.solve(&["s3://bucket/corpus.txt"], "state"), &nobody));
    assert!(said.contains("s3://bucket/corpus.txt"), "{said}");
}

#[test]
fn an_object_that_was_replaced_after_the_submission_is_not_solved() {
    let mut farm = Farm::start(0, &[]);
    let (parts, coordinator) = (farm.parts(), farm.url.clone());
    let place = Place::new();
    let text = corpus(30_000);
    place.write("root/bucket/corpus.txt", &text);
    let (_runtime, url) = serve(&place.path("root"));
    let submit =
        ["submit", "solve", "s3://bucket/corpus.txt", "--format", "json", "--coordinator", &coordinator];
    let Output { status, stdout, stderr } = with_keys(nonet(&submit), &url).output().expect("nonet runs");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    let job: serde_json::Value = serde_json::from_slice(&stdout).expect("JSON");
    let name = job["name"].as_str().expect("a name");
    // As long as before, and every line of it a puzzle.
    let other: Vec<u8> = text.iter().map(|&byte| if byte == b'4' { b'7' } else { byte }).collect();
    place.write("root/bucket/corpus.txt", &other);
    // This server gives no ETag, and times of modification to the second.
    let object =
        fs::File::options().write(true).open(place.path("root/bucket/corpus.txt")).expect("the object");
    object.set_modified(SystemTime::now() + Duration::from_secs(60)).expect("a time");
    // A unit is given up only when a second worker has failed at it too.
    let worker = |number: u8| {
        let state = place.name(&format!("worker-{number}"));
        let parts = parts.to_str().expect("UTF-8");
        let args =
            ["worker", "--coordinator", &coordinator, "--threads", "1", "--state", &state, "--parts", parts];
        start(with_keys(nonet(&args), &url))
    };
    let _workers = [worker(1), worker(2)];
    let status = farm.wait(name);
    let units = status["units"].as_u64().expect("a number");
    assert_eq!(status["quarantined_units"].as_u64(), Some(units), "{status}");
    let error = status["quarantined"][0]["error"].as_str().expect("an error");
    assert!(error.contains("s3://bucket/corpus.txt") && error.contains("changed"), "{error}");
    farm.stop_coordinator();
}
