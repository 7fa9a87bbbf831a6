//! The manifests: what the schema says, how safe the containers are, and whether all that is named exists.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    farm::{Farm, free_address, http::get, until},
    files::{deploy, items, strings, text, walk},
    kustomize::render,
    program, readmes, schema,
};

/// Ways to put the folders together, each a cluster's worth.
pub fn clusters() -> Vec<(String, Vec<Value>)> {
    let ways: [(&str, &[&str]); 6] = [
        ("one", &[]),
        ("several", &[]),
        ("example", &[]),
        ("one", &["components/hpa", "components/monitoring"]),
        ("one", &["components/keda", "components/spot"]),
        ("several", &["components/hpa", "components/parts"]),
    ];
    ways.iter().map(|(name, more)| (format!("{name} {more:?}"), render(name, more))).collect()
}

pub fn of_kind<'a>(all: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    all.iter().filter(move |one| one["kind"] == kind)
}

/// What makes pods, and how.
pub fn makers(all: &[Value]) -> impl Iterator<Item = (&str, &Value)> {
    let of = |one: &'_ Value| one["spec"]["template"]["spec"].is_object();
    all.iter().filter(move |one| of(one)).map(|one| (name(one), &one["spec"]["template"]))
}

pub fn name(one: &Value) -> &str {
    one["metadata"]["name"].as_str().unwrap_or_else(|| panic!("no name: {one}"))
}

/// Kinds that others brought into the cluster, whose schemas are not Kubernetes' own.
const FOREIGN: [&str; 2] = ["PodMonitor", "ScaledObject"];

#[test]
fn manifests_are_what_kubernetes_takes() {
    for version in ["1.30", "1.37"] {
        let schema = schema::read(&format!("kubernetes-{version}.json"));
        for (cluster, all) in clusters() {
            assert!(all.len() > 10, "{cluster}");
            for one in all.iter().filter(|one| !FOREIGN.contains(&one["kind"].as_str().unwrap_or(""))) {
                let (group, api) = match one["apiVersion"].as_str().expect("a version").split_once('/') {
                    Some((group, api)) => (group.trim_end_matches(".k8s.io"), api),
                    None => ("core", one["apiVersion"].as_str().expect("a version")),
                };
                let kind = format!("io.k8s.api.{group}.{api}.{}", one["kind"].as_str().expect("a kind"));
                let check = schema::of_kind(&schema, &kind);
                let check = check.unwrap_or_else(|| panic!("{cluster}: no schema of {kind} in {version}"));
                schema::check(&check, one, &format!("Kubernetes {version}, {cluster}, {kind} {}", name(one)));
            }
            let names: BTreeSet<_> = all.iter().map(|one| (one["kind"].to_string(), name(one))).collect();
            assert_eq!(names.len(), all.len(), "{cluster}: two of the same name");
        }
    }
}

#[test]
fn containers_may_do_nothing_that_they_need_not() {
    let mut seen = 0;
    for (cluster, all) in clusters() {
        for (maker, template) in makers(&all) {
            let (what, pod) = (format!("{cluster}: {maker}"), &template["spec"]);
            let user = &pod["securityContext"];
            assert_eq!(user["runAsNonRoot"], true, "{what}");
            assert!(user["runAsUser"].as_u64() > Some(0) && user["runAsGroup"].as_u64() > Some(0), "{what}");
            assert_eq!(user["seccompProfile"]["type"], "RuntimeDefault", "{what}");
            assert_eq!(pod["automountServiceAccountToken"], false, "{what}");
            assert!(pod["terminationGracePeriodSeconds"].as_u64() >= Some(30), "{what}");
            for host in ["hostNetwork", "hostPID", "hostIPC", "initContainers", "ephemeralContainers"] {
                assert!(pod[host].is_null(), "{what} has {host}");
            }
            for volume in items(&pod["volumes"]) {
                assert!(volume["hostPath"].is_null(), "{what}");
            }
            for container in items(&pod["containers"]) {
                seen += 1;
                safe(container, &what);
            }
        }
        let account = of_kind(&all, "ServiceAccount").map(|one| &one["automountServiceAccountToken"]);
        assert!(account.into_iter().all(|mounted| mounted == false), "{cluster}");
        let namespaces: Vec<_> = of_kind(&all, "Namespace").collect();
        assert_eq!(namespaces.len(), 1, "{cluster}");
        let enforced = &namespaces[0]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"];
        assert_eq!(enforced, "restricted", "{cluster}");
    }
    assert!(seen >= 15, "{seen}");
}

fn safe(container: &Value, what: &str) {
    let context = &container["securityContext"];
    assert_eq!(context["readOnlyRootFilesystem"], true, "{what}");
    assert_eq!(context["allowPrivilegeEscalation"], false, "{what}");
    assert_eq!(context["capabilities"], serde_json::json!({"drop": ["ALL"]}), "{what}");
    assert!(context["privileged"].is_null() && context["runAsUser"].is_null(), "{what}");
    let resources = &container["resources"];
    for wanted in
        [&resources["requests"]["cpu"], &resources["requests"]["memory"], &resources["limits"]["memory"]]
    {
        assert!(wanted.is_string(), "{what}: {resources}");
    }
    // Who listens can be asked, and is.
    let listens = items(&container["ports"]).next().is_some();
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        assert_eq!(container[probe]["httpGet"]["port"].is_string(), listens, "{what}: {probe}");
    }
    let image = container["image"].as_str().expect("an image");
    let tag = image.rsplit_once(':').map(|(_, tag)| tag);
    assert!(tag.is_some_and(|tag| tag != "latest"), "{what}: {image}");
}

#[test]
fn probes_ask_what_the_page_answers() {
    let (_, all) = clusters().swap_remove(0);
    let (_, template) = makers(&all).find(|(maker, _)| *maker == "nonet-coordinator").expect("a coordinator");
    let container = &template["spec"]["containers"][0];
    let asked = |probe: &str| {
        let get = &container[probe]["httpGet"];
        assert_eq!((&get["port"], &get["scheme"]), (&"web".into(), &"HTTPS".into()), "{probe}");
        get["path"].as_str().expect("a path").to_owned()
    };
    let paths = [asked("startupProbe"), asked("livenessProbe"), asked("readinessProbe")];
    assert_eq!(paths, ["/healthz", "/healthz", "/readyz"]);
    let web = free_address();
    let _farm = Farm::start(0, &["--web", &web]);
    for path in paths {
        until(&path, || get(&web, &path, &[]).is_some_and(|answer| answer.status == 200));
    }
}

/// Files in a secret, by its name: what the README makes.
fn secrets() -> BTreeMap<String, BTreeSet<String>> {
    let mut made = BTreeMap::new();
    for line in readmes::commands(&text(&deploy("kubernetes/README.md"))) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(at) = words.windows(2).position(|two| two == ["secret", "generic"]) else { continue };
        assert_eq!(words[..3], ["kubectl", "-n", "nonet"], "{line}");
        let mut files = BTreeSet::new();
        for word in &words[at + 3..] {
            let file = word.strip_prefix("--from-file=").or_else(|| word.strip_prefix("--from-literal="));
            match file.unwrap_or_else(|| panic!("{line}: {word}")).split_once('=') {
                Some((key, _)) => drop(files.insert(key.to_owned())),
                None if *word == "--from-file=tokens.toml" => drop(files.insert("tokens.toml".to_owned())),
                // A folder of `nonet certs issue`.
                None => files.extend(["ca.pem", "cert.pem", "key.pem"].map(String::from)),
            }
        }
        made.insert(words[at + 2].to_owned(), files);
    }
    made
}

#[test]
fn secrets_that_are_used_are_made_and_files_that_are_named_are_mounted() {
    let secrets = secrets();
    assert!(secrets.len() >= 8, "{secrets:?}");
    let mut used = BTreeSet::new();
    for (cluster, all) in clusters() {
        for one in &all {
            // `secretName` of volumes, `secretRef` of variables, `ca.secret` and `credentials` of a monitor.
            walk(one, &mut Vec::new(), &mut |path, value| {
                let named = match path {
                    [.., "secretName"] | [.., "secretRef" | "secret" | "credentials", "name"] => {
                        value.as_str()
                    }
                    _ => None,
                };
                let Some(named) = named else { return };
                assert!(secrets.contains_key(named), "{cluster}: nobody makes the secret {named}");
                used.insert(named.to_owned());
            });
        }
        for monitor in of_kind(&all, "PodMonitor") {
            for endpoint in items(&monitor["spec"]["podMetricsEndpoints"]) {
                for key in [&endpoint["authorization"]["credentials"], &endpoint["tlsConfig"]["ca"]["secret"]]
                {
                    let (name, file) =
                        (key["name"].as_str().expect("a secret"), key["key"].as_str().expect("a key"));
                    assert!(secrets[name].contains(file), "{cluster}: {name} has no {file}");
                }
            }
        }
        for (maker, template) in makers(&all) {
            for container in items(&template["spec"]["containers"]) {
                for path in paths(container) {
                    let what = format!("{cluster}: {maker} names {path}");
                    let mount = items(&container["volumeMounts"])
                        .filter(|mount| path.starts_with(mount["mountPath"].as_str().expect("a path")))
                        .max_by_key(|mount| mount["mountPath"].as_str().map(str::len));
                    let mount = mount.unwrap_or_else(|| panic!("{what}, where nothing is mounted"));
                    let volume = items(&template["spec"]["volumes"]).find(|v| v["name"] == mount["name"]);
                    let Some(secret) = volume.and_then(|v| v["secret"]["secretName"].as_str()) else {
                        continue;
                    };
                    assert_eq!(mount["readOnly"], true, "{what}");
                    let at = mount["mountPath"].as_str().expect("a path");
                    let file = path[at.len()..].trim_start_matches('/');
                    let whole = ["ca.pem", "cert.pem", "key.pem"].map(|file| secrets[secret].contains(file));
                    let there =
                        if file.is_empty() { whole == [true; 3] } else { secrets[secret].contains(file) };
                    assert!(there, "{what}, and {secret} has {:?}", secrets[secret]);
                }
            }
        }
    }
    assert_eq!(
        used.iter().collect::<Vec<_>>(),
        secrets.keys().collect::<Vec<_>>(),
        "made, and used by nobody"
    );
}

/// Paths in arguments and variables.
fn paths(container: &Value) -> Vec<String> {
    let value = |arg: String| arg.split_once('=').map_or(arg.clone(), |(_, value)| value.to_owned());
    let args = strings(&container["args"]).into_iter().map(value);
    let env = items(&container["env"]).filter_map(|one| one["value"].as_str().map(String::from));
    args.chain(env).filter(|text| text.starts_with('/')).collect()
}

#[test]
fn arguments_and_variables_are_those_of_the_program() {
    let mut seen = 0;
    for (cluster, all) in clusters() {
        for (maker, template) in makers(&all) {
            for container in items(&template["spec"]["containers"]) {
                let what = format!("{cluster}: {maker}");
                if !container["command"].is_null() {
                    // Another program than ours.
                    assert!(
                        container["image"].as_str().is_some_and(|image| image.contains("etcd")),
                        "{what}"
                    );
                    continue;
                }
                seen += 1;
                let args = strings(&container["args"]);
                program::takes(&args, &what);
                let mut names: Vec<&str> =
                    items(&container["env"]).filter_map(|e| e["name"].as_str()).collect();
                for from in
                    items(&container["envFrom"]).filter_map(|from| from["configMapRef"]["name"].as_str())
                {
                    let map = of_kind(&all, "ConfigMap").find(|map| name(map) == from);
                    let map = map.unwrap_or_else(|| panic!("{what}: there is no ConfigMap {from}"));
                    names.extend(map["data"].as_object().expect("data").keys().map(String::as_str));
                }
                assert!(names.len() > 1, "{what}: {names:?}");
                // POD_NAME and the like are for the arguments.
                program::knows_variables(&args[0], names, &what);
            }
        }
    }
    assert!(seen >= 12, "{seen}");
}
