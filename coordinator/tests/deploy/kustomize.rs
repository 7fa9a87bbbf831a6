//! As much of kustomize as our manifests need, so that they can be read where there is none; compared with the real one where it is.
//!
//! What it knows not, it refuses. Names of generated maps stay without the hash that kustomize puts behind them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Map, Value, json};

use super::files::{deploy, document, documents, has, items, strings};

/// A folder of `deploy/kubernetes`.
pub fn folder(name: &str) -> PathBuf {
    deploy("kubernetes").join(name)
}

/// What `kubectl kustomize` makes of a folder with these components on top.
pub fn render(name: &str, components: &[&str]) -> Vec<Value> {
    let mut all = accumulate(&folder(name), Vec::new());
    for component in components {
        all = accumulate(&folder(component), all);
    }
    all
}

/// Adds what one kustomization says to what there is, or changes it.
fn accumulate(folder: &Path, below: Vec<Value>) -> Vec<Value> {
    let file = folder.join("kustomization.yaml");
    let what = file.display().to_string();
    let wanted = document(&file);
    let keys = "apiVersion kind namespace labels resources components configMapGenerator patches images";
    for key in wanted.as_object().expect(&what).keys() {
        assert!(keys.split(' ').any(|known| known == key), "{what}: {key} is not known here");
    }
    let is_component = wanted["kind"] == "Component";
    assert!(is_component || below.is_empty(), "{what} is no component");
    let mut all = below;
    for path in strings(&wanted["resources"]) {
        let path = folder.join(path);
        all.extend(if path.is_dir() { accumulate(&path, Vec::new()) } else { documents(&path) });
    }
    for generator in items(&wanted["configMapGenerator"]) {
        generate(&mut all, generator, &what);
    }
    for component in strings(&wanted["components"]) {
        all = accumulate(&folder.join(component), all);
    }
    for patch in items(&wanted["patches"]) {
        let patch = document(&folder.join(patch["path"].as_str().expect("a path")));
        let target = find(&mut all, &patch["kind"], &patch["metadata"]["name"]);
        let target =
            target.unwrap_or_else(|| panic!("{what}: a patch is for nothing that is there: {patch}"));
        merge(target, &patch);
    }
    if let Some(namespace) = wanted["namespace"].as_str() {
        for one in &mut all {
            let key = if one["kind"] == "Namespace" { "name" } else { "namespace" };
            one["metadata"][key] = namespace.into();
        }
    }
    for labels in items(&wanted["labels"]) {
        for one in &mut all {
            merge(&mut one["metadata"], &json!({"labels": labels["pairs"]}));
        }
    }
    for image in items(&wanted["images"]) {
        all.iter_mut().for_each(|one| replace_image(one, image));
    }
    all
}

fn find<'a>(all: &'a mut [Value], kind: &Value, name: &Value) -> Option<&'a mut Value> {
    all.iter_mut().find(|one| one["kind"] == *kind && one["metadata"]["name"] == *name)
}

/// A map of literals, or more of them for one that is there.
fn generate(all: &mut Vec<Value>, generator: &Value, what: &str) {
    let split = |literal: String| {
        let (key, value) = literal.split_once('=').unwrap_or_else(|| panic!("{what}: {literal}"));
        (key.to_owned(), Value::from(value))
    };
    let data: Map<_, _> = strings(&generator["literals"]).into_iter().map(split).collect();
    let kind = Value::from("ConfigMap");
    match (find(all, &kind, &generator["name"]), generator["behavior"].as_str()) {
        (Some(there), Some("merge")) => merge(&mut there["data"], &Value::from(data)),
        (None, None) => all.push(json!({
            "apiVersion": "v1", "kind": kind, "metadata": {"name": generator["name"]}, "data": data,
        })),
        (there, behavior) => panic!("{what}: {behavior:?}, and {there:?} is there"),
    }
}

/// By which key the items of a list are told apart, where a patch changes them one by one.
fn merge_key(list: &str) -> Option<&'static str> {
    match list {
        "containers" | "env" | "volumes" => Some("name"),
        "volumeMounts" => Some("mountPath"),
        _ => None,
    }
}

/// A strategic merge.
fn merge(into: &mut Value, patch: &Value) {
    let (Some(into), Some(patch)) = (into.as_object_mut(), patch.as_object()) else {
        *into = patch.clone();
        return;
    };
    for (key, new) in patch {
        match (into.get_mut(key), merge_key(key), new) {
            (_, _, Value::Null) => drop(into.remove(key)),
            (Some(Value::Array(there)), Some(by), Value::Array(new)) => {
                for one in new {
                    match there.iter_mut().find(|old| old[by] == one[by]) {
                        Some(old) => merge(old, one),
                        None => there.push(one.clone()),
                    }
                }
            }
            (Some(there @ Value::Object(_)), _, Value::Object(_)) => merge(there, new),
            _ => drop(into.insert(key.clone(), new.clone())),
        }
    }
}

fn replace_image(value: &mut Value, image: &Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(name)) = map.get_mut("image")
                && name.split(':').next() == image["name"].as_str()
            {
                let text = |key: &str| image[key].as_str().expect("a name and a tag").to_owned();
                *name = format!("{}:{}", text("newName"), text("newTag"));
            }
            map.values_mut().for_each(|one| replace_image(one, image));
        }
        Value::Array(list) => list.iter_mut().for_each(|one| replace_image(one, image)),
        _ => {}
    }
}

/// Manifests by kind and name, lists that have keys in the order of these, without the hashes of generated names.
fn comparable(all: Vec<Value>) -> BTreeMap<String, Value> {
    fn tidy(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (key, one) in map.iter_mut() {
                    tidy(one);
                    if let (Some(by), Value::Array(list)) = (merge_key(key), one) {
                        list.sort_by_key(|item| item[by].as_str().unwrap_or_default().to_owned());
                    }
                }
            }
            Value::Array(list) => list.iter_mut().for_each(tidy),
            Value::String(text) => {
                // `nonet-worker-6f2ct9kd5h`: ten characters without vowels.
                let hash = |end: &str| end.len() == 10 && end.chars().all(|c| "2456789bcdfghkmt".contains(c));
                if let Some((name, end)) = text.rsplit_once('-')
                    && name == "nonet-worker"
                    && hash(end)
                {
                    *text = name.into();
                }
            }
            _ => {}
        }
    }
    let named = |mut one: Value| {
        tidy(&mut one);
        (format!("{} {}", one["kind"], one["metadata"]["name"]), one)
    };
    all.into_iter().map(named).collect()
}

#[test]
fn kustomize_makes_the_same_of_it() {
    if !has("kubectl", &["kustomize", "--help"], "https://kubernetes.io/docs/tasks/tools/") {
        return;
    }
    for name in ["base", "etcd", "one", "several", "example"] {
        let output = Command::new("kubectl").arg("kustomize").arg(folder(name)).output().expect("kubectl");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let theirs = super::files::parse(&String::from_utf8(output.stdout).expect("UTF-8")).expect("YAML");
        let (ours, theirs) = (comparable(render(name, &[])), comparable(theirs));
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "{name}");
        for (what, one) in &ours {
            assert_eq!(one, &theirs[what], "{name}: {what}");
        }
    }
}
