//! Any bytes as a page of commits in etcd, packed or to be packed first, give ascending commits or an error.

#![no_main]

use coordinator::{
    ledger::etcd::fuzz::{page, page_of},
    scheduler::JobId,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((raw, rest)) = bytes.split_first() else { return };
    let packed = if raw % 8 == 0 { rest.to_vec() } else { zstd::bulk::compress(rest, 1).expect("packs") };
    let job = JobId([5; 16]);
    let Ok(commits) = page(job, &packed) else { return };
    assert!(commits.is_sorted_by(|(a, _), (b, _)| a.range.end <= b.range.start));
    let again = page_of(&commits).expect("they ascend");
    assert_eq!(page(job, &again).expect("it was just made"), commits);
});
