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
    limits::Limits,
    lists::{Unhit, Word, by_degree},
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
pub(super) struct Pair {
    pub limits: Limits,
    /// The unavoidable sets in the two bands, with what has been learned.
    pub sets: Vec<Word>,
    pub third: Third,
    steps: Vec<Unhit>,
    /// Steps taken.
    pub nodes: u64,
    /// The set learned last.
    latest: Word,
}

impl Pair {
    pub(super) fn new(limits: Limits, sets: Vec<Word>, third: Third) -> Self {
        let steps = vec![Unhit::default(); limits.clues as usize + 1];
        Self { limits, sets, third, steps, nodes: 0, latest: 0 }
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
        self.latest = set;
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
        if self.third.may_do(chosen, self.limits.clues - a - b) {
            self.third.search(chosen, self.limits.clues - a - b);
        }
        if a + b == most {
            return;
        }
        let mut rest = alive;
        while rest != 0 {
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
fn node(search: &mut Pair, depth: usize, chosen: Word) {
    search.nodes += 1;
    let [a, b] = in_bands(chosen);
    let Some(most) = search.limits.most(a, b) else { return };
    let left = most - a - b;
    if search.steps[depth].sets.is_empty() && hits_all(search, depth, chosen, left) {
        return;
    }
    let Some(left) = tighten(search, depth, [a, b]) else { return };
    match left {
        1 => return last_clue(search, depth, chosen),
        2 => return last_two(search, depth, chosen, 0, None),
        3 => return last_three(search, depth, chosen),
        _ => {}
    }
    let mut order = [0; 64];
    let step = &search.steps[depth];
    let number = by_degree(step.sets[0], &step.sets, &mut order);
    let mut alive = step.alive;
    for &cell in &order[..number] {
        let bit = 1 << cell;
        alive &= !bit;
        if search.steps[depth].needs_more(bit, alive, left - 1).is_none() {
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
fn hits_all(search: &mut Pair, depth: usize, chosen: Word, left: u32) -> bool {
    // Without clues left the third band is asked first whether it can do with its own: that is quicker.
    if left == 0 && !search.third.may_do(chosen, search.limits.clues - chosen.count_ones()) {
        return true;
    }
    match search.third.unhit_in_pair(chosen) {
        Some(set) => {
            search.learn(set, depth);
            left == 0
        }
        None => {
            let alive = search.steps[depth].alive;
            search.fill_up(chosen, alive);
            true
        }
    }
}

/// Applies the bounds, and says how many clues may still be chosen; `None` when they are too few.
#[inline(always)]
fn tighten(search: &mut Pair, depth: usize, [a, b]: [u32; 2]) -> Option<u32> {
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

/// Tries the cells that all sets have.
#[inline(always)]
fn last_clue(search: &mut Pair, depth: usize, chosen: Word) {
    let step = &search.steps[depth];
    let mut common = step.sets.iter().fold(step.alive, |common, set| common & set);
    while common != 0 {
        let bit = common & common.wrapping_neg();
        common &= !bit;
        common &= try_last(search, depth, chosen | bit);
    }
}

/// Looks at clues after which there is none left, and says what other last clues must be among.
fn try_last(search: &mut Pair, depth: usize, chosen: Word) -> Word {
    let [a, b] = in_bands(chosen);
    if search.limits.most(a, b).is_none_or(|most| a + b > most) {
        return Word::MAX;
    }
    search.latest = Word::MAX;
    // No clue is left in the pair: `hits_all` is done with these clues either way, but may have learned a set.
    hits_all(search, depth, chosen, 0);
    search.latest
}

/// Tries three clues: one of the smallest set, then two.
#[inline(always)]
fn last_three(search: &mut Pair, depth: usize, chosen: Word) {
    let mut order = [0; 64];
    let step = &search.steps[depth];
    let number = by_degree(step.sets[0], &step.sets, &mut order);
    let mut alive = step.alive;
    for &cell in &order[..number] {
        let bit = 1 << cell;
        alive &= !bit;
        match search.steps[depth].needs_more(bit, alive, 2) {
            None => {}
            Some((0, _)) => below(search, depth, bit, alive, chosen | bit),
            Some((first, alive)) => {
                last_two(search, depth, chosen | bit, bit, Some((first, alive)));
            }
        }
    }
}

/// Goes on at the next step with the sets that do not meet `hit`.
fn below(search: &mut Pair, depth: usize, hit: Word, alive: Word, chosen: Word) {
    let (open, below) = search.steps.split_at_mut(depth + 1);
    if below[0].take(&open[depth].sets, hit, alive) {
        node(search, depth + 1, chosen);
    }
}

/// Tries two clues: one of a small set (`first`), and one that all others have in common that neither it nor `hit`
/// meets.
#[inline(always)]
fn last_two(search: &mut Pair, depth: usize, chosen: Word, hit: Word, from: Option<(Word, Word)>) {
    let step = &search.steps[depth];
    let (mut first, mut alive) = from.unwrap_or((step.sets[0], step.alive));
    while first != 0 {
        let bit = first & first.wrapping_neg();
        first &= !bit;
        alive &= !bit;
        let (mut common, mut unhit) = (alive, false);
        for sets in search.steps[depth].sets.chunks(4) {
            for &set in sets {
                let meets = set & (bit | hit) != 0;
                unhit |= !meets;
                common &= set | 0u64.wrapping_sub(u64::from(meets));
            }
            if common == 0 {
                break;
            }
        }
        if !unhit {
            below(search, depth, bit | hit, alive, chosen | bit);
            continue;
        }
        while common != 0 {
            let last = common & common.wrapping_neg();
            common &= !last;
            common &= try_last(search, depth, chosen | bit | last);
        }
    }
}
