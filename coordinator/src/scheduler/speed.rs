//! What units cost and how fast a job goes, in whole numbers.

use super::Millis;

/// What a unit of a job costs on a worker, from the worker's own measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Speed {
    /// Computing time of a unit; at least 1.
    pub ns_per_unit: u64,
    /// Leases may have so many units: grows with what the worker has proved to do.
    pub cap_units: u64,
}

impl Speed {
    /// Takes a measurement in. New ones weigh as much as all before, so that a lease of cheap units does not
    /// determine the size of many leases of dear ones.
    pub(super) fn measured(before: Option<Self>, units: u64, busy_ns: u64, growth_factor: u64) -> Self {
        let ns = (busy_ns / units.max(1)).max(1);
        let cap = units.saturating_mul(growth_factor.max(1));
        before.map_or(Self { ns_per_unit: ns, cap_units: cap }, |old| Self {
            ns_per_unit: average(old.ns_per_unit, ns, 1),
            cap_units: old.cap_units.max(cap),
        })
    }
}

/// `(old * weight + new) / (weight + 1)`, at least 1.
pub(super) fn average(old: u64, new: u64, weight: u64) -> u64 {
    let sum = u128::from(old) * u128::from(weight) + u128::from(new);
    u64::try_from(sum / (u128::from(weight) + 1)).unwrap_or(u64::MAX).max(1)
}

/// Units committed over the last minute, in buckets of five seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter {
    buckets: [u64; BUCKETS],
    /// Number of the newest bucket since time zero.
    newest: u64,
    /// When the first units came.
    since: Option<Millis>,
}

const BUCKETS: usize = 12;
const BUCKET_MS: Millis = 5_000;

impl Meter {
    pub(super) fn add(&mut self, now: Millis, units: u64) {
        self.since.get_or_insert(now);
        let bucket = now / BUCKET_MS;
        if bucket.saturating_sub(self.newest) >= BUCKETS as u64 {
            self.buckets = [0; BUCKETS];
        } else {
            for stale in self.newest + 1..=bucket {
                self.buckets[Self::slot(stale)] = 0;
            }
        }
        self.newest = bucket;
        let slot = &mut self.buckets[Self::slot(bucket)];
        *slot = slot.saturating_add(units);
    }

    /// Units in a thousand seconds, by the last minute; 0 if there were none.
    pub(super) fn units_per_1000s(&self, now: Millis) -> u64 {
        let Some(since) = self.since else { return 0 };
        let current = now / BUCKET_MS;
        let oldest = (current + 1).saturating_sub(BUCKETS as u64);
        let units: u128 = (oldest.max((self.newest + 1).saturating_sub(BUCKETS as u64))..=self.newest)
            .map(|b| u128::from(self.buckets[Self::slot(b)]))
            .sum();
        // A young job is measured over its age, but not over so little that a single commit makes it look fast.
        let span = now.saturating_sub(since.max(oldest * BUCKET_MS)).max(1_000);
        u64::try_from(units * 1_000_000 / u128::from(span)).unwrap_or(u64::MAX)
    }

    fn slot(bucket: u64) -> usize {
        usize::try_from(bucket % BUCKETS as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_stream_is_measured_exactly_and_forgotten_after_a_minute() {
        let mut meter = Meter::default();
        for second in 0..600 {
            meter.add(second * 1_000, 7);
        }
        let rate = meter.units_per_1000s(600_000);
        assert!((6_900..=7_700).contains(&rate), "{rate}");
        assert_eq!(meter.units_per_1000s(700_000), 0);
        assert_eq!(Meter::default().units_per_1000s(5), 0);
    }

    #[test]
    fn speed_survives_nonsense() {
        let speed = Speed::measured(None, 0, 0, 0);
        assert_eq!(speed, Speed { ns_per_unit: 1, cap_units: 0 });
        let speed = Speed::measured(Some(speed), u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(speed, Speed { ns_per_unit: 1, cap_units: u64::MAX });
    }
}
