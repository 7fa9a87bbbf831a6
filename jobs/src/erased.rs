//! The seam between kinds and machinery: a [`JobKind`] with its types forgotten.
//!
//! The machinery sees settings as JSON text and partials as bytes. Encoding is postcard: stable, documented and the
//! same on every machine, so equal partials are equal bytes.

use std::{fmt, io, marker::PhantomData, ops::Range, sync::Arc};

use clap::{ArgMatches, Args, FromArgMatches};
use serde::Serialize;

use crate::input::Surroundings;
use crate::kind::{
    BadPartial, BadSettings, JobKind, MAX_PARTIAL_BYTES, MAX_SETTINGS_BYTES, Needed, Progress, Report,
    UnitContext, UnitError,
};
use crate::page::Picture;
use crate::parts::{Finished, Form, OutputError};

/// A kind in the registry.
pub trait ErasedKind: Send + Sync {
    /// [`JobKind::NAME`].
    fn name(&self) -> &'static str;
    /// [`JobKind::REVISION`].
    fn revision(&self) -> u32;
    /// [`JobKind::OUTPUT`].
    fn output(&self) -> Option<&'static str>;
    /// [`JobKind::FORMS`].
    fn forms(&self) -> &'static [Form];
    /// The subcommand with the kind's arguments, about line and examples.
    fn command(&self) -> clap::Command;
    /// Reads the arguments into settings, and checks them. May take long: see [`JobKind::prepare`].
    ///
    /// # Errors
    ///
    /// What is wrong with the arguments.
    fn settings(&self, matches: &ArgMatches, around: &Surroundings<'_>) -> Result<String, BadSettings>;
    /// Opens a job from its settings.
    ///
    /// # Errors
    ///
    /// When the settings are too long, are not JSON of this kind, or make no job.
    fn open(&self, settings: &str) -> Result<Arc<dyn ErasedJob>, BadSettings>;
    /// The one spelling of these settings that names the job.
    ///
    /// # Errors
    ///
    /// When they are too long or are not JSON of this kind.
    fn canonical(&self, settings: &str) -> Result<String, BadSettings>;
}

/// An open job.
pub trait ErasedJob: Send + Sync {
    /// [`JobKind::units`].
    fn units(&self) -> u64;
    /// [`JobKind::needs`].
    fn needs(&self) -> Vec<Needed>;
    /// [`JobKind::unit_name`].
    fn unit_name(&self, unit: u64) -> String;
    /// An empty sum.
    fn accumulator(self: Arc<Self>) -> Box<dyn Accumulator>;
    /// Whether `partial` can be the result of `range`, as far as that can be told without computing it again.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn check(&self, range: Range<u64>, partial: &[u8]) -> Result<(), BadPartial>;
    /// The report of a job whose partials add up to `partial`.
    ///
    /// # Errors
    ///
    /// When `partial` does not belong to this job.
    fn report(&self, partial: &[u8], progress: &Progress) -> Result<Report, BadPartial>;
    /// [`JobKind::pictures`].
    ///
    /// # Errors
    ///
    /// As there.
    fn pictures(&self, finished: &Finished<'_>) -> Result<Vec<Picture>, OutputError>;
    /// [`JobKind::assemble`].
    ///
    /// # Errors
    ///
    /// When a part is missing or does not fit the report, or `out` fails.
    fn assemble(&self, finished: &Finished<'_>, out: &mut (dyn io::Write + Send)) -> Result<(), OutputError>;
}

/// A running sum of partials, kept decoded.
pub trait Accumulator: Send {
    /// Runs a unit and adds its partial.
    ///
    /// # Errors
    ///
    /// As [`JobKind::run_unit`]; the sum is then unchanged.
    fn run_unit(&mut self, unit: u64, context: &UnitContext<'_>) -> Result<(), UnitError>;
    /// Adds an encoded partial.
    ///
    /// # Errors
    ///
    /// When it does not belong to this job; the sum is then unchanged.
    fn absorb(&mut self, partial: &[u8]) -> Result<(), BadPartial>;
    /// The sum, encoded.
    ///
    /// # Errors
    ///
    /// When it is larger than [`MAX_PARTIAL_BYTES`].
    fn bytes(&self) -> Result<Vec<u8>, BadPartial>;
}

/// The name of a job: the hash of all that determines its result.
///
/// Two submissions with the same settings are the same job; a new revision of a kind makes another one.
#[must_use]
pub fn job_name(kind: &str, revision: u32, settings: &str) -> [u8; 16] {
    let mut hash = blake3::Hasher::new_derive_key("nonet job name v1");
    for part in [kind.as_bytes(), &revision.to_be_bytes(), settings.as_bytes()] {
        hash.update(&(part.len() as u64).to_be_bytes()).update(part);
    }
    let mut name = [0; 16];
    name.copy_from_slice(&hash.finalize().as_bytes()[..16]);
    name
}

/// Wraps a [`JobKind`] for the registry.
pub(crate) struct Erased<K>(PhantomData<fn() -> K>);

impl<K> Erased<K> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<K: JobKind> ErasedKind for Erased<K> {
    fn name(&self) -> &'static str {
        K::NAME
    }

    fn revision(&self) -> u32 {
        K::REVISION
    }

    fn output(&self) -> Option<&'static str> {
        K::OUTPUT
    }

    fn forms(&self) -> &'static [Form] {
        K::FORMS
    }

    fn command(&self) -> clap::Command {
        let command = clap::Command::new(K::NAME).after_help(K::EXAMPLES).hide(K::HIDDEN);
        // Last: clap takes the comment on the arguments for what the command is about.
        K::Args::augment_args(command).about(K::ABOUT)
    }

    fn settings(&self, matches: &ArgMatches, around: &Surroundings<'_>) -> Result<String, BadSettings> {
        let args = K::Args::from_arg_matches(matches).map_err(|e| BadSettings(e.to_string()))?;
        let args = K::prepare(args, around)?;
        let settings = serde_json::to_string(&args).map_err(|e| BadSettings(e.to_string()))?;
        K::new(args)?;
        Ok(settings)
    }

    fn open(&self, settings: &str) -> Result<Arc<dyn ErasedJob>, BadSettings> {
        Ok(Arc::new(K::new(parse::<K>(settings)?)?))
    }

    fn canonical(&self, settings: &str) -> Result<String, BadSettings> {
        serde_json::to_string(&parse::<K>(settings)?).map_err(|e| BadSettings(e.to_string()))
    }
}

fn parse<K: JobKind>(settings: &str) -> Result<K::Args, BadSettings> {
    if settings.len() > MAX_SETTINGS_BYTES {
        let len = settings.len();
        return Err(BadSettings(format!(
            "settings of {len} bytes; at most {MAX_SETTINGS_BYTES} are accepted"
        )));
    }
    serde_json::from_str(settings).map_err(|e| BadSettings(format!("settings of kind {}: {e}", K::NAME)))
}

impl<K: JobKind> ErasedJob for K {
    fn units(&self) -> u64 {
        JobKind::units(self)
    }

    fn needs(&self) -> Vec<Needed> {
        JobKind::needs(self)
    }

    fn unit_name(&self, unit: u64) -> String {
        JobKind::unit_name(self, unit)
    }

    fn accumulator(self: Arc<Self>) -> Box<dyn Accumulator> {
        let sum = self.empty();
        Box::new(Sum { kind: self, sum })
    }

    fn check(&self, range: Range<u64>, partial: &[u8]) -> Result<(), BadPartial> {
        let decoded = decode::<K>(partial)?;
        JobKind::check(self, range, &decoded)?;
        let mut sum = self.empty();
        self.merge(&mut sum, decoded)?;
        // Two results are the same when their bytes are: none may be written in a second way.
        if encode(&sum)? == partial {
            return Ok(());
        }
        Err(BadPartial(format!("partial of kind {}: it is not in its one form", K::NAME)))
    }

    fn report(&self, partial: &[u8], progress: &Progress) -> Result<Report, BadPartial> {
        JobKind::report(self, &decode::<K>(partial)?, progress)
    }

    fn assemble(&self, finished: &Finished<'_>, out: &mut (dyn io::Write + Send)) -> Result<(), OutputError> {
        JobKind::assemble(self, finished, out)
    }

    fn pictures(&self, finished: &Finished<'_>) -> Result<Vec<Picture>, OutputError> {
        JobKind::pictures(self, finished)
    }
}

struct Sum<K: JobKind> {
    kind: Arc<K>,
    sum: K::Partial,
}

impl<K: JobKind> Accumulator for Sum<K> {
    fn run_unit(&mut self, unit: u64, context: &UnitContext<'_>) -> Result<(), UnitError> {
        let partial = self.kind.run_unit(unit, context)?;
        self.kind.merge(&mut self.sum, partial).map_err(|e| UnitError::Failed(e.to_string()))
    }

    fn absorb(&mut self, partial: &[u8]) -> Result<(), BadPartial> {
        self.kind.merge(&mut self.sum, decode::<K>(partial)?)
    }

    fn bytes(&self) -> Result<Vec<u8>, BadPartial> {
        encode(&self.sum)
    }
}

fn encode(partial: &impl Serialize) -> Result<Vec<u8>, BadPartial> {
    let bytes = postcard::to_stdvec(partial).map_err(|e| BadPartial(format!("partial: {e}")))?;
    check_len(&bytes)?;
    Ok(bytes)
}

fn check_len(bytes: &[u8]) -> Result<(), BadPartial> {
    if bytes.len() > MAX_PARTIAL_BYTES {
        let len = bytes.len();
        return Err(BadPartial(format!("partial of {len} bytes; at most {MAX_PARTIAL_BYTES} are accepted")));
    }
    Ok(())
}

fn decode<K: JobKind>(bytes: &[u8]) -> Result<K::Partial, BadPartial> {
    check_len(bytes)?;
    let bad = |e: &dyn fmt::Display| BadPartial(format!("partial of kind {}: {e}", K::NAME));
    let (partial, rest) = postcard::take_from_bytes(bytes).map_err(|e| bad(&e))?;
    if !rest.is_empty() {
        return Err(bad(&format_args!("{} bytes too many", rest.len())));
    }
    Ok(partial)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_partial_has_one_form() {
        let settings = r#"{"units":9,"unit_us":0,"fail":[],"panic":[],"label":""}"#;
        let job = crate::find("noop").unwrap().open(settings).unwrap();
        job.check(0..2, &[2, 1]).unwrap();
        // The same numbers, written longer than they are.
        for longer in [&[0x82, 0, 1][..], &[2, 0x81, 0], &[0x82, 0x80, 0, 1]] {
            let error = job.check(0..2, longer).unwrap_err().to_string();
            assert!(error.contains("one form"), "{error}");
        }
    }
}
