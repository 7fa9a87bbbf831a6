//! Two bands: the number of bands with given column sets.
//!
//! A digit of a band of C boxes is in one column of every box, and in every row once: what is left to choose is an order
//! of the rows, one for each box. A band is such an order for each of the 2C digits so that no cell is taken twice.
//! The completions of a band are the bands with the complementary column sets, so that for shape 2xC
//!
//! ```text
//! total = sum over column sets of  w(g) * w(complement of g)
//! ```
//!
//! # Method
//!
//! Meet in the middle. Cut the digits into two halves, and place the digits of a half one after the other. All that the
//! other digits see of those placed is which cells are taken: for each row a set of columns. Placements that take the
//! same cells are kept together with their number, and so are those that differ in the order of the rows alone, since
//! exchanging rows is a bijection: a state is the *sorted* list of the C column sets. In a band, the two halves take
//! complementary cells. With `n1(s)` and `n2(s)` the numbers of placements of the halves whose sorted cells are `s`,
//! of which there are `C! / m(s)` arrangements (`m` the product of factorials of how often each set occurs in `s`),
//!
//! ```text
//! w = sum over s of  n1(s) * n2(complement of s) * m(s) / C!
//! ```
//!
//! since all arrangements of `s` are taken equally often. Digits that share many columns exclude each other most, so the
//! halves are chosen to share as many as they can.
//!
//! Cost: for C = 5 some tens of thousands of states a half, with 120 orders to try for each; see `benches/recount.rs`.

use super::super::two::MAX_BOXES;

/// Cells taken: for each row, from the lowest bits up, the set of columns, two bits a box.
type Cells = u64;

/// Bands in which bit `b` of `vectors[d]` tells in which column of box `b` digit `d` is.
///
/// # Panics
///
/// Unless there are two vectors for each of 2 to 5 boxes. The result is exact: the sums are checked.
pub fn bands(vectors: &[u8]) -> u128 {
    let boxes = vectors.len() / 2;
    assert!((2..=MAX_BOXES).contains(&boxes), "bands of {boxes} boxes are not covered");
    let rows = Rows { boxes };
    let (half, other) = halves(vectors);
    let first = rows.place(&half);
    let mut sum = 0u128;
    // The last digit of the other half is placed only to look up what it leaves.
    let (last, before) = other.split_last().expect("a half has digits");
    let orders = rows.orders(*last);
    let all = (1u64 << (2 * boxes * boxes)) - 1;
    for (cells, ways) in rows.place(before).entries() {
        for &order in &orders {
            if cells & order == 0 {
                let (left, multiplicity) = rows.sorted(all ^ (cells | order));
                let terms = u128::from(ways) * u128::from(first.get(left)) * u128::from(multiplicity);
                sum = sum.checked_add(terms).expect("a number of bands exceeds 128 bits");
            }
        }
    }
    let arrangements: u128 = (1..=boxes as u128).product();
    assert_eq!(sum % arrangements, 0, "rows can be exchanged");
    sum / arrangements
}

/// The digits in two halves that share as many columns as possible among themselves.
fn halves(vectors: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let boxes = vectors.len() / 2;
    // In a box, t digits of a half in one column and the rest in the other share t^2 + (boxes - t)^2 pairs, up to a
    // constant and a factor; the other half shares as many.
    let shared = |half: u32| -> usize {
        (0..boxes)
            .map(|b| {
                let members = vectors.iter().enumerate().filter(|(digit, _)| half >> digit & 1 == 1);
                let t = members.filter(|(_, vector)| **vector >> b & 1 == 1).count();
                t * t + (boxes - t) * (boxes - t)
            })
            .sum()
    };
    let choices =
        (0..1u32 << vectors.len()).filter(|half| half & 1 == 1 && half.count_ones() as usize == boxes);
    let best = choices.max_by_key(|&half| shared(half)).expect("there are halves");
    let pick = |wanted: u32| {
        let members = vectors.iter().enumerate().filter(move |(digit, _)| best >> digit & 1 == wanted);
        members.map(|(_, &vector)| vector).collect()
    };
    (pick(1), pick(0))
}

/// The rows of a band.
#[derive(Clone, Copy)]
struct Rows {
    boxes: usize,
}

impl Rows {
    /// The cells that a digit takes, in each of its orders: one in every row, one in every box.
    fn orders(self, vector: u8) -> Vec<Cells> {
        let mut partial: Vec<(Cells, u8)> = vec![(0, 0)];
        for row in 0..self.boxes {
            partial = partial
                .iter()
                .flat_map(|&(cells, used)| {
                    (0..self.boxes).filter(move |b| used >> b & 1 == 0).map(move |b| {
                        let column = 2 * b + usize::from(vector >> b & 1);
                        (cells | 1 << (2 * self.boxes * row + column), used | 1 << b)
                    })
                })
                .collect();
        }
        partial.into_iter().map(|(cells, _)| cells).collect()
    }

    /// The sorted form of a state, and the product of factorials of how often each column set occurs.
    #[inline]
    fn sorted(self, cells: Cells) -> (Cells, u32) {
        let width = 2 * self.boxes;
        let mask = (1u64 << width) - 1;
        let mut sets = [0u64; MAX_BOXES];
        for (row, set) in sets.iter_mut().enumerate() {
            *set = cells >> (width * row) & mask;
        }
        // Absent rows are empty sets in front and fall out at the end.
        sort_five(&mut sets);
        let (mut packed, mut multiplicity, mut run) = (0, 1, 0);
        let present = &sets[MAX_BOXES - self.boxes..];
        for (i, &set) in present.iter().enumerate() {
            run = if i > 0 && set == present[i - 1] { run + 1 } else { 1 };
            multiplicity *= run;
            packed |= set << (width * i);
        }
        (packed, multiplicity)
    }

    /// Places digits one after the other: the states and the placements of each.
    fn place(self, vectors: &[u8]) -> Tally {
        let mut states = Tally::new(1);
        states.add(0, 1);
        for &vector in vectors {
            let orders = self.orders(vector);
            let mut next = Tally::new(states.filled * 4);
            for (cells, ways) in states.entries() {
                for order in &orders {
                    if cells & order == 0 {
                        next.add(self.sorted(cells | order).0, ways);
                    }
                }
            }
            states = next;
        }
        states
    }
}

/// Sorts five numbers with nine exchanges that need no branch.
#[inline]
fn sort_five(n: &mut [u64; 5]) {
    for (i, j) in [(0, 3), (1, 4), (0, 2), (1, 3), (0, 1), (2, 4), (1, 2), (3, 4), (2, 3)] {
        let (low, high) = (n[i].min(n[j]), n[i].max(n[j]));
        (n[i], n[j]) = (low, high);
    }
}

/// How many placements there are of each state: an open hash table, since nearly all time goes into it.
struct Tally {
    /// State + 1 (0 is a free slot) and placements.
    slots: Vec<(u64, u64)>,
    filled: usize,
}

impl Tally {
    fn new(expected: usize) -> Self {
        Self { slots: vec![(0, 0); (2 * expected).next_power_of_two().max(16)], filled: 0 }
    }

    /// The slot of a state, or the free one where it belongs.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let spread = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // The product's high half is well mixed, and tables have far fewer than 2^32 slots.
        let mut slot = (spread >> 32) as usize & mask;
        while self.slots[slot].0 != key && self.slots[slot].0 != 0 {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[inline]
    fn add(&mut self, cells: Cells, ways: u64) {
        let slot = self.slot(cells + 1);
        if self.slots[slot].0 == 0 {
            self.slots[slot].0 = cells + 1;
            self.filled += 1;
        }
        self.slots[slot].1 =
            self.slots[slot].1.checked_add(ways).expect("placements of a half exceed 64 bits");
        if 2 * self.filled > self.slots.len() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let mut larger = Self::new(2 * self.slots.len());
        for (cells, ways) in self.entries() {
            larger.add(cells, ways);
        }
        *self = larger;
    }

    fn get(&self, cells: Cells) -> u64 {
        self.slots[self.slot(cells + 1)].1
    }

    fn entries(&self) -> impl Iterator<Item = (Cells, u64)> {
        self.slots.iter().filter(|slot| slot.0 != 0).map(|&(key, ways)| (key - 1, ways))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_keeps_every_order_of_five() {
        let rows = Rows { boxes: 5 };
        for number in 0..5usize.pow(5) {
            let sets: Vec<u64> = (0..5).map(|i| (number / 5usize.pow(i) % 5) as u64).collect();
            let pack = |sets: &[u64]| sets.iter().rev().fold(0, |packed, set| packed << 10 | set);
            let mut sorted = sets.clone();
            sorted.sort_unstable();
            let times = sorted.chunk_by(|a, b| a == b).map(|run| (1..=run.len()).product::<usize>());
            assert_eq!(
                rows.sorted(pack(&sets)),
                (pack(&sorted), u32::try_from(times.product::<usize>()).unwrap())
            );
        }
    }

    #[test]
    fn a_digit_has_as_many_orders_as_the_rows() {
        for boxes in 2..=5 {
            let orders = Rows { boxes }.orders(0b01010 & ((1 << boxes) - 1));
            assert_eq!(orders.len(), (1..=boxes).product::<usize>());
            assert!(orders.iter().all(|cells| cells.count_ones() as usize == boxes));
        }
    }
}
