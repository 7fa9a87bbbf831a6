//! Any bytes as the parts of a job's output: put together in every form, or refused.

#![no_main]

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use coordinator_fuzz::{Small, all, pieces};
use jobs::{Finished, OutputError, PartSource, Progress};
use libfuzzer_sys::fuzz_target;

/// Jobs that have an output, and what the report says of nothing done.
static JOBS: LazyLock<Vec<(Small, serde_json::Value)>> = LazyLock::new(|| {
    let with_output = all().into_iter().filter(|of| of.kind.output().is_some() && of.job.units() < 1000);
    with_output
        .map(|of| {
            let nothing = Arc::clone(&of.job).accumulator().bytes().expect("small");
            let progress = Progress { units: of.job.units(), ..Progress::default() };
            let report = of.job.report(&nothing, &progress).expect("a report").json;
            (of, report)
        })
        .collect()
});

struct Found<'a>(BTreeMap<u64, &'a [u8]>);

impl PartSource for Found<'_> {
    fn get(&self, unit: u64) -> Result<Vec<u8>, OutputError> {
        Ok(self.0.get(&unit).copied().unwrap_or_default().to_vec())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&[which, grids], rest)) = bytes.split_first_chunk() else { return };
    let (Small { kind, job, .. }, report) = &JOBS[usize::from(which) % JOBS.len()];
    let parts = Found((0..).zip(pieces(rest)).collect());
    let mut report = report.clone();
    if report.get("grids").is_some() {
        // What the parts are held against.
        report["grids"] = grids.to_string().into();
    }
    for &form in kind.forms() {
        drop(job.assemble(&Finished { report: &report, parts: &parts, form }, &mut Vec::new()));
    }
});
