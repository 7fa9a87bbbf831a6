//! Any bytes as the base of a ledger in etcd, packed or to be packed first, give a state or an error. What reads encodes
//! to something that reads as the same.

#![no_main]

use coordinator::{
    ledger::{Entry, JobRecord, etcd::fuzz::base},
    scheduler::JobId,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((raw, rest)) = bytes.split_first() else { return };
    let pack = |bytes: &[u8]| zstd::bulk::compress(bytes, 1).expect("packs");
    let packed = if raw % 8 == 0 { rest.to_vec() } else { pack(rest) };
    let record = JobRecord {
        id: JobId([9; 16]),
        name: [9; 16],
        kind: "noop".into(),
        revision: 1,
        settings: "{}".into(),
        units: 9,
        weight: 1,
        created_unix_ms: 9,
    };
    let Ok(again) = base(&packed, &[Entry::Job(record)]) else { return };
    assert_eq!(base(&pack(&again), &[]).expect("it was just made"), again);
});
