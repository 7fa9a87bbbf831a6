//! Who finds whom in the cluster: names, ports, selectors.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    files::{deploy, items, strings, text},
    kubernetes::{clusters, makers, name, of_kind},
    readmes,
};

/// Whether a selector's labels are among a pod's.
fn selects(selector: &Value, template: &Value) -> bool {
    let labels = &template["metadata"]["labels"];
    selector.as_object().is_some_and(|wanted| wanted.iter().all(|(key, value)| labels[key] == *value))
}

/// Ports that a pod has, by name.
fn ports(template: &Value) -> BTreeSet<String> {
    let all = items(&template["spec"]["containers"]).flat_map(|c| items(&c["ports"]));
    all.map(|port| port["name"].as_str().expect("a port has a name").to_owned()).collect()
}

#[test]
fn services_budgets_and_autoscalers_find_what_they_are_for() {
    for (cluster, all) in clusters() {
        for service in of_kind(&all, "Service") {
            let what = format!("{cluster}: service {}", name(service));
            let (_, template) = makers(&all)
                .find(|(_, template)| selects(&service["spec"]["selector"], template))
                .unwrap_or_else(|| panic!("{what} selects nobody"));
            for port in items(&service["spec"]["ports"]) {
                let target = port["targetPort"].as_str().expect("a name");
                assert!(ports(template).contains(target), "{what}: {target}");
            }
        }
        for set in of_kind(&all, "StatefulSet") {
            let service = of_kind(&all, "Service").find(|one| name(one) == set["spec"]["serviceName"]);
            assert_eq!(
                service.expect("its service")["spec"]["clusterIP"],
                "None",
                "{cluster}: {}",
                name(set)
            );
        }
        for budget in of_kind(&all, "PodDisruptionBudget") {
            let selector = &budget["spec"]["selector"]["matchLabels"];
            assert!(
                makers(&all).any(|(_, template)| selects(selector, template)),
                "{cluster}: {}",
                name(budget)
            );
        }
        // Where there are several of a kind, nodes are emptied one by one; where there is one, its node can be emptied.
        for set in of_kind(&all, "StatefulSet") {
            let guards =
                |one: &&Value| selects(&one["spec"]["selector"]["matchLabels"], &set["spec"]["template"]);
            let guarded = of_kind(&all, "PodDisruptionBudget").any(|one| guards(&one));
            assert_eq!(guarded, set["spec"]["replicas"].as_u64() > Some(1), "{cluster}: {}", name(set));
        }
        for scaler in of_kind(&all, "HorizontalPodAutoscaler").chain(of_kind(&all, "ScaledObject")) {
            let target = &scaler["spec"]["scaleTargetRef"]["name"];
            let mut deployments = of_kind(&all, "Deployment");
            let one = deployments.find(|one| one["metadata"]["name"] == *target);
            let one = one.unwrap_or_else(|| panic!("{cluster}: {} scales nothing", name(scaler)));
            assert!(one["spec"]["replicas"].is_null(), "{cluster}: both say how many");
            assert!(scaler.to_string().contains("nonet_workers_wanted"), "{cluster}: {}", name(scaler));
            for trigger in items(&scaler["spec"]["triggers"]) {
                assert_eq!(
                    trigger["metadata"]["ignoreNullValues"], "false",
                    "{cluster}: no answer is no zero"
                );
            }
        }
        for monitor in of_kind(&all, "PodMonitor") {
            let selector = &monitor["spec"]["selector"]["matchLabels"];
            let (_, template) =
                makers(&all).find(|(_, template)| selects(selector, template)).expect("a pod");
            // The alerts name the farm by it.
            let label = monitor["spec"]["jobLabel"].as_str().expect("a label");
            assert_eq!(template["metadata"]["labels"][label], "nonet", "{cluster}");
            for endpoint in items(&monitor["spec"]["podMetricsEndpoints"]) {
                assert!(ports(template).contains(endpoint["port"].as_str().expect("a port")), "{cluster}");
                assert!(endpoint["path"] == "/metrics" && endpoint["scheme"] == "https", "{cluster}");
            }
        }
    }
}

#[test]
fn accounts_exist_and_probes_and_mounts_name_what_is_there() {
    for (cluster, all) in clusters() {
        for (maker, template) in makers(&all) {
            let (what, pod) = (format!("{cluster}: {maker}"), &template["spec"]);
            let account = pod["serviceAccountName"].as_str().expect("an account");
            assert!(of_kind(&all, "ServiceAccount").any(|one| name(one) == account), "{what}: {account}");
            let claims = all.iter().find(|one| name(one) == maker && one["spec"]["template"] == *template);
            let claims = items(&claims.expect("its maker")["spec"]["volumeClaimTemplates"]);
            let volumes: BTreeSet<_> = items(&pod["volumes"])
                .map(|v| v["name"].as_str().expect("a name"))
                .chain(claims.map(name))
                .collect();
            let mut mounted = BTreeSet::new();
            for container in items(&pod["containers"]) {
                for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
                    if let Some(port) = container[probe]["httpGet"]["port"].as_str() {
                        assert!(ports(template).contains(port), "{what}: {probe} asks {port}");
                    }
                }
                mounted
                    .extend(items(&container["volumeMounts"]).map(|m| m["name"].as_str().expect("a name")));
            }
            assert_eq!(mounted, volumes, "{what}");
        }
    }
}

#[test]
fn policies_let_through_what_is_spoken_and_name_what_is_there() {
    for (cluster, all) in clusters() {
        let policies: Vec<_> = of_kind(&all, "NetworkPolicy").collect();
        assert!(
            policies.iter().any(|one| one["spec"]["podSelector"] == serde_json::json!({})
                && one["spec"]["ingress"].is_null()
                && one["spec"]["egress"].is_null()
                && strings(&one["spec"]["policyTypes"]) == ["Ingress", "Egress"]),
            "{cluster}: what is not allowed is allowed"
        );
        for policy in policies {
            let what = format!("{cluster}: policy {}", name(policy));
            let selector = &policy["spec"]["podSelector"]["matchLabels"];
            // Clients are somebody else's pods.
            if selector.is_null() || !selector["nonet-client"].is_null() {
                continue;
            }
            let (_, template) = makers(&all)
                .find(|(_, template)| selects(selector, template))
                .unwrap_or_else(|| panic!("{what} is for nobody"));
            let rules = items(&policy["spec"]["ingress"]).flat_map(|rule| items(&rule["ports"]));
            for port in rules.filter_map(|port| port["port"].as_str()) {
                assert!(ports(template).contains(port), "{what}: {port}");
            }
        }
        // Workers may dial coordinators, and these let them in; so with etcd, where it is.
        let has_etcd = makers(&all).any(|(maker, _)| maker == "etcd");
        let pairs = [("nonet-worker", "nonet-coordinator", 7700), ("nonet-coordinator", "etcd", 2379)];
        for (from, to, port) in pairs.into_iter().take(if has_etcd { 2 } else { 1 }) {
            assert!(may_speak(&all, from, to, port), "{cluster}: {from} may not speak to {to}");
        }
        assert!(!may_speak(&all, "nonet-coordinator", "nonet-worker", 7700), "{cluster}");
        assert!(!may_speak(&all, "nonet-worker", "etcd", 2379), "{cluster}");
    }
}

/// Whether policies let pods of one maker reach a port of another's.
fn may_speak(all: &[Value], from: &str, to: &str, number: u64) -> bool {
    let template =
        |wanted: &str| makers(all).find(|(maker, _)| *maker == wanted).map(|(_, template)| template);
    let (Some(from), Some(to)) = (template(from), template(to)) else { return false };
    let named = items(&to["spec"]["containers"]).flat_map(|c| items(&c["ports"]));
    let name = named.filter(|port| port["containerPort"] == number).map(|port| &port["name"]).next();
    let allows = |own: &Value, rules: &str, whom: &str, other: &Value| {
        of_kind(all, "NetworkPolicy")
            .filter(|policy| selects(&policy["spec"]["podSelector"]["matchLabels"], own))
            .flat_map(|policy| items(&policy["spec"][rules]))
            .filter(|rule| {
                items(&rule[whom]).any(|peer| selects(&peer["podSelector"]["matchLabels"], other))
                    && items(&rule["ports"]).any(|port| port["port"] == number || Some(&port["port"]) == name)
            })
            .count()
            > 0
    };
    allows(from, "egress", "to", to) && allows(to, "ingress", "from", from)
}

/// `HOST:PORT` in URLs of arguments, variables and maps.
fn dialled(all: &[Value]) -> BTreeSet<(String, u64)> {
    let mut found = BTreeSet::new();
    let text = serde_json::to_string(all).expect("JSON");
    for scheme in ["https://", "etcds://"] {
        for (at, _) in text.match_indices(scheme) {
            let rest = &text[at + scheme.len()..];
            let rest = &rest[..rest.find(['"', ' ']).expect("the end of a string")];
            for one in rest.split(',').map(|one| one.rsplit("//").next().expect("a part")) {
                let (host, port) = one.split_once(':').unwrap_or_else(|| panic!("{one} has no port"));
                let port = port.split('/').next().expect("a part").parse().expect("a number");
                found.insert((host.to_owned(), port));
            }
        }
    }
    found
}

#[test]
fn names_that_are_dialled_exist_and_are_in_the_certificates() {
    let readme = text(&deploy("kubernetes/README.md"));
    let certificates: BTreeSet<String> = readmes::commands(&readme)
        .iter()
        .filter(|line| line.contains("nonet certs issue"))
        .flat_map(|line| line.split(' ').skip_while(|w| *w != "--host").map(String::from).collect::<Vec<_>>())
        .collect();
    for (cluster, all) in clusters() {
        let dialled = dialled(&all);
        assert!(dialled.len() >= 2, "{cluster}: {dialled:?}");
        for (host, port) in dialled {
            // What listens everywhere, and what a pod calls itself by.
            if host == "0.0.0.0" || host.starts_with("$(POD_NAME)") {
                continue;
            }
            let what = format!("{cluster}: {host}:{port}");
            let (pod, service) = host.split_once('.').unwrap_or_else(|| panic!("{what} is no pod"));
            let (set, ordinal) = pod.rsplit_once('-').expect("an ordinal");
            let set = of_kind(&all, "StatefulSet").find(|one| name(one) == set);
            let set = set.unwrap_or_else(|| panic!("{what}: there is no such set"));
            assert_eq!(set["spec"]["serviceName"], service, "{what}");
            assert!(
                ordinal.parse::<u64>().expect("a number")
                    < set["spec"]["replicas"].as_u64().expect("replicas")
            );
            let ports =
                items(&set["spec"]["template"]["spec"]["containers"]).flat_map(|c| items(&c["ports"]));
            assert!(ports.into_iter().any(|p| p["containerPort"] == port), "{what}");
            assert!(certificates.contains(&host), "{what} is in no certificate of the README");
        }
    }
}
