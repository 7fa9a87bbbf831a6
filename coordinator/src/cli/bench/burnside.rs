//! What a burnside job costs, estimated from a part of every class.

use std::time::{Duration, Instant};

use clap::Args;
use shared::{count::FixedGrids, grid::Shape};

use super::processes::cpu_seconds;
use crate::cli::{exit::Failure, format};

#[derive(Debug, Args)]
pub struct BurnsideArgs {
    /// Boxes of R rows by C columns
    #[arg(long, default_value = "3x3", value_name = "RxC")]
    shape: Shape,
    /// Seconds of counting for each class, at most; its tables come on top
    #[arg(long, default_value_t = 2.0, value_name = "S")]
    seconds: f64,
}

/// Pairs of choices that are counted at most: a class with no more of them is counted whole.
const WANTED: u64 = 1000;

/// Samples every class that has units, on one core, and prints those that take more than a second by estimate.
pub fn bench(args: &BurnsideArgs) -> Result<(), Failure> {
    if !args.seconds.is_finite() || args.seconds <= 0.0 || args.seconds > 1e6 {
        return Err(Failure::usage(format!("--seconds {}: a number above 0 is needed", args.seconds)));
    }
    let grids = FixedGrids::new(args.shape, true)
        .map_err(|error| Failure::usage(format!("--shape {}: {error}", args.shape)))?;
    let counted: Vec<usize> =
        (0..grids.classes().len()).filter(|&class| !grids.units_of(class).is_empty()).collect();
    format::print(&format!(
        "shape {}: {} classes, {} to count, {} units; estimates for one core\n\
         class  order      size      pairs  counted  tables, s   pairs, s  symmetry\n",
        args.shape,
        grids.classes().len(),
        counted.len(),
        grids.units()
    ))?;
    let (mut sum, mut at_least) = (0.0, false);
    for &class in &counted {
        let estimate = estimate(&grids, class, Duration::from_secs_f64(args.seconds));
        at_least |= estimate.at_least;
        sum += estimate.tables_s + estimate.pairs_s;
        if estimate.tables_s + estimate.pairs_s >= 1.0 {
            format::print(&line(&grids, class, &estimate))?;
        }
    }
    let bound = if at_least { "more than " } else { "" };
    format::print(&format!("all classes: {bound}{sum:.0} s = {bound}{:.2} hours of one core\n", sum / 3600.0))
}

struct Estimate {
    pairs: u64,
    counted: u64,
    tables_s: f64,
    pairs_s: f64,
    /// Not one pair was counted in the time there was: the pairs take longer than this.
    at_least: bool,
}

/// One part in the time there is, from all over the class. What one pair remembers helps the next, so the whole
/// takes rather less.
fn estimate(grids: &FixedGrids, class: usize, time: Duration) -> Estimate {
    // CPU time, as nobody's machine is idle.
    let cpu = || cpu_seconds(&[std::process::id()]);
    let start_s = cpu();
    grids.sample(class, 0, &mut || true);
    let tables_s = cpu() - start_s;
    let (begun, start_s) = (Instant::now(), cpu());
    let sample = grids.sample(class, WANTED, &mut || begun.elapsed() > time);
    let seconds = cpu() - start_s;
    let counted = sample.counted.max(1);
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let pairs_s = seconds * sample.pairs as f64 / counted as f64;
    let at_least = sample.counted == 0 && sample.pairs > 0;
    Estimate { pairs: sample.pairs, counted: sample.counted, tables_s, pairs_s, at_least }
}

fn line(grids: &FixedGrids, class: usize, estimate: &Estimate) -> String {
    let of = &grids.classes()[class];
    let Estimate { pairs, counted, tables_s, pairs_s, at_least } = estimate;
    let sign = if *at_least { ">" } else { "" };
    let pairs_s = format!("{sign}{pairs_s:.1}");
    format!(
        "{:>5}  {:>5}  {:>8}  {pairs:>9}  {counted:>7}  {tables_s:>9.1}  {pairs_s:>9}  {}\n",
        class + 1,
        of.order,
        of.size.to_string(),
        of.name()
    )
}
