//! Certificates through the command line.

mod farm;

use farm::{
    nonet, run,
    s3::{serve, with_keys},
};

#[test]
fn a_finished_job_is_certified_and_whoever_changes_the_file_is_found_out() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (state, file) = (path("state"), path("recount.cert"));
    let (code, _, stderr) =
        run(&["run", "recount", "--shape", "2x3", "--method", "search", "--state", &state]);
    assert_eq!(code, Some(0), "{stderr}");
    let (code, _, stderr) = run(&["certificate", "recount", "--state", &state, "-o", &file]);
    assert_eq!(code, Some(0), "{stderr}");
    let bytes = std::fs::read(&file).expect("a certificate");

    let check = ["certificate", "check", &file, "--sample", "100%", "--format", "json"];
    let (code, text, stderr) = run(&check);
    assert_eq!(code, Some(0), "{stderr}");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["jobs"][0]["report"]["total"], "28200960");
    let again = json["computed_again"].as_array().expect("an array");
    assert!(!again.is_empty() && again.iter().all(|range| range["same"] == true), "{text}");
    let (code, text, _) = run(&["certificate", "check", &file]);
    assert!(code == Some(0) && text.contains("add up to its report"), "{text}");

    // The same certificate on standard output, and nothing left of a draft.
    let (_, text, _) = run(&["certificate", "recount", "--state", &state]);
    assert_eq!(text.as_bytes(), bytes);
    assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 2);

    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 4;
    std::fs::write(&file, &changed).expect("a file");
    let (code, _, stderr) = run(&check);
    assert!(code == Some(1) && stderr.contains("recount.cert: line "), "{stderr}");

    for (args, expected, said) in [
        (vec!["certificate", "check", "nowhere.cert"], 2, "nowhere.cert"),
        (vec!["certificate", "check", &file, "--sample", "0%"], 2, "share"),
        (vec!["certificate", "hitting", "--state", &state], 1, "no job"),
        (vec!["certificate", "--state", &state], 2, "JOB"),
    ] {
        let (code, _, stderr) = run(&args);
        assert!(code == Some(expected) && stderr.contains(said), "{args:?}: {code:?} {stderr}");
    }
}

#[test]
fn ranges_of_a_job_with_its_files_in_a_store_are_computed_again() {
    const PUZZLE: &str =
        "000000010400000000020000000000050407008000300001090000300400200050100000000806000\n";
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    std::fs::create_dir_all(path("root/bucket")).expect("a bucket");
    std::fs::write(path("root/bucket/corpus.txt"), PUZZLE.repeat(3)).expect("a corpus");
    let (_server, url) = serve(dir.path().join("root").as_path());
    let (state, file) = (path("state"), path("solve.cert"));
    for args in [
        vec!["run", "solve", "s3://bucket/corpus.txt", "--state", &state],
        vec!["certificate", "solve", "--state", &state, "-o", &file],
        vec!["certificate", "check", &file, "--sample", "100%"],
    ] {
        let output = with_keys(nonet(&args), &url).output().expect("nonet runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
