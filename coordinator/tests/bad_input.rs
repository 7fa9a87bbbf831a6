//! Whatever is wrong is said in one line, with the exit code for it, and nothing is lost.

mod farm;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use farm::{Farm, free_address, run, spawn, until};

/// Runs `args`, which must fail with `code` and one line on standard error that has all of `parts` in it.
fn refused(args: &[&str], code: i32, parts: &[&str]) {
    let (got, stdout, stderr) = run(args);
    assert_eq!(got, Some(code), "{args:?}: {stderr}");
    assert_eq!(stdout, "", "{args:?}");
    for part in parts {
        assert!(stderr.contains(part), "{args:?}: {part:?} is missing in {stderr}");
    }
    let lines = stderr.lines().filter(|line| !line.is_empty()).count();
    assert!(lines == 1 || stderr.contains("--help"), "{args:?}: {lines} lines: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn wrong_arguments_are_explained() {
    let dir = tempfile::tempdir().expect("a folder");
    let state = dir.path().join("state");
    let state = text(&state);
    let shape = |shape| ["run", "recount", "--state", state, "--shape", shape];
    for wrong in ["4x4", "3", "x", "0x3", "99999999999x2"] {
        refused(&shape(wrong), 2, &["2x3", "two rows by three columns", "3x3"]);
    }
    refused(&["run", "recount", "--state", state, "--method", "guess"], 2, &["gangster", "search", "audit"]);
    refused(&["run", "recount", "--state", state, "--fillings"], 2, &["audit"]);
    refused(&["run", "racount", "--state", state], 2, &["racount", "recount"]);
    refused(&["run", "noop", "--units", "0", "--state", state], 2, &["at least one"]);
    refused(
        &["run", "noop", "--units", "5", "--threads", "0", "--state", state],
        2,
        &["threads", "1 to 1024"],
    );
    refused(&["coordinator", "--listen", "nonsense", "--state", state], 2, &["nonsense", "HOST:PORT"]);
    refused(&["coordinator", "--listen", "0.0.0.0:0", "--state", state], 2, &["--allow-plaintext"]);
    refused(&["worker", "--coordinator", "localhost:7700", "--state", state], 2, &["http://HOST:PORT"]);
    refused(&["jobs", "--coordinator", "ftp://a:1"], 2, &["http://HOST:PORT"]);
    for listing in [&["jobs"][..], &["workers"], &["status", "recount"], &["pause", "recount"]] {
        refused(
            &[listing, &["--format", "html"]].concat(),
            2,
            &["html", "[possible values: table, json, csv]"],
        );
    }
    refused(&["submit", "noop", "--units", "5", "--format", "html"], 2, &["--format html", "--wait"]);
    assert!(!Path::new(state).exists(), "a wrong command leaves nothing behind");
}

#[test]
fn an_unknown_key_in_the_configuration_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("nonet.toml");
    fs::write(&file, "threads = 1\ncoordinater = \"http://a:1\"\n").expect("written");
    refused(&["jobs", "--config", text(&file)], 2, &["nonet.toml", "line 2", "coordinater"]);
    refused(&["run", "noop", "--config", text(&file)], 2, &["line 2", "coordinater"]);
    refused(&["jobs", "--config", text(&dir.path().join("absent.toml"))], 2, &["absent.toml"]);
    // What it says counts, and a flag counts more.
    fs::write(&file, format!("state = {:?}\nthreads = 1\n", dir.path().join("from-file"))).expect("written");
    let args = ["run", "noop", "--units", "10", "--config", text(&file)];
    assert_eq!(run(&args).0, Some(0));
    assert!(dir.path().join("from-file").is_dir());
    let by_flag = dir.path().join("from-flag");
    assert_eq!(run(&[&args[..], &["--state", text(&by_flag)]].concat()).0, Some(0));
    assert!(by_flag.is_dir());
}

#[test]
fn a_state_folder_that_cannot_be_is_explained() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("file");
    fs::write(&file, "not a folder").expect("written");
    refused(&["run", "noop", "--state", text(&file)], 1, &["file", "folder"]);
    refused(&["coordinator", "--listen", "127.0.0.1:0", "--state", text(&file)], 1, &["file", "folder"]);
    refused(
        &["worker", "--coordinator", "http://127.0.0.1:9", "--state", text(&file)],
        1,
        &["file", "folder"],
    );
    // proc takes no folders, not even from root.
    refused(&["run", "noop", "--state", "/proc/nonet-state"], 1, &["/proc/nonet-state"]);
    refused(&["ledger", "check", "--state", text(&dir.path().join("absent"))], 1, &["absent"]);
    assert_eq!(fs::read_to_string(&file).expect("still there"), "not a folder");
}

#[test]
fn a_folder_in_use_and_a_port_in_use_are_explained() {
    let farm = Farm::start(0, &[]);
    let state = farm.state();
    refused(&["run", "noop", "--state", text(&state)], 1, &["uses this folder", text(&state)]);
    let listen = farm.url.trim_start_matches("http://");
    let other = farm.dir.path().join("other");
    refused(
        &["coordinator", "--listen", listen, "--state", text(&other)],
        1,
        &[listen, "another coordinator"],
    );
}

#[test]
fn an_absent_coordinator_is_explained_and_a_worker_waits_for_it() {
    let address = free_address();
    let url = format!("http://{address}");
    refused(&["jobs", "--coordinator", &url], 1, &[&address, "nonet coordinator"]);
    refused(&["submit", "noop", "--coordinator", &url], 1, &[&address]);
    let dir = tempfile::tempdir().expect("a folder");
    let worker = spawn(&["worker", "--coordinator", &url, "--state", text(&dir.path().join("w"))]);
    until("the worker has made its folder", || dir.path().join("w").exists());
    let coordinator = spawn(&["coordinator", "--listen", &address, "--state", text(&dir.path().join("c"))]);
    let connected = || run(&["workers", "--coordinator", &url, "--format", "csv"]).1.lines().count() == 2;
    until("the worker has found the coordinator", connected);
    drop((worker, coordinator));
}

#[test]
fn unknown_jobs_and_workers_are_explained() {
    let farm = Farm::start(0, &[]);
    for command in ["status", "result", "pause", "resume", "cancel", "retry"] {
        refused(&[command, "abc", "--coordinator", &farm.url], 2, &["no job \"abc\"", "nonet jobs"]);
    }
    refused(&["drain", "abc", "--coordinator", &farm.url], 2, &["no worker \"abc\"", "nonet workers"]);
}

#[test]
fn sigint_in_every_phase_ends_with_130_and_the_same_command_resumes() {
    let dir = tempfile::tempdir().expect("a folder");
    let state = dir.path().join("state");
    let args =
        ["run", "noop", "--units", "4000", "--unit-us", "500", "--threads", "2", "--state", text(&state)];
    // From before the ledger is open to well into the job.
    for wait_ms in [5, 20, 50, 100, 200, 400, 700] {
        let process = spawn(&args);
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        process.signal("INT");
        let (code, said) = process.end();
        match code {
            Some(130) => assert!(said.contains("the same command resumes"), "{said}"),
            // Killed by the signal itself: it came before the program could ask for it.
            None => {}
            Some(0) => break,
            other => panic!("after {wait_ms} ms: {other:?}: {said}"),
        }
    }
    // What was interrupted was written down.
    let committed = farm::check(&state)["jobs"][0]["committed_units"].as_str().map(str::to_owned);
    assert!(committed.is_some_and(|units| units != "0"), "nothing of the interrupted runs was kept");
    let (code, stdout, stderr) = run(&args);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("sum of their numbers 7998000"), "{stdout}");
    farm::check(&state);
}

/// A file system of its own, so small that it fills up.
struct Tmpfs(PathBuf);

impl Tmpfs {
    fn mount(dir: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(dir).expect("a folder");
        let size = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(dir).status();
        mounted.is_ok_and(|status| status.success()).then(|| Self(dir.into()))
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

#[test]
fn a_full_disk_is_explained_and_loses_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let small = dir.path().join("small");
    let Some(tmpfs) = Tmpfs::mount(&small, "6m") else {
        println!("skipped: this user may not mount a tmpfs");
        return;
    };
    let state = tmpfs.0.join("state");
    let args = ["run", "noop", "--units", "3000", "--unit-us", "200", "--state", text(&state)];
    // Some of the job first, then the disk is filled behind its back.
    let process = spawn(&args);
    std::thread::sleep(std::time::Duration::from_millis(250));
    process.signal("INT");
    process.end();
    let hog = tmpfs.0.join("hog");
    drop(fs::write(&hog, vec![0; 6 << 20]));
    let (code, _, stderr) = run(&args);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("no space left") && stderr.contains(text(&tmpfs.0)), "{stderr}");
    assert!(!stderr.contains("panicked at coordinator"), "{stderr}");
    fs::remove_file(&hog).expect("removed");
    let (code, stdout, stderr) = run(&args);
    assert_eq!((code, stdout.contains("sum of their numbers 4498500")), (Some(0), true), "{stdout}{stderr}");
    farm::check(&state);
}
