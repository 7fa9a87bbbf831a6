//! What is told as it happens: server-sent events.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{
    Site,
    farm::{
        cluster::Cluster,
        etcd, free_address,
        host::Host,
        http::{Events, get},
        until,
    },
    why,
};

/// Watchers of one address.
const MOST_WATCHERS: usize = 64;

fn job<'a>(view: &'a Value, name: &str) -> Option<&'a Value> {
    view["jobs"].as_array().expect("jobs").iter().find(|job| job["name"] == name)
}

#[test]
fn a_job_is_watched_from_its_submission_to_its_end() {
    let site = Site::start(1, &[]);
    let mut events = site.listen(&[]).expect("events");
    events.until("standing", |standing| standing["leads"] == true);
    assert_eq!(events.until("jobs", |_| true)["jobs"], Value::Array(Vec::new()));
    events.until("workers", |crew| crew["connected"] == 1);
    let name = site.submit(&["--units", "3000", "--unit-us", "1000"]);
    let shown = events.until("jobs", |view| job(view, &name).is_some());
    assert_eq!(shown["by_state"]["running"], 1);
    let computing = events.until("workers", |crew| crew["workers"][0]["does"][0]["job"] == name.as_str());
    assert_eq!(computing["workers"][0]["does"][0]["kind"], "noop");
    let moving = events.until("jobs", |view| {
        let job = job(view, &name).expect("it stays");
        job["done"] != "0" && job["units_per_1000s"] != "0" && job["state"] == "running"
    });
    assert!(job(&moving, &name).expect("it is there")["eta_ms"].is_string(), "{moving}");
    let ended = events.until("jobs", |view| job(view, &name).expect("it stays")["state"] == "finished");
    assert_eq!(job(&ended, &name).expect("it is there")["done"], "3000");
    // Whoever comes late sees the same, at once.
    let mut late = site.listen(&[]).expect("events");
    assert_eq!(late.until("jobs", |_| true), ended);
}

#[test]
fn a_worker_that_is_killed_is_told_as_lost_and_one_that_comes_back_is_not() {
    let mut site = Site::start(2, &[]);
    let mut events = site.listen(&[]).expect("events");
    let crew = events.until("workers", |crew| crew["connected"] == 2);
    assert_eq!(crew["gone"], Value::Array(Vec::new()));
    site.farm.kill_worker(0);
    let crew = events.until("workers", |crew| crew["connected"] == 1);
    assert_eq!((&crew["gone"][0]["name"], &crew["gone"][0]["how"]), (&"w0".into(), &"lost".into()));
    site.farm.start_worker(0);
    let crew = events.until("workers", |crew| crew["connected"] == 2);
    assert_eq!(crew["gone"], Value::Array(Vec::new()), "it is the same worker");
    let leaves = site.farm.workers[1].take().expect("a worker");
    leaves.signal("TERM");
    leaves.end();
    let crew = events.until("workers", |crew| crew["connected"] == 1);
    assert_eq!((&crew["gone"][0]["name"], &crew["gone"][0]["how"]), (&"w1".into(), &"left".into()));
}

#[test]
fn labels_requirements_and_what_a_job_lacks_are_told() {
    let site = Site::start(1, &[]);
    let mut events = site.listen(&[]).expect("events");
    let crew = events.until("workers", |crew| crew["connected"] == 1);
    let labels = crew["workers"][0]["labels"].as_object().expect("labels");
    assert!(labels.contains_key("os") && labels.contains_key("cores"), "{labels:?}");
    let name = site.submit(&["--units", "10", "--require", "gpu"]);
    let status = site.farm.ask(&["status", &name]);
    let told = status["detail"].as_str().expect("words");
    assert!(told.contains("gpu"), "{told}");
    let view = events.until("jobs", |view| job(view, &name).is_some_and(|job| job["detail"] != ""));
    let shown = job(&view, &name).expect("it is there");
    assert_eq!((&shown["detail"], &shown["requirements"]), (&told.into(), &status["requirements"]));
}

#[test]
fn the_quiet_is_told_too_and_the_end_is_the_last_word() {
    let mut site = Site::start(0, &[]);
    let mut events = site.listen(&[]).expect("events");
    events.until("workers", |_| true);
    let quiet = Instant::now();
    let (name, data) = events.next().expect("a word");
    assert_eq!(name, "pulse");
    assert!(data["now_unix_ms"].as_u64() > Some(1_700_000_000_000), "{data}");
    assert!(quiet.elapsed() < Duration::from_secs(15), "browsers take it for dead");
    site.farm.stop_coordinator();
    let mut last = String::new();
    while let Some((name, _)) = events.next() {
        last = name;
    }
    assert_eq!(last, "over");
}

#[test]
fn there_are_only_so_many_watchers() {
    let site = Site::start(0, &[]);
    let mut watchers: Vec<Events> = (0..MOST_WATCHERS).map(|_| site.listen(&[]).expect("a place")).collect();
    let refused = site.listen(&[]).err().expect("no place");
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")), "{refused:?}");
    watchers[0].until("standing", |standing| standing["leads"] == true);
    watchers.pop();
    until("its place is free", || site.listen(&[]).is_ok());
    assert_eq!(site.get("/healthz").status, 200);
}

#[test]
fn one_that_stands_by_sends_browsers_to_the_one_that_leads() {
    if !etcd::is_here() {
        return;
    }
    let webs = [free_address(), free_address()];
    let environment: Vec<_> = webs.iter().map(|web| vec![("NONET_WEB".to_owned(), web.clone())]).collect();
    let mut cluster = Cluster::start_on(&[Host::here(), Host::here()], 0, &environment);
    let leader = cluster.until_led();
    let (leads, follows) = (&webs[leader], &webs[1 - leader]);
    let who = |web: &str| get(web, "/api/v1/whoami", &[]).expect("an answer").json();
    let page = format!("http://{leads}");
    until("it knows who leads", || who(follows)["leader"]["page"] == page.as_str());
    assert_eq!((&who(follows)["leads"], &who(leads)["leads"]), (&false.into(), &true.into()));
    let refused = get(follows, "/api/v1/jobs", &[]).expect("an answer");
    assert_eq!((refused.status, &refused.json()["leader"]["page"]), (503, &page.as_str().into()));
    assert!(why(&refused).contains(&cluster.url(leader)), "{refused:?}");
    assert_eq!(get(follows, "/", &[]).expect("the page").status, 200, "the page itself says so");
    let mut events = Events::open(follows, "/api/v1/events", &[]).expect("events");
    let standing = events.until("standing", |_| true);
    assert_eq!((&standing["leads"], &standing["leader"]["page"]), (&false.into(), &page.as_str().into()));
    cluster.coordinators[leader].take().expect("a coordinator").kill();
    events.until("standing", |standing| standing["leads"] == true);
    events.until("jobs", |_| true);
}
