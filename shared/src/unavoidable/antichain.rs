//! The minimal ones among sets.

use super::CellSet;

/// The sets that contain no other one, each once, by size, then by cells.
///
/// Cost: the number of sets times the number of minimal ones, half a nanosecond each.
pub fn minimal(mut sets: Vec<CellSet>) -> Vec<CellSet> {
    sets.sort_unstable_by_key(|set| (set.len(), *set));
    sets.dedup();
    let mut kept: Vec<CellSet> = Vec::with_capacity(sets.len());
    let mut smaller = 0;
    let mut size = 0;
    for set in sets {
        if set.len() > size {
            size = set.len();
            // Sets of one size do not contain each other.
            smaller = kept.len();
        }
        if !kept[..smaller].iter().any(|least| least.is_within(set)) {
            kept.push(set);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sets_without_smaller_ones_stay() {
        let set = |cells: &[usize]| cells.iter().copied().collect::<CellSet>();
        let sets =
            vec![set(&[1, 2, 3]), set(&[4]), set(&[2, 3]), set(&[4, 5]), set(&[2, 3]), set(&[0, 1, 2])];
        assert_eq!(minimal(sets), [set(&[4]), set(&[2, 3]), set(&[0, 1, 2])]);
        assert_eq!(minimal(vec![set(&[1]), CellSet::EMPTY]), [CellSet::EMPTY]);
    }
}
