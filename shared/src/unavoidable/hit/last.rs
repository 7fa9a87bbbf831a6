//! The last clues in the two bands, by a matrix of sets and cells.
//!
//! Most of the tree is at its bottom. With at most four clues left the sets are put into a `matrix` once, and below
//! that no list is made: a cell is chosen, the sets that it hits are struck out, the first of the others is taken. The
//! same choices come up in the same way as higher in the tree (`pair`): each cell of an unhit set in turn, those before
//! it dead, bands without room dead, the last clue in all sets that are left. Three sets that do not meet end a branch
//! with two clues left, as they need a clue each.

use super::{
    lists::Word,
    matrix::{LANES, Matrix},
    pair::{Pair, hits_all, in_bands, node},
};

/// Clues that are tried with a matrix.
pub(super) const LAST: u32 = 4;

/// The place of the last clues: the step that the matrix was made from, and what is chosen and alive.
#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    /// Clues chosen since the matrix was made.
    level: usize,
    since: Word,
    chosen: Word,
    alive: Word,
    /// Clues left.
    left: u32,
}

impl Place {
    /// With one more clue.
    #[inline(always)]
    fn with(self, bit: Word, alive: Word) -> Self {
        Self {
            level: self.level + 1,
            since: self.since | bit,
            chosen: self.chosen | bit,
            alive,
            left: self.left - 1,
            ..self
        }
    }
}

/// Tries the last clues with a matrix of the sets.
#[inline(always)]
pub(super) fn last_clues(search: &mut Pair<'_>, depth: usize, chosen: Word, left: u32) {
    if search.matrices.len() == search.in_use {
        search.matrices.push(Matrix::new());
    }
    let step = &search.steps[depth];
    search.matrices[search.in_use].fill(&step.sets);
    search.in_use += 1;
    let place = Place { depth, level: 0, since: 0, chosen, alive: step.alive, left };
    match left {
        4 => four(search, place),
        _ => three(search, place),
    }
    search.in_use -= 1;
}

/// The matrix in use.
macro_rules! matrix {
    ($search:expr) => {
        $search.matrices[$search.in_use - 1]
    };
}

/// Tries every cell of a set, and goes on with `$next`.
macro_rules! branch {
    ($search:ident, $place:ident, $next:ident) => {{
        let matrix = &mut matrix!($search);
        let unhit = matrix.unhit[$place.level];
        if unhit == 0 {
            return spare_clues($search, $place);
        }
        let mut alive = $search.limits.living($place.chosen, $place.alive);
        let mut cells = matrix.first(unhit) & alive;
        while cells != 0 {
            let cell = cells.trailing_zeros() as usize;
            let bit = 1 << cell;
            cells &= !bit;
            alive &= !bit;
            let matrix = &mut matrix!($search);
            matrix.unhit[$place.level + 1] = matrix.unhit[$place.level] & !matrix.hits(cell);
            $next($search, $place.with(bit, alive));
        }
    }};
}

#[inline(always)]
fn four(search: &mut Pair<'_>, place: Place) {
    branch!(search, place, three);
}

#[inline(always)]
fn three(search: &mut Pair<'_>, place: Place) {
    match place.left {
        0 | 1 => one(search, place),
        2 => two(search, place),
        _ => branch!(search, place, two),
    }
}

/// No cell: among the partners of one it says that there is no set that the partner has to hit.
const NO_SET: Word = 1 << 63;

/// The last two clues, all cells of a set at once for the first of them: most have no partner, and no branch is needed
/// to see that.
#[inline(always)]
fn two(search: &mut Pair<'_>, place: Place) {
    let matrix = &matrix!(search);
    let unhit = matrix.unhit[place.level];
    if unhit == 0 {
        return spare_clues(search, place);
    }
    if matrix.three_apart(unhit) {
        return;
    }
    let mut alive = search.limits.living(place.chosen, place.alive);
    let mut cells = matrix.first(unhit) & alive;
    while cells != 0 {
        let mut firsts = [0; LANES];
        let mut partners = [0; LANES];
        for (first, partner) in firsts.iter_mut().zip(&mut partners) {
            let bit = cells & cells.wrapping_neg();
            cells &= !bit;
            alive &= !bit;
            *first = bit;
            *partner = alive | NO_SET;
        }
        matrix!(search).partners(unhit, &firsts, &mut partners);
        for (&first, &partners) in firsts.iter().zip(&partners) {
            if partners != 0 && first != 0 {
                try_two(search, place, first, partners);
            }
        }
    }
}

/// Tries a cell together with each of those that hit all sets that it does not; sets that have been learned since the
/// partners were found are looked at again.
#[inline(always)]
fn try_two(search: &mut Pair<'_>, place: Place, first: Word, partners: Word) {
    let matrix = &matrix!(search);
    let unhit = matrix.unhit[place.level] & !matrix.hits(first.trailing_zeros() as usize);
    let mut partners = partners & !NO_SET;
    if unhit == 0 {
        return spare_clues(search, place.with(first, partners));
    }
    while partners != 0 {
        let cell = partners.trailing_zeros() as usize;
        let bit = 1 << cell;
        partners &= !bit;
        let matrix = &matrix!(search);
        let unhit = matrix.unhit[place.level] & !matrix.hits(first.trailing_zeros() as usize);
        if unhit & !matrix.hits(cell) == 0 && matrix.hit_others(place.since | first | bit) {
            try_last(search, place.depth, place.chosen | first | bit);
        }
    }
}

/// The last clue hits all sets that are left.
#[inline(always)]
fn one(search: &mut Pair<'_>, place: Place) {
    let matrix = &mut matrix!(search);
    let unhit = matrix.unhit[place.level];
    if unhit == 0 {
        return spare_clues(search, place);
    }
    let mut cells = matrix.first(unhit) & place.alive;
    while cells != 0 {
        let cell = cells.trailing_zeros() as usize;
        let bit = 1 << cell;
        cells &= !bit;
        let matrix = &mut matrix!(search);
        if matrix.unhit[place.level] & !matrix.hits(cell) == 0 && matrix.hit_others(place.since | bit) {
            try_last(search, place.depth, place.chosen | bit);
        }
    }
}

/// All sets with a column are hit, and clues are left: goes on with lists.
#[cold]
fn spare_clues(search: &mut Pair<'_>, place: Place) {
    let (open, below) = search.steps.split_at_mut(place.depth + 1);
    if below[0].take(&open[place.depth].sets, place.since, place.alive) {
        node(search, place.depth + 1, place.chosen);
    }
}

/// Looks at clues after which there is none left.
#[inline(never)]
fn try_last(search: &mut Pair<'_>, depth: usize, chosen: Word) {
    let [a, b] = in_bands(chosen);
    if search.limits.most(a, b).is_some_and(|most| a + b <= most) {
        hits_all(search, depth, chosen, 0);
    }
}
