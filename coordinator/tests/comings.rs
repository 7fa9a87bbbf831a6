//! Workers that come and go: told to stop, told by their machines, let go by the coordinator, killed; of other versions; such
//! as some jobs ask for; and such as are broken. Real processes, real files, real commands, a real web server.

mod farm;
#[path = "farm/puppet.rs"]
mod puppet;

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use farm::{Farm, Process, count_parts, nonet, run, until};
use proto::v1::{FromWorker, Hello, Label, ToWorker};
use puppet::{Puppet, hello};
use serde_json::Value;

/// A worker ends within so long, whatever it computes.
const AT_MOST: Duration = Duration::from_secs(10);

/// A worker of one thread that commits only when it ends.
fn worker(farm: &Farm, name: &str, options: &[&str]) -> Process {
    let mut command =
        nonet(&["worker", "--coordinator", &farm.url, "--threads", "1", "--commit-every-ms", "600000"]);
    command.args(["--name", name, "--state"]).arg(farm.dir.path().join(name));
    if !options.contains(&"--parts") {
        command.arg("--parts").arg(farm.parts());
    }
    command.args(options).env("NONET_LOG", "info,worker::spool_writer=debug");
    farm::start(command)
}

fn status(farm: &Farm) -> Value {
    farm.ask(&["status", "noop"])
}

/// What `nonet workers` says of one.
fn of(farm: &Farm, name: &str) -> Option<Value> {
    let workers = farm.ask(&["workers"]);
    workers.as_array().expect("a list").iter().find(|worker| worker["name"] == name).cloned()
}

/// The end of a worker that was told to leave; how long it took.
fn ends(worker: Process, since: Instant) -> Duration {
    let (code, said) = worker.end();
    let took = since.elapsed();
    assert_eq!(code, Some(0), "{said}");
    assert!(took < AT_MOST, "it took {took:?}: {said}");
    took
}

/// A web server that answers 404, and 200 when the machine goes.
fn metadata() -> (String, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let goes = Arc::new(AtomicBool::new(false));
    let going = Arc::clone(&goes);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut lines =
                BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            // A token is given at any time, as EC2 does.
            let found = going.load(Ordering::Relaxed) || first.starts_with("PUT");
            let code = if found { "200 OK" } else { "404 Not Found" };
            drop(write!(stream, "HTTP/1.1 {code}\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"));
        }
    });
    (url, goes)
}

/// In the middle of a long lease the worker is told by `tell`, of which it hears as `options` say: the prefix counts, and the
/// rest goes to another one.
fn prefix_counts(options: &[&str], tell: impl FnOnce(&Farm, &Process)) {
    let mut farm = Farm::start(0, &["--fixed-lease-units", "1000"]);
    farm.ask(&["submit", "noop", "--units", "60", "--unit-us", "100000", "--parts"]);
    let leaves = worker(&farm, "leaves", options);
    until("some units are computed", || count_parts(farm.dir.path()) >= 5);
    assert_eq!((status(&farm)["done"].as_u64(), status(&farm)["leased"].as_u64()), (Some(0), Some(60)));
    tell(&farm, &leaves);
    let told = Instant::now();
    ends(leaves, told);
    let after = status(&farm);
    let done = after["done"].as_u64().expect("a number");
    assert!((5..60).contains(&done), "{after}");
    assert_eq!(after["leased"], 0, "what it did not compute was handed back");
    let _takes_over = worker(&farm, "takes-over", &[]);
    assert_eq!(farm.wait("noop")["done"], 60);
    let takes_over = of(&farm, "takes-over").expect("connected");
    assert_eq!(takes_over["units_done"].as_u64(), Some(60 - done), "each unit once");
    farm.check_ledger();
}

#[test]
fn sigterm_commits_the_prefix_and_hands_the_rest_back() {
    prefix_counts(&[], |_, worker| worker.signal("TERM"));
}

#[test]
fn a_file_is_a_notice() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("preempted");
    let how = format!("file:{}", file.display());
    prefix_counts(&["--notice", &how], |_, _| std::fs::write(&file, "").expect("written"));
}

#[test]
fn a_command_that_waits_until_it_knows_is_a_notice() {
    let dir = tempfile::tempdir().expect("a folder");
    let fifo = dir.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo").success());
    let how = format!("command:read said < {}", fifo.display());
    prefix_counts(&["--notice", &how, "--notice", "command:exit 7"], |_, _| {
        std::fs::write(&fifo, "go\n").expect("written");
    });
}

#[test]
fn an_answer_of_an_endpoint_is_a_notice() {
    let (url, goes) = metadata();
    prefix_counts(&["--notice", &url], |_, _| {
        goes.store(true, Ordering::Relaxed);
    });
    let (url, goes) = metadata();
    prefix_counts(&["--notice", "aws", "--notice-endpoint", &url], |_, _| {
        goes.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_unit_that_does_not_stop_keeps_nobody_waiting() {
    // Of two units that are computed, the first is in the worker's checkpoint alone when it is told to stop.
    let mut farm = Farm::start(0, &["--fixed-lease-units", "1000"]);
    farm.ask(&["submit", "noop", "--units", "3", "--unit-us", "6000000", "--deaf", "--parts"]);
    let mut deaf = worker(&farm, "deaf", &[]);
    until("a unit is computed", || count_parts(farm.dir.path()) == 1);
    // The part is there a moment before the unit is in the checkpoint.
    deaf.until_said("results are in the spool");
    deaf.signal("TERM");
    let took = ends(deaf, Instant::now());
    assert!(took > Duration::from_secs(2), "{took:?}: it did stop");
    let after = status(&farm);
    assert_eq!((after["done"].as_u64(), after["leased"].as_u64()), (Some(1), Some(0)), "{after}");
    farm.check_ledger();
}

#[test]
fn a_unit_that_lasts_half_a_minute_is_left_for_another_worker() {
    for deaf in [&["--deaf"][..], &[]] {
        let farm = Farm::start(0, &["--lease-ms", "1000"]);
        let job = ["submit", "noop", "--units", "5", "--unit-us", "30000000"];
        farm.ask(&[&job[..], deaf].concat());
        let leaves = worker(&farm, "leaves", &[]);
        until("it computes", || status(&farm)["leased"].as_u64() > Some(0));
        leaves.signal("TERM");
        ends(leaves, Instant::now());
        let after = status(&farm);
        assert_eq!((after["done"].as_u64(), after["leased"].as_u64()), (Some(0), Some(0)), "{after}");
    }
}

#[test]
fn workers_that_are_killed_over_a_unit_do_not_count_against_it() {
    let mut farm = Farm::start(3, &["--silence-ms", "2000"]);
    farm.ask(&["submit", "noop", "--units", "1", "--unit-us", "3000000"]);
    for round in 0..9 {
        let holder = || (0..3).find(|i| of(&farm, &format!("w{i}")).is_some_and(|w| w["leases"] == 1));
        until("somebody computes it", || holder().is_some());
        let holder = holder().unwrap_or(round % 3);
        farm.kill_worker(holder);
        until("it is missed", || of(&farm, &format!("w{holder}")).is_none());
        farm.start_worker(holder);
    }
    let status = farm.wait("noop");
    assert_eq!(
        (status["done"].as_u64(), status["quarantined_units"].as_u64()),
        (Some(1), Some(0)),
        "{status}"
    );
    assert!(farm.ask(&["workers"]).as_array().expect("a list").iter().all(|worker| worker["failures"] == 0));
    let report = farm.check_ledger();
    assert_eq!(report["jobs"][0]["failures"], "0");
}

#[test]
fn broken_machines_get_less_and_less_work_and_nothing_is_given_up_for_them() {
    let farm = Farm::start(0, &["--fixed-lease-units", "2"]);
    // Two of them cannot write what they compute.
    let file = farm.dir.path().join("no-folder");
    std::fs::write(&file, "").expect("written");
    let nowhere = file.join("parts");
    let broken = |name: &str| worker(&farm, name, &["--parts", nowhere.to_str().expect("UTF-8")]);
    let mut bad = [broken("bad0"), broken("bad1")];
    let _good = [worker(&farm, "good0", &[]), worker(&farm, "good1", &[])];
    until("all are connected", || farm.ask(&["workers"]).as_array().map(Vec::len) == Some(4));
    farm.ask(&["submit", "noop", "--units", "400", "--unit-us", "60000", "--parts"]);
    until("they fail", || {
        ["bad0", "bad1"].iter().all(|name| of(&farm, name).is_some_and(|w| w["failures"].as_u64() > Some(3)))
    });
    until("one of them rests", || of(&farm, "bad0").is_some_and(|w| w["resting_ms"].as_u64() > Some(0)));
    let failures = of(&farm, "bad0").expect("connected")["failures"].as_u64();
    // It is started again, by somebody who hopes for the best.
    bad[0].kill();
    until("it is missed", || of(&farm, "bad0").is_none());
    bad[0] = broken("bad0");
    until("it is back", || of(&farm, "bad0").is_some());
    assert!(of(&farm, "bad0").expect("connected")["failures"].as_u64() >= failures, "not with a clean sheet");
    let done = farm.wait("noop");
    assert_eq!((done["done"].as_u64(), done["quarantined_units"].as_u64()), (Some(400), Some(0)), "{done}");
    for name in ["bad0", "bad1"] {
        let worker = of(&farm, name).expect("connected");
        assert!(worker["failures"].as_u64() < Some(40), "{worker}");
    }
    let log = farm.log();
    assert!(log.contains("too much in a row went wrong on it"), "{log}");
    let (_, table, _) = run(&["workers", "--coordinator", &farm.url]);
    assert!(table.contains("FAILED") && table.contains("POOL"), "{table}");
}

#[test]
fn jobs_get_the_workers_that_they_ask_for() {
    let mut farm = Farm::start(0, &["--lease-ms", "100"]);
    let submit = |label: &str, require: &[&str]| {
        let mut args = vec!["submit", "noop", "--units", "200", "--unit-us", "500", "--label", label];
        require.iter().for_each(|text| args.extend(["--require", text]));
        farm.ask(&args)
    };
    let _spot = worker(&farm, "spot", &["--pool", "spot", "--label", "zone=eu/1"]);
    let _slurm = worker(&farm, "slurm", &["--pool", "slurm"]);
    until("both are connected", || of(&farm, "spot").is_some() && of(&farm, "slurm").is_some());
    let labels = of(&farm, "spot").expect("connected")["labels"].clone();
    assert_eq!((labels["pool"].as_str(), labels["zone"].as_str()), (Some("spot"), Some("eu/1")), "{labels}");
    assert_eq!(labels["os"], std::env::consts::OS);
    assert!(labels["cores"].as_str().is_some() && labels["memory_gib"].as_str().is_some(), "{labels}");
    let job = submit("one", &["pool=slurm", "memory_gib>=0"]);
    assert_eq!(job["requirements"], serde_json::json!(["memory_gib>=0", "pool=slurm"]));
    let named = |job: &Value| job["name"].as_str().expect("a name").to_owned();
    assert_eq!(farm.wait(&named(&job))["done"], 200);
    let done = |name: &str| of(&farm, name).expect("connected")["units_done"].as_u64();
    assert_eq!((done("spot"), done("slurm")), (Some(0), Some(200)));
    // One that nobody can do waits, and says so at once; after a kill too.
    let job = submit("two", &["gpu"]);
    assert_eq!(job["detail"], "waits for a worker with gpu: none of the 2 connected has it");
    let job = named(&job);
    until("it says what it waits for", || {
        let detail = farm.ask(&["status", &job])["detail"].as_str().expect("text").to_owned();
        detail == "waits for a worker with gpu: none of the 2 connected has it"
    });
    farm.kill_coordinator();
    farm.start_coordinator();
    until("both are back", || of(&farm, "spot").is_some() && of(&farm, "slurm").is_some());
    let waiting = farm.ask(&["status", &job]);
    assert_eq!(
        (waiting["requirements"].clone(), waiting["fitting_workers"].as_u64()),
        (serde_json::json!(["gpu"]), Some(0))
    );
    assert_eq!((waiting["done"].as_u64(), waiting["wanted_slots"].as_u64()), (Some(0), Some(1)), "{waiting}");
    // Submitted again it asks for something else, and goes on; without a word it asks for the same as before.
    let submit = |require: &[&str]| {
        let mut args = vec!["submit", "noop", "--units", "200", "--unit-us", "500", "--label", "two"];
        require.iter().for_each(|text| args.extend(["--require", text]));
        farm.ask(&args)["requirements"].clone()
    };
    assert_eq!(submit(&[]), serde_json::json!(["gpu"]));
    assert_eq!(submit(&["pool!=slurm"]), serde_json::json!(["pool!=slurm"]));
    assert_eq!(farm.wait(&job)["done"], 200);
    assert_eq!(of(&farm, "spot").expect("connected")["units_done"], 200);
    assert_eq!(submit(&["any"]), serde_json::json!([]));
    let acts = farm.ask(&["audit"]);
    let required = acts.as_array().expect("acts").iter().filter(|act| act["action"] == "require");
    let details: Vec<_> = required.map(|act| act["detail"].as_str().expect("text").to_owned()).collect();
    assert!(details[0].ends_with(": pool!=slurm") && details[1].ends_with(": any worker"), "{details:?}");
    farm.check_ledger();
}

#[test]
fn what_is_no_requirement_or_label_or_notice_is_bad_usage() {
    for (args, word) in [
        (["submit", "noop", "--require", "memory_gib>=much"], "whole numbers"),
        (["submit", "noop", "--require", "=x"], "name of a label"),
        (["worker", "--label", "pool", "--state=/nowhere/at/all"], "NAME=VALUE"),
        (["worker", "--pool", "a b", "--state=/nowhere/at/all"], "value of a label"),
        (["worker", "--notice", "spot", "--state=/nowhere/at/all"], "expected file:PATH"),
        (["release", "--keep", "-1", "--pool=x"], "--keep"),
    ] {
        let (code, _, said) = run(&args);
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(said.contains(word), "{args:?}: {said}");
    }
    let farm = Farm::start(0, &[]);
    let (code, _, said) = run(&["release", "--pool", "a b", "--keep", "1", "--coordinator", &farm.url]);
    assert_eq!((code, said.contains("value of a label")), (Some(2), true), "{said}");
}

#[test]
fn a_pool_becomes_smaller_without_victims() {
    let mut farm = Farm::start(0, &["--fixed-lease-units", "4"]);
    farm.ask(&["submit", "noop", "--units", "400", "--unit-us", "20000"]);
    let pool: Vec<_> = ["p0", "p1", "p2"].iter().map(|name| worker(&farm, name, &["--pool", "p"])).collect();
    let _other = worker(&farm, "other", &[]);
    let working = |name: &str| of(&farm, name).is_some_and(|worker| worker["leases"].as_u64() > Some(0));
    until("all work", || ["p0", "p1", "p2", "other"].iter().all(|name| working(name)));
    let reply = farm.ask(&["release", "--pool", "p", "--keep", "1"]);
    assert_eq!(reply, serde_json::json!({ "pool": "p", "connected": 3, "leaving": 2, "staying": 1 }));
    // Two of the three end well, whichever.
    let mut pool = pool;
    let mut left = Vec::new();
    until("two have left", || {
        left.extend(pool.extract_if(.., |worker| worker.0.try_wait().expect("a child").is_some()));
        left.len() == 2
    });
    for worker in left {
        let (code, said) = worker.end();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("lets this worker go"), "{said}");
    }
    // One that comes later was not meant: a pool can be restarted worker by worker.
    let late = worker(&farm, "late", &["--pool", "p"]);
    assert_eq!(farm.wait("noop")["done"], 400);
    assert!(of(&farm, "late").is_some() && of(&farm, "other").is_some());
    assert!(pool[0].0.try_wait().expect("a child").is_none(), "one stays");
    assert_eq!(status(&farm)["quarantined_units"], 0);
    let acts = farm.ask(&["audit"]);
    let released = acts.as_array().expect("acts").iter().find(|act| act["action"] == "release");
    assert_eq!(released.expect("on record")["detail"], "pool p: keep 1 of 3");
    // Idle, they leave at once.
    farm.ask(&["release", "--keep", "0"]);
    let told = Instant::now();
    ends(late, told);
    ends(pool.remove(0), told);
    farm.check_ledger();
}

#[test]
fn a_drained_worker_finishes_what_it_computes_even_without_its_coordinator() {
    let mut farm = Farm::start(0, &["--fixed-lease-units", "20"]);
    farm.ask(&["submit", "noop", "--units", "100", "--unit-us", "100000", "--parts"]);
    let drained = worker(&farm, "drained", &[]);
    until("it computes", || count_parts(farm.dir.path()) > 3);
    assert_eq!(run(&["drain", "drained", "--coordinator", &farm.url]).0, Some(0));
    until("what waits is handed back", || status(&farm)["leased"].as_u64() <= Some(20));
    assert_eq!(of(&farm, "drained").expect("connected")["leaving"], true);
    farm.kill_coordinator();
    farm.start_coordinator();
    let (code, said) = drained.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(status(&farm)["done"].as_u64() > Some(3), "what it had is handed in");
    let _other = worker(&farm, "other", &[]);
    assert_eq!(farm.wait("noop")["done"], 100);
    farm.check_ledger();
}

/// Waits until something is said that `wanted` is looked for in.
async fn hears(puppet: &mut Puppet, wanted: fn(&ToWorker) -> bool) -> bool {
    loop {
        match tokio::time::timeout(Duration::from_secs(2), puppet.hear.message()).await {
            Ok(Ok(Some(message))) if wanted(&message) => return true,
            Ok(Ok(Some(_))) => {}
            Ok(Ok(None) | Err(_)) | Err(_) => return false,
        }
    }
}

async fn welcome(farm: &Farm, hello: Hello) -> (Puppet, u32) {
    let first = FromWorker { hello: Some(hello), ..FromWorker::default() };
    let mut puppet = Puppet::open(&farm.url, first).await.expect("welcome");
    let spoken = puppet.hear().await.expect("a message").welcome.expect("a welcome").protocol;
    puppet.say.send(FromWorker::default()).await.expect("open");
    (puppet, spoken)
}

#[tokio::test]
async fn older_and_newer_workers_get_what_they_can_compute() {
    let farm = Farm::start(0, &["--silence-ms", "60000"]);
    // Of the first version: it says nothing of itself, and cannot be told to leave.
    let (mut old, spoken) = welcome(&farm, Hello { protocol: 1, newest_protocol: 0, ..hello(1) }).await;
    assert_eq!(spoken, 1);
    let (mut new, spoken) = welcome(&farm, Hello { protocol: 1, newest_protocol: 9, ..hello(2) }).await;
    assert_eq!(spoken, proto::PROTOCOL);
    // Of another revision of one kind: no job of that.
    let mut other = hello(3);
    other.kinds.iter_mut().filter(|kind| kind.name == "noop").for_each(|kind| kind.revision += 1);
    other.labels = vec![Label { name: "big".into(), value: "yes".into() }];
    let (mut other, _) = welcome(&farm, other).await;
    let is_grant = |message: &ToWorker| !message.orders.is_empty();
    farm.ask(&["submit", "noop", "--units", "10", "--require", "big"]);
    until("it waits", || {
        status(&farm)["detail"].as_str().is_some_and(|detail| detail.contains("waits for a worker with big"))
    });
    assert!(!hears(&mut other, is_grant).await, "its revision is another one");
    farm.ask(&["submit", "recount", "--shape", "2x3"]);
    assert!(hears(&mut other, is_grant).await && hears(&mut old, is_grant).await);
    for name in ["puppet-1", "puppet-2"] {
        assert_eq!(run(&["drain", name, "--coordinator", &farm.url]).0, Some(0));
    }
    assert!(hears(&mut new, |message| message.leave).await);
    assert!(!hears(&mut old, |message| message.leave).await, "it would not know what that means");
    let (worker, newer) =
        (of(&farm, "puppet-1").expect("connected"), of(&farm, "puppet-2").expect("connected"));
    assert_eq!((worker["protocol"].as_u64(), worker["draining"].as_bool()), (Some(1), Some(true)));
    assert_eq!((newer["protocol"].as_u64(), newer["leaving"].as_bool()), (Some(2), Some(true)));
    let log = std::fs::read_to_string(Path::new(farm.dir.path()).join("coordinator.log")).expect("a log");
    assert!(
        log.contains("too old to be told to leave") && log.contains("gets only jobs that it knows"),
        "{log}"
    );
}
