//! How many minimal puzzles there are, in a grid or in all 9x9 grids, estimated without bias.
//!
//! A *population* of puzzles with one solution loses its clues in step, each time a random one of those that can go (the
//! puzzle keeps one solution). A puzzle of which none can go is minimal: its weight goes to the sum of its number of
//! clues, and it leaves. On average over the random numbers these sums are the numbers of minimal puzzles:
//!
//! - *Beginning.* A random choice of `k` of `n` cells that has one solution gets the weight C(n, k) / choices. So the
//!   puzzles of `k` clues with one solution have weights with mean 1, each.
//! - *Step.* Let that be so for `k` clues. A puzzle of `k - 1` clues comes from those with one of the `n - k + 1` clues
//!   more that it lacks, which all have one solution too. A clue is taken with probability 1 / r if r can go, so the
//!   weight times r / (n - k + 1) has mean 1 for every puzzle of `k - 1` clues, minimal ones among them.
//! - *Resampling.* Before that, each puzzle is replaced by copies, whose number is random with a mean that is known; its
//!   weight is divided by this mean. Means stay what they are, whatever the choice of who gets more copies. It is for
//!   the spread: without it, few weights of very many make the estimate (P. Del Moral, A. Doucet & A. Jasra, "Sequential
//!   Monte Carlo samplers", J. R. Stat. Soc. B 68, 2006).
//! - *Grids.* Those of `draw` come with weights that make means over draws means over all grids.
//!
//! **What is missed:** puzzles with more clues than the beginning has, [`Plan::clues`]. With the 32
//! clues of the default plan they are less than one in a million of all minimal puzzles, judging by the shares that are
//! published, which fall faster and faster: 15.5, 3.6 and 0.4 % for 28, 29 and 30 clues. A plan with more clues, 40 say,
//! finds them, at more cost.
//!
//! One population says little about its error: its puzzles have ancestors in common. The spread of independent
//! populations does.
//!
//! **Invariant:** the same seed and number give the same bytes on every machine. Floating point numbers are added,
//! multiplied and divided only, in one order, which IEEE 754 rounds alike everywhere; logarithms and powers are not. The
//! solver's answers do not depend on its level.
//!
//! Cost on one core with AVX2: 0.12 to 0.2 seconds a population of the default plan. The total then has a standard error
//! of 2 or 3 % after half a minute, and less with its root: 1 % after 3 minutes, 0.1 % after 5 hours.

mod estimate;
mod particles;
mod unique;

use super::{
    CellSet, CompleteGrid,
    draw::{Drawn, draw},
};
use crate::{
    grid::Shape,
    random::{Random, mixed},
    solve::bitslice::{Engine, Level},
};
pub use estimate::Estimate;
use estimate::NUMBERS;
use particles::{Particle, look, step};
use unique::{Bulk, Unique};

/// How a population begins, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Grids that are drawn.
    pub grids: usize,
    /// Choices of clues for each grid.
    pub choices: usize,
    /// Clues in each choice.
    pub clues: usize,
    /// Puzzles that are kept from step to step.
    pub size: usize,
}

impl Default for Plan {
    /// For 9x9. One choice in 28 has one solution; nearer to the full grid more have, and each costs more, for all its
    /// clues are tried at every step.
    fn default() -> Self {
        Self { grids: 64, choices: 1024, clues: 32, size: 2048 }
    }
}

impl Plan {
    /// For one grid: that of 9x9, and the full grid for small ones, which cost little and have no usual number of clues.
    fn of_grid(grid: &CompleteGrid) -> Self {
        let all = Self::default();
        let full = Self { grids: 1, choices: 512, clues: grid.cells(), size: 512 };
        let nine = Self { grids: 1, choices: all.grids * all.choices, ..all };
        if grid.shape() == Shape::NINE { nine } else { full }
    }
}

/// Makes populations. Keeps some megabytes between them: worth keeping alive, one for each thread.
pub struct Sampler {
    engine: Engine,
    plan: Plan,
}

impl Default for Sampler {
    fn default() -> Self {
        Self::new(Level::best(), Plan::default())
    }
}

impl Sampler {
    /// With the solver of a level, which matters for the time only.
    pub fn new(level: Level, plan: Plan) -> Self {
        Self { engine: Engine::new(level), plan }
    }

    /// Population `number` of a seed: the mean number of minimal puzzles of a 9x9 grid, over all grids. `stopped` is
    /// asked some hundredths of a second apart; when it says true, there is no estimate.
    pub fn population(&mut self, seed: u64, number: u64, stopped: &dyn Fn() -> bool) -> Option<Estimate> {
        let mut random = random(seed, number);
        let drawn: Vec<Drawn> = (0..self.plan.grids).filter_map(|_| draw(&mut random)).collect();
        let weights: Vec<f64> = drawn.iter().map(|drawn| drawn.weight).collect();
        let grids = drawn.iter().map(|drawn| drawn.digits).collect();
        let unique = Unique::Nine(Bulk::new(grids, &mut self.engine));
        Run { cells: 81, plan: self.plan, unique, random }.estimate(&weights, stopped)
    }
}

impl Estimate {
    /// The minimal puzzles of one grid, of 9x9 or a smaller shape, from so many populations.
    ///
    /// ```
    /// use shared::unavoidable::{CompleteGrid, sample::Estimate};
    ///
    /// let grid = CompleteGrid::read("1234341221434321").unwrap();
    /// let (mean, error) = Estimate::of_grid(&grid, 1, 4).total();
    /// assert!((mean - 284.0).abs() < 40.0 && error < 20.0);
    /// ```
    pub fn of_grid(grid: &CompleteGrid, seed: u64, populations: u64) -> Self {
        let mut engine = Engine::default();
        let plan = Plan::of_grid(grid);
        let one = |number| {
            let unique = Unique::of_grid(grid, &mut engine);
            let run = Run { cells: grid.cells(), plan, unique, random: random(seed, number) };
            run.estimate(&[1.0], &|| false)
        };
        (0..populations).filter_map(one).fold(Self::default(), |sum, one| sum.merge(&one))
    }
}

fn random(seed: u64, number: u64) -> Random {
    Random::new(mixed(mixed(seed).wrapping_add(number)))
}

/// One population on its way.
struct Run<'a> {
    cells: usize,
    plan: Plan,
    unique: Unique<'a>,
    random: Random,
}

impl Run<'_> {
    /// From grids with these weights to where no clue can go any more.
    fn estimate(mut self, weights: &[f64], stopped: &dyn Fn() -> bool) -> Option<Estimate> {
        let mut particles = self.begin(weights);
        let mut found = [0.0; NUMBERS];
        let mut removed = self.cells - self.plan.clues;
        while !particles.is_empty() {
            look(&mut particles, &mut self.unique, stopped)?;
            let (minimal, others): (Vec<Particle>, Vec<Particle>) =
                particles.iter().partition(|particle| particle.may_go.is_empty());
            minimal.iter().for_each(|particle| found[particle.clues.len()] += particle.weight);
            removed += 1;
            particles = step(&others, removed, self.plan.size, &mut self.random);
        }
        Some(Estimate::of_population(&found))
    }

    /// Random choices of clues that have one solution. A grid that could not be drawn is one without such choices.
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    fn begin(&mut self, weights: &[f64]) -> Vec<Particle> {
        let Plan { grids, choices, clues, .. } = self.plan;
        let mut order: Vec<usize> = (0..self.cells).collect();
        let mut choice = |i: usize| (i / choices, choice(&mut order, clues, &mut self.random));
        let asked: Vec<(usize, CellSet)> = (0..weights.len() * choices).map(&mut choice).collect();
        let subsets: f64 = (0..clues).map(|i| (self.cells - i) as f64 / (i + 1) as f64).product();
        let scale = subsets / (grids * choices) as f64;
        let told = self.unique.tell(&asked);
        let unique = asked.into_iter().zip(told).filter(|(_, unique)| *unique);
        let particle =
            |((grid, clues), _)| Particle { grid, clues, may_go: clues, weight: weights[grid] * scale };
        unique.map(particle).collect()
    }
}

/// Random cells: the first of an order, which is shuffled as far as needed.
fn choice(order: &mut [usize], clues: usize, random: &mut Random) -> CellSet {
    for i in 0..clues {
        order.swap(i, i + random.below(order.len() - i));
    }
    order[..clues].iter().copied().collect()
}
