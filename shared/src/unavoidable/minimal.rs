//! All minimal puzzles of a grid: its minimal hitting sets.
//!
//! A puzzle with one solution hits every unavoidable set; it is minimal when each clue is the only one in some of them
//! (a *witness*: without the clue that set would be missed). The tree is that of all hitting sets - a set that is not
//! hit yet, its cells in turn, those tried before dead - and a branch ends when a clue has lost its last witness, for
//! more clues never give one back. So exactly the minimal hitting sets remain, each once (Murakami & Uno 2014).
//!
//! All minimal unavoidable sets are needed, whatever their size, so this is for small shapes: microseconds for 4x4
//! (26 or 14 sets), and out of the question for 9x9 (see `sample` for what can be said there).

use super::{CellSet, CompleteGrid, unavoidable_sets};

/// Calls `found` with the clues of every minimal puzzle of a grid, each once.
///
/// ```
/// use shared::unavoidable::{CompleteGrid, minimal_puzzles};
///
/// let grid = CompleteGrid::read("1234341223414123").unwrap();
/// let mut by_clues = [0; 17];
/// minimal_puzzles(&grid, &mut |clues| by_clues[clues.len()] += 1);
/// assert_eq!(by_clues[4..7], [128, 176, 0]);
/// ```
pub fn minimal_puzzles(grid: &CompleteGrid, found: &mut dyn FnMut(CellSet)) {
    let sets = unavoidable_sets(grid, grid.cells());
    minimal_hitting_sets(&sets, CellSet::below(grid.cells()), found);
}

/// Calls `found` with every minimal choice of cells of `alive` that hits all `sets`, each once.
pub fn minimal_hitting_sets(sets: &[CellSet], alive: CellSet, found: &mut dyn FnMut(CellSet)) {
    extend(sets, &[], alive, found);
}

/// A clue and the sets that it alone hits.
type Witnessed = (CellSet, Vec<CellSet>);

fn extend(unhit: &[CellSet], chosen: &[Witnessed], alive: CellSet, found: &mut dyn FnMut(CellSet)) {
    let living = |set: &CellSet| CellSet(set.0 & alive.0);
    let Some(smallest) = unhit.iter().map(living).min_by_key(|set| set.len()) else {
        found(chosen.iter().fold(CellSet::EMPTY, |sum, clue| sum.union(clue.0)));
        return;
    };
    let mut alive = alive;
    for cell in smallest.iter().map(CellSet::single) {
        alive = alive.without(cell);
        let (hit, rest): (Vec<CellSet>, Vec<CellSet>) = unhit.iter().partition(|set| set.meets(cell));
        let mut next = Vec::with_capacity(chosen.len() + 1);
        for (clue, witnesses) in chosen {
            let left: Vec<CellSet> = witnesses.iter().copied().filter(|set| !set.meets(cell)).collect();
            if left.is_empty() {
                break;
            }
            next.push((*clue, left));
        }
        if next.len() == chosen.len() {
            next.push((cell, hit));
            extend(&rest, &next, alive, found);
        }
    }
}
