//! Strangers, liars and babblers on the port: refused with a reason, and nobody else notices.

mod farm;
#[path = "farm/puppet.rs"]
mod puppet;

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use coordinator::ledger::{CommitRecord, EmbeddedLedger, Entry, Ledger};
use farm::Farm;
use proto::v1::{FromWorker, Hello, SubmitRequest, ToWorker, Verdict, jobs_client::JobsClient};
use puppet::{Puppet, commit, hello, recount_partial};
use tonic::{Code, transport::Channel};

/// What `noop` gives for a range.
fn noop_partial(range: std::ops::Range<u64>) -> Vec<u8> {
    let job = jobs::find("noop")
        .expect("a kind")
        .open(r#"{"units":1000,"unit_us":0,"fail":[],"panic":[],"label":""}"#);
    let mut sum = job.expect("a job").accumulator();
    for unit in range {
        sum.run_unit(unit, &jobs::UnitContext::free()).expect("runs");
    }
    sum.bytes().expect("bytes")
}

#[tokio::test]
async fn workers_that_do_not_fit_are_told_why() {
    let farm = Farm::start(0, &[]);
    let refused = |change: fn(&mut Hello)| {
        let mut hello = hello(1);
        change(&mut hello);
        let first = FromWorker { hello: Some(hello), ..FromWorker::default() };
        let url = farm.url.clone();
        async move { Puppet::open(&url, first).await.err().expect("refused") }
    };
    let wrong_version = refused(|hello| hello.protocol = 99).await;
    assert_eq!(wrong_version.code(), Code::InvalidArgument);
    assert!(wrong_version.message().contains("protocol 99"), "{wrong_version}");
    assert!(refused(|hello| hello.kinds.clear()).await.message().contains("same version"));
    assert!(refused(|hello| hello.slots = 0).await.message().contains("slots"));
    assert!(refused(|hello| hello.slots = u32::MAX).await.message().contains("slots"));
    assert!(refused(|hello| hello.worker_id = vec![1].into()).await.message().contains("16 bytes"));
    assert!(refused(|hello| hello.name = "x".repeat(10_000)).await.message().contains("name"));
    let silent = Puppet::open(&farm.url, FromWorker::default()).await.err().expect("refused");
    assert!(silent.message().contains("hello"), "{silent}");
}

#[tokio::test]
async fn nonsense_costs_the_one_who_sends_it_and_nobody_else() {
    let mut farm = Farm::start(1, &["--lease-ms", "200"]);
    farm.ask(&["submit", "noop", "--units", "3000", "--unit-us", "500"]);
    let address = farm.url.trim_start_matches("http://").to_owned();
    // Strangers: noise, another protocol, half a request.
    for noise in
        [&b"\xff\x00garbage\r\n\r\n"[..], b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM"]
    {
        let mut stream = TcpStream::connect(&address).expect("connected");
        stream.set_read_timeout(Some(Duration::from_millis(200))).expect("set");
        // The other side may have closed already, which is as good.
        drop(stream.write_all(noise));
        drop(stream.read(&mut [0; 1024]));
    }
    // A message above the bound.
    let mut big = Puppet::welcome(&farm.url, 2).await;
    let message = FromWorker {
        commits: vec![commit(1, &[0; 16], 0..1, vec![0; proto::MAX_MESSAGE_BYTES + 1])],
        ..FromWorker::default()
    };
    drop(big.say.send(message).await);
    while let Ok(message) = big.hear().await {
        if message == ToWorker::default() {
            break; // the stream has ended
        }
    }
    // Too many commits in one message, and a second hello.
    let many = FromWorker {
        commits: vec![commit(1, &[0; 16], 0..1, vec![]); proto::MAX_BATCH + 1],
        ..FromWorker::default()
    };
    let twice = FromWorker { hello: Some(hello(3)), ..FromWorker::default() };
    for (message, reason) in [(many, "at most"), (twice, "second hello")] {
        let mut puppet = Puppet::welcome(&farm.url, 3).await;
        puppet.say.send(message).await.expect("open");
        let status = loop {
            if let Err(status) = puppet.hear().await {
                break status;
            }
        };
        assert!(status.message().contains(reason), "{status}");
    }
    assert_eq!(farm.wait("noop")["state"], "finished");
    assert_eq!(farm.ask(&["result", "noop"])["sum"], "4498500");
    farm.check_ledger();
}

#[tokio::test]
async fn results_are_examined_before_they_count() {
    let mut farm = Farm::start(0, &[]);
    farm.ask(&["submit", "noop", "--units", "1000"]);
    let mut puppet = Puppet::welcome(&farm.url, 1).await;
    let (job, range) = puppet.granted().await;
    let good = noop_partial(range.clone());

    let mut wrong_digest = commit(1, &job, range.clone(), good.clone());
    wrong_digest.digest = vec![0; 32].into();
    assert_eq!(puppet.offer(wrong_digest).await, Verdict::Malformed);
    assert_eq!(puppet.offer(commit(2, &job, range.clone(), vec![0xff; 40])).await, Verdict::Malformed);
    assert_eq!(puppet.offer(commit(3, &job, range.clone(), noop_partial(0..500))).await, Verdict::Malformed);
    assert_eq!(puppet.offer(commit(4, &job, range.clone(), vec![0; 70_000])).await, Verdict::Malformed);
    assert_eq!(puppet.offer(commit(5, &job, 5..5, good.clone())).await, Verdict::Malformed);
    assert_eq!(puppet.offer(commit(6, &job, 900..1001, good.clone())).await, Verdict::Malformed);
    assert_eq!(puppet.offer(commit(7, &[7; 16], range.clone(), good.clone())).await, Verdict::UnknownJob);
    assert_eq!(puppet.offer(commit(8, &[7; 3], range.clone(), good.clone())).await, Verdict::Malformed);
    assert_eq!(farm.ask(&["status", "noop"])["done"], 0);

    assert_eq!(puppet.offer(commit(9, &job, 0..10, noop_partial(0..10))).await, Verdict::Accepted);
    assert_eq!(puppet.offer(commit(10, &job, 0..10, noop_partial(0..10))).await, Verdict::Duplicate);
    assert_eq!(puppet.offer(commit(11, &job, 5..15, noop_partial(5..15))).await, Verdict::Overlap);
    assert_eq!(puppet.offer(commit(12, &job, 10..15, noop_partial(10..15))).await, Verdict::Accepted);
    assert_eq!(farm.ask(&["status", "noop"])["done"], 15);
    drop(puppet);
    farm.workers.push(None);
    farm.start_worker(0);
    assert_eq!(farm.wait("noop")["done"], 1000);
    assert_eq!(farm.ask(&["result", "noop"])["sum"], "499500");
    farm.check_ledger();
}

#[tokio::test]
async fn two_results_that_differ_stop_the_job_with_both_kept() {
    let mut farm = Farm::start(0, &[]);
    farm.ask(&["submit", "recount", "--shape", "2x3"]);
    let mut puppet = Puppet::welcome(&farm.url, 1).await;
    let (job, range) = puppet.granted().await;
    let (truth, lie) = (recount_partial(range.clone(), false), recount_partial(range.clone(), true));
    assert_eq!(puppet.offer(commit(1, &job, range.clone(), lie.clone())).await, Verdict::Accepted);
    assert_eq!(puppet.offer(commit(2, &job, range.clone(), truth.clone())).await, Verdict::Conflict);
    let status = farm.ask(&["status", "recount"]);
    assert_eq!(status["state"], "conflict");
    assert!(status["detail"].as_str().is_some_and(|detail| detail.contains("differ")), "{status}");
    // It stays stopped, after a crash too, and only a fresh run replaces it.
    farm.kill_coordinator();
    farm.start_coordinator();
    assert_eq!(farm.ask(&["status", "recount"])["state"], "conflict");
    let retry = farm::run(&["retry", "recount", "--coordinator", &farm.url]);
    assert_eq!((retry.0, retry.2.contains("fresh")), (Some(1), true), "{}", retry.2);
    farm.workers.push(None);
    farm.start_worker(0);
    farm.ask(&["submit", "recount", "--shape", "2x3", "--fresh"]);
    assert_eq!(farm.wait("recount")["state"], "finished");
    assert_eq!(farm.ask(&["result", "recount"])["total"], "28200960");

    farm.stop_coordinator();
    let (code, export, _) =
        farm::run(&["ledger", "export", "--state", farm.state().to_str().expect("UTF-8")]);
    assert_eq!(code, Some(0));
    let hex = |bytes: &[u8]| coordinator::scheduler::hex(bytes);
    let has = |entry: &str, partial: &[u8]| {
        let mut lines =
            export.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        lines.any(|line| line["entry"] == entry && line["partial"] == hex(partial))
    };
    assert!(has("commit", &lie) && has("conflict", &truth), "{export}");
    drop(EmbeddedLedger::open(&farm.state()).expect("opens"));
}

/// A result that cannot be added up, as an older or broken program may have written it: the job stops, others go on.
#[test]
fn a_job_whose_results_make_no_sum_is_its_own_trouble_only() {
    let mut farm = Farm::start(0, &[]);
    farm.ask(&["submit", "noop", "--units", "1000"]);
    farm.stop_coordinator();
    let mut ledger = EmbeddedLedger::open(&farm.state()).expect("opens");
    let job = ledger.jobs().expect("jobs")[0].record.id;
    let partial = vec![0xff; 40];
    let digest = *blake3::hash(&partial).as_bytes();
    let worker = coordinator::scheduler::WorkerId([1; 16]);
    let commit = CommitRecord { job, range: 0..10, digest, partial, worker, busy_us: 1, at_unix_ms: 1 };
    ledger.append(&[Entry::Commit(commit)]).expect("appended");
    drop(ledger);

    farm.start_coordinator();
    farm.workers.push(None);
    farm.start_worker(0);
    farm.ask(&["submit", "recount", "--shape", "2x2"]);
    assert_eq!(farm.wait("recount")["state"], "finished");
    let status = farm.ask(&["status", "noop"]);
    assert_eq!(status["state"], "stale");
    assert!(status["detail"].as_str().is_some_and(|text| text.contains("does not add up")), "{status}");
    farm.ask(&["submit", "noop", "--units", "1000", "--fresh"]);
    assert_eq!(farm.wait("noop")["done"], 1000);
    assert_eq!(farm.ask(&["result", "noop"])["sum"], "499500");
}

#[tokio::test]
async fn submissions_are_bounded_and_a_huge_plan_costs_nothing() {
    let farm = Farm::start(0, &[]);
    let channel = Channel::from_shared(farm.url.clone()).expect("a URL").connect().await.expect("connected");
    let mut client = JobsClient::new(channel);
    let revision = jobs::find("noop").expect("a kind").revision();
    let request = |kind: &str, settings: &str| SubmitRequest {
        kind: kind.into(),
        revision,
        settings: settings.into(),
        ..SubmitRequest::default()
    };
    for (kind, settings) in [
        ("nothing", "{}"),
        ("noop", "not JSON"),
        ("noop", r#"{"units":1,"unit_us":0,"fail":[],"panic":[],"label":"","more":1}"#),
        ("noop", &" ".repeat(100_000)),
    ] {
        let status = client.submit(request(kind, settings)).await.expect_err("refused");
        assert_eq!(status.code(), Code::InvalidArgument, "{status}");
    }
    // Memory the process itself holds: pages of its code come in at its first submission and are
    // no cost of the plan.
    let rss_kib = || {
        let status = std::fs::read_to_string(format!(
            "/proc/{}/status",
            farm.coordinator.as_ref().expect("running").pid()
        ));
        let status = status.expect("a process");
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).expect("a line").to_owned();
        line.split_whitespace().nth(1).expect("a number").parse::<u64>().expect("a number")
    };
    let before = rss_kib();
    let reply = client
        .submit(request("noop", r#"{"units":10000000000,"unit_us":0,"fail":[],"panic":[],"label":""}"#));
    assert_eq!(reply.await.expect("accepted").into_inner().job.expect("a job").units, 10_000_000_000);
    let grown = rss_kib().saturating_sub(before);
    assert!(grown < 2_000, "a plan of 10^10 units costs {grown} KiB");
}
