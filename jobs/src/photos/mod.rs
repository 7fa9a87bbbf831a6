//! Photographs of sudoku: what is on them.
//!
//! A unit is one photograph. Its part is a [`record::Record`]: every photograph has exactly one, be it read, refused, or
//! no picture at all. The photographs are fixed when the job is submitted ([`list`]); one that is gone or another one by
//! the time it is read is recorded as unreadable, and the others go on.

mod args;
pub mod canvas;
pub mod drawn;
pub mod impostors;
mod list;
mod look;
mod output;
mod overlay;
mod partial;
mod plots;
pub mod record;
mod report;
#[cfg(test)]
mod sketch;

use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use shared::photo::reading::Reader;

use crate::{
    input::Surroundings,
    kind::{BadPartial, BadSettings, JobKind, Progress, Report, UnitContext, UnitError},
    page::Picture,
    parts::{Finished, Form, OutputError, each_rendered},
};
pub use args::{Corners, PhotosArgs};
use list::{List, Photos, bytes_of};
pub use look::{MOST_FILE_BYTES, Manner, Seen, look, look_step_by_step};
pub use output::board_json;
use partial::Tally;
use record::Record;

/// Quality of the JPEG of an overlay.
const OVERLAY_QUALITY: u8 = 85;

/// See the module.
pub struct Photographs {
    args: PhotosArgs,
    list: List,
    reader: OnceLock<Reader>,
}

impl JobKind for Photographs {
    const NAME: &'static str = "photos";
    const ABOUT: &'static str = "Reads photographs of sudoku";
    const EXAMPLES: &'static str = "Examples:\n  nonet run photos newspaper/ -o boards.csv\n  \
        nonet run photos 'page 1.jpg' 'page 2.jpg' --solve --overlay drawn/ --format json\n  \
        nonet run photos s3://bucket/scans/ -o boards.jsonl --format html > boards.html\n  \
        nonet run photos dark.jpg --corners 102,88,911,95,905,890,98,901";
    const REVISION: u32 = 3;
    const OUTPUT: Option<&'static str> = Some("a row for each board, and for each photograph without one");
    const FORMS: &'static [Form] = &[Form::Csv, Form::JsonLines];

    type Args = PhotosArgs;
    type Partial = Tally;

    fn prepare(args: PhotosArgs, around: &Surroundings<'_>) -> Result<PhotosArgs, BadSettings> {
        let photos = Photos::look_up(args.photos, args.listing.as_deref(), around)?;
        Ok(PhotosArgs { photos, listing: None, ..args })
    }

    fn new(mut args: PhotosArgs) -> Result<Self, BadSettings> {
        let list = List::new(std::mem::take(&mut args.photos)).map_err(BadSettings)?;
        if let Some(corners) = args.corners {
            corners.check().map_err(|error| BadSettings(format!("--corners: {error}")))?;
            if list.len() != 1 {
                let photos = list.len();
                return Err(BadSettings(format!(
                    "--corners are those of one photograph; there are {photos}"
                )));
            }
        }
        if args.overlay.as_ref().is_some_and(|folder| !Path::new(folder).is_absolute()) {
            return Err(BadSettings("--overlay: an absolute path is needed".into()));
        }
        Ok(Self { args, list, reader: OnceLock::new() })
    }

    fn units(&self) -> u64 {
        self.list.len()
    }

    fn unit_name(&self, unit: u64) -> String {
        self.list.name(unit)
    }

    fn empty(&self) -> Tally {
        Tally::default()
    }

    fn run_unit(&self, unit: u64, context: &UnitContext<'_>) -> Result<Tally, UnitError> {
        let file = self.list.get(unit).map_err(UnitError::Failed)?;
        let record = match bytes_of(&file, MOST_FILE_BYTES, context.storage()) {
            Err(why) => Record::unreadable(&file.at, why),
            Ok(bytes) => {
                let manner =
                    Manner { solve: self.args.solve, corners: self.args.corners.map(|corners| corners.0) };
                let reader = self.reader.get_or_init(Reader::new);
                let seen = look(&file.at, &bytes, manner, reader, &|| context.stopped());
                if context.stopped() {
                    // The solver may have been cut short.
                    return Err(UnitError::Stopped);
                }
                if let Some(folder) = &self.args.overlay
                    && !seen.record.boards.is_empty()
                {
                    put_overlay(Path::new(folder), unit, &seen, &bytes).map_err(UnitError::Failed)?;
                }
                seen.record
            }
        };
        let part = postcard::to_stdvec(&record).map_err(|error| UnitError::Failed(error.to_string()))?;
        let tally = Tally::of(unit, &record, &part);
        context.put_part(unit, part)?;
        Ok(tally)
    }

    fn check(&self, range: Range<u64>, partial: &Tally) -> Result<(), BadPartial> {
        partial.check(&range, self.list.len())
    }

    fn merge(&self, into: &mut Tally, from: Tally) -> Result<(), BadPartial> {
        *into = into.plus(&from)?;
        Ok(())
    }

    fn assemble(&self, finished: &Finished<'_>, out: &mut (dyn io::Write + Send)) -> Result<(), OutputError> {
        let solve = self.args.solve;
        let lines = finished.form == Form::JsonLines;
        if !lines {
            out.write_all(output::header(solve).as_bytes())?;
        }
        let write = |record: &Record| if lines { output::json(record) } else { output::csv(record, solve) };
        let text = |unit, part: Vec<u8>| Ok(write(&decoded(unit, &part)?));
        each_rendered(self.units(), finished, text, |text| Ok(out.write_all(text.as_bytes())?))
    }

    fn pictures(&self, finished: &Finished<'_>) -> Result<Vec<Picture>, OutputError> {
        let units =
            finished.report["sheet"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_u64);
        let mut pictures = Vec::new();
        for unit in units.filter(|&unit| unit < self.units()) {
            // A report on its way may tell of units whose parts are elsewhere.
            let Ok(part) = finished.parts.get(unit) else { continue };
            pictures.push(report::picture(decoded(unit, &part)?));
        }
        Ok(pictures)
    }

    fn report(&self, partial: &Tally, progress: &Progress) -> Result<Report, BadPartial> {
        Ok(report::report(partial, progress))
    }
}

fn decoded(unit: u64, part: &[u8]) -> Result<Record, OutputError> {
    let damaged = || OutputError::Part(format!("part {unit} is damaged; run it again with --fresh"));
    Record::decode(part).ok_or_else(damaged)
}

/// Writes the overlay of a photograph whole, under a name that no other photograph has.
fn put_overlay(folder: &Path, unit: u64, seen: &Seen, bytes: &[u8]) -> Result<(), String> {
    let stem =
        Path::new(&seen.record.file).file_stem().and_then(|stem| stem.to_str()).unwrap_or("photograph");
    // Object stores have names with anything in them.
    let stem: String =
        stem.chars().map(|c| if c.is_control() || c == '/' { '_' } else { c }).take(100).collect();
    let path = folder.join(format!("{:06}-{stem}.jpg", unit + 1));
    let picture = seen.overlay(bytes)?;
    let jpeg = picture.jpeg(OVERLAY_QUALITY).map_err(|error| format!("{}: {error}", path.display()))?;
    put(&path, &jpeg).map_err(|error| format!("cannot write the overlay {}: {error}", path.display()))
}

/// Writes a file whole or not at all.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut draft = PathBuf::from(path);
    // Two workers may draw the same photograph, and each draws the same.
    draft.set_extension(format!("draft-{}-{:?}", std::process::id(), std::thread::current().id()));
    let written = fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        drop(fs::remove_file(&draft));
    }
    written
}

#[cfg(test)]
mod tests;
