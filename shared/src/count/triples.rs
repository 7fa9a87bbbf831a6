//! Column sets of a 3x3 box: the 280 ways to cut nine digits into three triples.
//!
//! The rest of a grid sees only the *set* of digits in each column of a band, so a box of a band stands for the
//! three triples in its columns. Everything here lists such triples and how relabellings move them; nothing counts
//! fillings, so both counting methods may stand on it.

use std::{array, sync::OnceLock};

/// Ways to cut nine digits into three triples: 9! / (3!^3 3!).
pub const CUTS: usize = 280;

/// Ways to share the digits that a cut leaves for six rows between two bands: `sum C(3, k)^3`.
pub const SPLITS: usize = 56;

/// Relabellings that keep the standard cut: 3!^3 inside its triples times 3! of the triples.
pub const KEEPERS: usize = 1296;

/// Triples of nine digits.
const TRIPLES: usize = 84;

/// A set of digits; bit `d` stands for digit `d + 1`.
pub type Digits = u16;

/// All nine digits.
pub const ALL: Digits = 0x1FF;

/// The columns of a box that reads 123/456/789.
pub const STANDARD: [Digits; 3] = [0b001_001_001, 0b010_010_010, 0b100_100_100];

/// Number of a cut in [`Cuts`].
pub type Cut = u16;

/// The 280 cuts with what is asked of them again and again.
pub struct Cuts {
    /// The triples of each cut, the one with digit 1 first, then the one with the least digit left.
    pub triples: Vec<[Digits; 3]>,
    /// For each cut, the 36 cuts that share at most one digit with each of its triples: if one gives the columns of a
    /// box, the other can give its rows.
    pub crossing: Vec<[Cut; 36]>,
    rank: [u8; 512],
    by_pair: Vec<Cut>,
}

/// The table of cuts; built on first use in some 30 µs.
pub fn cuts() -> &'static Cuts {
    static TABLE: OnceLock<Cuts> = OnceLock::new();
    TABLE.get_or_init(Cuts::new)
}

impl Cuts {
    fn new() -> Self {
        let mut rank = [0; 512];
        let mut masks = Vec::with_capacity(TRIPLES);
        for mask in (0..=ALL).filter(|mask| mask.count_ones() == 3) {
            rank[usize::from(mask)] = u8::try_from(masks.len()).expect("84 triples");
            masks.push(mask);
        }
        let mut triples = Vec::with_capacity(CUTS);
        let mut by_pair = vec![0; TRIPLES * TRIPLES];
        for &first in masks.iter().filter(|&mask| mask & 1 == 1) {
            let least = 1 << (ALL & !first).trailing_zeros();
            for &second in masks.iter().filter(|&mask| mask & first == 0 && mask & least != 0) {
                let cut = [first, second, ALL & !first & !second];
                let number = index(triples.len());
                for (a, b) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
                    by_pair[pair(&rank, cut[a], cut[b])] = number;
                }
                triples.push(cut);
            }
        }
        let mut cuts = Self { triples, crossing: Vec::new(), rank, by_pair };
        cuts.crossing = cuts.triples.iter().map(|cut| cuts.transversals(*cut)).collect();
        cuts
    }

    /// Number of the cut that has the triples `a`, `b` and the rest.
    pub fn number(&self, a: Digits, b: Digits) -> Cut {
        self.by_pair[pair(&self.rank, a, b)]
    }

    /// The 36 cuts into rows of a box with these columns: row `k` takes digit `k` of the first column and, in any
    /// order, one each of the second and third.
    fn transversals(&self, columns: [Digits; 3]) -> [Cut; 36] {
        let [first, second, third] = columns.map(members);
        array::from_fn(|i| {
            let (p, q) = (ORDERS[i / 6], ORDERS[i % 6]);
            let row = |k: usize| first[k] | second[p[k]] | third[q[k]];
            self.number(row(0), row(1))
        })
    }

    /// How a relabelling moves the 280 cuts: `image[d]` is the set holding only the new name of digit `d + 1`.
    pub fn action(&self, image: [Digits; 9]) -> [Cut; CUTS] {
        let mut moved = [0; 512];
        for mask in (0..=ALL).filter(|mask| mask.count_ones() == 3) {
            moved[usize::from(mask)] =
                members(mask).into_iter().map(|bit| image[bit.trailing_zeros() as usize]).sum();
        }
        array::from_fn(|i| {
            let [a, b, _] = self.triples[i];
            self.number(moved[usize::from(a)], moved[usize::from(b)])
        })
    }

    /// A relabelling that makes `columns`, in this order, the standard columns: the k-th digit of the j-th triple
    /// becomes the k-th of the j-th standard triple.
    pub fn to_standard(columns: [Digits; 3]) -> [Digits; 9] {
        let mut image = [0; 9];
        for (from, to) in columns.into_iter().zip(STANDARD) {
            for (old, new) in members(from).into_iter().zip(members(to)) {
                image[old.trailing_zeros() as usize] = new;
            }
        }
        image
    }

    /// Number of the standard cut 147 258 369.
    pub fn standard(&self) -> Cut {
        self.number(STANDARD[0], STANDARD[1])
    }
}

/// All orders of three things.
pub const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The single digits of a triple, ascending.
pub fn members(triple: Digits) -> [Digits; 3] {
    debug_assert_eq!(triple.count_ones(), 3);
    let low = triple & triple.wrapping_neg();
    let rest = triple & (triple - 1);
    let middle = rest & rest.wrapping_neg();
    [low, middle, rest & (rest - 1)]
}

/// How the digits missing from three columns can be shared between two further bands.
///
/// The columns of a box hold the triples `a`, `b`, `c`. The digits of `a` are wanted in columns 2 and 3, those of `b`
/// in 3 and 1, those of `c` in 1 and 2, once in each of the two bands below. If `k` digits of `b` go to column 1 of
/// the upper of them, `k` of `c` must go to column 2 and `k` of `a` to column 3 for all to hold three. Hence
/// `sum C(3, k)^3 = 56` pairs (columns in the upper band, columns in the lower band), `k` ascending.
pub fn splits([a, b, c]: [Digits; 3]) -> [([Digits; 3], [Digits; 3]); SPLITS] {
    let mut list = [([0; 3], [0; 3]); SPLITS];
    let mut filled = 0;
    for k in 0..=3 {
        for from_a in parts(a, k) {
            for from_b in parts(b, k) {
                for from_c in parts(c, k) {
                    let upper = [from_b | (c & !from_c), from_c | (a & !from_a), from_a | (b & !from_b)];
                    let lower = [(b | c) & !upper[0], (c | a) & !upper[1], (a | b) & !upper[2]];
                    list[filled] = (upper, lower);
                    filled += 1;
                }
            }
        }
    }
    debug_assert_eq!(filled, SPLITS);
    list
}

/// The subsets of a triple with `k` digits.
fn parts(triple: Digits, k: usize) -> impl Iterator<Item = Digits> {
    let single = members(triple);
    let (count, part): (usize, fn(Digits, Digits) -> Digits) = match k {
        0 => (1, |_, _| 0),
        1 => (3, |_, one| one),
        2 => (3, |all, one| all & !one),
        _ => (1, |all, _| all),
    };
    single.into_iter().take(count).map(move |one| part(triple, one))
}

/// The 1,296 relabellings that keep the standard cut, as they move the 280 cuts.
pub struct Keepers {
    /// `moves[g][i]` is where relabelling `g` takes cut `i`. The identity comes first.
    pub moves: Vec<[Cut; CUTS]>,
}

impl Keepers {
    /// Composes them from the orders of the digits inside the three standard triples and of the triples themselves.
    /// Some 0.15 ms.
    pub fn new(cuts: &Cuts) -> Self {
        let mut moves = vec![array::from_fn(index)];
        for column in 0..3 {
            // The digits of standard column `column` are column + 1, column + 4 and column + 7.
            moves = extend(cuts, &moves, |order| {
                array::from_fn(|d| 1 << if d % 3 == column { 3 * order[d / 3] + column } else { d })
            });
        }
        moves = extend(cuts, &moves, |order| array::from_fn(|d| 1 << (3 * (d / 3) + order[d % 3])));
        debug_assert_eq!(moves.len(), KEEPERS);
        Self { moves }
    }
}

/// Every product of a member of `group` with one of the six relabellings that `image` makes of an order of three.
fn extend(cuts: &Cuts, group: &[[Cut; CUTS]], image: impl Fn([usize; 3]) -> [Digits; 9]) -> Vec<[Cut; CUTS]> {
    let mut product = Vec::with_capacity(6 * group.len());
    product.extend_from_slice(group);
    for order in &ORDERS[1..] {
        let action = cuts.action(image(*order));
        product.extend(group.iter().map(|member| member.map(|cut| action[usize::from(cut)])));
    }
    product
}

fn pair(rank: &[u8; 512], a: Digits, b: Digits) -> usize {
    usize::from(rank[usize::from(a)]) * TRIPLES + usize::from(rank[usize::from(b)])
}

fn index(i: usize) -> Cut {
    Cut::try_from(i).expect("fewer than 2^16 cuts")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn cuts_are_all_there_once() {
        let cuts = cuts();
        assert_eq!(cuts.triples.len(), CUTS);
        assert_eq!(cuts.triples.iter().collect::<HashSet<_>>().len(), CUTS);
        for (i, &[a, b, c]) in cuts.triples.iter().enumerate() {
            assert_eq!(a | b | c, ALL);
            assert_eq!(usize::from(cuts.number(c, a)), i);
            let crossing: HashSet<Cut> = cuts.crossing[i].into_iter().collect();
            let slow = (0..CUTS).filter(|&j| {
                cuts.triples[j].iter().all(|&t| [a, b, c].iter().all(|&u| (t & u).is_power_of_two()))
            });
            assert_eq!(crossing, slow.map(index).collect(), "cut {i}");
            assert_eq!(crossing.len(), 36);
        }
    }

    #[test]
    fn splits_are_every_way_to_share() {
        for &columns in &cuts().triples {
            let listed: HashSet<_> = splits(columns).into_iter().collect();
            assert_eq!(listed.len(), SPLITS);
            // Slowly: any triple in column 1 and 2 that avoids what the column has, the rest in column 3.
            let mut slow = HashSet::new();
            let triples = || (0..=ALL).filter(|mask| mask.count_ones() == 3);
            for first in triples().filter(|t| t & columns[0] == 0) {
                for second in triples().filter(|t| t & (columns[1] | first) == 0) {
                    let upper = [first, second, ALL & !first & !second];
                    let lower = array::from_fn(|j| ALL & !upper[j] & !columns[j]);
                    if upper[2] & columns[2] == 0 {
                        slow.insert((upper, lower));
                    }
                }
            }
            assert_eq!(listed, slow);
        }
    }

    #[test]
    fn keepers_are_the_stabiliser_of_the_standard_cut() {
        let keepers = Keepers::new(cuts());
        let standard = cuts().standard();
        assert_eq!(keepers.moves.iter().collect::<HashSet<_>>().len(), KEEPERS);
        assert!(keepers.moves.iter().all(|moves| moves[usize::from(standard)] == standard));
        assert!(keepers.moves[0].iter().copied().eq(0..index(CUTS)));
        let to = cuts().action(Cuts::to_standard(cuts().triples[100]));
        assert_eq!(to[100], standard);
    }
}
