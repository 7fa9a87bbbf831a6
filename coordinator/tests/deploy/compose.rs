//! Compose: the files alone and one on top of the other.

use std::{collections::BTreeSet, process::Command};

use serde_json::Value;

use super::{
    files::{deploy, document, has, items, strings, text},
    image, program, readmes, schema,
};

/// `compose.yaml`, and with `several.yaml` on top.
fn ways() -> [(&'static str, Value); 2] {
    let (base, more) = (document(&deploy("compose/compose.yaml")), document(&deploy("compose/several.yaml")));
    let mut both = base.clone();
    merge(&mut both, &more);
    [("compose.yaml", base), ("compose.yaml with several.yaml", both)]
}

/// As Compose puts files together: maps key by key, lists by what is new.
fn merge(into: &mut Value, more: &Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                match into.get_mut(key) {
                    // These say all or nothing.
                    Some(old) if !["command", "entrypoint"].contains(&key.as_str()) => merge(old, value),
                    _ => drop(into.insert(key.clone(), value.clone())),
                }
            }
        }
        (Value::Array(into), Value::Array(more)) => into.extend(more.iter().cloned()),
        (into, more) => *into = more.clone(),
    }
}

fn services(way: &Value) -> impl Iterator<Item = (&String, &Value)> {
    way["services"].as_object().expect("services").iter()
}

fn is_ours(service: &Value) -> bool {
    service["image"].as_str().is_some_and(|image| image.contains("nonet"))
}

#[test]
fn compose_files_are_what_compose_takes() {
    let check = jsonschema::validator_for(&schema::read("compose.json")).expect("a schema");
    for file in ["compose.yaml", "several.yaml"] {
        let mut one = document(&deploy("compose").join(file));
        schema::check(&check, &one, file);
        one["services"]["coordinator"]["read_onyl"] = true.into();
        assert!(!check.is_valid(&one), "{file}: anything goes");
    }
    for (what, way) in ways() {
        schema::check(&check, &way, what);
    }
}

#[test]
fn containers_of_compose_may_do_little_and_are_bounded() {
    for (what, way) in ways() {
        for (name, service) in services(&way) {
            let what = format!("{what}: {name}");
            let (user, group) = service["user"].as_str().and_then(|user| user.split_once(':')).expect(&what);
            assert!(user.parse::<u64>().is_ok_and(|n| n > 0) && user == group, "{what}");
            assert!(!is_ours(service) || user == image::user().to_string(), "{what}");
            assert_eq!(service["read_only"], true, "{what}");
            assert_eq!(strings(&service["cap_drop"]), ["ALL"], "{what}");
            assert_eq!(strings(&service["security_opt"]), ["no-new-privileges:true"], "{what}");
            assert!(service["privileged"].is_null() && service["cap_add"].is_null(), "{what}");
            assert!(service["mem_limit"].is_string() && service["restart"].is_string(), "{what}");
            for port in strings(&service["ports"]) {
                assert!(port.starts_with("127.0.0.1:"), "{what}: {port} is for everybody");
            }
            // In our image there is nothing to ask with.
            assert_eq!(service["healthcheck"].is_null(), is_ours(service), "{what}");
            let test = strings(&service["healthcheck"]["test"]);
            assert!(is_ours(service) || test[0] == "CMD", "{what}: without a shell: {test:?}");
        }
        let ports: Vec<String> = services(&way).flat_map(|(_, one)| strings(&one["ports"])).collect();
        let hosts: BTreeSet<_> =
            ports.iter().map(|port| port.rsplit_once(':').expect("two ports").0).collect();
        assert_eq!(hosts.len(), ports.len(), "{what}: two want the same port");
    }
}

#[test]
fn services_of_compose_run_the_program_as_it_is() {
    for (what, way) in ways() {
        let mut ours = 0;
        for (name, service) in services(&way).filter(|(_, service)| is_ours(service)) {
            ours += 1;
            let (what, args) = (format!("{what}: {name}"), strings(&service["command"]));
            program::takes(&args, &what);
            let variables = service["environment"].as_object();
            program::knows_variables(
                &args[0],
                variables.into_iter().flatten().map(|(key, _)| key.as_str()),
                &what,
            );
            let grace = service["stop_grace_period"]
                .as_str()
                .and_then(|text| text.trim_end_matches('s').parse().ok());
            assert!(grace >= Some(30), "{what}: {grace:?}");
            if args[0] == "worker" {
                assert_eq!(service["restart"], "on-failure", "{what}: one that was let go ends with 0");
            }
        }
        assert!(ours >= 2, "{what}");
    }
}

/// Files of `secrets/` that the README makes.
fn made(readme: &str) -> BTreeSet<String> {
    let mut made = BTreeSet::new();
    for line in readmes::commands(readme) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |flag: &str| words.iter().position(|word| *word == flag).map(|at| words[at + 1]);
        match words[..] {
            ["nonet", "certs", "init", ..] => {
                made.insert(format!("{}/ca.pem", after("--dir").expect("a folder")));
            }
            ["nonet", "certs", "issue", name, ..] => {
                let folder = format!("{}/{name}", after("--dir").expect("a folder"));
                made.extend(["ca.pem", "cert.pem", "key.pem"].map(|file| format!("{folder}/{file}")));
            }
            ["nonet", "tokens", "add", ..] => {
                made.extend([after("--file"), after("-o")].map(|file| file.expect("a file").to_owned()));
            }
            _ if line.contains("> secrets/") => {
                let file = line.split("> ").nth(1).expect("a file").trim_end_matches(')');
                made.insert(file.to_owned());
            }
            _ => {}
        }
    }
    made
}

#[test]
fn secrets_of_compose_are_made_handed_over_and_used() {
    let made = made(&text(&deploy("compose/README.md")));
    for (what, way) in ways() {
        let known = way["secrets"].as_object().expect("secrets");
        for (name, secret) in known {
            let file = secret["file"].as_str().expect("a file").trim_start_matches("./");
            assert!(made.contains(file), "{what}: the README does not make {file} of {name}: {made:?}");
        }
        let mut used = BTreeSet::new();
        for (name, service) in services(&way) {
            let what = format!("{what}: {name}");
            let mut there = BTreeSet::new();
            for secret in items(&service["secrets"]) {
                let (source, target) = if let Some(name) = secret.as_str() {
                    (name.to_owned(), format!("/run/secrets/{name}"))
                } else {
                    let field = |key: &str| secret[key].as_str().expect("a name").to_owned();
                    (field("source"), field("target"))
                };
                assert!(known.contains_key(&source), "{what}: there is no secret {source}");
                used.insert(source);
                there.insert(target);
            }
            let mut texts = strings(&service["command"]);
            texts.extend(strings(&service["healthcheck"]["test"]));
            texts.extend(
                service["environment"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter_map(|(_, v)| v.as_str().map(String::from)),
            );
            for text in texts {
                let path = text.split_once('=').map_or(text.as_str(), |(_, path)| path);
                if path.starts_with("/run/") {
                    let folder = format!("{path}/ca.pem");
                    assert!(there.contains(path) || there.contains(&folder), "{what}: {path} is not there");
                }
            }
        }
        assert_eq!(used.len(), known.len(), "{what}: a secret that nobody uses");
    }
}

#[test]
fn mounted_files_and_dialled_services_exist() {
    for (what, way) in ways() {
        let names: BTreeSet<&str> = services(&way).map(|(name, _)| name.as_str()).collect();
        for (name, service) in services(&way) {
            let what = format!("{what}: {name}");
            for volume in strings(&service["volumes"]) {
                let source = volume.split(':').next().expect("a part");
                if volume.ends_with(":ro") {
                    assert!(deploy("compose").join(source).is_file(), "{what}: there is no {source}");
                } else if !source.starts_with("./data/") && volume.contains(':') {
                    assert!(
                        way["volumes"].as_object().is_some_and(|v| v.contains_key(source)),
                        "{what}: {source}"
                    );
                }
            }
            for text in [&service["command"], &service["environment"]].map(ToString::to_string) {
                for (at, _) in text.match_indices("://") {
                    let rest = &text[at + 3..];
                    let rest = &rest[..rest.find('"').expect("the end of a string")];
                    for host in rest.split(',').map(|one| one.rsplit("//").next().expect("a part")) {
                        let host = host.split(':').next().expect("a part");
                        let known = names.contains(host) || ["0.0.0.0", "localhost"].contains(&host);
                        assert!(known, "{what}: there is no service {host}");
                    }
                }
            }
        }
    }
}

#[test]
fn prometheus_and_grafana_find_what_they_need() {
    let (own, reference) =
        (document(&deploy("compose/prometheus.yaml")), document(&deploy("prometheus/prometheus.yaml")));
    for key in ["global", "rule_files"] {
        assert_eq!(own[key], reference[key], "{key}");
    }
    let (job, like) = (&own["scrape_configs"][0], &reference["scrape_configs"][0]);
    for key in ["job_name", "scheme", "authorization"] {
        assert_eq!(job[key], like[key], "{key}");
    }
    assert_eq!(job["tls_config"]["ca_file"], like["tls_config"]["ca_file"]);
    let names = strings(&job["dns_sd_configs"][0]["names"]);
    let (_, both) = &ways()[1];
    assert!(names.len() == 2 && names.iter().all(|name| both["services"][name].is_object()), "{names:?}");
    let prometheus = &both["services"]["prometheus"];
    let targets: BTreeSet<_> =
        items(&prometheus["secrets"]).map(|secret| secret["target"].as_str().expect("a path")).collect();
    let wanted = [&job["authorization"]["credentials_file"], &job["tls_config"]["ca_file"]];
    assert!(wanted.iter().all(|file| targets.contains(file.as_str().expect("a path"))), "{targets:?}");
    let dashboards = document(&deploy("compose/grafana/dashboards.yaml"));
    let folder = dashboards["providers"][0]["options"]["path"].as_str().expect("a folder");
    let mounted = strings(&both["services"]["grafana"]["volumes"]);
    assert!(mounted.iter().any(|volume| volume.contains(&format!(":{folder}/"))), "{mounted:?}");
    let source = document(&deploy("compose/grafana/datasource.yaml"));
    assert_eq!(source["datasources"][0]["url"], "http://prometheus:9090");
    if has("promtool", &["--version"], "Debian: apt-get install prometheus") {
        let mut command = Command::new("promtool");
        command.args(["check", "config", "--syntax-only"]).arg(deploy("compose/prometheus.yaml"));
        let output = command.output().expect("promtool");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
