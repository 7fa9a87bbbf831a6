//! Reads metrics by the rules of `OpenMetrics` 1.0, as far as they are used, and takes nothing else. There is a parser in Rust,
//! under a licence that does not fit; where a Prometheus is installed, `prometheus.rs` has that read them too.

use std::collections::{BTreeMap, BTreeSet};

/// Metrics of one scrape.
pub struct Exposition {
    /// By name: type, and labels with the values that they have.
    pub families: BTreeMap<String, Family>,
    /// By name and labels, as they are written.
    samples: BTreeMap<String, f64>,
}

/// A metric.
#[derive(Debug, Default)]
pub struct Family {
    pub kind: String,
    pub help: String,
    unit: String,
    /// Labels, and the values that they have.
    pub labels: BTreeMap<String, BTreeSet<String>>,
}

/// A line with a value.
struct Sample<'a> {
    name: &'a str,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Exposition {
    /// Reads them.
    pub fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").expect("the end is marked");
        let mut found = Self { families: BTreeMap::new(), samples: BTreeMap::new() };
        let mut current = String::new();
        for line in body.lines() {
            if let Some(about) = line.strip_prefix("# ") {
                current = found.described(about, &current);
            } else {
                found.sampled(&current, line);
            }
        }
        found.families.iter().for_each(|(name, family)| found.check(name, family));
        found
    }

    /// The value of a series, written as it is in the text.
    pub fn value(&self, series: &str) -> Option<f64> {
        self.samples.get(series).copied()
    }

    /// Names that a query may use, with the metric that each belongs to.
    pub fn names(&self) -> BTreeMap<String, String> {
        let of = |(name, family): (&String, &Family)| {
            suffixes(&family.kind)
                .iter()
                .map(|suffix| (format!("{name}{suffix}"), name.clone()))
                .collect::<Vec<_>>()
        };
        self.families.iter().flat_map(of).collect()
    }

    /// A line of HELP, TYPE or UNIT: all three before the first value, each once, of one metric at a time.
    fn described(&mut self, about: &str, current: &str) -> String {
        let [word, name, rest] = about.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{about:?}") };
        assert!(is_name(name), "{name:?}");
        let is_new = name != current;
        assert!(!is_new || !self.families.contains_key(name), "{name} comes in two pieces");
        let family = self.families.entry(name.to_owned()).or_default();
        let field = match word {
            "HELP" => &mut family.help,
            "TYPE" => &mut family.kind,
            "UNIT" => &mut family.unit,
            _ => panic!("{about:?} is no comment that there is"),
        };
        assert!(field.is_empty() && !rest.is_empty(), "{word} of {name} twice, or empty");
        rest.clone_into(field);
        let begun = self.samples.keys().any(|series| series.split('{').next() == Some(name));
        assert!(!begun, "{word} of {name} comes behind its values");
        name.to_owned()
    }

    fn sampled(&mut self, current: &str, line: &str) {
        let Sample { name, labels, value } = sample(line);
        let family = self.families.get_mut(current).expect("values come behind their description");
        let suffix = name.strip_prefix(current).unwrap_or_else(|| panic!("{name} among those of {current}"));
        assert!(suffixes(&family.kind).contains(&suffix), "{name} of {} {current}", family.kind);
        let grows = suffix == "_total" || family.kind == "histogram";
        assert!(value.is_finite() && (!grows || value >= 0.0), "{line}");
        for (label, value) in &labels {
            assert!(*label != "job" && *label != "instance", "{label} is for whoever scrapes");
            family.labels.entry(label.clone()).or_default().insert(value.clone());
        }
        let series = line.rsplit_once(' ').expect("a value").0.to_owned();
        assert!(self.samples.insert(series, value).is_none(), "{line} twice");
    }

    fn check(&self, name: &str, family: &Family) {
        assert!(!family.help.is_empty() && family.help.ends_with('.'), "{name}: {:?}", family.help);
        assert!(["gauge", "counter", "histogram", "info"].contains(&family.kind.as_str()), "{name}");
        assert!(!name.ends_with("_total") && !name.ends_with("_info"), "{name}");
        if !family.unit.is_empty() {
            assert!(name.ends_with(&format!("_{}", family.unit)), "{name} is in {}", family.unit);
        }
        for unit in ["seconds", "bytes"] {
            let per = name.ends_with("_per_second");
            assert!(per || !name.ends_with(unit) || family.unit == unit, "{name} has no unit");
        }
        if family.kind == "histogram" {
            self.check_histogram(name);
        }
    }

    /// Buckets grow, and the last one holds all.
    fn check_histogram(&self, name: &str) {
        let bound = |series: &str| -> Option<f64> {
            let le = series.strip_prefix(&format!("{name}_bucket{{le=\""))?.strip_suffix("\"}")?;
            Some(if le == "+Inf" { f64::INFINITY } else { le.parse().expect("a bound") })
        };
        let mut buckets: Vec<_> = self.samples.iter().filter_map(|(s, v)| Some((bound(s)?, *v))).collect();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(buckets.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{name}: {buckets:?}");
        let (last, all) = *buckets.last().expect("buckets");
        assert_eq!((last, Some(all)), (f64::INFINITY, self.value(&format!("{name}_count"))));
        assert!(self.value(&format!("{name}_sum")).is_some());
    }
}

/// What may follow the name of a metric.
fn suffixes(kind: &str) -> &'static [&'static str] {
    match kind {
        "gauge" => &[""],
        "counter" => &["_total"],
        "info" => &["_info"],
        "histogram" => &["_bucket", "_sum", "_count"],
        _ => panic!("{kind:?} is no type that is used"),
    }
}

fn is_name(text: &str) -> bool {
    let first = text.starts_with(|c: char| c.is_ascii_lowercase());
    first
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !text.contains("__")
}

fn sample(line: &str) -> Sample<'_> {
    let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line:?}"));
    let value = value.parse().unwrap_or_else(|_| panic!("{line:?} has no number"));
    let Some((name, rest)) = series.split_once('{') else {
        assert!(is_name(series), "{line:?}");
        return Sample { name: series, labels: Vec::new(), value };
    };
    let mut rest = rest.strip_suffix('}').unwrap_or_else(|| panic!("{line:?}"));
    let mut labels = Vec::new();
    while !rest.is_empty() {
        let (label, behind) = rest.split_once("=\"").unwrap_or_else(|| panic!("{line:?}"));
        let end = closing(behind).unwrap_or_else(|| panic!("{line:?}"));
        assert!(is_name(label) && !labels.iter().any(|(known, _)| known == label), "{line:?}");
        labels.push((label.to_owned(), behind[..end].to_owned()));
        rest = &behind[end + 1..];
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    Sample { name, labels, value }
}

/// Where a quoted text ends.
fn closing(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

#[test]
fn what_breaks_the_rules_is_not_taken() {
    let good = "# HELP a_seconds Time.\n# TYPE a_seconds gauge\n# UNIT a_seconds seconds\na_seconds{of=\"x, \\\"y\\\"\"} 1.5\n";
    let read = |text: &str| Exposition::parse(&format!("{text}# EOF\n"));
    assert_eq!(read(good).value("a_seconds{of=\"x, \\\"y\\\"\"}"), Some(1.5));
    let bad = [
        good.replace("1.5", "NaN"),
        good.replace("1.5", "1.5 extra"),
        good.replace("gauge", "counter"),
        good.replace("of=", "job="),
        good.replace("# UNIT a_seconds seconds\n", ""),
        format!("{good}{good}"),
        format!("{good}b 1\n"),
        "a 1\n".to_owned(),
    ];
    for text in bad {
        assert!(std::panic::catch_unwind(|| read(&text)).is_err(), "{text}");
    }
    assert!(std::panic::catch_unwind(|| Exposition::parse(good)).is_err(), "no end");
}
