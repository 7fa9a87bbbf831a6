//! Any bytes as a partial of each kind: refused, or part of the sum as the bytes that were accepted, and reported.

#![no_main]

use std::sync::{Arc, LazyLock};

use coordinator_fuzz::{Small, all};
use jobs::Progress;
use libfuzzer_sys::fuzz_target;

static JOBS: LazyLock<Vec<Small>> = LazyLock::new(all);

fuzz_target!(|bytes: &[u8]| {
    let Some((&[which, start, len], partial)) = bytes.split_first_chunk() else { return };
    let Small { job, .. } = &JOBS[usize::from(which) % JOBS.len()];
    let units = job.units();
    let start = u64::from(start) % units;
    let range = start..start.saturating_add(u64::from(len).max(1)).min(units);
    let done = range.end - range.start;
    let accepted = job.check(range, partial).is_ok();
    let mut sum = Arc::clone(job).accumulator();
    let added = sum.absorb(partial).is_ok();
    if accepted {
        assert!(added, "what is accepted adds up");
        assert_eq!(sum.bytes().expect("a sum of one"), partial, "of {} units", done);
        let progress = Progress { units, done, busy_us: 1, ..Progress::default() };
        drop(job.report(partial, &progress));
    } else if added {
        drop(sum.absorb(partial));
        drop(sum.bytes());
    }
});
