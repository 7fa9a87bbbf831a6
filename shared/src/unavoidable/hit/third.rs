//! The third band, when the clues of the two others are chosen.
//!
//! Of the unavoidable sets that those clues miss, what lies in the third band has to be hit there, with the clues that
//! are left: six or a few more. The sets are filtered and bounded first (`may_do`), which nearly nothing survives; then
//! `region` goes through the band. Whatever hits all known sets is tested for another solution on the whole grid.

use multiversion::multiversion;

use super::{
    KEPT_SIZE,
    another::Another,
    cross::Cross,
    lists::Word,
    pair::{BAND, BOTH},
    plan::Start,
    region::{Judge, Region, Verdict},
};

/// The cells of the third band, numbered from 0.
const ALL: Word = (1 << BAND) - 1;

/// Searches of the third band.
pub(super) struct Third {
    /// The unavoidable sets with cells in the third band.
    cross: Cross,
    /// Unavoidable sets that have been found on the way and are small enough to be kept, on all 81 cells.
    pub learned: Vec<u128>,
    /// The clues of puzzles that have been found, on all 81 cells.
    pub found: Vec<u128>,
    /// The solver.
    pub another: Another,
    /// The search inside the band.
    pub region: Region,
    unhit: Vec<Word>,
}

impl Third {
    pub(super) fn new(another: Another, cross: Vec<(Word, Word)>) -> Self {
        Self {
            cross: Cross::new(cross),
            learned: Vec::new(),
            found: Vec::new(),
            another,
            region: Region::default(),
            unhit: Vec::new(),
        }
    }

    /// Forgets what is too large to be kept, and puts those first that have few cells in the third band: they bound most.
    pub(super) fn tidy(&mut self) {
        self.cross.tidy(KEPT_SIZE);
    }

    /// An unavoidable set inside the two bands that these clues of theirs miss.
    pub(super) fn unhit_in_pair(&mut self, chosen: Word) -> Option<Word> {
        unhit_in_pair(&mut self.another, &mut self.learned, chosen)
    }

    /// Whether so many clues in the third band may be enough, judging by sets that do not meet each other.
    pub(super) fn may_do(&mut self, chosen: Word, clues: u32) -> bool {
        may_do(self, chosen, clues)
    }

    /// Finds the puzzles with these clues in the two bands and so many in the third, which `may_do`, asked last of all,
    /// has found possible.
    ///
    /// `tested`: the clues are known to hit all sets inside the two bands. Otherwise that is tested when there is
    /// something to lose; an unavoidable set inside the two bands that they miss is returned, and there is no puzzle.
    pub(super) fn search(&mut self, chosen: Word, clues: u32, tested: bool) -> Option<Word> {
        let Self { cross, learned, found, another, region, unhit, .. } = self;
        let mut whole = Whole { chosen, cross, learned, found, another, tested, missed: None };
        region.search(unhit, Start { chosen: 0, alive: ALL }, clues, &mut whole);
        whole.missed
    }
}

#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+popcnt+lzcnt"))]
fn may_do(third: &mut Third, chosen: Word, clues: u32) -> bool {
    third.cross.missed(chosen, clues, &mut third.unhit)
}

fn keep(learned: &mut Vec<u128>, set: u128) {
    if set.count_ones() as usize <= KEPT_SIZE {
        learned.push(set);
    }
}

fn unhit_in_pair(another: &mut Another, learned: &mut Vec<u128>, chosen: Word) -> Option<Word> {
    let set = another.unhit::<false>(u128::from(chosen) | u128::from(ALL) << (2 * BAND))?;
    keep(learned, set);
    Some(low(set))
}

/// The cells in the two bands.
#[allow(clippy::cast_possible_truncation, reason = "54 bits are kept")]
fn low(set: u128) -> Word {
    set as Word & BOTH
}

/// The cells in the third band.
#[allow(clippy::cast_possible_truncation, reason = "27 bits are left")]
fn high(set: u128) -> Word {
    (set >> (2 * BAND)) as Word
}

/// Tests puzzles on the whole grid.
struct Whole<'a> {
    chosen: Word,
    cross: &'a mut Cross,
    learned: &'a mut Vec<u128>,
    found: &'a mut Vec<u128>,
    another: &'a mut Another,
    /// Whether the two bands, with the third given, are known to have one solution.
    tested: bool,
    /// An unavoidable set inside the two bands without a clue.
    missed: Option<Word>,
}

impl Whole<'_> {
    fn clues(&self, chosen: Word) -> u128 {
        u128::from(self.chosen) | u128::from(chosen) << (2 * BAND)
    }
}

impl Judge for Whole<'_> {
    fn judge(&mut self, chosen: Word) -> Verdict {
        if !self.tested {
            self.tested = true;
            self.missed = unhit_in_pair(self.another, self.learned, self.chosen);
            if self.missed.is_some() {
                return Verdict::Abandon;
            }
        }
        let Some(set) = self.another.unhit::<true>(self.clues(chosen)) else { return Verdict::Good };
        keep(self.learned, set);
        self.cross.push((low(set), high(set)));
        Verdict::Misses(high(set))
    }

    fn found(&mut self, chosen: Word) {
        self.found.push(self.clues(chosen));
    }
}

/// A set of all 81 cells as its parts.
pub(super) fn parts(set: u128) -> (Word, Word) {
    (low(set), high(set))
}
