//! Any bytes as a corpus of `solve`, as they are or packed: refused, or solved, and written in every form.

#![no_main]

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use coordinator_fuzz::{Parts, folder, packed, settings};
use jobs::{Finished, Progress, UnitContext};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((how, rest)) = bytes.split_first() else { return };
    let path = folder().join("puzzles");
    fs::write(&path, packed(*how, rest)).expect("written");
    let kind = jobs::find("solve").expect("a kind");
    let usual = "puzzle,verdict,solutions,solution,problem,clues";
    let args = [path.to_str().expect("UTF-8"), "--cap", "50", "--columns", usual];
    let Some(settings) = settings(kind, &args) else { return };
    let job = kind.open(&settings).expect("what was looked up opens");
    let (parts, begun) = (Parts::default(), Instant::now());
    let stop = || begun.elapsed() > Duration::from_secs(5);
    let context = UnitContext::new(&stop, None).with_parts(Some(&parts));
    let mut sum = Arc::clone(&job).accumulator();
    for unit in 0..job.units() {
        if sum.run_unit(unit, &context).is_err() {
            return;
        }
    }
    let (units, sum) = (job.units(), sum.bytes().expect("few units"));
    job.check(0..units, &sum).expect("what was computed");
    let report = job.report(&sum, &Progress { units, done: units, ..Progress::default() }).expect("a report");
    for &form in kind.forms() {
        let finished = Finished { report: &report.json, parts: &parts, form };
        job.assemble(&finished, &mut Vec::new()).expect("an output");
    }
});
