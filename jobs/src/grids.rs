//! Complete grids that jobs are about: from files, or from the command line.

use std::{fs, sync::Arc};

use serde::{Deserialize, Serialize};
use shared::unavoidable::CompleteGrid;

use crate::{
    input::{File, Local, STANDARD_INPUT, Source, Surroundings},
    kind::BadSettings,
};

/// Bytes of a file of grids at most: six million grids.
const MOST_BYTES: u64 = 500 << 20;

/// Where grids come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Grids {
    /// The name of a file that has not been looked up.
    #[serde(skip)]
    Typed(Source),
    /// One a line.
    File(File),
    /// One.
    Grid(String),
}

impl Grids {
    /// A file of that name, standard input, or else a grid.
    ///
    /// # Errors
    ///
    /// When it is none of them.
    pub fn typed(text: &str) -> Result<Self, String> {
        let is_file = fs::metadata(text).is_ok_and(|metadata| metadata.is_file());
        if is_file || text == STANDARD_INPUT || text.contains("://") {
            return Source::typed(text).map(Self::Typed);
        }
        match CompleteGrid::read(text) {
            Ok(_) => Ok(Self::Grid(text.to_owned())),
            Err(error) => Err(format!("there is no such file, and it is no grid: {error}")),
        }
    }

    /// Looks all of them up.
    ///
    /// # Errors
    ///
    /// When a file is not there, cannot be read, or is damaged.
    pub fn look_up(all: Vec<Self>, around: &Surroundings<'_>) -> Result<Vec<Self>, BadSettings> {
        // Every process that computes reads all grids when it opens the job, from disk.
        let around =
            Surroundings { storage: Arc::clone(Local::shared()), inputs: around.inputs.clone(), ..*around };
        let typed = all.iter().filter_map(|grids| match grids {
            Self::Typed(source) => Some(source.clone()),
            Self::File(_) | Self::Grid(_) => None,
        });
        let mut sources = Source::look_up(typed.collect(), &around)?.into_iter();
        let mut found = Vec::new();
        for grids in all {
            match grids {
                Self::Typed(_) => {
                    let files = Source::files(sources.next().into_iter().collect())?;
                    found.extend(files.into_iter().map(Self::File));
                }
                known => found.push(known),
            }
        }
        Ok(found)
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
            Grids::Typed(_) => return Err("a file of grids has not been looked up".into()),
        }
    }
    if grids.is_empty() { Err("there are no grids".into()) } else { Ok(grids) }
}

fn read_file(file: &File, grids: &mut Vec<CompleteGrid>) -> Result<(), String> {
    let at = &file.at;
    let text = file.read_whole(MOST_BYTES, Local::shared())?;
    let text = std::str::from_utf8(&text).map_err(|error| format!("{at}: not text: {error}"))?;
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let grid = CompleteGrid::read(line).map_err(|error| format!("{at}, line {number}: {error}"))?;
        grids.push(grid);
    }
    Ok(())
}
