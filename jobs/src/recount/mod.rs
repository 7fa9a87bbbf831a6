//! Recounting all grids of a shape.
//!
//! Three methods (see [`shared::count`]): `gangster` counts from column sets and takes moments, `search` fills the rows
//! below a band of each class and is the cluster job, `audit` takes no two bands to be alike. `gangster` and `search`
//! share no counting code: that their results agree, class by class, is the point of having both.

mod partial;
mod report;

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use shared::{
    count::{Audit, AuditOf, ClassCount, Classes, Gangster, Search, UnitProgress},
    grid::Shape,
};

use crate::kind::{BadPartial, BadSettings, JobKind, Progress, Report, UnitContext, UnitError};
use partial::ClassPartial;
pub use partial::Partial;

/// Time between two saves of a unit's progress.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// Arguments of the kind.
#[derive(Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecountArgs {
    /// Boxes of R rows by C columns: 2x2, 2x3, 2x4, 2x5 or 3x3
    #[arg(long, default_value = "3x3", value_name = "RxC")]
    shape: Shape,
    /// How to count
    #[arg(long, value_enum, default_value_t = Method::Gangster)]
    method: Method,
    /// Audit every filling of the first band by search, instead of every choice of column sets (3x3 only)
    #[arg(long)]
    #[serde(default)]
    fillings: bool,
}

/// The three ways to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// From the numbers of bands with given column sets, class by class
    Gangster,
    /// By filling the rows below a band of each class
    Search,
    /// Without classes: every choice of column sets, or every filling
    Audit,
}

/// See the module.
pub struct Recount {
    shape: Shape,
    fillings: bool,
    engine: Engine,
}

enum Engine {
    Gangster(Box<Gangster>),
    Search(Search),
    Audit(Audit),
}

impl Recount {
    fn method(&self) -> Method {
        match &self.engine {
            Engine::Gangster(_) => Method::Gangster,
            Engine::Search(_) => Method::Search,
            Engine::Audit(_) => Method::Audit,
        }
    }

    /// The classes, unless there are none, and how many units each of them has.
    fn classes(&self) -> Option<(&Classes, u64)> {
        match &self.engine {
            Engine::Gangster(gangster) => Some((gangster.classes(), 1)),
            Engine::Search(search) => Some((search.classes(), search.choices())),
            Engine::Audit(_) => None,
        }
    }
}

impl JobKind for Recount {
    const NAME: &'static str = "recount";
    const ABOUT: &'static str = "Counts all grids of a shape from scratch";
    const EXAMPLES: &'static str = "Examples:\n  nonet run recount\n  nonet run recount --shape 3x3 --method search\n  \
        nonet run recount --shape 2x5 --format json\n  nonet submit recount --method audit --fillings";
    const REVISION: u32 = 1;

    type Args = RecountArgs;
    type Partial = Partial;

    fn new(args: RecountArgs) -> Result<Self, BadSettings> {
        let bad = |error: &dyn std::error::Error| BadSettings(format!("--shape {}: {error}", args.shape));
        if args.fillings && args.method != Method::Audit {
            return Err(BadSettings("--fillings belongs to --method audit".into()));
        }
        let engine = match args.method {
            Method::Gangster => {
                Engine::Gangster(Box::new(Gangster::new(args.shape).map_err(|error| bad(&error))?))
            }
            Method::Search => Engine::Search(Search::new(args.shape).map_err(|error| bad(&error))?),
            Method::Audit => {
                let of = if args.fillings { AuditOf::Fillings } else { AuditOf::ColumnSets };
                Engine::Audit(Audit::new(args.shape, of).map_err(|error| bad(&error))?)
            }
        };
        Ok(Self { shape: args.shape, fillings: args.fillings, engine })
    }

    fn units(&self) -> u64 {
        match &self.engine {
            Engine::Gangster(gangster) => gangster.units(),
            Engine::Search(search) => search.units(),
            Engine::Audit(audit) => audit.units(),
        }
    }

    fn unit_name(&self, unit: u64) -> String {
        match &self.engine {
            Engine::Gangster(_) => format!("class {}", unit + 1),
            Engine::Search(search) => {
                format!("class {}, first choice {}", unit / search.choices() + 1, unit % search.choices() + 1)
            }
            Engine::Audit(audit) => audit.unit_name(unit),
        }
    }

    fn empty(&self) -> Partial {
        match &self.engine {
            Engine::Audit(_) => Partial::Choices(Vec::new()),
            _ => Partial::Classes(Vec::new()),
        }
    }

    fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Partial, UnitError> {
        let of_class = |ClassCount { class, bands, completions }| {
            Partial::Classes(vec![ClassPartial { class, units: 1, bands, completions }])
        };
        let saved = context.resume().and_then(|bytes| postcard::from_bytes(&bytes).ok());
        let start: UnitProgress = saved.unwrap_or_default();
        let mut last_saved = Instant::now();
        let mut pause = |progress: UnitProgress| {
            let stopped = context.stopped();
            if stopped || last_saved.elapsed() >= SAVE_EVERY {
                context.save(|| postcard::to_stdvec(&progress).expect("two numbers can be written"));
                last_saved = Instant::now();
            }
            stopped
        };
        match &self.engine {
            Engine::Gangster(gangster) => Some(of_class(gangster.run_unit(unit))),
            Engine::Search(search) => search.run_unit(unit, start, &mut pause).map(of_class),
            Engine::Audit(audit) => audit.run_unit(unit, start, &mut pause).map(Partial::Choices),
        }
        .ok_or(UnitError::Stopped)
    }

    fn check(&self, range: Range<u64>, partial: &Partial) -> Result<(), BadPartial> {
        match (partial, &self.engine, self.classes()) {
            (Partial::Classes(list), _, Some((classes, choices))) => {
                partial::check_classes(list, classes.len(), choices, &range)
            }
            (Partial::Choices(list), Engine::Audit(audit), None) => {
                partial::check_choices(list, audit, &range)
            }
            _ => Err(BadPartial("the partial belongs to another method".into())),
        }
    }

    fn merge(&self, into: &mut Partial, from: Partial) -> Result<(), BadPartial> {
        match (&mut *into, from, self.classes()) {
            (Partial::Classes(list), Partial::Classes(more), Some((classes, choices))) => {
                *list = partial::merge_classes(list, &more, classes.len(), choices)?;
            }
            (Partial::Choices(list), Partial::Choices(more), None) => {
                *list = partial::merge_choices(list, more)?;
            }
            _ => return Err(BadPartial("the partial belongs to another method".into())),
        }
        Ok(())
    }

    fn report(&self, partial: &Partial, progress: &Progress) -> Result<Report, BadPartial> {
        report::report(self, partial, progress)
    }
}

#[cfg(test)]
mod tests;
