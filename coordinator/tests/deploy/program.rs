//! What `nonet` knows.

use std::collections::BTreeSet;

use super::{
    farm::{Farm, free_address, http::get, run},
    files::{below, deploy, text, words},
};

/// Whether `nonet` takes these arguments. `--help` behind them is what it gets to only if it has understood the others.
fn understands(args: &[String]) -> Result<(), String> {
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.push("--help");
    let (code, _, stderr) = run(&args);
    if code == Some(0) { Ok(()) } else { Err(format!("nonet {}: {stderr}", args.join(" "))) }
}

/// Panics unless `nonet` takes these arguments.
pub fn takes(args: &[String], what: &str) {
    understands(args).unwrap_or_else(|e| panic!("{what}: {e}"));
}

/// The variables of `nonet SUBCOMMAND`.
pub fn variables(subcommand: &str) -> BTreeSet<String> {
    let (_, help, _) = run(&[subcommand, "--help"]);
    words(&help, "NONET_").map(String::from).collect()
}

/// Panics unless each of these variables means something to `nonet SUBCOMMAND`. Others than `NONET_...` are not its own.
pub fn knows_variables<'a>(subcommand: &str, names: impl IntoIterator<Item = &'a str>, what: &str) {
    let known = variables(subcommand);
    for name in names.into_iter().filter(|name| name.starts_with("NONET_")) {
        assert!(known.contains(name), "{what}: nonet {subcommand} does not know the variable {name}");
    }
}

#[test]
fn arguments_that_nobody_knows_are_found() {
    let taken = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        understands(&args).is_ok()
    };
    assert!(taken(&["worker", "--notice=aws", "--label=a=b"]) && taken(&["submit", "recount", "--wait"]));
    assert!(!taken(&["worker", "--notices=aws"]) && !taken(&["worker", "--notice=aw"]));
    assert!(!taken(&["submit", "recont"]) && !taken(&["coordinator", "--state=a", "--wait"]));
    let (worker, coordinator) = (variables("worker"), variables("coordinator"));
    assert!(worker.contains("NONET_NOTICE") && !worker.contains("NONET_LISTEN"), "{worker:?}");
    assert!(coordinator.contains("NONET_LISTEN") && !coordinator.contains("NONET_NOTICE"), "{coordinator:?}");
}

#[test]
fn metrics_that_are_named_exist() {
    let web = free_address();
    let farm = Farm::start(0, &["--web", &web]);
    farm.ask(&["submit", "noop", "--units", "10"]);
    let page = get(&web, "/metrics", &[]).expect("metrics").body;
    let declared: BTreeSet<&str> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert!(declared.len() > 30, "{page}");
    let is_one = |name: &str| {
        let ends = ["", "_total", "_info", "_count", "_sum", "_bucket"];
        ends.iter().any(|end| name.strip_suffix(end).is_some_and(|name| declared.contains(name)))
    };
    let mut named = 0;
    for file in below(&deploy("")) {
        // The scripts of the benchmarks have names of their own; test cases are made up.
        let told = file.to_string_lossy().into_owned();
        if told.contains("/bench/") {
            continue;
        }
        for name in words(&text(&file), "nonet_") {
            named += 1;
            assert!(
                is_one(name.trim_end_matches('_')) || name == "nonet_",
                "{told}: there is no metric {name}"
            );
        }
    }
    assert!(named > 50, "{named}");
}
