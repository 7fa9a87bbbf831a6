//! What units yield, and how yields add up.

use std::{collections::BTreeMap, ops::Range};

use serde::{Deserialize, Serialize};
use shared::solve::level::{Level, Technique};

use super::{
    rows::{Row, Verdict},
    value::hopeless,
};
use crate::{kind::BadPartial, parts::PartsDigest};

/// Lines with something wrong that are kept, the first ones.
const MOST_WRONG: usize = 20;

/// Bytes of what is wrong with a line.
const MOST_WRONG_BYTES: usize = 300;

/// What some units have found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// By verdict, in the order of [`Verdict::ALL`].
    pub verdicts: [u64; Verdict::ALL.len()],
    /// Valid 9x9 puzzles with fewer than 17 clues, or without two of the digits: they cannot be unique.
    pub hopeless: u64,
    /// Puzzles of which it is known that no clue can be left out.
    pub minimal: u64,
    /// Puzzles by level, if it was asked for: technique and depth.
    pub levels: BTreeMap<(u8, u8), u64>,
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
    /// Lines of a verdict.
    pub fn with(&self, verdict: Verdict) -> u64 {
        self.verdicts[verdict as usize]
    }

    /// Puzzles, with clashes or without.
    pub fn puzzles(&self) -> u64 {
        let puzzles = Verdict::ALL.into_iter().filter(|&verdict| verdict != Verdict::Unreadable);
        puzzles.map(|verdict| self.with(verdict)).fold(0, u64::saturating_add)
    }

    /// Puzzles by level.
    pub fn levels(&self) -> impl Iterator<Item = (Level, u64)> {
        let known = |(technique, depth): (u8, u8)| {
            Technique::ALL.get(usize::from(technique)).map(|&technique| Level { technique, depth })
        };
        self.levels.iter().filter_map(move |(&level, &count)| Some((known(level)?, count)))
    }

    /// Counts a row of a unit.
    pub fn take(&mut self, unit: u64, line: u32, row: &Row<'_>, clues: &mut ClueCounts) {
        self.verdicts[row.verdict as usize] += 1;
        if row.verdict != Verdict::Unreadable {
            clues.0[row.clues()] += 1;
        }
        // One that is unique cannot be; the others are few.
        let may_be_hopeless =
            !matches!(row.verdict, Verdict::Unique | Verdict::Invalid | Verdict::Unreadable);
        self.hopeless += u64::from(may_be_hopeless && hopeless(row).is_some());
        self.minimal += u64::from(row.more.redundant.as_ref().is_some_and(Vec::is_empty));
        if let Some(level) = row.more.level {
            *self.levels.entry((level.technique as u8, level.depth)).or_default() += 1;
        }
        if !row.problem.is_empty() && self.wrong.len() < MOST_WRONG {
            self.wrong.push(Wrong { unit: small(unit), line, what: row.problem.to_owned() });
        }
    }

    /// The unit is through.
    pub fn end(&mut self, unit: u64, lines: u32, clues: &ClueCounts, part: PartsDigest) {
        let counted = (0..).zip(clues.0).filter(|(_, count)| *count > 0);
        self.clues = counted.collect();
        self.lines.insert(small(unit), lines);
        self.parts = part;
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
        if total(&self.clues) != self.puzzles()
            || self.puzzles().saturating_add(self.with(Verdict::Unreadable)) > lines
        {
            return bad("there are not as many lines as puzzles");
        }
        if self.hopeless.saturating_add(self.with(Verdict::Unique)) > self.puzzles()
            || self.minimal > self.with(Verdict::Unique)
            || total(&self.levels) > self.with(Verdict::Unique)
            || self.levels.keys().any(|&(technique, _)| usize::from(technique) >= Technique::ALL.len())
        {
            return bad("there are not as many puzzles as there is to say of them");
        }
        let wrong = self.with(Verdict::Invalid).saturating_add(self.with(Verdict::Unreadable));
        let wrong = wrong.min(MOST_WRONG as u64);
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
        let mut verdicts = self.verdicts;
        for (all, more) in verdicts.iter_mut().zip(other.verdicts) {
            *all = sum(*all, more)?;
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
            verdicts,
            hopeless: sum(self.hopeless, other.hopeless)?,
            minimal: sum(self.minimal, other.minimal)?,
            levels: together(&self.levels, &other.levels)?,
            clues: together(&self.clues, &other.clues)?,
            lines,
            wrong,
            parts: self.parts.plus(other.parts),
        })
    }
}

fn sum(a: u64, b: u64) -> Result<u64, BadPartial> {
    a.checked_add(b).ok_or_else(|| BadPartial("more than 2^64 puzzles".into()))
}

/// Both counts of each thing.
fn together<K: Ord + Copy>(
    counts: &BTreeMap<K, u64>,
    more: &BTreeMap<K, u64>,
) -> Result<BTreeMap<K, u64>, BadPartial> {
    let mut all = counts.clone();
    for (&of, &more) in more {
        let count = all.entry(of).or_default();
        *count = sum(*count, more)?;
    }
    Ok(all)
}

/// All together, at most 2^64 - 1.
fn total<K>(counts: &BTreeMap<K, u64>) -> u64 {
    counts.values().fold(0, |sum, &more| sum.saturating_add(more))
}

fn small(unit: u64) -> u32 {
    u32::try_from(unit).expect("few units")
}
