//! Every choice of a number of cells that hits all unavoidable sets of a region of at most 64 cells.
//!
//! The tree of McGuire, Tugemann & Civario 2012: take an unhit set, try its cells in turn, and leave alone below what
//! was tried before (*dead* cells), so that every choice is made once. Their argument holds for any order of cells and
//! any set: a choice that hits everything has a first cell of the set, and comes up exactly below that one.
//!
//! Cuts, none of which loses a choice:
//! - the smallest set is taken; one without living cells ends the branch;
//! - sets that do not meet each other need a clue each: more of them than clues left end the branch, and when there are
//!   as many, all clues lie in them, and everything else is dead;
//! - with one clue left it lies in the intersection of all unhit sets.
//!
//! Sets need not be complete: what hits all that are known is judged (is there one solution?), and a set that it
//! misses joins the lists of all open steps, for it is unhit in every one of them.

use multiversion::multiversion;

use super::{
    lists::{Unhit, Word, by_degree},
    plan::Start,
};

/// What is thought of a choice that hits all known sets.
pub(super) enum Verdict {
    /// It hits everything.
    Good,
    /// It misses this set.
    Misses(Word),
}

/// Decides about choices.
pub(super) trait Judge {
    /// What is thought of these cells.
    fn judge(&mut self, chosen: Word) -> Verdict;
    /// Takes a choice of the number of cells asked for, which is good.
    fn found(&mut self, chosen: Word);
    /// Takes a step, and tells whether the search ends as it stands.
    fn ends(&mut self) -> bool;
}

/// The steps of a search, kept to use their memory again.
#[derive(Default)]
pub(super) struct Region {
    steps: Vec<Unhit>,
    /// Steps taken.
    pub nodes: u64,
}

impl Region {
    /// Finds every choice of exactly `clues` more cells below a start that hits the `sets` and is good.
    pub(super) fn search(&mut self, sets: &[Word], start: Start, clues: u32, judge: &mut impl Judge) {
        if self.steps.len() <= clues as usize {
            self.steps.resize_with(clues as usize + 1, Unhit::default);
        }
        if self.steps[0].take(sets, start.chosen, start.alive) {
            node(self, judge, 0, start.chosen, clues);
        }
    }

    /// Adds a set to the steps up to `depth`.
    #[inline(always)]
    fn learn(&mut self, set: Word, depth: usize) {
        for step in &mut self.steps[..=depth] {
            step.sets.push(set & step.alive);
        }
    }

    /// All choices of `left` more cells of `alive`.
    fn fill_up(judge: &mut impl Judge, chosen: Word, alive: Word, left: u32) {
        if left == 0 {
            judge.found(chosen);
            return;
        }
        let mut rest = alive;
        while rest.count_ones() >= left && !judge.ends() {
            let cell = rest & rest.wrapping_neg();
            rest &= !cell;
            Self::fill_up(judge, chosen | cell, rest, left - 1);
        }
    }
}

/// Goes on from the sets at `depth`.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+popcnt+lzcnt"))]
fn node<J: Judge>(search: &mut Region, judge: &mut J, depth: usize, chosen: Word, left: u32) {
    search.nodes += 1;
    if judge.ends() || search.steps[depth].alive.count_ones() < left {
        return;
    }
    if search.steps[depth].sets.is_empty() {
        match judge.judge(chosen) {
            Verdict::Good => {
                Region::fill_up(judge, chosen, search.steps[depth].alive, left);
                return;
            }
            Verdict::Misses(set) => search.learn(set, depth),
        }
    }
    if left == 0 || !tighten(search, depth, left) {
        return;
    }
    if left == 1 {
        last_clue(search, judge, depth, chosen);
        return;
    }
    let mut order = [0; 64];
    let step = &search.steps[depth];
    let number = by_degree(step.sets[0], &step.sets, &mut order);
    let mut alive = step.alive;
    for &cell in &order[..number] {
        let bit = 1 << cell;
        alive &= !bit;
        let (open, below) = search.steps.split_at_mut(depth + 1);
        if below[0].take(&open[depth].sets, bit, alive) {
            node(search, judge, depth + 1, chosen | bit, left - 1);
        }
    }
}

/// Applies the bound by disjoint sets. False when the clues left are too few.
#[inline(always)]
fn tighten(search: &mut Region, depth: usize, left: u32) -> bool {
    loop {
        let step = &search.steps[depth];
        let (number, union) = step.packing(left);
        if number > left || step.sets.first() == Some(&0) {
            return false;
        }
        if number < left || step.alive & !union == 0 {
            return true;
        }
        if !search.steps[depth].cut(union) {
            return false;
        }
    }
}

/// Tries the cells that all sets have.
#[inline(always)]
fn last_clue<J: Judge>(search: &mut Region, judge: &mut J, depth: usize, chosen: Word) {
    let step = &search.steps[depth];
    let mut common = step.sets.iter().fold(step.alive, |common, set| common & set);
    while common != 0 {
        let bit = common & common.wrapping_neg();
        common &= !bit;
        match judge.judge(chosen | bit) {
            Verdict::Good => judge.found(chosen | bit),
            Verdict::Misses(set) => {
                search.learn(set, depth);
                common &= set;
            }
        }
    }
}
