//! What the dashboard, the alerts and their README go by: every name, label and value of a label must be one that there is.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::Value;

use super::openmetrics::Exposition;

fn deploy(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn dashboard() -> Value {
    serde_json::from_str(&deploy("grafana/nonet.json")).expect("JSON")
}

/// All expressions of the dashboard, as Grafana would ask them, and all of the alerts' conditions.
pub fn expressions() -> Vec<String> {
    let mut found = Vec::new();
    collect(&dashboard(), &mut found);
    assert!(found.len() > 50);
    let variables = [("$farm", "nonet"), ("$__rate_interval", "1m"), ("$__range", "1h")];
    let plain = |text: String| variables.iter().fold(text, |text, (name, value)| text.replace(name, value));
    let found: Vec<_> = found.into_iter().map(plain).collect();
    assert_eq!(found.iter().find(|text| text.contains('$')), None, "a variable that nobody fills in");
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(text) if name == "expr" => found.push(text.into()),
                    _ => collect(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

/// Whether a healthy farm without TLS has nothing to show there.
pub fn may_be_empty(expression: &str) -> bool {
    expression.contains("nonet_certificate_expiry_seconds") || expression.ends_with("> 0")
}

/// Holds everything against what a coordinator tells.
pub fn check(metrics: &Exposition) {
    let (dashboard_text, alerts, tests, readme) = (
        expressions().join("\n"),
        deploy("prometheus/alerts.yaml"),
        deploy("prometheus/tests.yaml"),
        deploy("prometheus/README.md"),
    );
    let names = metrics.names();
    for (file, text) in
        [("dashboard", &dashboard_text), ("alerts", &alerts), ("tests", &tests), ("README", &readme)]
    {
        let used = used(text);
        assert!(used.len() > 10, "{file} uses {used:?}");
        for name in used {
            let known = names.contains_key(&name) || metrics.families.contains_key(&name);
            assert!(known, "{file} uses {name}, which there is not");
        }
    }
    let conditions = conditions(&alerts);
    for (file, text) in [("dashboard", &dashboard_text), ("alerts", &conditions), ("tests", &tests)] {
        check_labels(file, text, metrics, &names);
    }
    check_readme(&readme, metrics);
    check_alerts(&alerts, &tests);
    check_dashboard(&dashboard());
    // All but the bare facts is shown somewhere.
    let shown: BTreeSet<_> = used(&dashboard_text).into_iter().chain(used(&alerts)).collect();
    for (name, family) in &names {
        let is_shown = shown.iter().any(|used| names.get(used) == Some(family));
        assert!(is_shown, "{name} is neither on the dashboard nor in an alert");
    }
}

/// What the alerts ask, without what they say.
fn conditions(alerts: &str) -> String {
    let mut asking = false;
    let mut is_asked = |line: &&str| {
        asking |= line.trim().starts_with("expr:");
        asking &= !["for:", "labels:"].iter().any(|field| line.trim().starts_with(field));
        asking
    };
    alerts.lines().filter(&mut is_asked).collect::<Vec<_>>().join("\n")
}

/// Words that begin as metrics do.
fn used(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words
        .filter(|word| word.starts_with("nonet_") || word.starts_with("process_"))
        .map(str::to_owned)
        .collect()
}

/// Labels that come from whoever scrapes, or from a histogram.
const ALWAYS: [&str; 3] = ["job", "instance", "le"];

/// Selectors have labels, and values of labels, that there are; so has everything that is grouped by.
fn check_labels(file: &str, text: &str, metrics: &Exposition, names: &BTreeMap<String, String>) {
    for (name, family) in names {
        let labels = &metrics.families[family].labels;
        for (at, _) in text.match_indices(&format!("{name}{{")) {
            let selector = text[at + name.len() + 1..].split('}').next().unwrap_or_default();
            for matcher in selector.split("\",").map(str::trim).filter(|matcher| !matcher.is_empty()) {
                let (label, value) =
                    matcher.split_once('=').unwrap_or_else(|| panic!("{file}: {name}: {matcher}"));
                let label = label.trim_end_matches('!');
                if ALWAYS.contains(&label) {
                    continue;
                }
                let known =
                    labels.get(label).unwrap_or_else(|| panic!("{file}: {name} has no label {label}"));
                // Names of jobs are nobody's choice, and neither are kinds.
                let is_free = ["name", "kind", "version", "ledger"].contains(&label);
                for value in value.trim_matches(['~', '"']).split('|').filter(|_| !is_free) {
                    assert!(known.contains(value), "{file}: {name} has no {label}={value}, but {known:?}");
                }
            }
        }
    }
    let all: BTreeSet<&str> =
        metrics.families.values().flat_map(|f| f.labels.keys().map(String::as_str)).chain(ALWAYS).collect();
    for word in ["by (", "on ("] {
        for (at, _) in text.match_indices(word) {
            let grouped = text[at + word.len()..].split(')').next().unwrap_or_default();
            for label in grouped.split(',').map(str::trim) {
                assert!(all.contains(label), "{file}: nothing has the label {label}");
            }
        }
    }
}

/// The table has every metric with its type and its labels, and no other.
fn check_readme(readme: &str, metrics: &Exposition) {
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let rows: BTreeMap<&str, &str> = rows.filter(|(name, _)| !used(name).is_empty()).collect();
    let mut wanted = BTreeMap::new();
    for (name, family) in &metrics.families {
        let suffix = match family.kind.as_str() {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        wanted.insert(format!("{name}{suffix}"), family);
    }
    assert_eq!(
        rows.keys().map(ToString::to_string).collect::<BTreeSet<_>>(),
        wanted.keys().cloned().collect::<BTreeSet<_>>(),
        "the table of deploy/prometheus/README.md"
    );
    for (name, family) in wanted {
        let cells: Vec<_> = rows[name.as_str()].split(" | ").collect();
        assert_eq!(cells[0], family.kind, "{name}");
        let told: BTreeSet<_> = cells[1].split(", ").map(|label| label.trim().trim_matches('`')).collect();
        let has: BTreeSet<_> =
            family.labels.keys().map(String::as_str).filter(|label| *label != "le").collect();
        let told: BTreeSet<_> = told.into_iter().filter(|label| !label.is_empty()).collect();
        assert_eq!(told, has, "labels of {name}");
    }
}

/// Every alert says what, why and what to do, and is tried.
fn check_alerts(alerts: &str, tests: &str) {
    let named: Vec<_> =
        alerts.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).map(str::to_owned).collect();
    assert!(named.len() > 10);
    for field in ["expr:", "labels: {severity:", "summary: \"", "description: \"", "runbook: \""] {
        let count = alerts.lines().filter(|line| line.trim().starts_with(field)).count();
        assert_eq!(count, named.len(), "{field} of each alert");
    }
    for name in &named {
        assert!(
            tests.contains(&format!("alertname=\"{name}\", alertstate=\"firing\", ")),
            "{name} is not tried"
        );
    }
}

/// Panels have ids of their own, explain themselves, ask the chosen source, and do not lie on each other.
fn check_dashboard(dashboard: &Value) {
    let panels = dashboard["panels"].as_array().expect("panels");
    let (mut ids, mut cells) = (BTreeSet::new(), BTreeSet::new());
    for panel in panels {
        let title = panel["title"].as_str().expect("a title");
        assert!(ids.insert(panel["id"].as_u64().expect("an id")), "{title}: its id is taken");
        let [x, y, w, h] = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().expect("a place"));
        assert!(w > 0 && h > 0 && x + w <= 24, "{title}");
        for cell in (x..x + w).flat_map(|x| (y..y + h).map(move |y| (x, y))) {
            assert!(cells.insert(cell), "{title} lies on another panel");
        }
        if panel["type"] == "row" {
            continue;
        }
        assert!(panel["description"].as_str().is_some_and(|text| text.ends_with('.')), "{title}");
        let targets = panel["targets"].as_array().expect("queries");
        let letters: BTreeSet<_> =
            targets.iter().map(|target| target["refId"].as_str().expect("a letter")).collect();
        assert!(!targets.is_empty() && letters.len() == targets.len(), "{title}");
        for source in targets.iter().chain([panel]).map(|asking| &asking["datasource"]) {
            assert_eq!(
                (&source["uid"], &source["type"]),
                (&"${datasource}".into(), &"prometheus".into()),
                "{title}"
            );
        }
    }
    let variables = dashboard["templating"]["list"].as_array().expect("variables");
    let variables: Vec<_> =
        variables.iter().map(|variable| variable["name"].as_str().expect("a name")).collect();
    assert_eq!(variables, ["datasource", "farm"]);
}
