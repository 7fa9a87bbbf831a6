//! The scheduler under simulated workers, network, disk and crashes, on a simulated clock.
//!
//! Everything that happens follows from a seed. A failure prints it; repeat that run with
//! `NONET_SIM_SEED=<seed> cargo test -p coordinator --test simulation`, and run more with `NONET_SIM_SEEDS=<number>`.

#[path = "simulation/chaos.rs"]
mod chaos;
#[path = "simulation/comings.rs"]
mod comings;
#[path = "simulation/doubts.rs"]
mod doubts;
#[path = "simulation/engine.rs"]
mod engine;
#[path = "simulation/farmhand.rs"]
mod farmhand;
#[path = "simulation/ledger.rs"]
mod ledger;
#[path = "simulation/model.rs"]
mod model;
#[path = "simulation/rules.rs"]
mod rules;
#[path = "simulation/scale.rs"]
mod scale;
#[path = "simulation/world.rs"]
mod world;

use engine::Report;
use world::{Sabotage, World};

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is not a number")))
}

#[test]
fn every_unit_is_counted_exactly_once_whatever_happens() {
    let first = number("NONET_SIM_SEED");
    let seeds = number("NONET_SIM_SEEDS").unwrap_or(if first.is_some() { 1 } else { 500 });
    let first = first.unwrap_or(0);
    let mut total = Report::default();
    for seed in first..first + seeds {
        match World::new(seed, None).run() {
            Ok(report) => total.add(&report),
            Err(error) => panic!("NONET_SIM_SEED={seed}: {error}"),
        }
    }
    println!("{seeds} seeds: {total:?}");
    if seeds >= 200 {
        // A simulation in which nothing happens proves nothing.
        assert!(total.is_eventful(), "{total:?}");
    }
}

/// A checker that cannot fail is worth nothing: break the world in a known way, and it must be noticed.
fn is_noticed(sabotage: Sabotage) {
    let noticed: Vec<_> = (0..100).filter_map(|seed| World::new(seed, Some(sabotage)).run().err()).collect();
    assert!(!noticed.is_empty(), "{sabotage:?} went unnoticed");
    println!("{sabotage:?} noticed in {} of 100 runs, e.g.: {}", noticed.len(), noticed[0]);
}

#[test]
fn a_commit_written_twice_is_noticed() {
    is_noticed(Sabotage::WriteTwice);
}

#[test]
fn an_answer_before_the_write_is_noticed() {
    is_noticed(Sabotage::AnswerEarly);
}

#[test]
fn a_unit_taken_for_done_after_a_restart_is_noticed() {
    is_noticed(Sabotage::ForgetUnit);
}

#[test]
fn a_return_that_gets_lost_is_noticed() {
    is_noticed(Sabotage::LoseReturn);
}

#[test]
fn a_lease_for_a_worker_that_lacks_what_the_job_needs_is_noticed() {
    is_noticed(Sabotage::ForgetNeeds);
}

#[test]
fn a_claim_that_counts_is_noticed() {
    is_noticed(Sabotage::BelieveAnyone);
}
