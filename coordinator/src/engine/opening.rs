//! Submissions, read and checked: what can be done without the engine, which must not wait for a plan to be made.

use std::sync::Arc;

use jobs::{ErasedKind, MAX_SETTINGS_BYTES};
use worker::bridge::guarded;

use super::{Refusal, SharedJob};

/// Jobs that need jobs that need jobs: a kind that goes deeper is at fault.
const MAX_DEPTH: u32 = 4;

/// Work units of a job. A larger number is not exact in the JSON of every reader, and would take a million cores a year at 300
/// units a second each.
const MAX_UNITS: u64 = 1 << 53;

/// A job of this program, ready to be admitted.
pub(crate) struct Opened {
    pub kind: &'static dyn ErasedKind,
    /// The one spelling of its settings.
    pub settings: String,
    /// The hash of all that determines its result.
    pub name: [u8; 16],
    pub job: SharedJob,
    /// The jobs that it needs.
    pub needs: Vec<Opened>,
}

/// Opens a job and those that it needs. May take as long as a kind takes to make its plan.
///
/// # Errors
///
/// When the settings make no job, or the kind is another one here than where it was asked for.
pub(crate) fn open(kind: &str, revision: u32, settings: &str) -> Result<Opened, Refusal> {
    open_to(MAX_DEPTH, kind, Some(revision), settings)
}

/// Opens a job that was made before, if this program would make the same of it. `cure` says what to do where it is another
/// one here.
///
/// # Errors
///
/// When the kind, its revision, or the plan is another one here.
pub(crate) fn reopen(
    (name, revision, settings): (&str, u32, &str),
    units: u64,
    cure: &str,
) -> Result<Opened, String> {
    let kind = jobs::find(name).ok_or_else(|| format!("this program knows no job kind {name:?}"))?;
    let ours = kind.revision();
    if ours != revision {
        return Err(format!(
            "made by revision {revision} of {name}, this program has revision {ours}: {cure}"
        ));
    }
    let opened = open(name, revision, settings).map_err(|e| e.to_string())?;
    let ours = opened.job.units();
    if ours != units {
        return Err(format!("was planned with {units} units, this program plans {ours}: {cure}"));
    }
    Ok(opened)
}

fn open_to(depth: u32, name: &str, revision: Option<u32>, settings: &str) -> Result<Opened, Refusal> {
    let invalid = |text: String| Err(Refusal::Invalid(text));
    let Some(kind) = jobs::find(name) else { return invalid(format!("there is no job kind {name:?}")) };
    let ours = kind.revision();
    if let Some(theirs) = revision.filter(|&theirs| theirs != ours) {
        return invalid(format!("{name}: the coordinator has revision {ours}, you have {theirs}"));
    }
    if settings.len() > MAX_SETTINGS_BYTES {
        return invalid(format!("settings of {} bytes: at most {MAX_SETTINGS_BYTES}", settings.len()));
    }
    let settings = kind.canonical(settings).map_err(|e| Refusal::Invalid(e.to_string()))?;
    let opened = guarded(|| kind.open(&settings)).map_err(Refusal::Invalid)?;
    let job = opened.map_err(|e| Refusal::Invalid(e.to_string()))?;
    if job.units() > MAX_UNITS {
        return invalid(format!("{name}: a job of {} work units: at most {MAX_UNITS}", job.units()));
    }
    let needs = job.needs();
    if depth == 0 && !needs.is_empty() {
        return invalid(format!("{name}: jobs that need each other more than {MAX_DEPTH} deep"));
    }
    let needs = needs
        .iter()
        .map(|need| {
            open_to(depth.saturating_sub(1), need.kind, None, &need.settings)
                .map_err(|e| Refusal::Invalid(format!("{name} needs a {} job: {e}", need.kind)))
        })
        .collect::<Result<_, _>>()?;
    let name = jobs::job_name(kind.name(), ours, &settings);
    Ok(Opened { kind, settings, name, job: Arc::clone(&job), needs })
}
