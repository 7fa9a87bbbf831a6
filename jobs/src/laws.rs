//! What every kind has to keep, for the tests of kinds.

use std::ops::Range;

use crate::{
    kind::{JobKind, UnitContext},
    parts::PartSink,
};

/// The sum of a range of units, each checked as the machinery does, with a place for their parts or without.
pub(crate) fn run_with<K: JobKind>(job: &K, range: Range<u64>, parts: Option<&dyn PartSink>) -> K::Partial {
    let mut sum = job.empty();
    for unit in range.clone() {
        let context = UnitContext::free().with_parts(parts);
        let yielded = job.run_unit(unit, &context).expect("a unit that can be computed");
        job.check(unit..unit + 1, &yielded).expect("a yield that can be");
        job.merge(&mut sum, yielded).expect("units of one job");
    }
    job.check(range, &sum).expect("a sum that can be");
    sum
}

/// The same without parts.
pub(crate) fn run<K: JobKind>(job: &K, range: Range<u64>) -> K::Partial {
    run_with(job, range, None)
}

/// Any split of a range gives the same bytes, in whatever order the sums are merged; nothing merged changes nothing.
pub(crate) fn splits_agree<K: JobKind>(job: &K, range: Range<u64>, cuts: impl IntoIterator<Item = u64>) {
    let bytes = |partial: &K::Partial| postcard::to_stdvec(partial).expect("partials can be written");
    let whole = bytes(&run(job, range.clone()));
    for cut in cuts {
        let halves = || (run(job, range.start..cut), run(job, cut..range.end));
        let (mut low, high) = halves();
        job.merge(&mut low, high).expect("units of one job");
        job.merge(&mut low, job.empty()).expect("nothing");
        assert_eq!(bytes(&low), whole, "cut at {cut}");
        let (low, mut high) = halves();
        job.merge(&mut high, low).expect("units of one job");
        assert_eq!(bytes(&high), whole, "cut at {cut}, the other way round");
    }
}
