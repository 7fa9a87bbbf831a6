//! The third band, when the clues of the two others are chosen.
//!
//! Of the unavoidable sets that those clues miss, what lies in the third band has to be hit there, with the clues that
//! are left: six or a few more. The sets are bounded first (`may_do`), which few choices survive; then the tree is that
//! of `region`, on rows of bits (see `cross`) in place of lists. Its cuts, none of which loses a choice:
//! - a set with no living cell ends the branch, and that of a set with one is chosen at once;
//! - sets that do not meet each other need a clue each: more of them than clues left end the branch, and when there are
//!   as many, all clues lie in them, and everything else is dead.
//!
//! Whatever hits all known sets is tested for another solution on the whole grid.

use multiversion::multiversion;

use super::{
    KEPT_SIZE,
    another::Another,
    cross::{Cross, Packing, cells},
    lists::Word,
    pair::{BAND, BOTH},
    row::Row,
    stop::Stop,
};

/// The cells of the third band, numbered from 0.
const ALL: Word = (1 << BAND) - 1;

/// Searches of the third band.
pub(super) struct Third<'a> {
    /// The unavoidable sets with cells in the third band.
    cross: Cross,
    /// Unavoidable sets that have been found on the way and are small enough to be kept, on all 81 cells.
    pub learned: Vec<u128>,
    /// The clues of puzzles that have been found, on all 81 cells.
    pub found: Vec<u128>,
    /// The solver.
    pub another: Another,
    /// Whether to end early.
    pub stop: Stop<'a>,
    /// Steps taken.
    pub nodes: u64,
    /// The sets that are not hit at each open step.
    unhit: Vec<Row>,
    /// The cells where clues may be, judging by `may_do`.
    alive: Word,
    /// The clues in the two bands.
    pair: Word,
    /// Whether the two bands, with the third given, are known to have one solution.
    tested: bool,
    /// An unavoidable set inside the two bands without a clue: nothing in the third band helps.
    missed: Option<Word>,
}

/// A step of the search in the third band.
#[derive(Clone, Copy)]
struct Step {
    depth: usize,
    chosen: Word,
    alive: Word,
    /// Clues left.
    left: u32,
}

impl<'a> Third<'a> {
    pub(super) fn new(another: Another, cross: Vec<(Word, Word)>, stop: Stop<'a>) -> Self {
        Self {
            cross: Cross::new(cross),
            learned: Vec::new(),
            found: Vec::new(),
            another,
            stop,
            nodes: 0,
            unhit: vec![Row::NONE; BAND as usize + 1],
            alive: ALL,
            pair: 0,
            tested: false,
            missed: None,
        }
    }

    /// Forgets what is too large to be kept, and puts those first that have few cells in the third band: they bound most.
    pub(super) fn tidy(&mut self) {
        self.cross.tidy(KEPT_SIZE);
    }

    /// An unavoidable set inside the two bands that these clues of theirs miss.
    pub(super) fn unhit_in_pair(&mut self, chosen: Word) -> Option<Word> {
        let set = self.another.unhit::<false>(u128::from(chosen) | u128::from(ALL) << (2 * BAND))?;
        self.keep(set);
        Some(low(set))
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
        self.pair = chosen;
        self.tested = tested;
        self.missed = None;
        node(self, Step { depth: 0, chosen: 0, alive: self.alive, left: clues });
        self.missed
    }

    fn keep(&mut self, set: u128) {
        if set.count_ones() as usize <= KEPT_SIZE {
            self.learned.push(set);
        }
    }

    /// Takes a step, and tells whether the search ends as it stands.
    #[inline(always)]
    pub(super) fn ends(&mut self) -> bool {
        self.stop.at_step(self.found.len())
    }

    /// Whether there are too many puzzles.
    pub(super) fn has_enough(&self) -> bool {
        self.stop.is_full(self.found.len())
    }

    /// All clues, with these in the third band.
    fn clues(&self, chosen: Word) -> u128 {
        u128::from(self.pair) | u128::from(chosen) << (2 * BAND)
    }

    /// All choices of `left` more cells of those alive.
    fn fill_up(&mut self, chosen: Word, mut alive: Word, left: u32) {
        if left == 0 {
            self.found.push(self.clues(chosen));
            return;
        }
        while alive.count_ones() >= left && !self.has_enough() {
            let cell = alive & alive.wrapping_neg();
            alive &= !cell;
            self.fill_up(chosen | cell, alive, left - 1);
        }
    }

    /// The cells in the third band of a set that the clues miss though they hit all that have a column. None when there
    /// is none, or `missed` one inside the two bands.
    fn unhit(&mut self, step: Step) -> Option<Word> {
        if !self.tested {
            self.tested = true;
            self.missed = self.unhit_in_pair(self.pair);
            if self.missed.is_some() {
                return None;
            }
        }
        if let Some(set) = self.cross.missed_other(self.pair, step.chosen) {
            return Some(set);
        }
        let set = self.another.unhit::<true>(self.clues(step.chosen))?;
        self.keep(set);
        if let Some(column) = self.cross.push((low(set), high(set))) {
            self.unhit[..=step.depth].iter_mut().for_each(|unhit| unhit.add(column));
        }
        Some(high(set))
    }
}

#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+popcnt+lzcnt"))]
fn may_do(third: &mut Third<'_>, chosen: Word, clues: u32) -> bool {
    let missed = third.cross.missed(chosen, clues, &mut third.unhit[0]);
    let Some((number, union)) = missed else { return false };
    third.alive = if number == clues { union } else { ALL };
    true
}

/// Goes on from the sets that are unhit at a depth.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+popcnt+lzcnt"))]
fn node(third: &mut Third<'_>, mut step: Step) {
    third.nodes += 1;
    if third.ends() {
        return;
    }
    loop {
        let unhit = third.unhit[step.depth];
        if unhit.is_empty() {
            return all_hit(third, step);
        }
        if step.left == 0 || step.alive.count_ones() < step.left {
            return;
        }
        let sizes = third.cross.sizes(unhit, step.alive);
        if !sizes.none.is_empty() {
            return;
        }
        if let Some(column) = sizes.one.first() {
            let bit = third.cross.inside(column) & step.alive;
            third.unhit[step.depth] = third.cross.without(unhit, bit.trailing_zeros() as usize);
            step.chosen |= bit;
            step.alive &= !bit;
            step.left -= 1;
            continue;
        }
        let mut packing = Packing::of(unhit);
        if !third.cross.pack(&mut packing, sizes.two, step.alive, step.left)
            || !third.cross.pack(&mut packing, unhit, step.alive, step.left)
        {
            return;
        }
        if packing.number == step.left && step.alive & !packing.union != 0 {
            step.alive &= packing.union;
            continue;
        }
        let first = sizes.two.first().or(unhit.first());
        let set = first.map_or(0, |column| third.cross.inside(column));
        return branch(third, step, set);
    }
}

/// Tries the cells of a set in turn.
#[inline(always)]
fn branch(third: &mut Third<'_>, step: Step, set: Word) {
    let mut alive = step.alive;
    for cell in cells(set & alive) {
        let bit = 1 << cell;
        alive &= !bit;
        third.unhit[step.depth + 1] = third.cross.without(third.unhit[step.depth], cell);
        node(third, Step { depth: step.depth + 1, chosen: step.chosen | bit, alive, left: step.left - 1 });
        if third.missed.is_some() {
            return;
        }
    }
}

/// Looks at clues that hit all sets that have a column.
#[inline(never)]
fn all_hit(third: &mut Third<'_>, step: Step) {
    match third.unhit(step) {
        Some(set) if step.left > 0 => branch(third, step, set),
        None if third.missed.is_none() => third.fill_up(step.chosen, step.alive, step.left),
        _ => {}
    }
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

/// A set of all 81 cells as its parts.
pub(super) fn parts(set: u128) -> (Word, Word) {
    (low(set), high(set))
}
