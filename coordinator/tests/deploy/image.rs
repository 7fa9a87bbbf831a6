//! The image: what `deploy/Dockerfile` says, and a folder that has in it what the image has.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::{
    files::{deploy, items, strings, text},
    kubernetes::{clusters, makers},
};

/// Instructions of the Dockerfile, continued lines put together: the word and the rest.
fn instructions() -> Vec<(String, String)> {
    let text = text(&deploy("Dockerfile"));
    let lines: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let whole = lines.join("\n").replace("\\\n", " ");
    let split =
        |line: &str| line.split_once(' ').map(|(word, rest)| (word.to_owned(), rest.trim().to_owned()));
    whole.lines().filter_map(split).collect()
}

/// A stage of the image: what it is from, its name, and its instructions.
struct Stage {
    from: String,
    name: Option<String>,
    instructions: Vec<(String, String)>,
}

fn stages() -> Vec<Stage> {
    let mut found: Vec<Stage> = Vec::new();
    for (word, rest) in instructions() {
        if word == "FROM" {
            let mut words = rest.split(' ').map(String::from);
            let from = words.next().expect("an image");
            found.push(Stage { from, name: words.nth(1), instructions: Vec::new() });
        } else if let Some(stage) = found.last_mut() {
            stage.instructions.push((word, rest));
        }
    }
    found
}

/// The user of the image.
pub fn user() -> u64 {
    let last = stages().pop().expect("a stage").instructions;
    let users: Vec<_> = last.iter().filter(|(word, _)| word == "USER").map(|(_, user)| user).collect();
    let numbers: Vec<u64> = users[0].split(':').map(|n| n.parse().expect("a number")).collect();
    assert!(users.len() == 1 && numbers.len() == 2 && numbers[0] == numbers[1], "{users:?}");
    numbers[0]
}

#[test]
fn the_image_has_the_program_and_no_shell_and_runs_as_nobody() {
    let stages = stages();
    let [build, last] = &stages[..] else { panic!("{} stages", stages.len()) };
    assert_eq!(last.from, "scratch");
    assert!(user() > 999);
    let of = |wanted: &str| {
        last.instructions.iter().filter(|(word, _)| word == wanted).map(|(_, rest)| rest).collect::<Vec<_>>()
    };
    assert_eq!(of("COPY"), ["--from=build /image/ /"]);
    assert!(of("RUN").is_empty() && of("ADD").is_empty(), "there is nothing in it to run");
    assert_eq!(of("ENTRYPOINT"), [r#"["/usr/local/bin/nonet"]"#]);
    assert_eq!(of("STOPSIGNAL"), ["SIGTERM"]);
    let (from, name) = (&build.from, &build.name);
    assert!(from.starts_with("rust:") && name.as_deref() == Some("build"), "{from} {name:?}");
    let run: Vec<_> =
        build.instructions.iter().filter(|(word, _)| word == "RUN").map(|(_, rest)| rest).collect();
    assert_eq!(run.len(), 1);
    for wanted in
        ["cargo build --locked --profile dist", "--bin nonet", "deploy/image-root target/dist/nonet /image"]
    {
        assert!(run[0].contains(wanted), "{wanted}: {}", run[0]);
    }
    assert!(text(&root().join("Cargo.toml")).contains("[profile.dist]"));
}

#[test]
fn the_compiler_of_the_image_is_new_enough() {
    let minor = |version: &str| version.split('.').nth(1).and_then(|n| n.parse::<u32>().ok());
    let (_, version) = instructions().into_iter().find(|(word, _)| word == "ARG").expect("an argument");
    let taken = version.strip_prefix("RUST_VERSION=").and_then(minor).expect("a version");
    let manifest = text(&root().join("Cargo.toml"));
    let needed = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")).and_then(minor);
    assert!(Some(taken) >= needed, "{taken} {needed:?}");
}

#[test]
fn manifests_run_the_image_as_it_is_made_to_be_run() {
    let last = stages().pop().expect("a stage").instructions;
    let (_, exposed) = last.iter().find(|(word, _)| word == "EXPOSE").expect("ports");
    let exposed: Vec<u64> = exposed.split(' ').map(|n| n.parse().expect("a port")).collect();
    for (cluster, all) in clusters() {
        for (maker, template) in makers(&all) {
            let pod = &template["spec"];
            assert_eq!(pod["securityContext"]["runAsUser"], user(), "{cluster}: {maker}");
            for container in items(&pod["containers"]).filter(|one| one["command"].is_null()) {
                let image = container["image"].as_str().expect("an image");
                assert!(image.contains("/nonet:"), "{cluster}: {maker} runs {image}");
                for port in items(&container["ports"]) {
                    let port = port["containerPort"].as_u64().expect("a port");
                    assert!(exposed.contains(&port), "{cluster}: {maker} listens on {port}");
                }
                assert!(["coordinator", "worker"].contains(&strings(&container["args"])[0].as_str()));
            }
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Copies what `deploy/Dockerfile.dockerignore` leaves of a folder, as far as cargo looks at it to find out what is there.
fn context(from: &Path, to: &Path) -> usize {
    let ignored = text(&deploy("Dockerfile.dockerignore"));
    let lines: Vec<_> = ignored.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.first(), Some(&"*"), "nothing, but for what follows");
    let kept: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix('!')).collect();
    let dropped: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("**/")).collect();
    assert_eq!(kept.len() + dropped.len() + 1, lines.len(), "a line that this test cannot read: {lines:?}");
    let mut copied = 0;
    for keep in kept {
        let matching =
            |name: &str| keep.strip_suffix('*').map_or(name == keep, |start| name.starts_with(start));
        let mut tops: Vec<String> = fs::read_dir(from)
            .expect("the project")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
            .filter(|name| matching(name))
            .collect();
        if keep.contains('/') {
            tops.push(keep.into());
        }
        assert!(!tops.is_empty(), "there is no {keep}");
        for top in tops {
            copied += copy(&from.join(&top), &to.join(&top), &dropped);
        }
    }
    copied
}

fn copy(from: &Path, to: &Path, dropped: &[&str]) -> usize {
    let name = from.file_name().expect("a name").to_str().expect("UTF-8");
    if dropped.contains(&name) {
        return 0;
    }
    if from.is_dir() {
        let entries = fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry").path());
        return entries.map(|path| copy(&path, &to.join(path.file_name().expect("a name")), dropped)).sum();
    }
    fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
    fs::copy(from, to).unwrap_or_else(|e| panic!("{}: {e}", from.display()));
    1
}

#[test]
fn cargo_finds_in_the_image_all_that_it_looks_for() {
    let dir = tempfile::tempdir().expect("a folder");
    assert!(context(&root(), dir.path()) > 300);
    // A target that a manifest names and the image leaves out would end the build.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"])
        .current_dir(dir.path())
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let binaries =
        items(&found["packages"]).flat_map(|p| items(&p["targets"])).filter(|t| t["name"] == "nonet");
    assert_eq!(binaries.count(), 1);
    // Files that the program has in it are there too.
    for package in ["proto", "shared", "jobs", "worker", "coordinator"] {
        for path in super::files::below(&dir.path().join(package)) {
            if path.extension().is_none_or(|e| e != "rs") || path.ends_with("tests.rs") {
                continue;
            }
            let source = text(&path);
            // Tests inside of a file stand at its end.
            let source = source.split("#[cfg(test)]").next().expect("a part");
            for (at, _) in
                source.match_indices("include_bytes!(\"").chain(source.match_indices("include_str!(\""))
            {
                let name = source[at..].split('"').nth(1).expect("a name");
                let file = path.parent().expect("a folder").join(name);
                assert!(file.exists(), "{} includes {name}, which the image leaves out", path.display());
            }
        }
    }
    assert!(fs::metadata(dir.path().join("deploy/image-root")).is_ok());
}

#[test]
fn the_program_runs_where_nothing_is_but_what_the_image_has() {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root may change the root folder");
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let image = dir.path().join("image");
    let made = Command::new(deploy("image-root")).arg(env!("CARGO_BIN_EXE_nonet")).arg(&image).output();
    let made = made.expect("image-root runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let user = user().to_string();
    let inside = |args: &[&str]| {
        let mut command = Command::new("chroot");
        command.arg(format!("--userspec={user}:{user}")).arg(&image).arg("/usr/local/bin/nonet").args(args);
        let output =
            command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").output().expect("chroot");
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {said}");
        said.into_owned()
    };
    assert!(inside(&["--version"]).starts_with("nonet "));
    // It computes, and it may write its state and nothing else.
    let said = inside(&["run", "noop", "--units", "10", "--state", "/var/lib/nonet/state"]);
    assert!(said.contains("10 of 10 units"), "{said}");
    assert!(
        image.join("licenses/LICENSE-MIT").exists()
            && image.join("etc/ssl/certs/ca-certificates.crt").exists()
    );
    for shell in ["bin/sh", "usr/bin/sh", "bin/busybox"] {
        assert!(!image.join(shell).exists(), "{shell}");
    }
}
