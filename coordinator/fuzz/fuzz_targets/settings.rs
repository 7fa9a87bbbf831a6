//! Any text as the settings of each kind: refused, or a job of one spelling.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, text)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let kind = jobs::KINDS[usize::from(*which) % jobs::KINDS.len()];
    let Ok(canonical) = kind.canonical(text) else { return };
    assert_eq!(kind.canonical(&canonical).as_ref(), Ok(&canonical), "of {text}");
    let (Ok(job), Ok(_)) = (kind.open(&canonical), kind.open(text)) else { return };
    assert!(job.units() > 0);
    for need in job.needs() {
        assert!(jobs::find(need.kind).is_some());
    }
    // A list of grids is what names a unit of `minimal`, and 6x6 has many.
    if kind.name() != "minimal" {
        let _ = [0, job.units() / 2, job.units() - 1].map(|unit| job.unit_name(unit));
    }
});
