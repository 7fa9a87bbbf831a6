//! `nonet photos-eval`: photographs of which it is known what is on them, read and compared with that.

mod cells;
mod manifest;
mod score;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use jobs::photos::{Manner, impostors::impostor, look};
use shared::photo::{classify::Classifier, net::Weights, reading::Reader};
use worker::cli::{stop_on_signal, threads};

use super::{
    args::Format,
    each::each,
    exit::{Failure, Outcome},
    format,
    read::bytes_of,
};
use manifest::{Entry, Part};
use score::Score;

#[derive(Debug, Args)]
pub struct EvalArgs {
    /// A CSV with a header line, and columns `file` (relative to the manifest), `board` (81 characters: digits, 0 for an empty
    /// cell, c for one with candidates only; - if there is no sudoku on the photograph) and maybe `source`
    #[arg(value_name = "MANIFEST", required_unless_present = "make_impostors")]
    pub manifest: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Read N photographs, evenly spread over the manifest
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Read part K of N only: all photographs of a puzzle are in one part
    #[arg(long, value_name = "K/N", value_parser = Part::typed)]
    pub part: Option<Part>,
    /// Print each photograph with wrong cells: file, what is on it, what was read, doubtful cells
    #[arg(long)]
    pub wrong: bool,
    /// Computing threads [default: one per core]
    #[arg(long, env = "NONET_THREADS", value_name = "N")]
    pub threads: Option<usize>,
    /// Tell digits by these weights, as the trainer writes them, not by those that come with the program
    #[arg(long, value_name = "FILE", hide = true)]
    pub weights: Option<PathBuf>,
    /// Instead, cut out the cells and write them with what is on them into a file of the folder DIR for each source: what
    /// the trainer of the digits takes
    #[arg(long, value_name = "DIR", hide = true)]
    pub cells: Option<PathBuf>,
    /// Instead, draw fifty pictures without a sudoku, with a manifest, into the folder DIR
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "manifest")]
    pub make_impostors: Option<PathBuf>,
    /// Where the drawing of impostors begins
    #[arg(long, value_name = "N", default_value_t = 1, hide = true)]
    pub seed: u64,
}

/// Pictures that `--make-impostors` draws.
const IMPOSTORS: usize = 50;

/// Reads all photographs of a manifest and prints how well that went.
pub async fn run(args: EvalArgs) -> Result<Outcome, Failure> {
    if let Some(folder) = &args.make_impostors {
        make_impostors(folder, args.seed)?;
        return Ok(Outcome::Done);
    }
    let manifest = args.manifest.clone().unwrap_or_default();
    let mut entries = manifest::read(&manifest).map_err(Failure::usage)?;
    entries.retain(|entry| args.part.is_none_or(|part| part.has(entry)));
    if let Some(limit) = args.limit.filter(|&limit| limit < entries.len()) {
        let all = entries.len();
        entries = (0..limit).map(|at| entries[at * all / limit].clone()).collect();
    }
    let threads = threads(args.threads).map_err(Failure::usage)?;
    let stop = stop_on_signal()?;
    let stopped = stop.clone();
    let classifier = args.weights.as_deref().map_or_else(|| Ok(Classifier::new()), classifier_of)?;
    let cells = args.cells.clone();
    let work = tokio::task::spawn_blocking(move || {
        let stop = || stopped.is_cancelled();
        if let Some(folder) = cells {
            return cells::write(&entries, (threads, &stop), &classifier, &folder);
        }
        let reader = Reader::with(classifier);
        let scores = each(&entries, threads, &stop, |entry| score_one(entry, &reader, &stop));
        Ok(table::print(&scores, args.format, args.wrong))
    });
    let text = tokio::select! {
        () = stop.cancelled() => return Ok(Outcome::Interrupted),
        text = work => text.map_err(|e| Failure::failed(format!("reading failed: {e}")))??,
    };
    format::print(&text)?;
    Ok(Outcome::Done)
}

fn classifier_of(path: &Path) -> Result<Classifier, Failure> {
    let weights = Weights::from_bytes(&bytes_of(path)?);
    let failed =
        || Failure::usage(format!("{}: these are no weights of the layers of this program", path.display()));
    Ok(Classifier::with(weights.ok_or_else(failed)?))
}

fn score_one(entry: &Entry, reader: &Reader, stop: &dyn Fn() -> bool) -> Score {
    let since = Instant::now();
    let seen = bytes_of(&entry.path).map(|bytes| look(&entry.file, &bytes, Manner::default(), reader, stop));
    let record = seen.map_or_else(|failure| Err(failure.text().to_owned()), |seen| Ok(seen.record));
    Score::of(entry, record, since.elapsed())
}

fn make_impostors(folder: &Path, seed: u64) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::failed(format!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut manifest = "file,source,board\n".to_owned();
    for number in 0..IMPOSTORS {
        let (name, picture) = impostor(seed, number);
        let kind = name.split_once('-').map_or(name.as_str(), |(_, kind)| kind);
        manifest += &format!("{name}.jpg,{kind},-\n");
        let jpeg = picture.jpeg(88).map_err(failed)?;
        fs::write(folder.join(format!("{name}.jpg")), jpeg).map_err(failed)?;
    }
    fs::write(folder.join("manifest.csv"), manifest).map_err(failed)
}
