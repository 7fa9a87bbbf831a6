//! The worker's checkpoint under the same treatment: killed processes, a full disk, flipped bits.

use std::{
    collections::BTreeSet,
    env,
    fs::{self, File},
    io::Write,
    os::unix::fs::FileExt,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use rand::RngExt;
use worker::spool::{Spool, SpooledCommit};

use super::{copy_folder, full::Disk};

const CHILD: &str = "NONET_TEST_SPOOL_CHILD";
const LEDGER: [u8; 16] = [1; 16];
const JOB: [u8; 16] = [2; 16];

fn result(start: u64, size: usize) -> SpooledCommit {
    let partial = vec![start.to_le_bytes()[0]; size];
    let digest = *blake3::hash(&partial).as_bytes();
    SpooledCommit { ledger: LEDGER, job: JOB, range: start..start + 1, digest, partial, busy_us: 1 }
}

/// The starts of what waits; every result is what was put.
fn starts(spool: &Spool) -> BTreeSet<u64> {
    spool
        .pending(LEDGER)
        .map(|r| {
            let r = r.unwrap();
            assert_eq!(r, result(r.range.start, r.partial.len()));
            r.range.start
        })
        .collect()
}

/// Not a test: what the child does.
#[test]
fn child() {
    let Ok(dir) = env::var(CHILD) else { return };
    let dir = Path::new(&dir);
    let spool = Spool::open(&dir.join("spool")).unwrap();
    let mut next = starts(&spool).last().map_or(0, |s| s + 1);
    let mut acks = File::options().append(true).create(true).open(dir.join("acks")).unwrap();
    loop {
        let group: Vec<_> =
            (next..next + 20).map(|s| result(s, if s % 50 == 0 { 60_000 } else { 100 })).collect();
        spool.put_all(&group).unwrap();
        next += 20;
        spool.save(JOB, 0, next.to_le_bytes().to_vec()).unwrap();
        let starts: Vec<u8> = group.iter().flat_map(|r| r.range.start.to_le_bytes()).collect();
        acks.write_all(&starts).unwrap();
    }
}

#[test]
fn nothing_kept_is_lost_when_the_worker_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let mut identity = None;
    for round in 0..24 {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "spool::child", "--nocapture"])
            .env(CHILD, dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_micros(rand::rng().random_range(1000..250_000)));
        assert!(child.try_wait().unwrap().is_none(), "round {round}: the child ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        let spool = Spool::open(&dir.path().join("spool")).unwrap();
        // The identity of a spool that was killed before it was durable is nobody's yet.
        let acks = fs::read(dir.path().join("acks")).unwrap_or_default();
        if !acks.is_empty() {
            assert_eq!(*identity.get_or_insert(spool.worker_id()), spool.worker_id());
        }
        let found = starts(&spool);
        for ack in acks.chunks_exact(8) {
            let start = u64::from_le_bytes(ack.try_into().unwrap());
            assert!(found.contains(&start), "round {round}: kept and lost: {start}");
        }
    }
}

#[test]
fn a_full_disk_refuses_results_and_loses_none() {
    let Some(disk) = Disk::new(12 << 10) else { return };
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![0; 5 << 20]).unwrap();
    let dir = disk.path().join("spool");
    let spool = Spool::open(&dir).unwrap();
    let mut kept = 0;
    let error = loop {
        match spool.put_all(&[result(kept, 50_000)]) {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 1000, "the disk does not fill");
    };
    assert!(error.to_string().contains("no space left on the disk of"), "{error}");
    spool.save(JOB, 1, vec![1]).unwrap();
    assert_eq!(spool.load(JOB, 1).unwrap().unwrap(), [1]);
    drop(spool);
    fs::remove_file(&ballast).unwrap();
    let spool = Spool::open(&dir).unwrap();
    assert!((0..kept).all(|s| starts(&spool).contains(&s)));
    spool.put_all(&[result(kept + 1, 50_000)]).unwrap();
}

#[test]
fn a_flipped_bit_is_an_error_or_harmless() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path()).unwrap();
    let all: Vec<_> = (0..500).map(|s| result(s, 500)).collect();
    spool.put_all(&all).unwrap();
    drop(spool);
    drop(Spool::open(dir.path()).unwrap());
    File::open(dir.path().join("db")).unwrap().lock().unwrap();
    let size = fs::metadata(dir.path().join("db")).unwrap().len();
    let mut seen = [0; 3];
    for round in 0..24_u64 {
        let copy = tempfile::tempdir().unwrap();
        copy_folder(dir.path(), copy.path());
        let db = File::options().read(true).write(true).open(copy.path().join("db")).unwrap();
        let at = round.wrapping_mul(0x9E37_79B9_7F4A_7C15) % size;
        let mut byte = [0];
        db.read_exact_at(&mut byte, at).unwrap();
        db.write_all_at(&[byte[0] ^ (1 << (round % 8))], at).unwrap();
        let Ok(spool) = Spool::open(copy.path()) else {
            seen[2] += 1;
            continue;
        };
        match spool.pending(LEDGER).collect::<Result<Vec<_>, _>>() {
            Ok(found) => {
                // Results that sled lost are computed again; none is ever wrong.
                assert!(found.iter().all(|r| all.contains(r)), "round {round}");
                seen[usize::from(found.len() != all.len())] += 1;
            }
            Err(_) => seen[2] += 1,
        }
    }
    println!("intact {}, some missing {}, error {}", seen[0], seen[1], seen[2]);
}
