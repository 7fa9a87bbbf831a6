//! How many minimal puzzles 9x9 has: an estimate from populations of puzzles ([`shared::unavoidable::sample`]).
//!
//! A unit is a population. Populations are independent, and their sums are whole numbers, so that the estimate is the
//! same whoever made them and in whatever order they were added up.

use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

use shared::{
    grid::Shape,
    solve::bitslice::Level,
    unavoidable::sample::{Estimate, Plan, Sampler},
};

use crate::kind::{BadPartial, BadSettings, UnitContext, UnitError};

/// Populations of a job: more than anybody has time for, and few enough to count.
const MOST_POPULATIONS: u64 = 1_000_000_000;
/// Clues to begin with. With fewer, nearly no choice has one solution; with more, each step costs more and nothing is
/// won, as no minimal puzzle of more than 40 clues is known.
const CLUES: Range<u32> = 28..61;
/// The seed if none is given.
pub const SEED: u64 = 1;

/// See the module.
pub struct Sample {
    pub populations: u64,
    pub seed: u64,
    pub plan: Plan,
    /// Those that make no population at the moment: each keeps some megabytes.
    idle: Mutex<Vec<Sampler>>,
}

impl Sample {
    pub fn new(
        shape: Option<Shape>,
        populations: u64,
        seed: Option<u64>,
        most_clues: Option<u32>,
    ) -> Result<Self, BadSettings> {
        let refused = |what: String| Err(BadSettings(what));
        if shape.is_some_and(|shape| shape != Shape::NINE) {
            return refused(
                "--sample is for 3x3: every minimal puzzle of smaller shapes can be counted".into(),
            );
        }
        if !(1..=MOST_POPULATIONS).contains(&populations) {
            return refused(format!("--sample {populations}: populations are 1 to {MOST_POPULATIONS}"));
        }
        let usual = Plan::default();
        let clues = most_clues.unwrap_or_else(usual_clues);
        if !CLUES.contains(&clues) {
            let (least, most) = (CLUES.start, CLUES.end - 1);
            return refused(format!("--most-clues {clues}: puzzles can begin with {least} to {most} clues"));
        }
        let plan = Plan { clues: clues as usize, ..usual };
        Ok(Self { populations, seed: seed.unwrap_or(SEED), plan, idle: Mutex::default() })
    }

    pub fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Estimate, UnitError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let mut sampler = kept.unwrap_or_else(|| Sampler::new(Level::best(), self.plan));
        let estimate = sampler.population(self.seed, unit, &|| context.stopped());
        idle().push(sampler);
        estimate.ok_or(UnitError::Stopped)
    }

    /// Whether this can be the yield of `range`.
    pub fn check(&self, range: &Range<u64>, estimate: &Estimate) -> Result<(), BadPartial> {
        let populations = range.end.saturating_sub(range.start);
        if range.is_empty() || range.end > self.populations || estimate.populations() != populations {
            return Err(BadPartial("the populations are not those of these units".into()));
        }
        if !estimate.is_possible(self.plan.clues) {
            return Err(BadPartial("populations cannot add up to this estimate".into()));
        }
        Ok(())
    }
}

/// Clues that puzzles begin with if nothing is said.
pub fn usual_clues() -> u32 {
    u32::try_from(Plan::default().clues).unwrap_or(CLUES.start)
}
