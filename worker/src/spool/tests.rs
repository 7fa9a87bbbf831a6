use std::{
    fs,
    time::{Duration, Instant},
};

use super::*;

fn result(ledger: u8, job: u8, range: Range<u64>, size: usize) -> SpooledCommit {
    let partial = vec![job; size];
    let digest = *blake3::hash(&partial).as_bytes();
    SpooledCommit { ledger: [ledger; 16], job: [job; 16], range, digest, partial, busy_us: 7 }
}

fn pending(spool: &Spool, ledger: u8) -> Vec<SpooledCommit> {
    spool.pending([ledger; 16]).map(Result::unwrap).collect()
}

#[test]
fn results_wait_in_order_until_removed() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path()).unwrap();
    let all = [
        result(1, 1, 0..10, 5),
        result(1, 1, 10..11, 60_000),
        result(1, 2, 0..256, 0),
        result(2, 1, 3..4, 9),
    ];
    let mut shuffled = all.to_vec();
    shuffled.reverse();
    spool.put_all(&shuffled).unwrap();
    let waiting = spool.waiting();
    spool.put_all(&all).unwrap();
    assert_eq!(spool.waiting(), waiting);
    let worker = spool.worker_id();
    drop(spool);
    let spool = Spool::open(dir.path()).unwrap();
    assert_eq!(spool.worker_id(), worker);
    assert_eq!(spool.waiting(), waiting);
    assert_eq!(pending(&spool, 1), all[..3]);
    assert_eq!(spool.ledgers().unwrap(), BTreeMap::from([([1; 16], 3), ([2; 16], 1)]));
    spool.remove(&[all[0].key(), all[1].key(), all[0].key()]).unwrap();
    assert_eq!(pending(&spool, 1), all[2..3]);
    assert_eq!(spool.forget_ledger([2; 16]).unwrap(), 1);
    spool.remove(&[all[2].key()]).unwrap();
    assert_eq!(spool.waiting(), (0, 0));
    drop(spool);
    assert_eq!(Spool::open(dir.path()).unwrap().waiting(), (0, 0));
}

#[test]
fn what_waits_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path()).unwrap();
    spool.inner.lock().bytes = MAX_PENDING_BYTES - 200;
    spool.put_all(&[result(1, 1, 0..1, 50)]).unwrap();
    let error = spool.put_all(&[result(1, 1, 1..2, 50)]).unwrap_err();
    assert!(matches!(error, SpoolError::Full { .. }));
    assert!(error.to_string().contains("wait for a coordinator"), "{error}");
    assert_eq!(pending(&spool, 1).len(), 1);
}

#[test]
fn the_newest_progress_wins_at_once_and_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path()).unwrap();
    let (a, b) = ([1; 16], [2; 16]);
    for i in 0..100_u8 {
        spool.save(a, 5, vec![i; 100]).unwrap();
        assert_eq!(spool.load(a, 5).unwrap().unwrap(), vec![i; 100]);
    }
    spool.save(a, 6, vec![1]).unwrap();
    spool.save(b, u64::MAX, vec![2; MAX_PROGRESS_BYTES]).unwrap();
    assert!(spool.save(b, 1, vec![2; MAX_PROGRESS_BYTES + 1]).is_err());
    spool.drop_unit(a, 6);
    assert_eq!(spool.load(a, 6).unwrap(), None);
    drop(spool);
    let spool = Spool::open(dir.path()).unwrap();
    assert_eq!(spool.load(a, 5).unwrap().unwrap(), vec![99; 100]);
    assert_eq!(spool.load(a, 6).unwrap(), None);
    assert_eq!(spool.load(b, u64::MAX).unwrap().unwrap(), vec![2; MAX_PROGRESS_BYTES]);
    spool.drop_job(b);
    spool.save(b, 1, vec![3]).unwrap();
    assert_eq!(spool.load(b, u64::MAX).unwrap(), None);
    drop(spool);
    let spool = Spool::open(dir.path()).unwrap();
    assert_eq!(spool.load(b, u64::MAX).unwrap(), None);
    assert_eq!(spool.load(b, 1).unwrap().unwrap(), [3]);
    assert_eq!(spool.load(a, 5).unwrap().unwrap(), vec![99; 100]);
}

#[test]
fn progress_reaches_the_disk_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path()).unwrap();
    spool.save([1; 16], 1, vec![1]).unwrap();
    spool.save([1; 16], 2, vec![2]).unwrap();
    let begun = Instant::now();
    while spool.inner.store.get(&progress_key([1; 16], 2)).unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_failing_store_keeps_progress_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path()).unwrap();
    spool.inner.store.fail_for_test();
    spool.save([1; 16], 1, vec![1]).unwrap();
    spool.drop_job([2; 16]);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(spool.load([1; 16], 1).unwrap().unwrap(), [1]);
    assert_eq!(spool.load([2; 16], 1).unwrap(), None);
    assert!(spool.put_all(&[result(1, 1, 0..1, 1)]).is_err());
    assert_eq!(spool.waiting(), (0, 0));
}

#[test]
fn stale_progress_goes() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path()).unwrap();
    let mut batch = Batch::default();
    let stored = StoredProgress { saved_unix_s: now_unix_s() - STALE_SECONDS - 1, bytes: &[1] };
    batch.put(progress_key([1; 16], 1), encode(&spool.inner.store, &stored).unwrap());
    spool.inner.store.apply(batch).unwrap();
    spool.save([1; 16], 2, vec![2]).unwrap();
    drop(spool);
    let spool = Spool::open(dir.path()).unwrap();
    assert_eq!(spool.load([1; 16], 1).unwrap(), None);
    assert_eq!(spool.load([1; 16], 2).unwrap().unwrap(), [2]);
}

#[test]
fn a_corrupt_store_may_be_moved_aside() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path()).unwrap();
    spool.put_all(&(0..1000).map(|i| result(1, 1, i..i + 1, 100)).collect::<Vec<_>>()).unwrap();
    drop(spool);
    drop(Spool::open(dir.path()).unwrap()); // writes a snapshot
    // sled's threads outlive its handle by a moment, and write.
    fs::File::open(dir.path().join("db")).unwrap().lock().unwrap();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("snap.") {
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        }
    }
    let error = Spool::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("aside; the coordinator hands out again what was in it"), "{error}");
}
