//! kill -9 of a process that appends.

use std::{
    collections::BTreeSet,
    env,
    fs::{self, File},
    io::{Read, Write},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use coordinator::ledger::{EmbeddedLedger, Ledger, check};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{commit, commits, job};

const CHILD: &str = "NONET_TEST_LEDGER_CHILD";

/// Not a test: what the child does. Appends groups of random sizes at random places, and writes down what was acknowledged.
#[test]
fn child() {
    let Ok(dir) = env::var(CHILD) else { return };
    let dir = Path::new(&dir);
    let mut rng = ChaCha8Rng::seed_from_u64(rand::rng().next_u64());
    let mut ledger = EmbeddedLedger::open(&dir.join("state")).unwrap();
    if ledger.jobs().unwrap().is_empty() {
        ledger.append(&[job(1, u64::MAX)]).unwrap();
    }
    let mut taken: BTreeSet<u64> = commits(&ledger, 1).unwrap().iter().map(|c| c.range.start).collect();
    let mut acks = File::options().append(true).create(true).open(dir.join("acks")).unwrap();
    loop {
        let size = rng.random_range(1..64);
        let starts: Vec<u64> =
            (0..size).map(|_| rng.random_range(0..1 << 40)).filter(|s| taken.insert(*s)).collect();
        let group: Vec<_> = starts.iter().map(|s| commit(1, s * 10..s * 10 + 10)).collect();
        ledger.append(&group).unwrap();
        let lines: Vec<u8> = starts.iter().flat_map(|s| (s * 10).to_le_bytes()).collect();
        acks.write_all(&lines).unwrap();
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let rounds = env::var("NONET_TEST_KILLS").ok().and_then(|r| r.parse().ok()).unwrap_or(40);
    let seed = rand::rng().next_u64();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let dir = tempfile::tempdir().unwrap();
    let (mut torn, mut total) = (0, 0);
    for round in 0..rounds {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "kill::child", "--nocapture"])
            .env(CHILD, dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_micros(rng.random_range(1000..250_000)));
        let ended = child.try_wait().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        if ended.is_some() {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("round {round}: the child ended by itself: {said}");
        }
        let state = dir.path().join("state");
        if !state.join("journal").exists() {
            continue;
        }
        if round % 4 == 0 {
            let report = check(&state).unwrap();
            assert_eq!(report.findings, [""; 0], "round {round}");
            torn += u32::from(report.tail.is_some());
        }
        let ledger = EmbeddedLedger::open(&state).unwrap();
        let found: BTreeSet<u64> = commits(&ledger, 1).unwrap().iter().map(|c| c.range.start).collect();
        let acks = fs::read(dir.path().join("acks")).unwrap_or_default();
        for ack in acks.chunks_exact(8) {
            let start = u64::from_le_bytes(ack.try_into().unwrap());
            assert!(found.contains(&start), "round {round}: acknowledged and lost: {start}");
        }
        total = acks.len() / 8;
        // At most the group in flight is there without having been acknowledged: one a round.
        assert!(found.len() <= total + 64 * (round + 1), "round {round}");
    }
    println!("{rounds} kills, {total} acknowledged commits, all there; {torn} torn ends seen");
}
