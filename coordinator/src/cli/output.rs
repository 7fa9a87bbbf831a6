//! The output of a job, put together from the parts of its units.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use jobs::{Finished, Form, OutputError, PartsDigest, Report, page::Picture};
use proto::v1::{JobStatus, State};
use worker::{objects::Objects, part_index::Output};

use super::exit::Failure;

/// Writes the output of a finished job to `path`, whole or not at all.
pub async fn write(
    status: &JobStatus,
    report: &Report,
    parts: &Objects,
    path: PathBuf,
) -> Result<(), Failure> {
    if status.state() != State::Finished || status.quarantined_units > 0 {
        return Err(Failure::failed(format!("{}: nothing written, not all units are done", path.display())));
    }
    let (status, json, parts) = (status.clone(), report.json.clone(), parts.clone());
    let written = tokio::task::spawn_blocking(move || write_blocking(&status, &json, parts, &path)).await;
    written.map_err(|e| Failure::failed(format!("writing the output failed: {e}")))?
}

/// Pictures for the page of a report, as far as there are parts in that place. A page is as good without them.
pub async fn pictures(status: &JobStatus, report: &Report, parts: &Objects) -> Vec<Picture> {
    let (status, json, parts) = (status.clone(), report.json.clone(), parts.clone());
    let pictures = tokio::task::spawn_blocking(move || {
        let kind = jobs::find(&status.kind).ok_or("this program does not know the kind")?;
        let job = kind.open(&status.settings).map_err(|e| e.to_string())?;
        let parts = parts_of(&status, &json, parts)?;
        let finished = Finished { report: &json, parts: &parts, form: Form::Csv };
        job.pictures(&finished).map_err(|e| e.to_string())
    });
    match pictures.await.map_err(|e| e.to_string()).and_then(|pictures| pictures) {
        Ok(pictures) => pictures,
        Err(error) => {
            eprintln!("nonet: the page has no pictures: {error}");
            Vec::new()
        }
    }
}

/// The parts that a result was made from.
fn parts_of(status: &JobStatus, report: &serde_json::Value, parts: Objects) -> Result<Output, String> {
    let run = u128::from_str_radix(&status.run, 16).map_err(|e| format!("run {:?}: {e}", status.run))?;
    let expected = report["parts"].as_str().and_then(PartsDigest::from_hex);
    Ok(Output::new(parts, run.to_be_bytes(), status.units, expected))
}

/// Whether a kind can write to a file of this name.
pub fn check(kind: &dyn jobs::ErasedKind, path: &Path) -> Result<(), Failure> {
    let name = kind.name();
    if kind.output().is_none() {
        return Err(Failure::usage(format!("jobs of kind {name} have no output beside their report")));
    }
    if !kind.forms().contains(&Form::of_name(path, kind.forms())) {
        let path = path.display();
        return Err(Failure::usage(format!(
            "{path}: the output of {name} cannot have this form; name it .csv or .txt"
        )));
    }
    Ok(())
}

fn write_blocking(
    status: &JobStatus,
    report: &serde_json::Value,
    parts: Objects,
    path: &Path,
) -> Result<(), Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::failed(format!("{}: {e}", path.display()));
    let kind = jobs::find(&status.kind)
        .ok_or_else(|| failed(&format_args!("this program knows no job kind {}", status.kind)))?;
    check(kind, path)?;
    let job = kind.open(&status.settings).map_err(|e| failed(&e))?;
    let parts = parts_of(status, report, parts).map_err(|e| failed(&e))?;
    let finished = Finished { report, parts: &parts, form: Form::of_name(path, kind.forms()) };
    whole(path, |out| job.assemble(&finished, out)).map_err(|e: OutputError| failed(&e))
}

/// Writes a file beside its place, syncs it, and puts it there.
pub fn whole<T, E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    let name = path.file_name().ok_or_else(|| io::Error::other("not the name of a file"))?;
    let draft = path.with_file_name(format!(".{}.{}", name.display(), std::process::id()));
    let mut out = BufWriter::new(File::create(&draft)?);
    let written = write(&mut out).and_then(|written| {
        out.flush()?;
        out.get_ref().sync_all()?;
        fs::rename(&draft, path)?;
        Ok(written)
    });
    if written.is_err() {
        drop(fs::remove_file(&draft));
    }
    written
}
