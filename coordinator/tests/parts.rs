//! Results too large for the ledger: parts of units, and the output that is put together from them.

mod farm;

use std::path::Path;

use farm::{Farm, count_parts, object_of, run, spawn, until};

/// What a no-op job of `units` units puts out.
fn numbers(units: u64) -> String {
    (0..units).flat_map(|unit| [unit.to_string(), "\n".into()]).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("an output")
}

#[test]
fn a_run_killed_and_taken_up_again_puts_out_everything_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (state, out) = (path("state"), path("out.txt"));
    let job = ["run", "noop", "--units", "400", "--unit-us", "3000", "--parts", "--state", &state];
    let args = [&job[..], &["--output", &out]].concat();
    let mut killed = spawn(&args);
    until("some parts are written", || count_parts(&dir.path().join("state")) > 40);
    killed.kill();
    assert!(!Path::new(&out).exists(), "the output is whole or absent");

    let (code, stdout, stderr) = run(&args);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.starts_with("400 of 400 units"), "{stdout}");
    assert_eq!(read(Path::new(&out)), numbers(400));
    // Answered from the ledger, it is there as well; a part that is gone is named, and the old output stays.
    assert_eq!(run(&args).0, Some(0));
    let object = object_of(&dir.path().join("state/parts"), 7);
    std::fs::remove_file(&object).expect("a part");
    let (code, _, stderr) = run(&args);
    assert_eq!((code, stderr.lines().count()), (Some(1), 2), "{stderr}");
    let named = |stderr: &str| stderr.contains(object.to_str().expect("UTF-8")) && stderr.contains("--fresh");
    assert!(named(&stderr) && stderr.contains("unit 7"), "{stderr}");
    // One that is rotten as well.
    std::fs::write(&object, "8\n").expect("written");
    let (code, _, stderr) = run(&args);
    assert!(code == Some(1) && named(&stderr) && stderr.contains("rotten"), "{stderr}");
    assert_eq!(read(Path::new(&out)), numbers(400));
    // Nothing of an output that failed is left.
    assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 2);
    // What is told helps.
    assert_eq!(run(&[&args[..], &["--fresh"]].concat()).0, Some(0));
    assert_eq!(std::fs::read(&object).expect("the part"), b"7\n");
    assert_eq!(read(Path::new(&out)), numbers(400));
    // A kind without parts has no such argument.
    assert_eq!(run(&["run", "recount", "--output", &out]).0, Some(2));
}

#[test]
fn workers_that_share_a_folder_put_a_result_together() {
    let mut farm = Farm::start(2, &["--lease-ms", "50"]);
    let out = farm.dir.path().join("out.txt");
    let out = out.to_str().expect("UTF-8");
    let (parts, url) = (farm.parts(), farm.url.clone());
    let parts = parts.to_str().expect("UTF-8");
    farm.ask(&["submit", "noop", "--units", "600", "--unit-us", "2000", "--parts"]);
    let result = ["result", "noop", "--output", out, "--parts", parts, "--coordinator", &url];
    let (code, _, stderr) = run(&result);
    assert!(code == Some(1) && stderr.contains("not all units are done"), "{stderr}");
    until("some units are done", || farm.ask(&["status", "noop"])["done"].as_u64() > Some(50));
    farm.kill_worker(0);
    assert_eq!(farm.wait("noop")["state"], "finished");
    let (code, _, stderr) = run(&result);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(read(Path::new(out)), numbers(600));
    let result = ["result", "noop", "--output", out, "--coordinator", &farm.url];
    let (code, _, stderr) = run(&result);
    assert!(code == Some(2) && stderr.contains("--parts is missing"), "{stderr}");
    // The folder can be in the one file as well.
    let config = farm.dir.path().join("nonet.toml");
    std::fs::write(&config, format!("parts = {parts:?}\n")).expect("a file");
    std::fs::remove_file(out).expect("the output");
    let (code, _, stderr) = run(&[&result[..], &["--config", config.to_str().expect("UTF-8")]].concat());
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(read(Path::new(out)), numbers(600));
    farm.check_ledger();
}
