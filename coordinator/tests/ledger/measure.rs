//! How quick appending is. `cargo test --release -p coordinator --test ledger -- --ignored --nocapture measure`

use std::{
    fs,
    time::{Duration, Instant},
};

use coordinator::ledger::{EmbeddedLedger, Entry, Ledger};

use super::{commit_record, job};

/// Processor time of this process so far.
fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

#[test]
#[ignore = "measures"]
fn measure() {
    for (groups, size, partial) in
        [(4000_u64, 256_u64, 64_usize), (2000, 256, 200), (3000, 1, 64), (200, 256, 4096)]
    {
        let dir = tempfile::tempdir().unwrap();
        let mut ledger = EmbeddedLedger::open(dir.path()).unwrap();
        ledger.append(&[job(1, 1 << 40)]).unwrap();
        let (begun, processor) = (Instant::now(), processor_time());
        let mut times = Vec::new();
        for group in 0..groups {
            let entries: Vec<_> = (group * size..(group + 1) * size)
                .map(|i| Entry::Commit(commit_record(1, i * 10..i * 10 + 10, vec![7; partial])))
                .collect();
            let begun = Instant::now();
            ledger.append(&entries).unwrap();
            times.push(begun.elapsed());
        }
        let acknowledged = begun.elapsed();
        drop(ledger);
        let (all, processor) = (begun.elapsed(), processor_time().saturating_sub(processor));
        times.sort();
        let count = groups * size;
        let rate = |t: Duration| u128::from(count) * 1_000_000 / t.as_micros();
        println!(
            "groups of {size}, partials of {partial} bytes: {} commits/s acknowledged, {} indexed, {} ns of processor each, \
             group p50 {:?}, p99 {:?}, max {:?}",
            rate(acknowledged),
            rate(all),
            processor.as_nanos() / u128::from(count),
            times[times.len() / 2],
            times[times.len() * 99 / 100],
            times[times.len() - 1],
        );
        let begun = Instant::now();
        let mut ledger = EmbeddedLedger::open(dir.path()).unwrap();
        let opened = begun.elapsed();
        let mut read = 0_u64;
        ledger
            .commits(coordinator::scheduler::JobId([1; 16]), &mut |_, _| {
                read += 1;
                Ok(())
            })
            .unwrap();
        let read_all = begun.elapsed().saturating_sub(opened);
        let last = begun.elapsed();
        ledger.append(&[Entry::Commit(commit_record(1, count * 10..count * 10 + 1, vec![]))]).unwrap();
        let first_append = begun.elapsed().saturating_sub(last);
        drop(ledger);
        let size = |name: &str| fs::metadata(dir.path().join(name)).unwrap().len() / count;
        println!(
            "  opened in {opened:?}, {read} commits read in {read_all:?}, first append {first_append:?}; bytes each: journal {}, \
             store {}",
            size("journal"),
            size("store/db")
        );
    }
}
