//! What units yield, and how yields add up.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};
use shared::{grid::Shape, photo::reading::Point, unavoidable::CellSet};

use super::record::{Outcome, Record, Verdict};
use crate::{kind::BadPartial, parts::PartsDigest};

/// Boards that a report tells of, the first ones.
const MOST_BOARDS: usize = 40;

/// Photographs without a board that a report names, the first ones.
const MOST_FAILED: usize = 24;

/// Photographs on the sheet: the most doubtful ones with boards.
const MOST_DOUBTFUL: usize = 150;

/// And the first ones that were refused.
const MOST_REFUSED: usize = 50;

/// Reasons to refuse; all others count as one.
const MOST_REASONS: usize = 12;

/// Bytes of a name or a reason that are kept. The output has all of them.
const MOST_TEXT_BYTES: usize = 400;

/// Cells of a board at most: a set of cells has no more.
const MOST_CELLS: usize = 128;

/// What some photographs gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Photographs.
    pub photos: u64,
    /// Those with boards.
    pub read: u64,
    /// Those that are no pictures, or could not be read from their place.
    pub unreadable: u64,
    /// The others by reason.
    pub refused: BTreeMap<String, u64>,
    /// Boards by verdict, in the order of [`Verdict::ALL`].
    pub verdicts: [u64; Verdict::ALL.len()],
    /// Doubtful cells.
    pub flagged_cells: u64,
    /// Cells with candidates.
    pub candidate_cells: u64,
    /// Boards by number of doubtful cells.
    pub by_flagged: BTreeMap<u8, u64>,
    /// The first boards.
    pub boards: Vec<First>,
    /// The first photographs without one.
    pub failed: Vec<Failed>,
    /// The most doubtful photographs with boards: doubt in thousandths of a cell, and unit.
    pub doubtful: Vec<(u32, u32)>,
    /// The first units that were refused.
    pub sheet_refused: Vec<u32>,
    /// Digest of the units' parts.
    pub parts: PartsDigest,
}

/// One of the first boards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct First {
    pub unit: u32,
    /// On its photograph, from 0.
    pub number: u8,
    pub file: String,
    pub shape: Shape,
    pub cells: Vec<u8>,
    pub verdict: Verdict,
    pub flagged: CellSet,
    pub corners: [Point; 4],
}

/// A photograph without a board.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Failed {
    pub unit: u32,
    pub file: String,
    /// Whether it is no picture; else it was refused.
    pub unreadable: bool,
    pub why: String,
}

fn bad<T>(what: &str) -> Result<T, BadPartial> {
    Err(BadPartial(what.into()))
}

fn small(unit: u64) -> u32 {
    u32::try_from(unit).expect("few units")
}

/// The end of a name, or the beginning of other text, if it is too long.
fn cut(text: &str, keep_end: bool) -> String {
    if text.len() <= MOST_TEXT_BYTES {
        return text.to_owned();
    }
    let place = MOST_TEXT_BYTES - '…'.len_utf8();
    let boundary = |at: &usize| text.is_char_boundary(*at);
    if keep_end {
        let from = (text.len() - place..text.len()).find(boundary).unwrap_or(text.len());
        format!("…{}", &text[from..])
    } else {
        let to = (0..=place).rev().find(boundary).unwrap_or(0);
        format!("{}…", &text[..to])
    }
}

impl Tally {
    /// What a unit yields.
    pub fn of(unit: u64, record: &Record, part: &[u8]) -> Self {
        let mut tally = Self { photos: 1, parts: PartsDigest::of(unit, part), ..Self::default() };
        let unit = small(unit);
        let (file, why) = (cut(&record.file, true), cut(record.outcome.reason().unwrap_or_default(), false));
        match &record.outcome {
            Outcome::Read => tally.read = 1,
            Outcome::Unreadable(_) => tally.unreadable = 1,
            Outcome::Refused(_) => {
                tally.refused.insert(why.clone(), 1);
                tally.sheet_refused.push(unit);
            }
        }
        if record.outcome != Outcome::Read {
            let unreadable = tally.unreadable == 1;
            tally.failed.push(Failed { unit, file: file.clone(), unreadable, why });
        }
        for (number, board) in (0..=u8::MAX).zip(&record.boards) {
            tally.verdicts[board.verdict as usize] += 1;
            tally.flagged_cells += board.flagged.len() as u64;
            tally.candidate_cells += board.candidates.len() as u64;
            *tally.by_flagged.entry(u8::try_from(board.flagged.len()).unwrap_or(u8::MAX)).or_default() += 1;
            if tally.boards.len() < MOST_BOARDS {
                let super::record::Board { shape, verdict, flagged, corners, .. } = *board;
                let (cells, file) = (board.cells.clone(), file.clone());
                tally.boards.push(First { unit, number, file, shape, cells, verdict, flagged, corners });
            }
        }
        if !record.boards.is_empty() {
            let doubt = record.boards.iter().map(super::record::Board::doubt).max().unwrap_or_default();
            tally.doubtful.push((doubt, unit));
        }
        tally
    }

    /// Boards.
    pub fn boards(&self) -> u64 {
        self.verdicts.iter().fold(0, |sum, &more| sum.saturating_add(more))
    }

    /// Photographs that are pictures but have no board.
    pub fn refused(&self) -> u64 {
        self.refused.values().fold(0, |sum, &more| sum.saturating_add(more))
    }

    /// The units of the sheet: the most doubtful ones first, then those that were refused.
    pub fn sheet(&self) -> impl Iterator<Item = u32> {
        self.doubtful.iter().map(|&(_, unit)| unit).chain(self.sheet_refused.iter().copied())
    }

    /// Whether this can be the yield of `range`.
    pub fn check(&self, range: &Range<u64>, units: u64) -> Result<(), BadPartial> {
        if range.is_empty() || range.end > units || self.photos != range.end - range.start {
            return bad("these are not as many photographs as units");
        }
        let all = self.read.checked_add(self.unreadable).and_then(|sum| sum.checked_add(self.refused()));
        if all != Some(self.photos) {
            return bad("not every photograph is read, refused or unreadable");
        }
        let by_flagged = self.by_flagged.values().fold(0u64, |sum, &more| sum.saturating_add(more));
        if self.boards() < self.read || by_flagged != self.boards() {
            return bad("there are not as many boards as photographs that were read");
        }
        let cells = self.boards().saturating_mul(MOST_CELLS as u64);
        if self.flagged_cells > cells || self.candidate_cells > cells {
            return bad("there are more cells than the boards have");
        }
        let inside = |unit: &u32| range.contains(&u64::from(*unit));
        let units =
            self.boards.iter().map(|first| first.unit).chain(self.failed.iter().map(|failed| failed.unit));
        if !units.chain(self.sheet()).all(|unit| inside(&unit)) {
            return bad("it tells of photographs that are not among these");
        }
        let text = |text: &String| text.len() <= MOST_TEXT_BYTES;
        let names = self.refused.keys().chain(self.boards.iter().map(|first| &first.file));
        let failed = self.failed.iter().flat_map(|failed| [&failed.file, &failed.why]);
        let boards = |first: &First| first.cells.len() == first.shape.side() * first.shape.side();
        let bounded = self.boards.len() <= MOST_BOARDS
            && self.failed.len() <= MOST_FAILED
            && self.doubtful.len() <= MOST_DOUBTFUL
            && self.sheet_refused.len() <= MOST_REFUSED
            && self.refused.len() <= MOST_REASONS;
        if !bounded || !names.chain(failed).all(text) || !self.boards.iter().all(boards) {
            return bad("it tells more than it should");
        }
        Ok(())
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Result<Self, BadPartial> {
        let mut sum = Self {
            photos: added(self.photos, other.photos)?,
            read: added(self.read, other.read)?,
            unreadable: added(self.unreadable, other.unreadable)?,
            refused: together(&self.refused, &other.refused)?,
            verdicts: self.verdicts,
            flagged_cells: added(self.flagged_cells, other.flagged_cells)?,
            candidate_cells: added(self.candidate_cells, other.candidate_cells)?,
            by_flagged: together(&self.by_flagged, &other.by_flagged)?,
            boards: [self.boards.as_slice(), &other.boards].concat(),
            failed: [self.failed.as_slice(), &other.failed].concat(),
            doubtful: [self.doubtful.as_slice(), &other.doubtful].concat(),
            sheet_refused: [self.sheet_refused.as_slice(), &other.sheet_refused].concat(),
            parts: self.parts.plus(other.parts),
        };
        for (all, more) in sum.verdicts.iter_mut().zip(other.verdicts) {
            *all = added(*all, more)?;
        }
        if sum.refused.len() > MOST_REASONS {
            return bad("there are more reasons to refuse a photograph than there can be");
        }
        sum.boards.sort_by_key(|first| (first.unit, first.number));
        sum.boards.truncate(MOST_BOARDS);
        sum.failed.sort();
        sum.failed.truncate(MOST_FAILED);
        // The most doubtful first, and of equals the earlier one.
        sum.doubtful.sort_by_key(|&(doubt, unit)| (std::cmp::Reverse(doubt), unit));
        sum.doubtful.truncate(MOST_DOUBTFUL);
        sum.sheet_refused.sort_unstable();
        sum.sheet_refused.truncate(MOST_REFUSED);
        Ok(sum)
    }
}

fn added(a: u64, b: u64) -> Result<u64, BadPartial> {
    a.checked_add(b).ok_or_else(|| BadPartial("more than 2^64 photographs".into()))
}

fn together<K: Ord + Clone>(
    counts: &BTreeMap<K, u64>,
    more: &BTreeMap<K, u64>,
) -> Result<BTreeMap<K, u64>, BadPartial> {
    let mut all = counts.clone();
    for (of, &more) in more {
        let count = all.entry(of.clone()).or_default();
        *count = added(*count, more)?;
    }
    Ok(all)
}
