//! The ledger in etcd: three real nodes, of which one is killed; leaders that do not know that they are none any more; sizes.

use std::time::{Duration, Instant};

use coordinator::{
    ledger::{CommitRecord, Entry, JobRecord, Ledger, LedgerError},
    scheduler::{JobId, WorkerId},
};
use proto::etcd::{
    DeleteRangeRequest, PutRequest, RequestOp, StatusRequest, TxnRequest, request_op::Request,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    all_of, commit, farm, job,
    place::{InEtcd, Place},
};

fn in_etcd() -> Option<InEtcd> {
    farm::etcd::is_here().then(InEtcd::new)
}

#[test]
fn every_entry_is_there_after_reopening() {
    let Some(mut place) = in_etcd() else { return };
    super::every_entry_is_there(&mut place);
}

#[test]
fn contradictions_are_refused_and_change_nothing() {
    let Some(mut place) = in_etcd() else { return };
    super::contradictions_are_refused(&mut place);
}

#[test]
fn whatever_is_appended_is_there_in_etcd() {
    let Some(mut place) = in_etcd() else { return };
    // New bases all the time, so that what is appended meets what was put together.
    place.bounds.tail_groups = 3;
    super::laws::hold(&mut place, |place, expected| place.read(&mut |ledger| expected.agrees_with(ledger)));
}

/// Asks one node of etcd directly.
fn delete(place: &InEtcd, key: &str) {
    let delete = DeleteRangeRequest { key: key.to_owned().into(), ..DeleteRangeRequest::default() };
    txn(place, Request::RequestDeleteRange(delete));
}

fn put(place: &InEtcd, key: &str, value: &[u8]) {
    let put = PutRequest { key: key.to_owned().into(), value: value.to_vec().into() };
    txn(place, Request::RequestPut(put));
}

fn txn(place: &InEtcd, request: Request) {
    let success = vec![RequestOp { request: Some(request) }];
    place.runtime().block_on(async {
        let mut kv = proto::etcd::kv_client::KvClient::connect(place.etcd.url(0)).await.unwrap();
        kv.txn(TxnRequest { success, ..TxnRequest::default() }).await.unwrap();
    });
}

/// Bytes of the database that are in use, on the node that has most.
fn bytes_in_use(place: &InEtcd) -> i64 {
    let sizes = (0..3).map(|node| {
        place.runtime().block_on(async {
            let url = place.etcd.url(node);
            let mut etcd = proto::etcd::maintenance_client::MaintenanceClient::connect(url).await.unwrap();
            etcd.status(StatusRequest {}).await.unwrap().into_inner().db_size_in_use
        })
    });
    sizes.max().unwrap()
}

#[test]
fn a_leader_whose_key_is_gone_writes_nothing_and_the_next_one_goes_on() {
    let Some(mut place) = in_etcd() else { return };
    let mut first = place.lead();
    first.append(&[job(1, 100), commit(1, 0..10)]).unwrap();
    // As if the lease had ended while this process was stopped: it does not know yet.
    delete(&place, "/nonet/l0/leader");
    let old_term = place.take_term();
    let mut second = place.lead();
    assert_eq!(all_of(&second), all_of(&first));
    second.append(&[commit(1, 10..20)]).unwrap();
    assert_eq!(first.append(&[commit(1, 20..30)]), Err(LedgerError::Deposed));
    assert!(old_term.lost().is_cancelled());
    assert!(matches!(first.append(&[commit(1, 30..40)]), Err(LedgerError::Poisoned(_))));
    second.append(&[commit(1, 20..30)]).unwrap();
    let before = all_of(&second);
    drop(second);
    assert_eq!(all_of(place.open().as_ref()), before);
}

#[test]
fn a_deposed_leader_takes_what_its_successor_has_replaced_for_no_damage() {
    let Some(mut place) = in_etcd() else { return };
    let mut first = place.lead();
    first.append(&[job(1, 100), commit(1, 0..10)]).unwrap();
    first.compact().unwrap();
    delete(&place, "/nonet/l0/leader");
    let _old_term = place.take_term();
    let mut second = place.lead();
    second.append(&[commit(1, 10..20)]).unwrap();
    second.compact().unwrap();
    // The page that the first one knows of is gone.
    assert_eq!(first.commits(JobId([1; 16]), &mut |_, _| Ok(())), Err(LedgerError::Deposed));
}

#[test]
fn what_was_withdrawn_stays_so_whatever_is_made_and_withdrawn_after_it() {
    let Some(mut place) = in_etcd() else { return };
    let mut ledger = place.lead();
    let withdraw = |range| Entry::Withdraw { job: JobId([1; 16]), range };
    ledger.append(&[job(1, 100), commit(1, 0..16), commit(1, 16..20)]).unwrap();
    ledger.compact().unwrap();
    ledger.append(&[withdraw(0..16)]).unwrap();
    ledger.append(&[commit(1, 0..8)]).unwrap();
    ledger.append(&[withdraw(0..8)]).unwrap();
    let left = |ledger: &dyn Ledger| -> Vec<u64> {
        all_of(ledger)[0].1.iter().map(|commit| commit.range.start).collect()
    };
    assert_eq!(left(&ledger), [16]);
    assert!(ledger.commit_at(JobId([1; 16]), 0).unwrap().is_none());
    ledger.compact().unwrap();
    assert_eq!(left(&ledger), [16]);
    ledger.append(&[commit(1, 0..16)]).unwrap();
    drop(ledger);
    assert_eq!(left(place.open().as_ref()), [0, 16]);
}

#[test]
fn a_term_ends_when_etcd_does_not_answer_for_as_long_as_the_lease() {
    let Some(mut place) = in_etcd() else { return };
    let mut ledger = place.lead();
    let term = place.take_term();
    ledger.append(&[job(1, 100)]).unwrap();
    place.etcd.kill_node(0);
    place.etcd.kill_node(1);
    let begun = Instant::now();
    assert_eq!(ledger.append(&[commit(1, 0..10)]), Err(LedgerError::Deposed));
    let waited = begun.elapsed();
    assert!(waited < Duration::from_secs(10), "{waited:?}");
    assert!(term.lost().is_cancelled());
    place.etcd.start_node(0);
    place.etcd.until_healthy(0);
    let mut ledger = place.lead();
    // What was not acknowledged may be there or not; not twice.
    if let Err(error) = ledger.append(&[commit(1, 0..10)]) {
        assert!(error.is_refusal(), "{error}");
    }
    assert_eq!(all_of(&ledger)[0].1.len(), 1);
}

#[test]
fn a_killed_node_of_three_is_not_noticed_by_those_who_append() {
    let Some(mut place) = in_etcd() else { return };
    let mut ledger = place.lead();
    ledger.append(&[job(1, 1000)]).unwrap();
    for i in 0..90_u64 {
        if i % 30 == 10 {
            place.etcd.kill_node((i / 30) as usize);
        }
        ledger.append(&[commit(1, i * 10..i * 10 + 10)]).unwrap();
        if i % 30 == 20 {
            place.etcd.start_node((i / 30) as usize);
            place.etcd.until_healthy((i / 30) as usize);
        }
    }
    let before = all_of(&ledger);
    assert_eq!(before[0].1.len(), 90);
    drop(ledger);
    assert_eq!(all_of(place.open().as_ref()), before);
}

#[test]
fn what_somebody_else_wrote_is_named_and_not_believed() {
    let Some(mut place) = in_etcd() else { return };
    let mut ledger = place.lead();
    ledger.append(&[job(1, 100), commit(1, 0..10)]).unwrap();
    put(&place, "/nonet/l0/head", b"nonsense");
    let error = ledger.append(&[commit(1, 10..20)]).unwrap_err();
    assert!(error.to_string().contains("somebody else writes to etcd://"), "{error}");
    let term = place.take_term();
    place.runtime().block_on(term.resign());
    let error = place.try_lead().err().expect("damage");
    assert!(error.to_string().contains("the ledger in etcd is damaged: head"), "{error}");
}

/// A job of the kind `noop`, whose partials can be added up.
fn noop(units: u64) -> Entry {
    let kind = jobs::find("noop").unwrap();
    let settings = kind
        .canonical(&format!("{{\"units\":{units},\"unit_us\":0,\"fail\":[],\"panic\":[],\"label\":\"\"}}"))
        .unwrap();
    Entry::Job(JobRecord {
        id: JobId([1; 16]),
        name: jobs::job_name("noop", kind.revision(), &settings),
        kind: "noop".into(),
        revision: kind.revision(),
        settings,
        units,
        weight: 1,
        created_unix_ms: 1_700_000_000_000,
    })
}

/// The commit of a worker that has computed one unit of it.
fn noop_commit(unit: u64, partial: Vec<u8>, worker: u8) -> Entry {
    Entry::Commit(CommitRecord {
        job: JobId([1; 16]),
        range: unit..unit + 1,
        digest: *blake3::hash(&partial).as_bytes(),
        partial,
        worker: WorkerId([worker; 16]),
        busy_us: 1000,
        at_unix_ms: 1_700_000_000_000 + unit * 7,
    })
}

/// Commits every unit of a job by itself, out of order as workers do, and tells what etcd holds at most.
fn fill(place: &mut InEtcd, units: u64, look_every: u64) -> i64 {
    let mut rng = ChaCha8Rng::seed_from_u64(farm::seed());
    let mut ledger = place.lead();
    let record = noop(units);
    let Entry::Job(JobRecord { settings, .. }) = &record else { unreachable!() };
    let kind = jobs::find("noop").unwrap();
    let open = kind.open(settings).unwrap();
    let partial = |unit: u64| {
        let mut sum = std::sync::Arc::clone(&open).accumulator();
        sum.run_unit(unit, &jobs::UnitContext::free()).unwrap();
        sum.bytes().unwrap()
    };
    ledger.append(std::slice::from_ref(&record)).unwrap();
    let mut waiting: Vec<u64> = Vec::new();
    let mut next = 0;
    let mut most = 0;
    while next < units || !waiting.is_empty() {
        while waiting.len() < 1000 && next < units {
            waiting.push(next);
            next += 1;
        }
        let count = waiting.len().min(256);
        let group: Vec<Entry> = (0..count)
            .map(|_| {
                let unit = waiting.swap_remove(rng.random_range(0..waiting.len()));
                noop_commit(unit, partial(unit), rng.random_range(0..200))
            })
            .collect();
        ledger.append(&group).unwrap();
        if next % look_every < 256 {
            most = most.max(bytes_in_use(place));
        }
    }
    drop(ledger);
    let begun = Instant::now();
    let ledger = place.open();
    let (mut done, mut commits, mut several) = (0, 0_u64, 0_u64);
    let mut sum = std::sync::Arc::clone(&open).accumulator();
    ledger
        .commits(JobId([1; 16]), &mut |commit, _| {
            assert_eq!(commit.range.start, done, "every unit once");
            assert_eq!(&commit.digest, blake3::hash(&commit.partial).as_bytes());
            done = commit.range.end;
            commits += 1;
            several += u64::from(commit.worker == WorkerId::SEVERAL);
            sum.absorb(&commit.partial).unwrap();
            Ok(())
        })
        .unwrap();
    let opened = begun.elapsed();
    assert_eq!(done, units);
    let mut whole = std::sync::Arc::clone(&open).accumulator();
    for unit in 0..units {
        whole.run_unit(unit, &jobs::UnitContext::free()).unwrap();
    }
    assert_eq!(sum.bytes().unwrap(), whole.bytes().unwrap(), "the sum of all");
    println!(
        "{units} units, {commits} commits kept ({several} added up), {most} bytes at most, read in {opened:?}"
    );
    most.max(bytes_in_use(place))
}

#[test]
fn hundreds_of_thousands_of_commits_stay_small() {
    let Some(mut place) = in_etcd() else { return };
    let most = fill(&mut place, 700_000, 20_000);
    assert!(most < 10_000_000, "{most} bytes");
}

/// Ten million units, each its own commit: `cargo test --release -p coordinator --test ledger -- --ignored --nocapture ten_million`
#[test]
#[ignore = "takes minutes"]
fn ten_million_units_stay_under_ten_megabytes() {
    let Some(mut place) = in_etcd() else { return };
    let begun = Instant::now();
    let most = fill(&mut place, 10_000_000, 100_000);
    println!("{most} bytes in use at most, {:?}", begun.elapsed());
    assert!(most < 10_000_000, "{most} bytes");
}
