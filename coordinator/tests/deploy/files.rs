//! The files, and small ways to read them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

/// A file or folder of `deploy/`.
pub fn deploy(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(path)
}

pub fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All files below a folder that git would have.
pub fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        // What tools and tries leave behind.
        if [".terraform", "secrets", "data", "venv", "__pycache__"].contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() { found.extend(below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The documents of a YAML file.
pub fn documents(path: &Path) -> Vec<Value> {
    parse(&text(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The documents in a text.
pub fn parse(yaml: &str) -> Result<Vec<Value>, String> {
    serde_saphyr::from_multiple(yaml).map_err(|e| e.to_string())
}

/// The one document of a YAML file.
pub fn document(path: &Path) -> Value {
    let mut all = documents(path);
    assert_eq!(all.len(), 1, "{} has one document", path.display());
    all.remove(0)
}

/// Calls `look` for every value in `value`, with the keys that lead there.
pub fn walk<'a>(value: &'a Value, path: &mut Vec<&'a str>, look: &mut impl FnMut(&[&'a str], &'a Value)) {
    look(path, value);
    match value {
        Value::Object(map) => {
            for (key, one) in map {
                path.push(key);
                walk(one, path, look);
                path.pop();
            }
        }
        Value::Array(list) => list.iter().for_each(|one| walk(one, path, look)),
        _ => {}
    }
}

/// The strings of a list; none where there is no list.
pub fn strings(value: &Value) -> Vec<String> {
    let one = |v: &Value| v.as_str().unwrap_or_else(|| panic!("{v} is no text")).to_owned();
    value.as_array().map(|list| list.iter().map(one).collect()).unwrap_or_default()
}

/// The items of a list; none where there is no list.
pub fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Every word of `text` that starts with `prefix` and goes on with lower-case letters, digits and underscores.
pub fn words<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = move |at: usize| !text[..at].ends_with(|c: char| part(c) || "-.$".contains(c));
    text.match_indices(prefix).filter(move |(at, _)| starts(*at)).map(move |(at, _)| {
        let rest = &text[at..];
        &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())]
    })
}

/// Whether a program is there; else the test says that it skips something.
pub fn has(program: &str, args: &[&str], where_from: &str) -> bool {
    let ran = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let here = ran.is_ok_and(|status| status.success());
    if !here {
        println!("SKIPPED: {program} is not installed ({where_from})");
    }
    here
}
