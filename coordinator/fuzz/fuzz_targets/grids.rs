//! Any bytes as a list of grids, as they are or packed: refused, or jobs of grids.

#![no_main]

use std::fs;

use coordinator_fuzz::{folder, packed, settings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((how, rest)) = bytes.split_first() else { return };
    let path = folder().join("grids");
    fs::write(&path, packed(*how, rest)).expect("written");
    let path = path.to_str().expect("UTF-8");
    for (kind, args) in [("unavoidable", [path, "--max-size", "6"]), ("hitting", [path, "--clues", "4"])] {
        let kind = jobs::find(kind).expect("a kind");
        let Some(settings) = settings(kind, &args) else { continue };
        let job = kind.open(&settings).expect("it was just opened");
        assert!(job.units() > 0);
        let _ = [0, job.units() - 1].map(|unit| job.unit_name(unit));
    }
});
