//! Any bytes as the progress of a unit that a worker kept: the unit is computed from there, or anew.

#![no_main]

use std::{
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use coordinator_fuzz::{GRID, Small, small};
use jobs::{UnitCheckpoint, UnitContext};
use libfuzzer_sys::fuzz_target;

struct Kept<'a>(&'a [u8]);

impl UnitCheckpoint for Kept<'_> {
    fn load(&self) -> Option<Vec<u8>> {
        Some(self.0.to_vec())
    }

    fn save(&self, _: Vec<u8>) {}
}

static JOBS: LazyLock<Vec<Small>> = LazyLock::new(|| {
    let nine = "123456789456789123789123456231674895875912364694538217317265948542897631968341572";
    vec![
        small("hitting", &[GRID, "--clues", "4..6"]),
        small("burnside", &["--shape", "2x2"]),
        small("recount", &["--shape", "2x2", "--method", "search"]),
        small("hitting", &[nine, "--clues", "12"]),
        small("recount", &["--shape", "2x3", "--method", "search"]),
        small("burnside", &["--shape", "2x3"]),
    ]
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&[which, unit], kept)) = bytes.split_first_chunk() else { return };
    let Small { job, .. } = &JOBS[usize::from(which) % JOBS.len()];
    let begun = Instant::now();
    let stop = || begun.elapsed() > Duration::from_secs(1);
    let kept = Kept(kept);
    let context = UnitContext::new(&stop, Some(&kept));
    drop(Arc::clone(job).accumulator().run_unit(u64::from(unit) % job.units(), &context));
});
