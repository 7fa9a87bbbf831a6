//! The two bands with the fewest clues: every way to hit the unavoidable sets that lie in them.
//!
//! The tree is that of `region`, on 54 cells, and its cuts are the same; in addition
//! - a band that cannot take another clue (see `limits`) is dead;
//! - where all known sets are hit, the two bands are tested with the third one *given whole*: another solution is an
//!   unavoidable set inside the two bands, which joins the lists of all open steps.
//!
//! What passes goes on to the third band (`third`).

use multiversion::multiversion;

use super::{
    KEPT_SIZE,
    last::{LAST, last_clues},
    limits::Limits,
    lists::{Unhit, Word, by_degree},
    matrix::Matrix,
    plan::Start,
    third::Third,
};

/// Cells of a band.
pub(super) const BAND: u32 = 27;
/// The cells of the first of the two bands.
pub(super) const FIRST: Word = (1 << BAND) - 1;
/// The cells of both.
pub(super) const BOTH: Word = (1 << (2 * BAND)) - 1;

/// A search of two bands.
pub(super) struct Pair<'a> {
    pub limits: Limits,
    /// The unavoidable sets in the two bands, with what has been learned.
    pub sets: Vec<Word>,
    pub third: Third<'a>,
    pub steps: Vec<Unhit>,
    /// Steps taken.
    pub nodes: u64,
    /// Matrices of the last clues, those in use first.
    pub matrices: Vec<Matrix>,
    /// How many are in use.
    pub in_use: usize,
}

impl<'a> Pair<'a> {
    pub(super) fn new(limits: Limits, sets: Vec<Word>, third: Third<'a>) -> Self {
        let steps = vec![Unhit::default(); limits.clues as usize + 1];
        Self { limits, sets, third, steps, nodes: 0, matrices: Vec::new(), in_use: 0 }
    }

    /// Searches below a start.
    pub(super) fn search(&mut self, start: Start) {
        if self.steps[0].take(&self.sets, start.chosen, start.alive) {
            node(self, 0, start.chosen);
        }
    }

    #[inline(always)]
    fn learn(&mut self, set: Word, depth: usize) {
        if set.count_ones() as usize <= KEPT_SIZE {
            self.sets.push(set);
        }
        self.matrices[..self.in_use].iter_mut().for_each(|matrix| matrix.learn(set));
        for step in &mut self.steps[..=depth] {
            step.sets.push(set & step.alive);
        }
    }

    /// The third band for these clues, and for these with more of the cells that are alive: all sets in the two bands
    /// are hit, so that every superset has to be looked at.
    fn fill_up(&mut self, chosen: Word, alive: Word) {
        let [a, b] = in_bands(chosen);
        let Some(most) = self.limits.most(a, b).filter(|&most| a + b <= most) else { return };
        // With fewer clues in the two bands the third has more: the most there can be is not the only way.
        let third = self.limits.clues - a - b;
        if third <= BAND && self.third.may_do(chosen, third) {
            self.third.search(chosen, third, true);
        }
        if a + b == most {
            return;
        }
        // What the third band has no room for has to come here.
        let more = third.saturating_sub(BAND).max(1);
        let mut rest = alive;
        while rest.count_ones() >= more && !self.third.ends() {
            let cell = rest & rest.wrapping_neg();
            rest &= !cell;
            self.fill_up(chosen | cell, rest);
        }
    }
}

#[inline(always)]
pub(super) fn in_bands(chosen: Word) -> [u32; 2] {
    [(chosen & FIRST).count_ones(), (chosen & !FIRST).count_ones()]
}

/// Goes on from the sets at `depth`.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+popcnt+lzcnt"))]
pub(super) fn node(search: &mut Pair<'_>, depth: usize, chosen: Word) {
    search.nodes += 1;
    let room = chosen.count_ones() + search.steps[depth].alive.count_ones() + BAND;
    if search.third.ends() || room < search.limits.clues {
        return;
    }
    let [a, b] = in_bands(chosen);
    let Some(most) = search.limits.most(a, b) else { return };
    let left = most - a - b;
    if search.steps[depth].sets.is_empty() && hits_all(search, depth, chosen, left) {
        return;
    }
    let Some(left) = tighten(search, depth, [a, b]) else { return };
    if left <= LAST {
        last_clues(search, depth, chosen, left);
        return;
    }
    let mut order = [0; 64];
    let step = &search.steps[depth];
    let number = by_degree(step.sets[0], &step.sets, &mut order);
    let mut alive = step.alive;
    for &cell in &order[..number] {
        let bit = 1 << cell;
        alive &= !bit;
        if !search.steps[depth].may_do(bit, alive, left - 1) {
            continue;
        }
        let (open, below) = search.steps.split_at_mut(depth + 1);
        if below[0].take(&open[depth].sets, bit, alive) {
            node(search, depth + 1, chosen | bit);
        }
    }
}

/// Looks at clues that hit all known sets. True when that is done with; false when a set was found that they miss.
#[inline(always)]
pub(super) fn hits_all(search: &mut Pair<'_>, depth: usize, chosen: Word, left: u32) -> bool {
    if left == 0 {
        // The third band is asked first whether it can do with its own clues, which is quicker.
        let clues = search.limits.clues - chosen.count_ones();
        if search.third.may_do(chosen, clues)
            && let Some(set) = search.third.search(chosen, clues, false)
        {
            search.learn(set, depth);
        }
        return true;
    }
    if let Some(set) = search.third.unhit_in_pair(chosen) {
        search.learn(set, depth);
        return false;
    }
    let alive = search.steps[depth].alive;
    search.fill_up(chosen, alive);
    true
}

/// Applies the bounds, and says how many clues may still be chosen; `None` when they are too few.
#[inline(always)]
fn tighten(search: &mut Pair<'_>, depth: usize, [a, b]: [u32; 2]) -> Option<u32> {
    loop {
        let step = &search.steps[depth];
        if step.sets.first() == Some(&0) {
            return None;
        }
        let (mut number, mut union, mut own) = (0, 0, [0, 0]);
        for &set in &step.sets {
            if set & union == 0 {
                union |= set;
                number += 1;
                own[0] += u32::from(set & !FIRST == 0);
                own[1] += u32::from(set & FIRST == 0);
            }
        }
        let (low_a, low_b) = (a + own[0], b + own[1]);
        let left = search.limits.most(low_a, low_b)?.checked_sub(a + b)?;
        if number > left {
            return None;
        }
        let mut alive = step.alive;
        if number == left {
            alive &= union;
        }
        if search.limits.most(low_a.max(a + 1), low_b).is_none() {
            alive &= !FIRST;
        }
        if search.limits.most(low_a, low_b.max(b + 1)).is_none() {
            alive &= FIRST;
        }
        if alive == step.alive {
            return Some(left);
        }
        if !search.steps[depth].cut(alive) {
            return None;
        }
    }
}
