//! The job kinds of Nonet.
//!
//! A new kind is one folder here and one line in [`KINDS`]. Nothing else changes: not the wire, not the ledger, not
//! the command line. See [`kind::JobKind`] for what a kind must promise.

mod automorphic;
mod burnside;
pub mod erased;
mod grids;
mod hitting;
pub mod input;
pub mod kind;
#[cfg(test)]
mod laws;
mod minimal;
mod noop;
pub mod page;
pub mod parts;
pub mod photos;
pub mod plot;
mod recount;
pub mod solve;
mod unavoidable;
#[cfg(test)]
mod xml;

pub use erased::{Accumulator, ErasedJob, ErasedKind, job_name};
pub use kind::{
    BadPartial, BadSettings, MAX_PARTIAL_BYTES, MAX_SETTINGS_BYTES, Needed, NeededReport, Progress, Report,
    UnitCheckpoint, UnitContext, UnitError,
};

pub use parts::{Finished, Form, OutputError, PartSink, PartSource, PartsDigest};

use erased::Erased;

/// Every kind there is.
pub static KINDS: &[&dyn ErasedKind] = &[
    &Erased::<recount::Recount>::new(),
    &Erased::<burnside::Burnside>::new(),
    &Erased::<automorphic::Automorphic>::new(),
    &Erased::<solve::Solve>::new(),
    &Erased::<photos::Photographs>::new(),
    &Erased::<unavoidable::Unavoidable>::new(),
    &Erased::<hitting::Hitting>::new(),
    &Erased::<minimal::Minimal>::new(),
    &Erased::<noop::Noop>::new(),
];

/// Finds a kind by name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn ErasedKind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}
