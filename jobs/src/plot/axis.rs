//! Axes laid out: what they span, and where their ticks are.
//!
//! plotters has axes of its own, but their logarithmic ticks are not at the powers of ten. Coordinates here are the
//! values, or their logarithms to base 10; plotters only hears of coordinates.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::{
    Scale,
    text::{grouped, lines, power_of_ten, width},
};

/// Steps between ticks of a linear axis, about.
const STEPS: f64 = 6.0;
/// Labels of a logarithmic axis at most, but for those between powers of ten.
const MOST_POWERS: i32 = 10;
/// Lines between the powers of ten are drawn for as many powers.
const MOST_POWERS_WITH_LINES: i32 = 7;
/// Letters of a category that are shown at least, about.
const LETTERS: i32 = 5;
/// Beyond this and below its inverse numbers are left out or 0: far from what a double cannot hold.
const LARGEST: f64 = 1e200;
/// Numbers from here on are written with a power of ten.
const LONG: f64 = 1e7;
/// And those below this.
const SHORT: f64 = 1e-4;

/// An axis laid out.
pub struct Ruler {
    log: bool,
    low: f64,
    high: f64,
    /// Coordinate and label, ascending.
    ticks: Vec<(f64, String)>,
    /// Labels that go on below, by coordinate.
    below: Vec<(f64, String)>,
    /// Lines without labels.
    minor: Vec<f64>,
}

/// A count as a coordinate is read off: to a pixel.
#[allow(clippy::cast_precision_loss, reason = "counts are written out where they must be exact")]
pub fn approximate(count: u64) -> f64 {
    count as f64
}

impl Ruler {
    /// For numbers.
    pub fn of_numbers(scale: Scale, numbers: impl Iterator<Item = f64>) -> Self {
        let log = scale == Scale::Log;
        let range = span(numbers.filter_map(|number| coordinate(number, log)));
        let Some((low, high)) = range else { return Self::of_range(log, 0.0, 1.0, false) };
        if log {
            // Rounding must not add a power.
            let (low, high) = ((low + 1e-9).floor(), (high - 1e-9).ceil());
            return Self::of_range(log, low, high.max(low + 1.0), false);
        }
        // One number has no range of its own; of numbers hardly apart a double has no ticks in between.
        let least = (low.abs().max(high.abs()) * 1e-9).max(1.0 / LARGEST);
        let pad = if high - low > least {
            0.0
        } else if low == 0.0 {
            1.0
        } else {
            low.abs() / 2.0
        };
        Self::of_range(log, low - pad, high + pad, false)
    }

    /// For the heights of bars: from zero, or below 1, and with a share `above` left for labels.
    pub fn of_counts(scale: Scale, counts: impl Iterator<Item = u64>, above: f64) -> Self {
        let most = approximate(counts.max().unwrap_or_default()).max(1.0);
        if scale == Scale::Linear {
            return Self::of_range(false, 0.0, most / (1.0 - above), true);
        }
        // A bar of 1 that ends where the axis begins would not be seen.
        let low = -0.3;
        let high = low + (most.log10().max(1.0) - low) / (1.0 - above);
        let ruler = Self::of_range(true, low, high, true);
        let minor = ruler.minor.into_iter().filter(|&at| at > 0.0).collect();
        Self { minor, ..ruler }
    }

    /// For categories, one unit wide each; `room` tells how wide so many of them are. As many have labels as do not run
    /// into each other, or out of the drawing.
    pub fn of_categories(labels: &[String], room: impl Fn(usize) -> i32, size: i32) -> Self {
        let numbers: Option<Vec<u64>> = labels.iter().map(|label| label.parse().ok()).collect();
        let in_a_row =
            |numbers: &Vec<u64>| numbers.windows(2).all(|two| two[0].checked_add(1) == Some(two[1]));
        let numbers = numbers.filter(in_a_row);
        let widest = labels.iter().map(|label| width(label, size)).max().unwrap_or(0);
        // Numbers can be guessed from their neighbours; of other texts some letters are needed.
        let least = if numbers.is_some() { widest } else { widest.min(LETTERS * size) } + size / 2;
        let strides = (0..).map(|power| 10usize.saturating_pow(power));
        let strides = strides.flat_map(|ten| [1, 2, 5].map(|times| ten.saturating_mul(times))).take(30);
        let stride =
            strides.take_while(|&stride| stride < labels.len()).find(|&stride| room(stride) >= least);
        let stride = stride.unwrap_or(labels.len().max(1));
        let shown = |at: usize| match &numbers {
            Some(numbers) => numbers[at].is_multiple_of(stride as u64),
            None => at.is_multiple_of(stride),
        };
        let place = |at: usize| {
            let to_the_left = 3 * size + room(at);
            let to_the_right = size + room(labels.len() - at - 1);
            (room(stride) - size / 2).min(to_the_left.min(to_the_right) * 2 + room(1))
        };
        let high = approximate(labels.len().max(1) as u64);
        let mut ruler =
            Self { log: false, low: 0.0, high, ticks: Vec::new(), below: Vec::new(), minor: Vec::new() };
        for (at, label) in labels.iter().enumerate().filter(|(at, _)| shown(*at)) {
            let (label, more) = lines(label, place(at), size);
            let at = approximate(at as u64) + 0.5;
            ruler.ticks.push((at, label));
            ruler.below.extend(more.map(|more| (at, more)));
        }
        ruler
    }

    fn of_range(log: bool, low: f64, high: f64, whole: bool) -> Self {
        if log {
            let (ticks, minor) = powers(low, high);
            return Self { log, low, high, ticks, below: Vec::new(), minor };
        }
        let step = Step::of((high - low) / STEPS, whole);
        let (first, last) = ((low / step.size()).floor(), (high / step.size()).ceil());
        let steps = (0..=20).map(f64::from).map(|n| first + n).take_while(|&n| n <= last);
        let ticks: Vec<_> = steps.map(|n| n * step.size()).collect();
        let (low, high) = span(ticks.iter().copied()).unwrap_or((low, high));
        let label = |at| (at, step.label(at, low.abs().max(high.abs())));
        let ticks = ticks.into_iter().map(label).collect();
        Self { log, low, high, ticks, below: Vec::new(), minor: Vec::new() }
    }

    /// With as many ticks only as have place for their labels beside each other.
    pub fn on(mut self, room: i32, size: i32) -> Self {
        let gaps = i32::try_from(self.ticks.len()).unwrap_or(i32::MAX).saturating_sub(1);
        let needed = (self.widest(size) + size / 2).saturating_mul(gaps);
        let stride = usize::try_from(needed / room.max(1)).unwrap_or(0) + 1;
        self.ticks = self.ticks.into_iter().step_by(stride).collect();
        self
    }

    /// Where a number is, if it has a place.
    pub fn at(&self, number: f64) -> Option<f64> {
        coordinate(number, self.log)
    }

    /// Second lines of labels, and where they are.
    pub fn below(&self) -> &[(f64, String)] {
        &self.below
    }

    /// The lower end.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// How wide the labels are.
    pub fn widest(&self, size: i32) -> i32 {
        self.ticks.iter().map(|(_, label)| width(label, size)).max().unwrap_or(0)
    }
}

fn coordinate(number: f64, log: bool) -> Option<f64> {
    let tiny = number.abs() < 1.0 / LARGEST;
    match log {
        _ if !number.is_finite() || number.abs() > LARGEST => None,
        true => (number > 0.0 && !tiny).then(|| number.log10()),
        false => Some(if tiny { 0.0 } else { number }),
    }
}

/// The least and the greatest.
fn span(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    numbers.fold(None, |range, number| {
        let (low, high) = range.unwrap_or((number, number));
        Some((low.min(number), high.max(number)))
    })
}

/// Labels at the powers of ten between two logarithms, at 2 and 5 times those where there are few, and lines between.
fn powers(low: f64, high: f64) -> (Vec<(f64, String)>, Vec<f64>) {
    let (first, last) = (whole(low.ceil()), whole(high.floor()));
    let stride = (last - first).max(0) / MOST_POWERS + 1;
    let plain = last <= 6 && first >= -3;
    let name = |times: i32, power: i32| match (times, plain) {
        (_, true) if power < 0 => {
            format!("{:.*}", usize::try_from(-power).unwrap_or(0), f64::from(times) * 10f64.powi(power))
        }
        (_, true) => grouped(&(times.unsigned_abs() * 10u32.pow(power.unsigned_abs())).to_string()),
        (1, false) => power_of_ten(power),
        _ => format!("{times}×{}", power_of_ten(power)),
    };
    let few = last - first < 2;
    let (mut ticks, mut minor) = (Vec::new(), Vec::new());
    for power in first - 1..=last {
        for times in 1..10 {
            let at = f64::from(power) + f64::from(times).log10();
            let labelled =
                if times == 1 { power.rem_euclid(stride) == 0 } else { few && matches!(times, 2 | 5) };
            if !(low..=high).contains(&at) {
                continue;
            }
            if labelled {
                ticks.push((at, name(times, power)));
            } else if last - first <= MOST_POWERS_WITH_LINES {
                minor.push(at);
            }
        }
    }
    (ticks, minor)
}

#[allow(clippy::cast_possible_truncation, reason = "an exponent, or a pixel: what does not fit is clamped")]
fn whole(number: f64) -> i32 {
    number.round() as i32
}

/// 1, 2 or 5 times a power of ten.
#[derive(Clone, Copy)]
struct Step {
    times: f64,
    exponent: i32,
}

impl Step {
    /// The least that is not smaller than `least`, which is positive; `whole` allows no fractions.
    fn of(least: f64, whole_only: bool) -> Self {
        let exponent = whole(least.log10().floor());
        if whole_only && exponent < 0 {
            return Self { times: 1.0, exponent: 0 };
        }
        let step = |times, more| Self { times, exponent: exponent + more };
        let steps = [step(1.0, 0), step(2.0, 0), step(5.0, 0), step(1.0, 1)];
        steps.into_iter().find(|step| step.size() >= least).unwrap_or(step(2.0, 1))
    }

    fn size(self) -> f64 {
        self.times * 10f64.powi(self.exponent)
    }

    /// A multiple of the step, on an axis to at most `largest`.
    fn label(self, number: f64, largest: f64) -> String {
        let decimals = |below: i32| usize::try_from((below - self.exponent).clamp(0, 15)).unwrap_or(0);
        if number.abs() < self.size() / 2.0 {
            return "0".into();
        }
        if (SHORT..LONG).contains(&largest) {
            return grouped(&format!("{number:.*}", decimals(0)));
        }
        let power = whole(largest.log10().floor());
        let number = format!("{:.*}", decimals(power), number / 10f64.powi(power));
        format!("{}×{}", grouped(&number), power_of_ten(power))
    }
}

impl Ranged for Ruler {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, &at: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (at - self.low) / (self.high - self.low);
        from + whole(share.clamp(0.0, 1.0) * f64::from(to - from))
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            return self.minor.clone();
        }
        self.ticks.iter().map(|(at, _)| *at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Ruler {
    fn format_ext(&self, at: &f64) -> String {
        let tick = self.ticks.iter().find(|(tick, _)| tick.total_cmp(at).is_eq());
        tick.map_or(String::new(), |(_, label)| label.clone())
    }
}
