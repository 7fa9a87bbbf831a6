//! Traces, as a collector gets them: a real coordinator, and a collector that speaks OTLP over gRPC; or does not.

#[path = "traces/collector.rs"]
mod collector;
mod farm;

use std::{
    collections::BTreeSet,
    net::TcpListener,
    time::{Duration, Instant},
};

use collector::{Collector, Mood, Span};
use coordinator::access::Role;
use farm::{Farm, authority::Authority, free_address, http::get, nonet, run, start, until};

fn farm_with(url: &str, workers: usize, more: &[&str]) -> Farm {
    Farm::start(workers, &[&["--otlp", url, "--web", "off"], more].concat())
}

/// Runs a job to its end.
fn compute(farm: &Farm, units: &str) {
    farm.ask(&["submit", "noop", "--units", units, "--unit-us", "100"]);
    assert_eq!(farm.wait("noop")["state"], "finished", "{}", farm.log());
}

#[test]
fn a_job_is_told_by_its_submission_its_leases_and_the_groups_that_make_them_durable() {
    let collector = Collector::start(Mood::Takes);
    let mut farm = farm_with(&collector.url, 1, &[]);
    compute(&farm, "3000");
    let status = farm.ask(&["status", "noop"]);
    let text = |field: &str| status[field].as_str().expect("text").to_owned();
    let begun = Instant::now();
    farm.stop_coordinator();
    assert!(begun.elapsed() < Duration::from_secs(10));
    // What was under way is sent before the end.
    let spans = collector.spans();
    let named = |name: &str| spans.iter().filter(|span| span.name == name).cloned().collect::<Vec<_>>();

    let request = named("nonet.v1.Jobs/Submit");
    assert_eq!(request.len(), 1, "{spans:?}");
    assert_eq!(
        (request[0].attribute("rpc.method"), request[0].attribute("rpc.grpc.status_code")),
        ("Submit".into(), "0".into())
    );
    assert_eq!(request[0].attribute("network.peer.address"), "127.0.0.1");
    assert!(!named("nonet.v1.Jobs/Status").is_empty());
    assert!(named("nonet.v1.Farm/Work").is_empty(), "a stream is no span");

    let submission = named("submission");
    assert_eq!(submission.len(), 1);
    assert_eq!((&submission[0].trace, &submission[0].parent), (&request[0].trace, &request[0].id));
    assert_eq!(
        (submission[0].attribute("nonet.run"), submission[0].attribute("nonet.units")),
        (text("run"), "3000".into())
    );

    let leases = named("lease");
    let mut covered: Vec<(u64, u64)> = leases.iter().map(Span::range).collect();
    covered.sort_unstable();
    assert_eq!((covered[0].0, covered[covered.len() - 1].1), (0, 3000), "{covered:?}");
    for lease in &leases {
        assert_eq!((lease.attribute("nonet.job"), lease.attribute("nonet.run")), (text("name"), text("run")));
        assert_eq!(
            (lease.attribute("nonet.worker"), lease.attribute("nonet.kind")),
            ("w0".into(), "noop".into())
        );
        assert_eq!(lease.attribute("nonet.outcome"), "returned");
        assert_eq!(lease.links, [(submission[0].trace.clone(), submission[0].id.clone())]);
        assert!(lease.start_ns < lease.end_ns && lease.start_ns >= submission[0].start_ns);
    }
    // Each is a trace of its own: a job may have millions.
    let traces: BTreeSet<_> = leases.iter().map(|lease| &lease.trace).collect();
    assert_eq!(traces.len(), leases.len());

    let groups = named("ledger append");
    let entries: usize =
        groups.iter().map(|g| g.attribute("nonet.entries").parse::<usize>().expect("a number")).sum();
    assert!(entries > leases.len(), "{entries} entries, {} leases", leases.len());
    assert_eq!(collector.services(), BTreeSet::from(["nonet-coordinator".to_owned()]));
}

#[test]
fn leases_of_a_lost_worker_and_refused_requests_are_told_as_such() {
    let collector = Collector::start(Mood::Takes);
    let mut farm = farm_with(&collector.url, 1, &[]);
    farm.ask(&["submit", "noop", "--units", "100000", "--unit-us", "1000"]);
    until("the worker computes", || farm.ask(&["status", "noop"])["leased"].as_u64() > Some(0));
    assert_ne!(farm::run(&["status", "nothing", "--coordinator", &farm.url]).0, Some(0));
    farm.kill_worker(0);
    until("it is missed", || farm.ask(&["status", "noop"])["leased"].as_u64() == Some(0));
    farm.stop_coordinator();
    let spans = collector.spans();
    let lost: Vec<_> =
        spans.iter().filter(|s| s.name == "lease" && s.attribute("nonet.outcome") == "lost").collect();
    assert!(
        !lost.is_empty() && lost.iter().all(|lease| lease.attribute("nonet.worker") == "w0"),
        "{spans:?}"
    );
    let failed: Vec<_> = spans.iter().filter(|span| span.failed).collect();
    assert!(failed.iter().any(|span| span.name == "nonet.v1.Jobs/Status"), "{failed:?}");
    assert_eq!(failed[0].attribute("rpc.grpc.status_code"), "5", "not found");
}

/// Computes while a collector does what it does, and ends in time.
fn all_is_well_with(url: &str) -> String {
    let web = free_address();
    let mut farm = Farm::start(1, &["--otlp", url, "--web", &web]);
    compute(&farm, "3000");
    // More than the queue has places for.
    for i in 0..20 {
        farm.ask(&["submit", "noop", "--units", "200", "--label", &i.to_string()]);
    }
    until("all of them are done", || {
        let jobs = farm.ask(&["jobs"]);
        jobs.as_array().expect("jobs").iter().all(|job| job["state"] == "finished")
    });
    let metrics = get(&web, "/metrics", &[]).expect("metrics").body;
    assert!(metrics.contains("\nnonet_spans_total{stage=\"sent\"} 0\n"), "{metrics}");
    let begun = Instant::now();
    farm.stop_coordinator();
    // A second for the last spans, and what a stop takes anyway.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    farm::check(&farm.state());
    farm.log()
}

#[test]
fn a_collector_that_is_away_costs_nothing() {
    let log = all_is_well_with(&format!("http://{}", free_address()));
    assert!(log.matches("traces are lost").count() <= 1, "{log}");
}

#[test]
fn a_collector_that_hangs_costs_nothing() {
    // It takes connections, and never says a word.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    all_is_well_with(&format!("http://{}", listener.local_addr().expect("an address")));
}

#[test]
fn a_collector_that_refuses_costs_nothing() {
    let collector = Collector::start(Mood::Refuses);
    let log = all_is_well_with(&collector.url);
    assert!(collector.spans().is_empty());
    assert_eq!(log.matches("traces are lost").count(), 1, "{log}");
}

#[test]
fn a_collector_that_comes_late_gets_what_comes_then() {
    let address = free_address();
    let farm = farm_with(&format!("http://{address}"), 1, &[]);
    compute(&farm, "300");
    until("the first spans are lost", || farm.log().contains("traces are lost"));
    let collector = Collector::start_at(Mood::Takes, &address);
    until("it gets some", || {
        farm.ask(&["jobs"]);
        !collector.spans().is_empty()
    });
    until("that is told", || farm.log().contains("traces are taken again"));
}

#[test]
fn a_collector_is_reached_by_tls_if_its_authority_is_known() {
    let authority = Authority::new();
    let collector =
        Collector::start_encrypted(&authority.issue_for("c", Role::Coordinator, 1, &["127.0.0.1"]));
    let dir = tempfile::tempdir().expect("a folder");
    // First with the authorities of the system, of which this is none.
    for ca in [None, Some(authority.ca())] {
        let listen = free_address();
        let args = ["coordinator", "--listen", &listen, "--web", "off", "--otlp", &collector.url];
        let mut command = nonet(&args);
        command
            .arg("--state")
            .arg(dir.path())
            .envs(ca.iter().map(|ca| ("OTEL_EXPORTER_OTLP_CERTIFICATE", ca)));
        let coordinator = start(command);
        until("it answers", || run(&["jobs", "--coordinator", &format!("http://{listen}")]).0 == Some(0));
        coordinator.signal("TERM");
        let (code, log) = coordinator.end();
        assert_eq!(code, Some(0), "{log}");
        assert_eq!(collector.spans().is_empty(), ca.is_none(), "{log}");
        assert_eq!(log.contains("traces are lost"), ca.is_none(), "{log}");
    }
    let args = ["coordinator", "--listen", "127.0.0.1:0", "--otlp", &collector.url];
    let mut command = nonet(&args);
    command.env("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere/ca.pem");
    let (code, log) = start(command).end();
    assert!(code == Some(2) && log.contains("/nowhere/ca.pem"), "{log}");
}

#[test]
fn a_collector_that_cannot_be_one_is_refused_at_once() {
    for (url, said) in [
        ("127.0.0.1:4317", "http://HOST:4317"),
        ("http://192.0.2.1:4317", "--allow-plaintext"),
        ("http://127.0.0.1:4318/v1/traces", "gRPC"),
    ] {
        let (code, stderr) = farm::spawn(&["coordinator", "--listen", "127.0.0.1:0", "--otlp", url]).end();
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(said) && stderr.contains(url), "{stderr}");
    }
}
