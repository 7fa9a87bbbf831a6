//! The units of systemd.

use std::{collections::BTreeMap, fs, process::Command};

use super::{
    files::{deploy, has, text},
    program, readmes,
};

const UNITS: [&str; 2] = ["nonet-coordinator.service", "nonet-worker.service"];

/// What a unit says, in order.
fn settings(unit: &str) -> Vec<(String, String)> {
    let text = text(&deploy("systemd").join(unit));
    let split = |line: &str| line.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    text.lines().filter(|line| !line.starts_with('#')).filter_map(split).collect()
}

#[test]
fn units_start_what_there_is_and_may_do_little() {
    for unit in UNITS {
        let all = settings(unit);
        let last: BTreeMap<&str, &str> =
            all.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let args: Vec<String> = last["ExecStart"].split(' ').map(String::from).collect();
        assert_eq!(args[0], "/usr/local/bin/nonet", "{unit}");
        program::takes(&args[1..], unit);
        // The state folder that it names is the one that it has.
        let state = args.iter().skip_while(|arg| *arg != "--state").nth(1).expect("a state folder");
        let below = format!("/var/lib/{}", last["StateDirectory"]);
        assert!(state == &below || state.starts_with(&(below + "/")), "{unit}: {state}");
        for (key, value) in [
            ("DynamicUser", "yes"),
            ("NoNewPrivileges", "yes"),
            ("ProtectSystem", "strict"),
            ("ProtectHome", "yes"),
            ("PrivateDevices", "yes"),
            ("MemoryDenyWriteExecute", "yes"),
            ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_UNIX"),
            ("CapabilityBoundingSet", ""),
            ("StateDirectoryMode", "0700"),
        ] {
            assert_eq!(last.get(key), Some(&value), "{unit}: {key}");
        }
        assert!(last["LimitNOFILE"].parse::<u64>().expect("a number") >= 65_536, "{unit}");
        assert!(last["TimeoutStopSec"].parse::<u64>().expect("a number") >= 30, "{unit}");
        // A worker that was let go ends with 0, and must not come back.
        let restart = if args[1] == "worker" { "on-failure" } else { "always" };
        assert_eq!(last["Restart"], restart, "{unit}");
    }
}

#[test]
fn the_readme_sets_variables_that_the_daemons_know() {
    let readme = text(&deploy("systemd/README.md"));
    let mut known = program::variables("coordinator");
    known.extend(program::variables("worker"));
    let names: Vec<_> = super::files::words(&readme, "NONET_").collect();
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        assert!(known.contains(name), "systemd/README.md: no daemon knows {name}");
    }
    let enabled = readmes::commands(&readme).join("\n");
    assert!(UNITS.iter().all(|unit| enabled.contains(unit.trim_end_matches(".service"))), "{enabled}");
}

#[test]
fn systemd_takes_the_units_and_holds_them_safe() {
    if !has("systemd-analyze", &["--version"], "Debian: apt-get install systemd") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    for unit in UNITS {
        // It looks whether the program is there.
        let here =
            text(&deploy("systemd").join(unit)).replace("/usr/local/bin/nonet", env!("CARGO_BIN_EXE_nonet"));
        let path = dir.path().join(unit);
        fs::write(&path, here).expect("written");
        let run = |args: &[&str]| {
            let output =
                Command::new("systemd-analyze").args(args).arg(&path).output().expect("systemd-analyze");
            let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            (output.status.success(), said.into_owned())
        };
        let (good, said) = run(&["verify", "--man=no"]);
        assert!(good && !said.contains(unit), "{unit}: {said}");
        // Tenths: the README says 1.5.
        let (good, said) = run(&["security", "--offline=true", "--no-pager", "--threshold=15"]);
        assert!(good, "{unit}: {said}");
    }
}
