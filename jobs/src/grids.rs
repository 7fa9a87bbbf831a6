//! Complete grids that jobs are about: from files, or from the command line.

use std::{fs, io::Read, path::PathBuf};

use serde::{Deserialize, Serialize};
use shared::unavoidable::CompleteGrid;

use crate::files::File;

/// Bytes of a file of grids at most: six million grids.
const MOST_BYTES: u64 = 500 << 20;

/// Where grids come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Grids {
    /// One a line.
    File(File),
    /// One.
    Grid(String),
}

impl Grids {
    /// A file of that name, or else a grid.
    ///
    /// # Errors
    ///
    /// When it is neither.
    pub fn find(text: &str) -> Result<Self, String> {
        let path = std::path::absolute(text).unwrap_or_else(|_| PathBuf::from(text));
        if fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
            return File::find(path).map(Self::File).map_err(|error| format!("{text}: {error}"));
        }
        match CompleteGrid::read(text) {
            Ok(_) => Ok(Self::Grid(text.to_owned())),
            Err(error) => Err(format!("there is no such file, and it is no grid: {error}")),
        }
    }
}

/// Reads all grids.
///
/// # Errors
///
/// Names the file, the line and what is wrong with it.
pub fn read(sources: &[Grids]) -> Result<Vec<CompleteGrid>, String> {
    let mut grids = Vec::new();
    for source in sources {
        match source {
            Grids::Grid(text) => {
                grids.push(CompleteGrid::read(text).map_err(|error| format!("{text}: {error}"))?);
            }
            Grids::File(file) => read_file(file, &mut grids)?,
        }
    }
    if grids.is_empty() { Err("there are no grids".into()) } else { Ok(grids) }
}

fn read_file(file: &File, grids: &mut Vec<CompleteGrid>) -> Result<(), String> {
    let path = file.path.display();
    if file.len_bytes > MOST_BYTES {
        return Err(format!("{path}: {} bytes are too many, the limit is {MOST_BYTES}", file.len_bytes));
    }
    let mut text = String::new();
    file.open()?.take(MOST_BYTES).read_to_string(&mut text).map_err(|error| format!("{path}: {error}"))?;
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let grid = CompleteGrid::read(line).map_err(|error| format!("{path}, line {number}: {error}"))?;
        grids.push(grid);
    }
    Ok(())
}
