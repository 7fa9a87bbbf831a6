//! Any bytes as a certificate, and any lines of JSON sealed as one (see `seal`): refused, or checked.

#![no_main]

use coordinator::certificate::check;
use coordinator_fuzz::seal;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    drop(check(bytes));
    let Ok(lines) = std::str::from_utf8(bytes) else { return };
    let sealed = seal(lines);
    if let Ok(checked) = check(&sealed[..]) {
        let units = |job: usize| -> u64 {
            let of = checked.ranges.iter().filter(|range| range.job == job);
            of.map(|range| range.units.end - range.units.start).sum()
        };
        for (number, job) in checked.jobs.iter().enumerate() {
            assert!(units(number) <= job.units && job.units <= units(number) + job.quarantined.len() as u64);
        }
    }
});
