//! Trains the net that reads the digits of photographs, on patches that it paints.
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "pixels and small counts; nothing here is read by a machine other than the one that trains"
)]

mod adam;
mod backward;
mod canvas;
mod dice;
mod fonts;
mod glyph;
mod hand;
mod jpeg;
mod marks;
mod measure;
mod model;
mod real;
mod scene;
mod show;
mod strokes;
mod train;

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use rayon::prelude::*;
use shared::photo::net::Weights;

use dice::Dice;
use model::Sample;
use scene::Sources;
use train::Plan;

/// Trains the net that reads the digits of photographs, and writes its weights.
#[derive(Parser)]
#[command(name = "nonet-train-digits", version)]
struct Options {
    /// Folders with font files; one family in eight is held out
    #[arg(long, num_args = 1.., required = true)]
    fonts: Vec<PathBuf>,
    /// Folder with the four files of MNIST: `train-…` to train on, `t10k-…` to measure on
    #[arg(long)]
    hand: PathBuf,
    /// Where to write the weights
    #[arg(long)]
    out: Option<PathBuf>,
    /// Samples to train on; 0 only measures
    #[arg(long, default_value_t = 600_000)]
    samples: usize,
    /// Samples to measure on, of each kind
    #[arg(long, default_value_t = 20_000)]
    held: usize,
    /// Seed of all that is random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The highest rate of learning
    #[arg(long, default_value_t = 0.002)]
    rate: f32,
    /// Weights to begin with, instead of random ones
    #[arg(long)]
    init: Option<PathBuf>,
    /// Folder with `*.patches`: labelled patches out of photographs to train on
    #[arg(long)]
    real: Option<PathBuf>,
    /// The part of the samples that is real
    #[arg(long, default_value_t = 0.3)]
    real_share: f32,
    /// Folder with `*.patches` to measure on; the temperature is fitted to them as well
    #[arg(long)]
    real_held: Option<PathBuf>,
    /// Only write a picture of patches of each kind (PGM)
    #[arg(long)]
    show: Option<PathBuf>,
    /// Only write the patches to measure on, in the format of `--real` (a file `*.patches`)
    #[arg(long)]
    export: Option<PathBuf>,
}

/// Patches to measure on.
fn paint(sources: &Sources, number: usize, seed: u64) -> Vec<Sample> {
    let patch = |index| scene::patch(sources, &mut Dice::new((seed << 44) + 7919 * index as u64));
    (0..number).into_par_iter().map(patch).collect()
}

fn main() -> Result<()> {
    let options = Options::parse();
    let fonts = fonts::load(&options.fonts)?;
    let count = |families: &[fonts::Family]| families.iter().map(Vec::len).sum::<usize>();
    let [all, held] = [&fonts.train, &fonts.held].map(|families| [families.len(), count(families)]);
    println!("fonts to train on: {} families, {} fonts; held out: {}, {}", all[0], all[1], held[0], held[1]);
    ensure!(all[0] > 0 && held[0] > 0, "too few fonts");
    let hands = ["train", "t10k"].map(|name| hand::load(&options.hand, name));
    let [train_hands, held_hands] = hands;
    let (train_hands, held_hands) = (train_hands?, held_hands?);
    let real = options.real.as_deref().map_or(Ok(Vec::new()), real::load)?;
    let real_held = options.real_held.as_deref().map_or(Ok(Vec::new()), real::load)?;
    let sources = Sources { fonts: &fonts.train, hands: &train_hands, mixture: [55, 30] };
    if let Some(file) = &options.show {
        return show::write(file, &sources, options.seed);
    }

    let sets = [("held-out fonts", [100, 0]), ("held-out hands", [0, 100]), ("drawn strokes", [0, 0])];
    let mut sets = sets.map(|(name, mixture)| {
        let sources = Sources { fonts: &fonts.held, hands: &held_hands, mixture };
        (name, paint(&sources, options.held, 77))
    });
    if let Some(file) = &options.export {
        let bytes = real::to_bytes(sets.iter().flat_map(|(_, samples)| samples));
        return fs::write(file, bytes).with_context(|| format!("writing {}", file.display()));
    }
    let mut weights = match &options.init {
        None => adam::initial(options.seed),
        Some(file) => {
            let bytes = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
            Weights::from_bytes(&bytes).context("the weights to begin with are of other layers")?
        }
    };
    let plan = Plan {
        sources,
        real: &real,
        real_share: options.real_share,
        samples: options.samples,
        seed: options.seed,
        rate: options.rate,
    };
    let save = |weights: &Weights| match &options.out {
        Some(file) => {
            fs::write(file, weights.to_bytes()).with_context(|| format!("writing {}", file.display()))
        }
        None => Ok(()),
    };
    if options.samples > 0 {
        weights.sharpness = 1.0;
        train::train(&plan, &mut weights, |done, weights| {
            let right = |(name, samples): &(&str, Vec<Sample>)| {
                let some = &samples[..samples.len().min(4000)];
                format!("{name} {:.2} %", measure::measure(weights, some).accuracy())
            };
            println!("{:.0} %: {}", 100.0 * done, sets.iter().map(right).collect::<Vec<_>>().join(", "));
            // So that a training that is cut short leaves something.
            if let Err(error) = save(weights) {
                println!("{error:#}");
            }
        });
        // Half of what is held out, and all that is real of it, fits the temperature; the other half measures it.
        let mut fit: Vec<Sample> = real_held.clone();
        for (_, samples) in &mut sets {
            fit.extend(samples.drain(..samples.len() / 2));
        }
        weights.sharpness = measure::sharpness(&weights, &fit);
        save(&weights)?;
    }
    println!("temperature {:.4}", 1.0 / weights.sharpness);
    let real_set = (!real_held.is_empty()).then_some(("held-out photographs", real_held));
    for (name, samples) in sets.into_iter().chain(real_set) {
        let measured = measure::measure(&weights, &samples);
        let [wrong, sure] = measured.sure;
        println!("{name}: {:.2} % of {}, loss {:.4}", measured.accuracy(), samples.len(), measured.loss);
        println!("  at 0.99 and above {sure}, {wrong} of them wrong; by class {}", measured.by_class());
        println!("  mistakes {}", measured.mistakes());
    }
    Ok(())
}
