//! Complete grids that jobs are about: from files, or from the command line.

use std::{fmt, fs, iter, ops::RangeInclusive, sync::Arc};

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

/// Which grids of a list, by number from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridRange {
    /// The first.
    from: u64,
    /// The last; unless there is one, that of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<u64>,
}

impl GridRange {
    /// Reads `5`, `5..9` (both belong to it), `5..` or `..9`. What the list has is not known here.
    ///
    /// # Errors
    ///
    /// When it is none of them.
    pub fn typed(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<u64>().map_err(|error| format!("{text:?}: {error}"));
        let Some((from, to)) = text.split_once("..") else {
            let only = number(text)?;
            return Ok(Self { from: only, to: Some(only) });
        };
        let to = to.trim_start_matches('=');
        let from = if from.trim().is_empty() { 1 } else { number(from)? };
        Ok(Self { from, to: if to.trim().is_empty() { None } else { Some(number(to)?) } })
    }

    /// The first and the last of a list of `all`.
    fn of(self, all: u64) -> Result<RangeInclusive<u64>, String> {
        let to = self.to.unwrap_or(all);
        let wrong = if self.from == 0 || to == 0 {
            "begins before the list, which is counted from 1"
        } else if self.to.is_some_and(|to| self.from > to) {
            "is empty"
        } else if self.from > all || to > all {
            "goes beyond the list"
        } else {
            return Ok(self.from..=to);
        };
        Err(format!(
            "--range {self} {wrong}: there {}",
            if all == 1 { "is 1 grid".into() } else { format!("are {all} grids") }
        ))
    }
}

impl fmt::Display for GridRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Some(to) if to == self.from => write!(f, "{to}"),
            Some(to) => write!(f, "{}..{to}", self.from),
            None => write!(f, "{}..", self.from),
        }
    }
}

/// The grids of a job.
#[derive(Debug)]
pub struct Chosen {
    /// In the order of the list.
    pub grids: Vec<CompleteGrid>,
    /// The number of the first in the whole list, from 1.
    pub first: u64,
    /// Grids of the whole list.
    pub all: u64,
}

impl Chosen {
    /// The number of the last in the whole list.
    pub fn last(&self) -> u64 {
        self.first + self.grids.len() as u64 - 1
    }

    /// Which grids these are, if they are not all.
    pub fn words(&self) -> Option<String> {
        let Self { first, all, .. } = *self;
        match self.last() {
            last if (first, last) == (1, all) => None,
            last if first == last => Some(format!("grid {first} of a list of {all}")),
            last => Some(format!("grids {first} to {last} of a list of {all}")),
        }
    }
}

/// Reads the grids of a range, or all. Of those outside nothing is looked at but whether a line has one.
///
/// # Errors
///
/// Names the file, the line and what is wrong with it, or says how many grids there are when the range has others.
pub fn read(sources: &[Grids], range: Option<GridRange>) -> Result<Chosen, String> {
    let texts = sources.iter().map(Text::of).collect::<Result<Vec<_>, _>>()?;
    let all: usize = texts.iter().map(|text| text.grids().count()).sum();
    if all == 0 {
        return Err("there are no grids".into());
    }
    let chosen = range.map_or(Ok(1..=all as u64), |range| range.of(all as u64))?;
    let listed = texts.iter().flat_map(|text| text.grids().map(move |line| (text, line)));
    let grids = (1..).zip(listed).skip_while(|(number, _)| number < chosen.start());
    let grids = grids.take_while(|(number, _)| number <= chosen.end()).map(|(_, (text, (line, grid)))| {
        CompleteGrid::read(grid).map_err(|error| format!("{}: {error}", text.place(line)))
    });
    Ok(Chosen { grids: grids.collect::<Result<_, _>>()?, first: *chosen.start(), all: all as u64 })
}

/// What a source has.
enum Text<'a> {
    File { at: &'a str, text: String },
    Grid(&'a str),
}

impl<'a> Text<'a> {
    fn of(source: &'a Grids) -> Result<Self, String> {
        match source {
            Grids::Grid(grid) => Ok(Self::Grid(grid)),
            Grids::File(file) => {
                let text = file.read_whole(MOST_BYTES, Local::shared())?;
                let text =
                    String::from_utf8(text).map_err(|error| format!("{}: not text: {error}", file.at))?;
                Ok(Self::File { at: &file.at, text })
            }
            Grids::Typed(_) => Err("a file of grids has not been looked up".into()),
        }
    }

    /// The lines that have to have a grid, with their numbers from 1.
    fn grids(&self) -> Box<dyn Iterator<Item = (usize, &str)> + '_> {
        match self {
            Self::Grid(grid) => Box::new(iter::once((1, *grid))),
            Self::File { text, .. } => {
                let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim));
                Box::new(lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')))
            }
        }
    }

    /// Where a line is, in words.
    fn place(&self, line: usize) -> String {
        match self {
            Self::File { at, .. } => format!("{at}, line {line}"),
            Self::Grid(grid) => (*grid).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRIDS: [&str; 3] = ["1234341221434321", "1234341223414123", "1234341243212143"];

    fn chosen(text: &str) -> Result<Chosen, String> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("grids.txt");
        // The second grid of the file is none.
        fs::write(&file, format!("# two\n{}\n\n1134341221434321\n", GRIDS[0])).unwrap();
        let typed = [file.to_str().unwrap(), GRIDS[1], GRIDS[2]].map(|text| Grids::typed(text).unwrap());
        let sources = Grids::look_up(typed.into(), &Surroundings::local()).unwrap();
        read(&sources, Some(GridRange::typed(text)?))
    }

    #[test]
    fn ranges_are_of_the_whole_list_and_nothing_else_is_read() {
        let cases: [(_, _, &[usize]); 5] =
            [("1", 1, &[0]), ("..1", 1, &[0]), ("3..4", 3, &[1, 2]), ("3..", 3, &[1, 2]), ("4..=4", 4, &[2])];
        for (text, first, expected) in cases {
            let chosen = chosen(text).unwrap();
            let last = first + expected.len() as u64 - 1;
            assert_eq!((chosen.first, chosen.last(), chosen.all), (first, last, 4), "{text}");
            let expected = expected.iter().map(|&at| CompleteGrid::read(GRIDS[at]).unwrap());
            assert!(chosen.grids.into_iter().eq(expected), "{text}");
        }
        let words = |text| chosen(text).unwrap().words().unwrap();
        assert_eq!(words("3.."), "grids 3 to 4 of a list of 4");
        assert_eq!(words("3"), "grid 3 of a list of 4");
        let all = read(&[Grids::Grid(GRIDS[0].into())], None).unwrap();
        assert_eq!(all.words(), None);
    }

    #[test]
    fn ranges_that_the_list_has_not_are_refused() {
        let error = |text| chosen(text).unwrap_err();
        assert!(error("2..3").contains("grids.txt, line 4: digit 1 stands twice"), "{}", error("2..3"));
        assert_eq!(error("3..5"), "--range 3..5 goes beyond the list: there are 4 grids");
        assert_eq!(error("5.."), "--range 5.. goes beyond the list: there are 4 grids");
        assert_eq!(error("3..2"), "--range 3..2 is empty: there are 4 grids");
        assert_eq!(
            error("0..2"),
            "--range 0..2 begins before the list, which is counted from 1: there are 4 grids"
        );
        for text in ["", "x", "1..x", "-1", "1...3"] {
            assert!(GridRange::typed(text).is_err(), "{text:?}");
        }
    }
}
