//! What can be seen from outside: metrics and how they agree with what is, the dashboard and the alerts that go by them,
//! log lines in JSON. Real processes, and a real Prometheus where there is one.

#![allow(clippy::float_cmp, reason = "what is compared is counted, and small")]

mod farm;
#[path = "observability/openmetrics.rs"]
mod openmetrics;
#[path = "observability/prometheus.rs"]
mod prometheus;
#[path = "observability/shown.rs"]
mod shown;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    process::Stdio,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use coordinator::access::Role;
use farm::{
    Farm, Process, Shown,
    authority::Authority,
    cluster::Cluster,
    etcd, free_address,
    host::Host,
    http::{Answer, get, request, send_encrypted},
    nonet, run, until,
};
use openmetrics::Exposition;
use serde_json::Value;

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A farm, and where its page is.
struct Seen {
    farm: Farm,
    web: String,
}

impl Seen {
    fn start(workers: usize) -> Self {
        let web = free_address();
        Self { farm: Farm::start(workers, &["--web", &web, "--lease-ms", "500"]), web }
    }

    fn answer(&self) -> Answer {
        let answer = get(&self.web, "/metrics", &[]).expect("metrics");
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(CONTENT_TYPE)), "{answer:?}");
        answer
    }

    /// Its metrics, which must be flawless.
    fn metrics(&self) -> Exposition {
        Exposition::parse(&self.answer().body)
    }

    fn value(&self, series: &str) -> f64 {
        self.metrics().value(series).unwrap_or_else(|| panic!("{series} is missing"))
    }

    /// Waits until a series has a value.
    fn until(&self, series: &str, wanted: impl Fn(f64) -> bool) {
        until(series, || self.metrics().value(series).is_some_and(&wanted));
    }
}

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn number(value: &Value) -> f64 {
    value.as_u64().expect("a number") as f64
}

#[test]
fn metrics_agree_with_what_is() {
    let seen = Seen::start(2);
    seen.until("nonet_workers", |workers| workers >= 2.0);
    assert_eq!(seen.value("nonet_workers_wanted"), 0.0);
    seen.farm.ask(&["submit", "noop", "--units", "3000"]);
    assert_eq!(seen.farm.wait("noop")["state"], "finished");
    let metrics = seen.metrics();
    let is = |series: &str| metrics.value(series).unwrap_or_else(|| panic!("{series} is missing"));
    assert_eq!((is("nonet_leading"), is("nonet_engine_answered")), (1.0, 1.0));
    assert_eq!(is("nonet_units_committed_total"), 3000.0);
    assert_eq!((is("nonet_jobs{state=\"finished\"}"), is("nonet_jobs{state=\"running\"}")), (1.0, 0.0));
    assert_eq!(
        (is("nonet_slots"), is("nonet_workers_draining"), is("nonet_sessions_opened_total")),
        (2.0, 0.0, 2.0)
    );
    assert_eq!(is("nonet_requests_total{method=\"Submit\"}"), 1.0);
    let accepted = is("nonet_commits_total{verdict=\"accepted\"}");
    assert!(accepted > 0.0 && accepted <= is("nonet_grants_total") * 2.0, "{accepted}");
    assert_eq!(is("nonet_commit_latency_seconds_count"), accepted);
    // A job, its submission, its end and each commit are entries of their own.
    assert!(is("nonet_ledger_group_entries_sum") >= accepted + 3.0);
    assert!(is("nonet_ledger_append_seconds_sum") > 0.0);
    let journal = std::fs::metadata(seen.farm.state().join("journal")).expect("a journal").len();
    #[allow(clippy::cast_precision_loss, reason = "a small file")]
    let journal_bytes = journal as f64;
    assert_eq!(is("nonet_ledger_size_bytes"), journal_bytes);
    assert!(is("nonet_worker_messages_total") >= 2.0 && is("nonet_worker_received_bytes_total") > 100.0);
    // The workers, and whoever asks just now.
    assert!(is("nonet_connections") >= 3.0);
    assert!(is("process_open_fds") > is("nonet_connections") && is("process_resident_memory_bytes") > 1e6);
    assert_eq!(metrics.value("nonet_certificate_expiry_seconds"), None);
}

#[test]
fn a_running_job_is_told_as_its_status_tells_it() {
    let seen = Seen::start(1);
    seen.farm.ask(&["submit", "noop", "--units", "40000", "--unit-us", "2000"]);
    let name = seen.farm.ask(&["status", "noop"])["name"].as_str().expect("a name")[..12].to_owned();
    let series = |metric: &str| format!("{metric}{{name=\"{name}\",kind=\"noop\"}}");
    let place = |place: &str| format!("nonet_job_units{{name=\"{name}\",kind=\"noop\",place=\"{place}\"}}");
    seen.until(&place("done"), |done| done > 0.0);
    seen.until(&series("nonet_job_units_per_second"), |rate| rate > 0.0);
    seen.until(&series("nonet_job_eta_seconds"), |left| left > 1.0);
    assert_eq!(seen.value("nonet_slots_busy"), 1.0);
    assert!(seen.value("nonet_leases") >= 1.0);
    // 80 seconds of computing for one slot: one is enough, where ten minutes are allowed for it.
    assert_eq!(
        (seen.value("nonet_workers_wanted"), seen.value(&series("nonet_job_slots_wanted"))),
        (1.0, 1.0)
    );
    seen.farm.ask(&["pause", "noop"]);
    seen.until(&place("leased"), |leased| leased == 0.0);
    seen.until(&place("in_flight"), |flight| flight == 0.0);
    let (status, metrics) = (seen.farm.ask(&["status", "noop"]), seen.metrics());
    assert_eq!(metrics.value(&place("done")), Some(number(&status["done"])), "{status}");
    let places = ["done", "in_flight", "claimed", "leased", "pending", "suspect", "quarantined"];
    let sum: f64 = places.iter().map(|p| metrics.value(&place(p)).expect("a place")).sum();
    assert_eq!(sum, 40_000.0);
    assert_eq!(metrics.value(&series("nonet_job_paused")), Some(1.0));
    assert_eq!(metrics.value("nonet_jobs{state=\"paused\"}"), Some(1.0));
    assert_eq!(metrics.value("nonet_workers_wanted"), Some(0.0));
    seen.farm.ask(&["cancel", "noop"]);
    assert_eq!(seen.metrics().value(&place("done")), None);
}

#[test]
fn workers_that_leave_and_workers_that_are_lost_are_told_apart() {
    let mut seen = Seen::start(2);
    seen.until("nonet_workers", |workers| workers >= 2.0);
    seen.farm.ask(&["submit", "noop", "--units", "40000", "--unit-us", "2000"]);
    seen.until("nonet_slots_busy", |busy| busy >= 2.0);
    seen.farm.kill_worker(0);
    seen.until("nonet_sessions_closed_total{reason=\"lost\"}", |lost| lost >= 1.0);
    let leaving = seen.farm.workers[1].take().expect("a worker");
    leaving.signal("TERM");
    assert_eq!(leaving.end().0, Some(0));
    seen.until("nonet_sessions_closed_total{reason=\"left\"}", |left| left >= 1.0);
    let metrics = seen.metrics();
    assert_eq!(metrics.value("nonet_sessions_closed_total{reason=\"lost\"}"), Some(1.0));
    assert_eq!(metrics.value("nonet_sessions_opened_total"), Some(2.0));
    assert_eq!((metrics.value("nonet_workers"), metrics.value("nonet_slots")), (Some(0.0), Some(0.0)));
    assert_eq!(metrics.value("nonet_workers_wanted"), Some(1.0), "there is work left");
}

#[test]
fn failures_and_refusals_are_counted() {
    let seen = Seen::start(2);
    seen.farm.ask(&["submit", "noop", "--units", "300", "--fail", "7", "--fail", "150"]);
    let status = seen.farm.wait("noop");
    assert_eq!(number(&status["quarantined_units"]), 2.0, "{status}");
    assert_eq!(seen.value("nonet_units_quarantined_total"), 2.0);
    // Each on two workers.
    assert_eq!(seen.value("nonet_unit_failures_total"), 4.0);
}

#[test]
fn whoever_has_a_certificate_is_told_until_when() {
    let authority = Authority::new();
    let tls = authority.issue_for("head", Role::Coordinator, 30, &["127.0.0.1"]);
    let (web, listen) = (free_address(), free_address());
    let options = ["--tls", &tls, "--web", &web];
    let worker = authority.issue("w", Role::Worker);
    let shown = Shown { by_workers: vec!["--tls".into(), worker], by_users: Vec::new() };
    let farm = Farm::start_as(0, &options, shown, listen);
    let ca = authority.ca();
    let text = send_encrypted(&web, &ca, &request(&web, ("GET", "/metrics"), &[], None)).body;
    let expiry = Exposition::parse(&text).value("nonet_certificate_expiry_seconds").expect("a certificate");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64();
    let days = (expiry - now) / 86_400.0;
    assert!(days > 29.0 && days < 31.0, "{days} days\n{}", farm.log());
}

#[test]
fn of_several_coordinators_one_leads_and_the_others_say_so() {
    if !etcd::is_here() {
        return;
    }
    let webs = [free_address(), free_address()];
    let environment: Vec<_> = webs.iter().map(|web| vec![("NONET_WEB".to_owned(), web.clone())]).collect();
    let mut cluster = Cluster::start_on(&[Host::here(), Host::here()], 0, &environment);
    let leading = || -> Vec<f64> {
        let of = |web: &String| Exposition::parse(&get(web, "/metrics", &[])?.body).value("nonet_leading");
        webs.iter().filter_map(of).collect()
    };
    until("one of two leads", || leading().iter().sum::<f64>() == 1.0 && leading().len() == 2);
    let leader = leading().iter().position(|leads| *leads == 1.0).expect("a leader");
    let led = Exposition::parse(&get(&webs[leader], "/metrics", &[]).expect("metrics").body);
    assert!(led.value("nonet_ledger_append_seconds_count").is_some());
    let standby = Exposition::parse(&get(&webs[1 - leader], "/metrics", &[]).expect("metrics").body);
    assert_eq!((standby.value("nonet_workers"), standby.value("nonet_engine_answered")), (None, Some(0.0)));
    assert!(standby.value("process_cpu_seconds_total").is_some());
    cluster.coordinators[leader].take().expect("a coordinator").kill();
    until("the other one leads", || leading() == [1.0]);
}

/// Runs a daemon with JSON logs until it is told to stop; every line that it said.
fn said_by(args: &[&str], ready: impl FnOnce(&str)) -> Vec<String> {
    let mut child = nonet(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("nonet starts");
    let (stdout, stderr) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let process = Process(child);
    let lines =
        std::thread::spawn(move || BufReader::new(stderr).lines().map(|l| l.expect("text")).collect());
    let mut first = String::new();
    BufReader::new(stdout).read_line(&mut first).expect("a line");
    ready(first.trim());
    process.signal("TERM");
    process.end();
    lines.join().expect("lines")
}

fn parsed(lines: &[String]) -> Vec<BTreeMap<String, Value>> {
    let parse =
        |line: &String| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line:?} is no JSON: {e}"));
    lines.iter().map(parse).collect()
}

#[test]
fn every_line_of_a_json_log_is_json() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let config = path("nonet.toml");
    std::fs::write(&config, "log_format = \"json\"\n").expect("written");
    let args = ["coordinator", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0", "--state", &path("c")];
    let args = [&args[..], &["--config", &config]].concat();
    let mut of_worker = Vec::new();
    let lines = said_by(&args, |url| {
        let args =
            ["worker", "--coordinator", url, "--threads", "1", "--state", &path("w"), "--log-format", "json"];
        let mut worker = nonet(&args).stderr(Stdio::piped()).spawn().map(Process).expect("a worker");
        let stderr = worker.0.stderr.take().expect("piped");
        assert_eq!(
            run(&["submit", "noop", "--units", "50", "--fail", "20", "--coordinator", url]).0,
            Some(0)
        );
        until("all is tried", || {
            let (_, stdout, _) = run(&["status", "noop", "--coordinator", url, "--format", "json"]);
            serde_json::from_str::<Value>(&stdout).is_ok_and(|s| s["done"].as_u64() > Some(40))
        });
        worker.signal("TERM");
        of_worker = BufReader::new(stderr).lines().map(|line| line.expect("text")).collect();
        worker.end();
    });
    let told = parsed(&lines);
    assert!(told.len() > 5, "{lines:?}");
    for line in told.iter().chain(&parsed(&of_worker)) {
        for field in ["timestamp", "level", "message"] {
            assert!(line.get(field).is_some_and(Value::is_string), "{field} is missing in {line:?}");
        }
    }
    let of = |message: &str| told.iter().find(|line| line["message"] == message).expect(message);
    assert_eq!(of("worker connected")["slots"], 1);
    assert_eq!((&of("job submitted")["kind"], &of("job submitted")["units"]), (&"noop".into(), &50.into()));
    assert!(!of_worker.is_empty());
}

#[test]
fn the_last_words_of_a_daemon_are_json_too() {
    let args = [
        "coordinator",
        "--listen",
        "192.0.2.1:1",
        "--allow-plaintext",
        "--log-format",
        "json",
        "--web",
        "off",
    ];
    let (code, stderr) = farm::spawn(&args).end();
    assert_eq!(code, Some(1), "{stderr}");
    let lines: Vec<_> = stderr.lines().map(str::to_owned).collect();
    let last = parsed(&lines).pop().expect("a line");
    assert_eq!(last["level"], "ERROR");
    assert!(last["message"].as_str().is_some_and(|m| m.contains("192.0.2.1:1")), "{last:?}");
    let (code, stderr) = farm::spawn(&["coordinator", "--log-format", "yaml"]).end();
    assert!(code == Some(2) && stderr.contains("text") && stderr.contains("json"), "{stderr}");
}

#[test]
fn dashboard_alerts_and_readme_name_what_there_is() {
    let seen = Seen::start(1);
    seen.farm.ask(&["submit", "noop", "--units", "40000", "--unit-us", "2000"]);
    seen.until("nonet_slots_busy", |busy| busy >= 1.0);
    until("a job has its time", || seen.answer().body.contains("nonet_job_eta_seconds{"));
    let metrics = seen.metrics();
    shown::check(&metrics);
}

#[test]
fn a_real_prometheus_takes_all_of_it() {
    if !prometheus::is_here() {
        return;
    }
    prometheus::check_files();
    let seen = Seen::start(1);
    seen.farm.ask(&["submit", "noop", "--units", "40000", "--unit-us", "2000"]);
    let server = prometheus::Server::start(&seen.web);
    server.until("max(nonet_job_eta_seconds)", Duration::from_secs(60));
    // Two scrapes make a rate.
    server.until("sum(rate(nonet_units_committed_total[1m])) > 0", Duration::from_secs(60));
    assert_eq!(server.value("up{job=\"nonet\"}"), Some(1.0));
    for expression in shown::expressions() {
        let found = server.query(&expression);
        let may_be_empty = shown::may_be_empty(&expression);
        assert!(may_be_empty || !found.is_empty(), "nothing is found by {expression}");
    }
    assert_eq!(server.firing(), Vec::<String>::new());
}
