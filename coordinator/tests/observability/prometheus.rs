//! A real Prometheus, and its tool for files.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::farm::{
    Process, free_address,
    http::{encoded, get},
    pause,
};

/// Whether there is a Prometheus to test with. Where `NONET_REQUIRE_PROMETHEUS` is set, as in CI, there must be.
pub fn is_here() -> bool {
    let runs = |program| {
        let status =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let here = runs("prometheus") && runs("promtool");
    let must = std::env::var_os("NONET_REQUIRE_PROMETHEUS").is_some();
    assert!(here || !must, "prometheus is required and not installed");
    if !here {
        println!("SKIPPED: prometheus is not installed (Debian: apt-get install prometheus)");
    }
    here
}

/// `deploy/prometheus`.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/prometheus")
}

/// The rules are rules, the example is a configuration, and every alert is told when it should be and not before.
pub fn check_files() {
    let checks = [
        &["check", "rules", "alerts.yaml"][..],
        &["check", "config", "--syntax-only", "prometheus.yaml"],
        &["test", "rules", "tests.yaml"],
    ];
    for args in checks {
        let output = Command::new("promtool").args(args).current_dir(folder()).output().expect("promtool");
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "promtool {args:?}: {said}");
    }
}

/// A server that scrapes one coordinator, and has the alerts.
pub struct Server {
    address: String,
    _process: Process,
    _dir: tempfile::TempDir,
}

impl Server {
    /// Starts it.
    pub fn start(target: &str) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let address = free_address();
        let rules = folder().canonicalize().expect("the rules").join("alerts.yaml");
        let config = format!(
            "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: [{}]\nscrape_configs:\n  \
             - {{job_name: nonet, static_configs: [{{targets: [\"{target}\"]}}]}}\n",
            rules.display()
        );
        std::fs::write(dir.path().join("prometheus.yaml"), config).expect("written");
        let mut command = Command::new("prometheus");
        command.arg("--config.file").arg(dir.path().join("prometheus.yaml"));
        command.arg("--storage.tsdb.path").arg(dir.path().join("data"));
        command.args(["--web.listen-address", &address]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Self { address, _process: Process(child.expect("prometheus starts")), _dir: dir }
    }

    /// What a query finds now.
    pub fn query(&self, expression: &str) -> Vec<Value> {
        self.ask(&format!("/api/v1/query?query={}", encoded(expression)))
            .and_then(|found| found["result"].as_array().cloned())
            .unwrap_or_else(|| panic!("{expression} is not answered"))
    }

    /// The one number that a query finds.
    pub fn value(&self, expression: &str) -> Option<f64> {
        self.query(expression).first()?["value"][1].as_str()?.parse().ok()
    }

    /// Waits until a query finds something.
    pub fn until(&self, expression: &str, patience: Duration) {
        let since = Instant::now();
        while self
            .ask(&format!("/api/v1/query?query={}", encoded(expression)))
            .is_none_or(|found| found["result"] == Value::Array(Vec::new()))
        {
            assert!(since.elapsed() < patience, "nothing is found by {expression}");
            pause();
        }
    }

    /// Alerts that are told, or will be soon.
    pub fn firing(&self) -> Vec<String> {
        let alerts = self.ask("/api/v1/alerts").expect("alerts");
        let all = alerts["alerts"].as_array().expect("a list");
        all.iter().map(|alert| format!("{} {}", alert["labels"]["alertname"], alert["state"])).collect()
    }

    /// An answer of its API; an error of a query is the test's.
    fn ask(&self, path: &str) -> Option<Value> {
        let answer = get(&self.address, path, &[])?;
        let value: Value = serde_json::from_str(&answer.body).ok()?;
        assert!(answer.status != 400 && answer.status != 422, "{path}: {value}");
        (value["status"] == "success").then(|| value["data"].clone())
    }
}
