//! The 44 classes of the column sets of a 3x3 band.
//!
//! Six rows below a band see nine sets of three digits, one a column; the order inside a column is lost on them. Two
//! bands whose column sets differ by renaming digits and exchanging boxes (or columns of a box, which a cut does not
//! tell apart) have equally many completions. Renaming makes the first box standard, which leaves 280 * 280 pairs of
//! cuts for boxes 2 and 3; the classes are the orbits of such pairs. Felgenhauer & Jarvis 2006.
//!
//! Classes are enumerated here, not counted with: both counting methods may share this.

use std::sync::OnceLock;

use super::triples::{ALL, CUTS, Cut, Cuts, Digits, Keepers, ORDERS, cuts, members, splits};

/// A filled band, row by row; digits are 0..9.
pub type Band = [[u8; 9]; 3];

/// One of the 44.
#[derive(Clone, Copy, Debug)]
pub struct NineClass {
    /// The first band of the class in lexicographic order.
    pub band: Band,
    /// Column sets of boxes 2 and 3 of a band of the class whose first box has the standard columns.
    pub cuts: (Cut, Cut),
    /// Pairs of cuts in the class, of 78,400.
    pub pairs: u32,
}

/// The classes, numbered by their first bands, and the class of every pair of cuts.
pub struct NineClasses {
    /// In the order of their first bands.
    pub list: Vec<NineClass>,
    /// The relabellings that keep the first box.
    pub keepers: Keepers,
    by_pair: Vec<u8>,
}

/// The 44 classes; built on first use in some 1.3 ms.
pub fn classes() -> &'static NineClasses {
    static TABLE: OnceLock<NineClasses> = OnceLock::new();
    TABLE.get_or_init(NineClasses::new)
}

impl NineClasses {
    /// Enumerates the classes.
    pub fn new() -> Self {
        let keepers = Keepers::new(cuts());
        let orbits = Orbits::new(&keepers);
        let roots = orbits.pair_roots(cuts());
        let (list, number) = first_bands(&orbits, &roots);
        let by_pair = (0..CUTS * CUTS).map(|i| number[roots[orbits.node(i / CUTS, i % CUTS)]]).collect();
        Self { list, keepers, by_pair }
    }

    /// The class, counted from 0, of a band whose first box is standard and whose others have these cuts.
    pub fn of(&self, box2: Cut, box3: Cut) -> usize {
        self.by_pair[usize::from(box2) * CUTS + usize::from(box3)].into()
    }

    /// The class of any band.
    pub fn of_band(&self, band: &Band) -> usize {
        let (box2, box3) = standardised(column_sets(band));
        self.of(box2, box3)
    }
}

impl Default for NineClasses {
    fn default() -> Self {
        Self::new()
    }
}

/// The column sets of a band, three for each box.
pub fn column_sets(band: &Band) -> [[Digits; 3]; 3] {
    std::array::from_fn(|b| std::array::from_fn(|c| band.iter().map(|row| 1 << row[3 * b + c]).sum()))
}

/// The cuts of boxes 2 and 3 after a renaming that makes box 1 standard.
pub fn standardised([box1, box2, box3]: [[Digits; 3]; 3]) -> (Cut, Cut) {
    let action = cuts().action(Cuts::to_standard(box1));
    let moved = |columns: [Digits; 3]| action[usize::from(cuts().number(columns[0], columns[1]))];
    (moved(box2), moved(box3))
}

/// The orbits of cuts under the keepers, and the way from each cut to the first of its orbit.
struct Orbits<'a> {
    keepers: &'a Keepers,
    firsts: Vec<usize>,
    sizes: Vec<u32>,
    /// For each cut its orbit and a keeper that takes it to the orbit's first cut.
    home: Vec<(usize, usize)>,
}

impl<'a> Orbits<'a> {
    fn new(keepers: &'a Keepers) -> Self {
        let mut orbits =
            Self { keepers, firsts: Vec::new(), sizes: Vec::new(), home: vec![(usize::MAX, 0); CUTS] };
        for cut in 0..CUTS {
            // Cut 0 is 123 456 789 and no orbit is met before its first cut.
            let known = keepers.moves.iter().enumerate().find_map(|(g, moves)| {
                let orbit = orbits.firsts.iter().position(|&first| first == usize::from(moves[cut]))?;
                Some((orbit, g))
            });
            orbits.home[cut] = known.unwrap_or_else(|| {
                orbits.firsts.push(cut);
                orbits.sizes.push(0);
                (orbits.firsts.len() - 1, 0)
            });
            orbits.sizes[orbits.home[cut].0] += 1;
        }
        orbits
    }

    /// A pair of cuts as a node: the first moved to the first of its orbit, the second moved along.
    fn node(&self, box2: usize, box3: usize) -> usize {
        let (orbit, keeper) = self.home[box2];
        orbit * CUTS + usize::from(self.keepers.moves[keeper][box3])
    }

    /// The class of each node, as the least node in it: union-find over what makes two pairs alike.
    fn pair_roots(&self, cuts: &Cuts) -> Vec<usize> {
        let mut parent: Vec<usize> = (0..self.firsts.len() * CUTS).collect();
        for (orbit, &first) in self.firsts.iter().enumerate() {
            let node = |box3: usize| orbit * CUTS + box3;
            for moves in self.keepers.moves.iter().filter(|moves| usize::from(moves[first]) == first) {
                for (box3, &moved) in moves.iter().enumerate() {
                    unite(&mut parent, node(box3), node(usize::from(moved)));
                }
                // The standard cut is alone in its orbit and all keepers keep it: one node per orbit is enough.
                if self.sizes[orbit] == 1 {
                    break;
                }
            }
            // Boxes 1 and 2 exchanged: any renaming that makes box 2 standard tells where the others go.
            let exchange = cuts.action(Cuts::to_standard(cuts.triples[first]));
            let old_first = usize::from(exchange[usize::from(cuts.standard())]);
            for (box3, &exchanged) in exchange.iter().enumerate() {
                unite(&mut parent, node(box3), self.node(box3, first));
                unite(&mut parent, node(box3), self.node(old_first, usize::from(exchanged)));
                if self.sizes[orbit] == 1 {
                    unite(&mut parent, node(box3), node(self.firsts[self.home[box3].0]));
                }
            }
        }
        (0..parent.len()).map(|node| root(&mut parent, node)).collect()
    }
}

fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}

fn unite(parent: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b)] = a.min(b);
}

/// Goes through the bands whose first row is 123456789 in lexicographic order until every class has been met, and
/// returns the classes in that order, and the number of each by its root.
fn first_bands(orbits: &Orbits<'_>, roots: &[usize]) -> (Vec<NineClass>, Vec<u8>) {
    const UNSEEN: u8 = u8::MAX;
    let mut number = vec![UNSEEN; roots.len()];
    let mut pairs = vec![0; roots.len()];
    for (node, &root) in roots.iter().enumerate() {
        pairs[root] += orbits.sizes[node / CUTS];
    }
    let wanted = pairs.iter().filter(|&&pairs| pairs > 0).count();
    let mut list = Vec::with_capacity(wanted);
    'rows: for row2 in second_rows() {
        let thirds = ThirdRows::new(&row2);
        for i in 0..216 {
            let (box2, box3) = thirds.cuts(i);
            let root = roots[orbits.node(usize::from(box2), usize::from(box3))];
            if number[root] == UNSEEN {
                number[root] = u8::try_from(list.len()).expect("44 classes");
                let row1 = [0, 1, 2, 3, 4, 5, 6, 7, 8];
                list.push(NineClass {
                    band: [row1, row2, thirds.row(i)],
                    cuts: (box2, box3),
                    pairs: pairs[root],
                });
                if list.len() == wanted {
                    break 'rows;
                }
            }
        }
    }
    (list, number)
}

/// The second rows that go below 123456789 in a band, in lexicographic order, lazily.
fn second_rows() -> impl Iterator<Item = [u8; 9]> {
    // Rows as sets, the three boxes in order; then each box in its six orders.
    let mut sets: Vec<[Digits; 3]> =
        splits([0b111, 0b111_000, 0b111_000_000]).map(|(upper, _)| upper).to_vec();
    let text = |set: Digits| members(set).map(Digits::trailing_zeros);
    sets.sort_by_key(|boxes| boxes.map(text));
    // Rows with the same set in the first box are neighbours: put its order before the sets of the other boxes.
    let groups: Vec<Vec<[Digits; 3]>> = sets.chunk_by(|a, b| a[0] == b[0]).map(<[_]>::to_vec).collect();
    let mut firsts: Vec<(usize, [u8; 3])> = (0..groups.len())
        .flat_map(|g| ORDERS.map(|order| (g, order)))
        .map(|(g, order)| (g, arranged(groups[g][0][0], order)))
        .collect();
    firsts.sort_by_key(|first| first.1);
    firsts.into_iter().flat_map(move |(g, first)| {
        let mut rows: Vec<[u8; 9]> = groups[g]
            .iter()
            .flat_map(|&[_, second, third]| {
                (0..36).map(move |i| (arranged(second, ORDERS[i / 6]), arranged(third, ORDERS[i % 6])))
            })
            .map(|(second, third)| [first, second, third].concat().try_into().expect("nine digits"))
            .collect();
        rows.sort_unstable();
        rows
    })
}

/// The digits of a triple in an order.
fn arranged(triple: Digits, order: [usize; 3]) -> [u8; 3] {
    let single = members(triple).map(|bit| u8::try_from(bit.trailing_zeros()).expect("below 9"));
    order.map(|k| single[k])
}

/// The 216 third rows below 123456789 and a second row, with the standardised cuts they make.
struct ThirdRows {
    boxes: [[[u8; 3]; 6]; 3],
    /// For each order of box 1, the standardised cuts of boxes 2 and 3 by their orders.
    cuts: [[[Cut; 6]; 2]; 6],
}

impl ThirdRows {
    fn new(row2: &[u8; 9]) -> Self {
        let third = |b: usize| {
            let second: Digits = row2[3 * b..3 * b + 3].iter().map(|&digit| 1 << digit).sum();
            ALL & !second & !(0b111 << (3 * b))
        };
        let boxes: [[[u8; 3]; 6]; 3] = std::array::from_fn(|b| ORDERS.map(|order| arranged(third(b), order)));
        let columns = |b: usize, order: usize| -> [Digits; 3] {
            std::array::from_fn(|c| 1 << (3 * b + c) | 1 << row2[3 * b + c] | 1 << boxes[b][order][c])
        };
        let cuts = std::array::from_fn(|order1| {
            let image = Cuts::to_standard(columns(0, order1));
            let renamed =
                |set: Digits| members(set).map(|bit| image[bit.trailing_zeros() as usize]).iter().sum();
            [1, 2].map(|b| {
                std::array::from_fn(|order| {
                    let [first, second, _] = columns(b, order);
                    cuts().number(renamed(first), renamed(second))
                })
            })
        });
        Self { boxes, cuts }
    }

    fn row(&self, i: usize) -> [u8; 9] {
        let parts = [self.boxes[0][i / 36], self.boxes[1][i / 6 % 6], self.boxes[2][i % 6]];
        parts.concat().try_into().expect("nine digits")
    }

    fn cuts(&self, i: usize) -> (Cut, Cut) {
        let [box2, box3] = &self.cuts[i / 36];
        (box2[i / 6 % 6], box3[i % 6])
    }
}

/// A band as 27 characters.
pub fn band_text(band: &Band) -> String {
    band.as_flattened().iter().map(|&digit| crate::grid::shape::symbol(digit.into())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::triples::STANDARD;
    use super::*;

    #[test]
    fn there_are_44_classes_of_78400_pairs() {
        let classes = classes();
        assert_eq!(classes.list.len(), 44);
        assert_eq!(classes.list.iter().map(|class| class.pairs).sum::<u32>(), 78_400);
        for (i, class) in classes.list.iter().enumerate() {
            assert_eq!(classes.of(class.cuts.0, class.cuts.1), i);
            assert_eq!(classes.of_band(&class.band), i);
            let members = (0..CUTS * CUTS).filter(|&pair| usize::from(classes.by_pair[pair]) == i).count();
            assert_eq!(members, class.pairs as usize);
        }
        assert_eq!(column_sets(&classes.list[0].band), [STANDARD; 3]);
    }

    #[test]
    fn second_rows_are_sorted_and_all_there() {
        let rows: Vec<_> = second_rows().collect();
        assert_eq!(rows.len(), 56 * 216);
        assert!(rows.is_sorted());
    }
}
