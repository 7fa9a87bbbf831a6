//! Column sets of grids with two bands: the shapes Cx2, which are 2xC on their side.
//!
//! A band has C boxes of C rows and 2 columns. The C digits of the first column of a box leave the others to the second
//! column, so the column sets of a band say of each digit, for each box, which of the two columns it is in: a vector
//! of C bits. Digits can be renamed, so only the multiset of the 2C vectors matters, in which each bit is set C times;
//! exchanging boxes permutes the bits, exchanging the columns of a box flips one. Classes are the orbits of such
//! multisets under these C! 2^C symmetries of the C-cube. Pettersen 2006 (63,199 classes for C = 6).
//!
//! Classes are enumerated here, not counted with: both counting methods may share this.

use std::collections::HashSet;

/// Largest number of boxes in a band here: multisets are packed into 128 bits.
pub const MAX_BOXES: usize = 5;

/// Most digits of a grid here.
pub const MAX_DIGITS: usize = 2 * MAX_BOXES;

/// A class of column sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoClass {
    /// For each digit its vector: bit `b` says in which column of box `b` the digit is. Ascending.
    pub vectors: Vec<u8>,
    /// How many ways there are to choose the column sets of boxes 2..C, in either order of the two columns, so that
    /// the band is of this class, the columns of box 1 being given.
    pub tuples: u128,
}

/// The classes for bands of `boxes` boxes, in a fixed order. Some 20 ms for 5 boxes, much less below.
///
/// # Panics
///
/// Unless `2 <= boxes <= 5`.
pub fn two_classes(boxes: usize) -> Vec<TwoClass> {
    assert!((2..=MAX_BOXES).contains(&boxes), "bands of {boxes} boxes are not covered");
    // One bit: C vectors of either kind. Then bit by bit, one multiset per orbit.
    let mut firsts = vec![Orbit { least: Packed::new(&[boxes, boxes]), size: 1 }];
    for bits in 1..boxes {
        let cube = Cube::new(bits + 1);
        let mut seen = HashSet::new();
        let mut next = Vec::new();
        for orbit in &firsts {
            orbit.least.with_one_more_bit(bits, boxes, &mut |multiset| {
                if !seen.contains(&cube.flipped_to_least(multiset).0) {
                    next.push(Orbit::new(multiset, &cube, &mut seen));
                }
            });
        }
        next.sort_unstable_by_key(|orbit| orbit.least.0);
        firsts = next;
    }
    firsts.iter().map(|orbit| orbit.class(boxes)).collect()
}

/// How often each vector occurs in a multiset, four bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Packed(u128);

impl Packed {
    fn new(times: &[usize]) -> Self {
        Self(times.iter().enumerate().map(|(vector, &times)| (times as u128) << (4 * vector)).sum())
    }

    /// Vectors that occur, and how often.
    fn entries(self) -> impl Iterator<Item = (usize, usize)> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let vector = rest.trailing_zeros() as usize / 4;
            let times = (rest >> (4 * vector % 128)) & 15;
            rest &= !(15 << (4 * vector % 128));
            (times > 0).then_some((vector, usize::try_from(times).expect("four bits")))
        })
    }

    /// The multiset after its vectors have moved.
    fn moved(self, image: &[u8]) -> Self {
        Self(self.entries().map(|(vector, times)| (times as u128) << (4 * image[vector])).sum())
    }

    /// The multiset with one bit of all vectors flipped: the four bits of a vector change places with those of the
    /// vector that differs in this bit alone.
    fn flipped(self, bit: u32) -> Self {
        /// The places of the vectors that do not have the bit.
        const WITHOUT: [u128; MAX_BOXES] = [
            0x0F0F_0F0F_0F0F_0F0F_0F0F_0F0F_0F0F_0F0F,
            0x00FF_00FF_00FF_00FF_00FF_00FF_00FF_00FF,
            0x0000_FFFF_0000_FFFF_0000_FFFF_0000_FFFF,
            0x0000_0000_FFFF_FFFF_0000_0000_FFFF_FFFF,
            0x0000_0000_0000_0000_FFFF_FFFF_FFFF_FFFF,
        ];
        let (without, distance) = (WITHOUT[bit as usize], 4 << bit);
        Self((self.0 & without) << distance | self.0 >> distance & without)
    }

    /// Every multiset that becomes this one when bit `bits` is forgotten, and has that bit set `set` times.
    fn with_one_more_bit(self, bits: usize, set: usize, visit: &mut impl FnMut(Self)) {
        fn choose(
            entries: &[(usize, usize)],
            bit: usize,
            set: usize,
            made: u128,
            visit: &mut impl FnMut(Packed),
        ) {
            let Some((&(vector, times), rest)) = entries.split_first() else {
                if set == 0 {
                    visit(Packed(made));
                }
                return;
            };
            for with in 0..=times.min(set) {
                let split = ((times - with) as u128) << (4 * vector) | (with as u128) << (4 * (vector | bit));
                choose(rest, bit, set - with, made | split, visit);
            }
        }
        let entries: Vec<_> = self.entries().collect();
        choose(&entries, 1 << bits, set, 0, visit);
    }
}

/// An orbit of multisets.
struct Orbit {
    least: Packed,
    size: u128,
}

impl Orbit {
    /// The orbit of `member`; notes of each of its members the least that exchanging columns makes of it.
    fn new(member: Packed, cube: &Cube, seen: &mut HashSet<Packed>) -> Self {
        let (flipped_member, _) = cube.flipped_to_least(member);
        let mut least = flipped_member;
        // Symmetries that keep the member: an order of the axes, then flips. Flips commute, so that as many of them
        // lead to the member as to the least that flips make of it.
        let mut keeping = 0;
        for order in &cube.orders {
            let (flipped, times) = cube.flipped_to_least(member.moved(order));
            if flipped == flipped_member {
                keeping += times;
            }
            least = least.min(flipped);
            seen.insert(flipped);
        }
        Self { least, size: (cube.orders.len() << cube.bits) as u128 / keeping }
    }

    /// Names the digits and counts. A multiset stands for `(2C)! / prod times!` choices of column sets with digits told
    /// apart, of which `C(2C, C)` times `2^(C-1)` differ only in the columns of box 1 and in the order of the two
    /// columns of the other boxes.
    fn class(&self, boxes: usize) -> TwoClass {
        let factorial = |n: usize| (1..=n as u128).product::<u128>();
        let vectors: Vec<u8> = self
            .least
            .entries()
            .flat_map(|(vector, times)| vec![u8::try_from(vector).expect("at most 5 bits"); times])
            .collect();
        let renamings =
            self.least.entries().fold(factorial(2 * boxes), |all, (_, times)| all / factorial(times));
        let first_boxes = factorial(2 * boxes) / factorial(boxes).pow(2);
        let ordered = self.size * renamings;
        assert_eq!(ordered % (first_boxes << (boxes - 1)), 0, "column sets come in full orbits");
        TwoClass { vectors, tuples: ordered / (first_boxes << (boxes - 1)) }
    }
}

/// The symmetries of the cube with `bits` dimensions: its axes are permuted, then its corners flipped along some.
struct Cube {
    bits: usize,
    /// The permutations of the axes, as they move the corners.
    orders: Vec<Vec<u8>>,
}

impl Cube {
    fn new(bits: usize) -> Self {
        let mut orders: Vec<Vec<usize>> = vec![vec![]];
        for bit in 0..bits {
            orders = orders
                .iter()
                .flat_map(|order| {
                    (0..=order.len()).map(move |place| [&order[..place], &[bit], &order[place..]].concat())
                })
                .collect();
        }
        let moves = |order: &Vec<usize>| {
            let moved = |corner: usize| -> usize {
                order.iter().enumerate().map(|(to, &from)| (corner >> from & 1) << to).sum()
            };
            (0..1usize << bits).map(|corner| u8::try_from(moved(corner)).expect("at most 5 bits")).collect()
        };
        Self { bits, orders: orders.iter().map(moves).collect() }
    }

    /// The least of the `2^bits` multisets that flips make of one, and how many of the flips make it.
    fn flipped_to_least(&self, multiset: Packed) -> (Packed, u128) {
        let (mut least, mut times) = (multiset, 1);
        let mut flipped = multiset;
        // One axis at a time, as a Gray code has them: step `i` flips along the lowest bit that is set in `i`.
        for step in 1..1usize << self.bits {
            flipped = flipped.flipped(step.trailing_zeros());
            if flipped < least {
                (least, times) = (flipped, 1);
            } else if flipped == least {
                times += 1;
            }
        }
        (least, times)
    }
}

impl TwoClass {
    /// Boxes in a band.
    pub fn boxes(&self) -> usize {
        self.vectors.len() / 2
    }

    /// The digits of each column as bit sets, columns in order; bit `d` stands for digit `d + 1`.
    pub fn columns(&self) -> Vec<u16> {
        let column = |b: usize, side: u8| {
            let digits = self.vectors.iter().enumerate().filter(|(_, vector)| **vector >> b & 1 == side);
            digits.map(|(digit, _)| 1 << digit).sum()
        };
        (0..self.boxes()).flat_map(|b| [column(b, 0), column(b, 1)]).collect()
    }

    /// A band of the class, row by row: the lexicographically first with these column sets, then renamed so that its
    /// first row is 1, 2, 3, ... Not the first of the whole class.
    ///
    /// # Panics
    ///
    /// When the vectors are not those of a class.
    pub fn band(&self) -> Vec<Vec<u8>> {
        fn fill(free: &mut [u16], used: u16, cell: usize, band: &mut Vec<u8>) -> bool {
            let side = free.len();
            if cell == side * side / 2 {
                return true;
            }
            let column = cell % side;
            let used = if column == 0 { 0 } else { used };
            let mut options = free[column] & !used;
            while options != 0 {
                let bit = options & options.wrapping_neg();
                options ^= bit;
                free[column] ^= bit;
                band.push(u8::try_from(bit.trailing_zeros()).expect("below 16"));
                if fill(free, used | bit, cell + 1, band) {
                    return true;
                }
                band.pop();
                free[column] ^= bit;
            }
            false
        }
        let mut cells = Vec::new();
        assert!(fill(&mut self.columns(), 0, 0, &mut cells), "every choice of column sets can be filled");
        let mut name = [0; MAX_DIGITS];
        for (new, &old) in (0..).zip(&cells[..self.vectors.len()]) {
            name[usize::from(old)] = new;
        }
        cells
            .chunks(self.vectors.len())
            .map(|row| row.iter().map(|&old| name[usize::from(old)]).collect())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_cover_all_column_sets() {
        for (boxes, halves) in [(2, 3u128), (3, 10), (4, 35), (5, 126)] {
            let classes = two_classes(boxes);
            let tuples: u128 = classes.iter().map(|class| class.tuples).sum();
            assert_eq!(tuples, halves.pow(u32::try_from(boxes).unwrap() - 1), "{boxes} boxes");
            for class in &classes {
                assert!(class.columns().iter().all(|column| column.count_ones() as usize == boxes));
                let band = class.band();
                assert!(band[0].iter().copied().eq(0..u8::try_from(2 * boxes).unwrap()));
            }
        }
    }

    #[test]
    fn equal_boxes_are_a_class_of_their_own() {
        // All boxes of a band cut alike: every vector is one of two opposite ones.
        for boxes in 2..=5 {
            let opposite = (1 << boxes) - 1;
            let alike = |class: &&TwoClass| {
                let [first, .., last] = class.vectors[..] else { unreachable!("a band has digits") };
                first ^ last == opposite
                    && class.vectors.iter().all(|&vector| vector == first || vector == last)
            };
            let classes = two_classes(boxes);
            let found: Vec<_> = classes.iter().filter(alike).collect();
            assert_eq!(found.len(), 1, "{boxes} boxes");
            assert_eq!(found[0].tuples, 1, "{boxes} boxes");
        }
    }
}
