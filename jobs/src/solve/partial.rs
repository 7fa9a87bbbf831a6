//! What units yield, and how yields add up.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};

use super::rows::{Row, Verdict};
use crate::{kind::BadPartial, parts::PartsDigest};

/// Lines with something wrong that are kept, the first ones.
const MOST_WRONG: usize = 20;

/// Bytes of what is wrong with a line.
const MOST_WRONG_BYTES: usize = 300;

/// What some units have found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// By verdict.
    pub unique: u64,
    pub multiple: u64,
    pub none: u64,
    pub invalid: u64,
    pub unreadable: u64,
    /// Valid 9x9 puzzles with fewer than 17 clues, or without two of the digits: they cannot be unique.
    pub hopeless: u64,
    /// Puzzles by number of clues.
    pub clues: BTreeMap<u16, u64>,
    /// The lines of each unit, by unit.
    pub lines: BTreeMap<u32, u32>,
    /// The first lines that are invalid or unreadable.
    pub wrong: Vec<Wrong>,
    /// Digest of the units' parts.
    pub parts: PartsDigest,
}

/// A line with something wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Wrong {
    pub unit: u32,
    /// Counted from 1 in the unit.
    pub line: u32,
    pub what: String,
}

/// Puzzles of a unit by number of clues, in a form that is quick to count in.
pub struct ClueCounts([u64; 626]);

impl Default for ClueCounts {
    fn default() -> Self {
        Self([0; 626])
    }
}

fn bad<T>(what: &str) -> Result<T, BadPartial> {
    Err(BadPartial(what.into()))
}

impl Tally {
    /// Puzzles, with clashes or without.
    pub fn puzzles(&self) -> u64 {
        [self.unique, self.multiple, self.none, self.invalid].into_iter().fold(0, u64::saturating_add)
    }

    /// Counts a row of a unit.
    pub fn take(&mut self, unit: u64, line: u32, row: &Row<'_>, clues: &mut ClueCounts) {
        *self.of(row.verdict) += 1;
        if row.verdict != Verdict::Unreadable {
            clues.0[row.clues()] += 1;
        }
        // One that is unique can be; the others are few.
        let hopeless = matches!(row.verdict, Verdict::Multiple | Verdict::None)
            && row.cells.len() == 81
            && cannot_be_unique(&row.cells);
        self.hopeless += u64::from(hopeless);
        if !row.problem.is_empty() && self.wrong.len() < MOST_WRONG {
            self.wrong.push(Wrong { unit: small(unit), line, what: row.problem.clone().into_owned() });
        }
    }

    /// The unit is through.
    pub fn end(&mut self, unit: u64, lines: u32, clues: &ClueCounts, part: PartsDigest) {
        let counted = (0..).zip(clues.0).filter(|(_, count)| *count > 0);
        self.clues = counted.collect();
        self.lines.insert(small(unit), lines);
        self.parts = part;
    }

    fn of(&mut self, verdict: Verdict) -> &mut u64 {
        match verdict {
            Verdict::Unique => &mut self.unique,
            Verdict::Multiple => &mut self.multiple,
            Verdict::None => &mut self.none,
            Verdict::Invalid => &mut self.invalid,
            Verdict::Unreadable => &mut self.unreadable,
        }
    }

    /// Whether this can be the yield of `range`.
    pub fn check(&self, range: Range<u64>, units: u64) -> Result<(), BadPartial> {
        if range.is_empty() || range.end > units {
            return bad("these units are not of this job");
        }
        if !self.lines.keys().map(|&unit| u64::from(unit)).eq(range) {
            return bad("the lines counted are not those of these units");
        }
        let lines: u64 = self.lines.values().map(|&lines| u64::from(lines)).sum();
        let with_clues = self.clues.values().fold(0, |sum: u64, &more| sum.saturating_add(more));
        if with_clues != self.puzzles() || self.puzzles().saturating_add(self.unreadable) > lines {
            return bad("there are not as many lines as puzzles");
        }
        let wrong = self.invalid.saturating_add(self.unreadable).min(MOST_WRONG as u64);
        let kept = self.wrong.len() as u64 == wrong && self.wrong.is_sorted();
        let inside = |wrong: &Wrong| {
            self.lines.get(&wrong.unit).is_some_and(|&lines| (1..=lines).contains(&wrong.line))
                && wrong.what.len() <= MOST_WRONG_BYTES
        };
        if !kept || !self.wrong.iter().all(inside) {
            return bad("what is wrong is not in these lines");
        }
        Ok(())
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Result<Self, BadPartial> {
        let sum =
            |a: u64, b: u64| a.checked_add(b).ok_or_else(|| BadPartial("more than 2^64 puzzles".into()));
        let mut clues = self.clues.clone();
        for (&number, &more) in &other.clues {
            let entry = clues.entry(number).or_default();
            *entry = sum(*entry, more)?;
        }
        let mut lines = self.lines.clone();
        for (&unit, &count) in &other.lines {
            if lines.insert(unit, count).is_some() {
                return bad("a unit is counted twice");
            }
        }
        let mut wrong = [self.wrong.as_slice(), &other.wrong].concat();
        wrong.sort();
        wrong.truncate(MOST_WRONG);
        Ok(Self {
            unique: sum(self.unique, other.unique)?,
            multiple: sum(self.multiple, other.multiple)?,
            none: sum(self.none, other.none)?,
            invalid: sum(self.invalid, other.invalid)?,
            unreadable: sum(self.unreadable, other.unreadable)?,
            hopeless: sum(self.hopeless, other.hopeless)?,
            clues,
            lines,
            wrong,
            parts: self.parts.plus(other.parts),
        })
    }
}

/// No puzzle with fewer than 17 clues has one solution (`McGuire`, Tugemann & Civario 2012), and none without two of the
/// digits: these could change places.
fn cannot_be_unique(cells: &[u8]) -> bool {
    let clues = cells.iter().filter(|&&cell| cell != 0).count();
    let digits = cells.iter().fold(0u16, |digits, &cell| digits | 1 << cell) >> 1;
    clues < 17 || digits.count_ones() < 8
}

fn small(unit: u64) -> u32 {
    u32::try_from(unit).expect("few units")
}
