//! How right the net is, and how well it knows that.

use rayon::prelude::*;
use shared::photo::{
    classify::{CLASSES, Classifier, Patch},
    net::Weights,
};

use crate::model::Sample;

/// Of each class: patches, and those that were taken for each class.
pub type Confusion = [[usize; CLASSES]; CLASSES];

/// What was found on some samples.
pub struct Measured {
    pub confusion: Confusion,
    /// The mean of the negative logarithm of the probability of what is right.
    pub loss: f64,
    /// How often the answer is wrong where its probability is at least 0.99, and how many answers those are.
    pub sure: [usize; 2],
}

/// Classifies samples.
pub fn measure(weights: &Weights, samples: &[Sample]) -> Measured {
    let classifier = Classifier::with(weights.clone());
    let mut measured = Measured { confusion: [[0; CLASSES]; CLASSES], loss: 0.0, sure: [0; 2] };
    let parts = samples.par_chunks(256).map(|part| {
        let patches: Vec<Patch> = part.iter().map(|sample| sample.patch).collect();
        classifier.classify(&patches)
    });
    for (sample, logs) in samples.iter().zip(parts.collect::<Vec<_>>().into_iter().flatten()) {
        let best = (0..CLASSES).max_by(|&a, &b| logs[a].total_cmp(&logs[b])).unwrap_or(0);
        measured.confusion[sample.label][best] += 1;
        measured.loss -= f64::from(logs[sample.label]);
        if logs[best] >= 0.99_f32.ln() {
            measured.sure[0] += usize::from(best != sample.label);
            measured.sure[1] += 1;
        }
    }
    measured.loss /= samples.len().max(1) as f64;
    measured
}

impl Measured {
    /// The part of the answers that is right, in percent.
    pub fn accuracy(&self) -> f64 {
        let right: usize = (0..CLASSES).map(|class| self.confusion[class][class]).sum();
        100.0 * right as f64 / self.confusion.as_flattened().iter().sum::<usize>().max(1) as f64
    }

    /// The same for the patches of each class.
    pub fn by_class(&self) -> String {
        let class = |class: usize| {
            let all = self.confusion[class].iter().sum::<usize>().max(1);
            format!("{class}:{:.2}", 100.0 * self.confusion[class][class] as f64 / all as f64)
        };
        (0..CLASSES).map(class).collect::<Vec<_>>().join(" ")
    }

    /// The most frequent mistakes: right, taken for, times.
    pub fn mistakes(&self) -> String {
        let mut all: Vec<_> = (0..CLASSES * CLASSES)
            .filter(|at| at / CLASSES != at % CLASSES)
            .map(|at| (self.confusion[at / CLASSES][at % CLASSES], at / CLASSES, at % CLASSES))
            .collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        let text = |(times, right, taken): &(usize, usize, usize)| format!("{right}->{taken}:{times}");
        all.iter().take(12).map(text).collect::<Vec<_>>().join(" ")
    }
}

/// The sharpness with which the loss on these samples is least, by golden section.
pub fn sharpness(weights: &Weights, samples: &[Sample]) -> f32 {
    let loss = |sharpness: f32| measure(&Weights { sharpness, ..weights.clone() }, samples).loss;
    let (mut low, mut high) = (0.3_f32, 3.0_f32);
    let part = 0.618_034;
    let inner = |low: f32, high: f32| [high - part * (high - low), low + part * (high - low)];
    let mut between = inner(low, high);
    let mut losses = between.map(loss);
    for _ in 0..12 {
        if losses[0] < losses[1] {
            high = between[1];
        } else {
            low = between[0];
        }
        between = inner(low, high);
        losses = between.map(loss);
    }
    low.midpoint(high)
}
