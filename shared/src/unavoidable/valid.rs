//! How many puzzles of a grid have one solution, by number of clues.
//!
//! A puzzle has one solution when it hits every unavoidable set; it misses a set when it is part of the set's
//! complement. So the puzzles with several solutions are all parts of the complements of the minimal unavoidable sets.
//! In a map with a bit for every choice of cells, the complements are marked, and then, cell by cell, what is left
//! of a marked choice without the cell: in the end every part of a complement is marked (the zeta transform of the
//! lattice of subsets). What is not marked is counted.
//!
//! The map of 36 cells would have 8 GiB; so the cells beyond the first [`LOW`] are given each choice in turn, and the map,
//! which now fits into the cache, is for the sets that this choice does not hit. Cost: 2^36 choices in some seconds.

use multiversion::multiversion;

use super::CellSet;

/// Cells of the map: 128 KiB.
const LOW: usize = 20;
/// Cells that are told apart inside a word.
const IN_WORD: usize = 6;

/// The bits of a word whose number has a given bit.
const WITH_BIT: [u64; IN_WORD] = [
    0xAAAA_AAAA_AAAA_AAAA,
    0xCCCC_CCCC_CCCC_CCCC,
    0xF0F0_F0F0_F0F0_F0F0,
    0xFF00_FF00_FF00_FF00,
    0xFFFF_0000_FFFF_0000,
    0xFFFF_FFFF_0000_0000,
];

/// The bits of a word whose number has so many bits.
const WITH_COUNT: [u64; IN_WORD + 1] = {
    let mut masks = [0; IN_WORD + 1];
    let mut number = 0_u64;
    while number < 64 {
        masks[number.count_ones() as usize] |= 1 << number;
        number += 1;
    }
    masks
};

/// The number of choices of cells that hit all `sets`, by their size from 0 to `cells`, which is at most 40.
///
/// Asks `stopped` now and then, and ends with `None` when it says true.
///
/// # Panics
///
/// When there are more cells.
pub fn hitting_sets_by_size(sets: &[CellSet], cells: usize, stopped: &dyn Fn() -> bool) -> Option<Vec<u64>> {
    assert!(cells <= 2 * LOW, "maps are for small shapes");
    let low_cells = cells.min(LOW);
    let low = CellSet::below(low_cells);
    let mut by_size = vec![0; cells + 1];
    let mut map = vec![0; (1 << low_cells) / 64 + 1];
    map.truncate(((1 << low_cells) / 64).max(1));
    let mut parts = Vec::with_capacity(sets.len());
    for choice in 0..1_u128 << (cells - low_cells) {
        if choice % 256 == 0 && stopped() {
            return None;
        }
        let chosen = choice << low_cells;
        parts.clear();
        let unhit = sets.iter().filter(|set| set.0 & chosen == 0);
        parts.extend(unhit.map(|set| index(set.0 & low.0)));
        if !parts.contains(&0) {
            mark(&mut map, &parts, low_cells);
            count(&map, low_cells, &mut by_size[choice.count_ones() as usize..]);
        }
    }
    Some(by_size)
}

#[allow(clippy::cast_possible_truncation, reason = "cells of the map are below 20")]
fn index(part: u128) -> usize {
    part as usize
}

/// Marks every choice that misses one of the parts.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+popcnt+lzcnt"))]
fn mark(map: &mut [u64], parts: &[usize], cells: usize) {
    map.fill(0);
    let all = (1 << cells) - 1;
    for part in parts {
        let without = all & !part;
        map[without / 64] |= 1 << (without % 64);
    }
    for word in map.iter_mut() {
        for (cell, with) in WITH_BIT.iter().enumerate() {
            *word |= (*word & with) >> (1 << cell);
        }
    }
    let mut half = 1;
    while 2 * half <= map.len() {
        for block in map.chunks_exact_mut(2 * half) {
            let (without, with) = block.split_at_mut(half);
            without.iter_mut().zip(with).for_each(|(without, with)| *without |= *with);
        }
        half *= 2;
    }
}

/// Counts the choices that are not marked, by size.
#[multiversion(targets("x86_64+avx+avx2+bmi1+bmi2+popcnt+lzcnt"))]
fn count(map: &[u64], cells: usize, by_size: &mut [u64]) {
    let inside = if cells < IN_WORD { (1 << (1 << cells)) - 1 } else { u64::MAX };
    for (number, word) in map.iter().enumerate() {
        let good = !word & inside;
        let size = number.count_ones() as usize;
        for (more, with) in WITH_COUNT.iter().enumerate().take(by_size.len() - size) {
            by_size[size + more] += u64::from((good & with).count_ones());
        }
    }
}
