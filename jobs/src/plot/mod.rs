//! Plots: what a report has to show, kept as data until somebody wants to look.
//!
//! A kind says what there is to see, by [`Plot::counts`] and [`Plot::distribution`] or field by field. The coordinator
//! sends it along with the rest of the report ([`to_json`]), and whoever asked draws it ([`Plot::svg`]).
//!
//! Drawing never fails: what has no place on its axes (NaN, infinities, nothing or less on a logarithmic one) is left
//! out. The same data give the same text.

mod axis;
mod draw;
pub(crate) mod text;
mod wire;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use wire::{MAX_PLOTS_BYTES, from_json, to_json};

/// Numbers in a row that have a bar each in [`Plot::distribution`]; 25x25 puzzles have up to 625 clues.
const MOST_NUMBERS: u64 = 700;

/// Counts this far apart are compared on a logarithmic scale: the small ones would not be seen on a linear one.
const FAR_APART: u64 = 100;

/// A plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// What it shows, in a few words.
    pub title: String,
    /// A sentence for below; may be empty.
    pub caption: String,
    /// From left to right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// What is drawn.
    pub marks: Marks,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// What is measured along it, with its unit.
    pub label: String,
    /// How. The x axis of [`Marks::Bars`] has categories and no scale: this is then ignored.
    pub scale: Scale,
}

/// How an axis is divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long; there is no zero.
    Log,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Marks {
    /// A bar for each category and series.
    Bars {
        /// From left to right.
        categories: Vec<String>,
        /// Side by side in every category.
        series: Vec<Bars>,
    },
    /// Points joined in their order: cumulative distributions, measurements over time.
    Lines(Vec<Curve>),
    /// Points on their own.
    Points(Vec<Curve>),
}

/// Counts of one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bars {
    /// Shown if there are several.
    pub name: String,
    /// In the order of the categories; those that are missing are 0, those too many are ignored.
    pub counts: Vec<u64>,
}

/// Points of one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Shown if there are several.
    pub name: String,
    /// As (x, y).
    // JSON has no NaN: it would be read back as an error.
    #[serde(serialize_with = "wire::finite")]
    pub points: Vec<(f64, f64)>,
}

impl Axis {
    /// An axis of equal differences.
    pub fn linear(label: &str) -> Self {
        Self { label: label.into(), scale: Scale::Linear }
    }

    /// An axis of equal ratios.
    pub fn log(label: &str) -> Self {
        Self { label: label.into(), scale: Scale::Log }
    }
}

impl Scale {
    /// The scale on which these counts can be compared.
    pub fn of_counts(counts: impl IntoIterator<Item = u64>) -> Self {
        let range = |range: Option<(u64, u64)>, count| {
            let (least, most) = range.unwrap_or((count, count));
            Some((least.min(count), most.max(count)))
        };
        match counts.into_iter().filter(|&count| count > 0).fold(None, range) {
            Some((least, most)) if most / least >= FAR_APART => Self::Log,
            _ => Self::Linear,
        }
    }
}

impl Plot {
    /// A bar for each category, in their order; nothing if there is nothing to count. `x` says what the categories
    /// are, `y` what is counted.
    pub fn counts<C: Into<String>>(
        title: &str,
        x: &str,
        y: &str,
        counts: impl IntoIterator<Item = (C, u64)>,
    ) -> Option<Self> {
        let (categories, counts): (Vec<_>, Vec<_>) =
            counts.into_iter().map(|(category, count)| (category.into(), count)).unzip();
        counts.iter().any(|&count| count > 0).then(|| Self {
            title: title.into(),
            caption: String::new(),
            x: Axis::linear(x),
            y: Axis { label: y.into(), scale: Scale::of_counts(counts.iter().copied()) },
            marks: Marks::Bars { categories, series: vec![Bars { name: y.into(), counts }] },
        })
    }

    /// A bar for each number from the least that occurs to the greatest, as high as it occurs often; numbers in
    /// between that do not occur are gaps. Numbers too far apart share bars: 1, 2 to 3, 4 to 7, and so on.
    pub fn distribution<N: Into<u64>>(
        title: &str,
        x: &str,
        y: &str,
        counts: impl IntoIterator<Item = (N, u64)>,
    ) -> Option<Self> {
        let mut by_number = BTreeMap::<u64, u64>::new();
        for (number, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            add(&mut by_number, number.into(), count);
        }
        let (&least, &most) = (by_number.first_key_value()?.0, by_number.last_key_value()?.0);
        if most - least < MOST_NUMBERS {
            let count = |number| by_number.get(&number).copied().unwrap_or_default();
            return Self::counts(
                title,
                x,
                y,
                (least..=most).map(|number| (number.to_string(), count(number))),
            );
        }
        let mut by_bits = BTreeMap::new();
        by_number.into_iter().for_each(|(number, count)| add(&mut by_bits, bits(number), count));
        let count = |bits| by_bits.get(&bits).copied().unwrap_or_default();
        let range = bits(least)..=bits(most);
        Self::counts(title, x, y, range.map(|bits| (with_bits(bits), count(bits))))
    }

    /// The same with a sentence for below.
    #[must_use]
    pub fn with_caption(self, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..self }
    }

    /// The drawing, an `svg` element that needs nothing from outside.
    pub fn svg(&self) -> String {
        draw::svg(self)
    }
}

fn add<N: Ord>(counts: &mut BTreeMap<N, u64>, number: N, count: u64) {
    let sum = counts.entry(number).or_default();
    *sum = sum.saturating_add(count);
}

/// Binary digits.
fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// The numbers with as many binary digits.
fn with_bits(bits: u32) -> String {
    match bits {
        0 | 1 => bits.to_string(),
        _ => format!("{}–{}", 1u64 << (bits - 1), u64::MAX >> (u64::BITS - bits)),
    }
}

#[cfg(test)]
mod tests;
