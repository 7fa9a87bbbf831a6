//! What a lease hands in.

use super::*;

/// Computes forty units of a millisecond each, handing in every five; what was handed in. `meddle` happens before.
fn handed_in(whole: bool, meddle: fn(&Lease)) -> Vec<Range<u64>> {
    let dir = tempfile::tempdir().expect("a folder");
    let settings = r#"{"units":100,"unit_us":1000,"fail":[],"panic":[],"label":""}"#;
    let revision = jobs::find("noop").expect("a kind").revision();
    let job = OpenJob::new("noop".into(), revision, settings.into());
    let spool = Arc::new(Spool::open(dir.path()).expect("a spool"));
    let pace = Pace { commit_every: Duration::from_millis(5), keep_every: Duration::from_millis(2) };
    let means = Means { spool, parts: None, pace, storage: Arc::clone(jobs::input::Local::shared()) };
    let lease = Lease::new(1, 1, [1; 16], [2; 16], if whole { 40..60 } else { 60..80 }).whole(whole);
    meddle(&lease);
    let mut all = Vec::new();
    compute(&lease, &job, &means, &mut |report| match report {
        Report::Commit { output, .. } => all.push(output.range),
        Report::Keep { output, .. } => assert!(!whole, "{:?} is of no use later", output.range),
        Report::Ended { last, failed, .. } => {
            assert_eq!(failed, None);
            all.extend(last.map(|output| output.range));
        }
    });
    all
}

#[test]
fn a_lease_is_handed_in_stretch_by_stretch_and_one_over_a_claim_whole() {
    let stretches = handed_in(false, |_| {});
    assert!(stretches.len() > 1, "{stretches:?}");
    assert_eq!((stretches[0].start, stretches.last().map(|last| last.end)), (60, Some(80)));
    assert_eq!(handed_in(true, |_| {}), std::slice::from_ref(&(40..60)));
}

#[test]
fn one_over_a_claim_is_not_shortened_and_without_its_end_it_is_nothing() {
    let shrunk = handed_in(false, |lease| assert_eq!(lease.shrink(65), 65));
    assert_eq!(shrunk.last().map(|last| last.end), Some(65));
    assert_eq!(handed_in(true, |lease| assert_eq!(lease.shrink(45), 60)), std::slice::from_ref(&(40..60)));
    assert!(handed_in(true, Lease::revoke).is_empty());
    // Half-way: some units are computed, and not all.
    let half = handed_in(true, |lease| {
        (0..10).for_each(|_| lease.finish(lease.claim().expect("a unit")));
        lease.revoke();
    });
    assert!(half.is_empty(), "{half:?}");
}
