//! What a comparison looks like: steps and times on logarithmic scales.

use jobs::plot::{Axis, Bars, Curve, Marks, Plot};

use super::{
    Compared,
    measure::Runs,
    summary::{Summary, steps},
};

/// Medians by corpus, then how many puzzles of each corpus are solved within what time and with how many steps.
pub fn plots(compared: &[Compared]) -> Vec<Plot> {
    let medians = [
        medians(compared, "Median steps a puzzle", "steps", |summary| {
            summary.steps.map(|steps| steps.median)
        }),
        medians(compared, "Median time a puzzle", "nanoseconds", |summary| {
            u64::try_from(summary.time.median.as_nanos()).ok()
        }),
    ];
    let within = compared.iter().flat_map(|corpus| {
        let of_time = |of: &Runs| {
            of.runs.iter().filter(|run| run.finished).map(|run| run.time.as_secs_f64() * 1e6).collect()
        };
        let of_steps = |of: &Runs| {
            let solved = of.runs.iter().filter(|run| run.finished);
            solved.filter_map(|run| run.effort.as_ref().map(|effort| as_number(steps(effort)))).collect()
        };
        [
            within(corpus, "solved within", "microseconds", of_time),
            within(corpus, "solved with", "steps", of_steps),
        ]
    });
    medians.into_iter().chain(within).collect()
}

/// A bar for each method in each corpus.
fn medians(compared: &[Compared], title: &str, unit: &str, of: impl Fn(&Summary) -> Option<u64>) -> Plot {
    let methods = compared.first().map(|corpus| corpus.runs.as_slice()).unwrap_or_default();
    let series = methods.iter().enumerate().map(|(at, method)| {
        let counts = compared
            .iter()
            .map(|corpus| corpus.runs.get(at).and_then(|of_| of(&Summary::of(of_))).unwrap_or(0));
        Bars { name: method.method.name().into(), counts: counts.collect() }
    });
    Plot {
        title: title.into(),
        caption: "Unsolved puzzles count as far as they were tried. Steps are nodes of searches, and iterations of the \
                  other methods; bitslice, which solves puzzles side by side, has none."
            .into(),
        x: Axis::linear("corpus"),
        y: Axis::log(unit),
        marks: Marks::Bars {
            categories: compared.iter().map(|corpus| short(&corpus.name).to_owned()).collect(),
            // A method keeps its colour from plot to plot, also where it has nothing to show.
            series: series.collect(),
        },
    }
}

/// For each method a curve: so many puzzles have a number of at most so much.
fn within(corpus: &Compared, title: &str, unit: &str, numbers: impl Fn(&Runs) -> Vec<f64>) -> Plot {
    let curve = |of: &Runs| {
        let mut numbers = numbers(of);
        numbers.sort_by(f64::total_cmp);
        let points = numbers.into_iter().zip(1_u32..).map(|(number, rank)| (number, f64::from(rank)));
        Curve { name: of.method.name().into(), points: points.collect() }
    };
    Plot {
        title: format!("{}: puzzles {title} so many {unit}", short(&corpus.name)),
        caption: format!("Out of {} puzzles; further left is better, and higher.", corpus.puzzles),
        x: Axis::log(unit),
        y: Axis::linear("puzzles solved"),
        marks: Marks::Lines(corpus.runs.iter().map(curve).collect()),
    }
}

/// The name of a file or folder without where it is.
fn short(name: &str) -> &str {
    name.trim_end_matches('/').rsplit('/').next().unwrap_or(name)
}

#[allow(clippy::cast_precision_loss, reason = "for drawing")]
fn as_number(count: u64) -> f64 {
    count as f64
}
