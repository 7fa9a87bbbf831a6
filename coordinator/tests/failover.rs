//! Several coordinators, of which one leads: killed, stopped and woken, cut off, with wrong clocks. Whatever happens, every
//! unit counts once.

mod farm;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use farm::{cluster::Cluster, etcd, host::Network, until};

/// Units that take three workers on two cores half a minute.
const UNITS: u64 = 30_000;

/// One test at a time: what is measured is not how two share two cores.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> Option<MutexGuard<'static, ()>> {
    etcd::is_here().then(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

fn submit(cluster: &Cluster) {
    cluster.ask(&["submit", "noop", "--units", &UNITS.to_string(), "--unit-us", "2000"]);
}

/// Waits until more is done than was, and tells how long that took.
fn until_more_is_done(cluster: &Cluster) -> Duration {
    let since = Instant::now();
    let mut first = None;
    until("work goes on", || {
        let done = cluster.done("noop");
        let before = *first.get_or_insert(done.unwrap_or(0));
        done.is_some_and(|done| done > before)
    });
    since.elapsed()
}

#[test]
fn a_killed_leader_is_replaced_within_seconds() {
    let Some(_alone) = alone() else { return };
    let mut cluster = Cluster::start(3, 3);
    submit(&cluster);
    until_more_is_done(&cluster);
    for _ in 0..3 {
        let leader = cluster.until_led();
        let logs: Vec<_> = (0..3).map(|i| cluster.log(i).len()).collect();
        cluster.coordinators[leader].take().expect("running").kill();
        let since = Instant::now();
        until("a worker is at the next leader", || {
            (0..3).any(|i| i != leader && cluster.log(i)[logs[i]..].contains("worker connected"))
        });
        let took = since.elapsed();
        println!("failover after SIGKILL: {took:?}");
        assert!(took < Duration::from_secs(10), "{took:?}");
        until_more_is_done(&cluster);
        cluster.start_coordinator(leader);
    }
    cluster.end(UNITS);
}

#[test]
fn a_stopped_leader_that_wakes_up_writes_nothing() {
    let Some(_alone) = alone() else { return };
    let cluster = Cluster::start(2, 3);
    submit(&cluster);
    until_more_is_done(&cluster);
    for _ in 0..2 {
        let leader = cluster.until_led();
        let logs: Vec<_> = (0..2).map(|i| cluster.log(i).len()).collect();
        cluster.coordinators[leader].as_ref().expect("running").signal("STOP");
        let since = Instant::now();
        until("a worker is at the next leader", || {
            cluster.log(1 - leader)[logs[1 - leader]..].contains("worker connected")
        });
        let took = since.elapsed();
        println!("failover after SIGSTOP: {took:?}");
        assert!(took < Duration::from_secs(10), "{took:?}");
        until_more_is_done(&cluster);
        cluster.coordinators[leader].as_ref().expect("running").signal("CONT");
        until("the old leader notices", || {
            cluster.log(leader)[logs[leader]..].contains("does not lead any more")
        });
        assert_eq!(cluster.leader(), Some(1 - leader));
    }
    cluster.end(UNITS);
}

#[test]
fn a_leader_that_is_told_to_stop_hands_over_at_once() {
    let Some(_alone) = alone() else { return };
    let mut cluster = Cluster::start(2, 2);
    submit(&cluster);
    until_more_is_done(&cluster);
    let leader = cluster.until_led();
    let before = cluster.log(1 - leader).len();
    let process = cluster.coordinators[leader].take().expect("running");
    process.signal("TERM");
    let since = Instant::now();
    until("a worker is at the next leader", || {
        cluster.log(1 - leader)[before..].contains("worker connected")
    });
    println!("handed over in {:?}", since.elapsed());
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    assert_eq!(process.end().0, Some(0));
    cluster.end(UNITS);
}

#[test]
fn every_node_of_etcd_is_killed_once() {
    let Some(_alone) = alone() else { return };
    let mut cluster = Cluster::start(2, 3);
    submit(&cluster);
    until_more_is_done(&cluster);
    for node in 0..3 {
        cluster.etcd.kill_node(node);
        let took = until_more_is_done(&cluster);
        println!("work went on {took:?} after a node of etcd was killed");
        cluster.etcd.start_node(node);
        cluster.etcd.until_healthy(node);
    }
    cluster.end(UNITS);
}

#[test]
fn the_leader_is_cut_off_from_the_others() {
    let Some(_alone) = alone() else { return };
    let Some(network) = Network::new(3) else { return };
    let cluster = Cluster::start_on(&network.hosts, 3, &[]);
    submit(&cluster);
    until_more_is_done(&cluster);
    for _ in 0..2 {
        let leader = cluster.until_led();
        let logs: Vec<_> = (0..3).map(|i| cluster.log(i).len()).collect();
        network.cut(leader, true);
        let since = Instant::now();
        until("a worker is at the next leader", || {
            (0..3).any(|i| i != leader && cluster.log(i)[logs[i]..].contains("worker connected"))
        });
        let took = since.elapsed();
        println!("failover after a cut: {took:?}");
        assert!(took < Duration::from_secs(15), "{took:?}");
        until("the old leader gives up", || {
            cluster.log(leader)[logs[leader]..].contains("does not lead any more")
        });
        until_more_is_done(&cluster);
        network.cut(leader, false);
        // One that lags behind disturbs the elections of etcd: that is etcd's business, not ours.
        cluster.etcd.until_healthy(leader);
    }
    cluster.end(UNITS);
}

#[test]
fn clocks_that_are_hours_apart_matter_to_nobody() {
    let fake = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
    let Some(_alone) = alone() else { return };
    if !std::path::Path::new(fake).exists() {
        assert!(std::env::var_os("NONET_REQUIRE_ETCD").is_none(), "libfaketime is required");
        println!("SKIPPED: libfaketime is not installed (Debian: apt-get install faketime)");
        return;
    }
    let clock = |offset: &str| {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        vec![
            pair("LD_PRELOAD", fake),
            pair("FAKETIME", offset),
            pair("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            pair("DONT_FAKE_MONOTONIC", "1"),
        ]
    };
    let hosts = vec![farm::host::Host::here(); 3];
    let mut cluster = Cluster::start_on(&hosts, 2, &[clock("+5h"), clock("-400d"), Vec::new()]);
    submit(&cluster);
    for _ in 0..4 {
        until_more_is_done(&cluster);
        let leader = cluster.until_led();
        cluster.coordinators[leader].take().expect("running").kill();
        cluster.start_coordinator(leader);
    }
    cluster.end(UNITS);
}
