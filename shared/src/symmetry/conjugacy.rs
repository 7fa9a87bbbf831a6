//! Conjugacy classes of the symmetries of a shape, found without a table.
//!
//! Grids that are fixed (up to relabelling) by a symmetry are as many as those that are fixed by one of its
//! conjugates, so Burnside's lemma needs one representative a class.
//!
//! - Without transposition the group is the direct product of what is done to rows and what is done to columns, and a
//!   class is a pair of classes of wreath products (see `wreath.rs`): 22 * 22 = 484 for 3x3.
//! - With transposition, which exchanges the two factors, the pairs (a, b) and (b, a) are one class: 22 * 23 / 2 = 253.
//! - A transposing element takes cell (r, c) to (y(c), x(r)). Conjugating it by (u, v) makes it
//!   (u^-1 y v, v^-1 x u), so y can be made the identity, and the class is that of the product `y x`, which is what
//!   the square of the element does to the rows: 22 more, 275 in all. `|class of the product| * |rows group|` elements
//!   belong to it.
//!
//! Cost: some milliseconds for 3x3.

use super::{
    group::{Symmetry, SymmetryGroup},
    wreath::{WreathClass, wreath_classes},
};
use crate::{count::Exact, grid::Shape};

/// A conjugacy class of symmetries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConjugacyClass {
    /// An element.
    pub representative: Symmetry,
    /// Order of every element.
    pub order: u64,
    /// Number of elements.
    pub size: Exact,
    /// Cycles of every element on the cells: (length, how many), by length.
    pub cycle_type: Vec<(u32, u32)>,
    pub(super) parts: Parts,
    /// Whether it is a class of the group with transpositions.
    with_transpose: bool,
}

/// What determines a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// What is done to rows, and to columns.
    Lines(WreathClass, WreathClass),
    /// Transposing: what the square does to rows.
    Transposing(WreathClass),
}

/// Every conjugacy class, in an order that depends on the arguments alone: the identity first, then by what is done to
/// rows and columns; transposing classes last. `with_transpose` is taken for false where boxes are not square.
pub fn conjugacy_classes(shape: Shape, with_transpose: bool) -> Vec<ConjugacyClass> {
    let group = SymmetryGroup::new(shape, with_transpose);
    let rows = wreath_classes(shape.rows(), shape.columns());
    let columns = wreath_classes(shape.columns(), shape.rows());
    let mut list = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let fused = if group.with_transpose() { number } else { 0 };
        for column in &columns[fused..] {
            list.push(ConjugacyClass::new(group, Parts::Lines(row.clone(), column.clone())));
        }
    }
    if group.with_transpose() {
        list.extend(rows.into_iter().map(|square| ConjugacyClass::new(group, Parts::Transposing(square))));
    }
    list
}

impl ConjugacyClass {
    fn new(group: SymmetryGroup, parts: Parts) -> Self {
        let shape = group.shape();
        let representative = match &parts {
            Parts::Lines(rows, columns) => {
                Symmetry::from_parts(shape, rows.representative(), columns.representative(), false)
            }
            Parts::Transposing(square) => {
                let fixed = Symmetry::identity(shape).columns().to_vec();
                Symmetry::from_parts(shape, square.representative(), fixed, true)
            }
        };
        let mut class = Self {
            order: representative.order(),
            size: Exact::default(),
            cycle_type: representative.cycle_type(),
            representative,
            parts,
            with_transpose: group.with_transpose(),
        };
        class.size =
            group.order().divided_exactly(&class.centralizer_order()).expect("a centralizer is a subgroup");
        class
    }

    /// Number of symmetries that commute with the representative: of the group that the class belongs to.
    pub fn centralizer_order(&self) -> Exact {
        let (order, doubled) = match &self.parts {
            Parts::Lines(rows, columns) => (
                rows.centralizer_order().times(&columns.centralizer_order()),
                self.with_transpose && rows == columns,
            ),
            Parts::Transposing(square) => (square.centralizer_order(), true),
        };
        order.times(&Exact::from(1 + u64::from(doubled)))
    }

    /// Symmetries that generate the centralizer of the representative.
    ///
    /// What commutes with (x, y) is what commutes with x, on rows, and with y, on columns; and where x = y the
    /// transposition. What commutes with a transposing (x, 1) is (u, u) for every u that commutes with x, and itself.
    pub fn centralizer(&self) -> Vec<Symmetry> {
        let shape = self.representative.shape();
        let fixed = Symmetry::identity(shape).rows().to_vec();
        let symmetry = |rows: &[u8], columns: &[u8], transposed| {
            Symmetry::from_parts(shape, rows.to_vec(), columns.to_vec(), transposed)
        };
        match &self.parts {
            Parts::Lines(rows, columns) => {
                let rest = (self.with_transpose && rows == columns).then(|| symmetry(&fixed, &fixed, true));
                let rows = rows.centralizer().into_iter().map(|lines| symmetry(&lines, &fixed, false));
                let columns = columns.centralizer().into_iter().map(|lines| symmetry(&fixed, &lines, false));
                rows.chain(columns).chain(rest).collect()
            }
            Parts::Transposing(square) => {
                let both = square.centralizer().into_iter().map(|lines| symmetry(&lines, &lines, false));
                both.chain([self.representative.clone()]).collect()
            }
        }
    }

    /// Whether this is the class of the identity.
    pub fn is_identity(&self) -> bool {
        self.order == 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Everything that `generators` generate, by multiplying until nothing new comes.
    fn closure(shape: Shape, generators: &[Symmetry]) -> HashSet<Symmetry> {
        let mut all = HashSet::from([Symmetry::identity(shape)]);
        let mut open = vec![Symmetry::identity(shape)];
        while let Some(element) = open.pop() {
            for generator in generators {
                let next = element.then(generator);
                if all.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        all
    }

    #[test]
    fn classes_of_small_groups_by_conjugating() {
        for (shape, transpose) in
            [("2x2", true), ("2x2", false), ("2x3", false), ("3x2", true), ("1x4", false)]
        {
            let shape: Shape = shape.parse().unwrap();
            let group = SymmetryGroup::new(shape, transpose);
            let generators = group.generators();
            let mut left = closure(shape, &generators);
            assert_eq!(group.order(), Exact::from(left.len() as u64), "{shape}");
            for class in conjugacy_classes(shape, transpose) {
                let mut open = vec![class.representative.clone()];
                assert!(left.remove(&class.representative), "{shape}: two classes are one");
                let mut size = 1u64;
                while let Some(element) = open.pop() {
                    assert_eq!(
                        (element.order(), element.cycle_type()),
                        (class.order, class.cycle_type.clone())
                    );
                    for by in &generators {
                        let conjugate = by.inverse().then(&element).then(by);
                        if left.remove(&conjugate) {
                            open.push(conjugate);
                            size += 1;
                        }
                    }
                }
                assert_eq!(class.size, size.into(), "{shape} {:?}", class.representative);
                let centralizer = closure(shape, &class.centralizer());
                assert_eq!(class.centralizer_order(), Exact::from(centralizer.len() as u64), "{shape}");
                let commutes =
                    |other: &Symmetry| other.then(&class.representative) == class.representative.then(other);
                assert!(centralizer.iter().all(commutes));
            }
            assert!(left.is_empty(), "{shape}: a class is missing");
        }
    }

    #[test]
    fn sizes_add_up_to_the_group() {
        let shapes =
            [(2, 2, 20), (2, 3, 90), (2, 4, 400), (2, 5, 1260), (2, 6, 5005), (3, 3, 275), (3, 4, 3315)];
        for (rows, columns, classes) in shapes {
            let shape = Shape::new(rows, columns).unwrap();
            for transpose in [false, true] {
                let list = conjugacy_classes(shape, transpose);
                let sum: Exact = list.iter().map(|class| class.size.clone()).sum();
                assert_eq!(sum, SymmetryGroup::new(shape, transpose).order(), "{shape}");
                assert!(list[0].is_identity() && list[0].size == Exact::from(1u64));
                if transpose {
                    assert_eq!(list.len(), classes, "{shape}");
                }
            }
        }
        assert_eq!(conjugacy_classes(Shape::NINE, false).len(), 484);
    }

    #[test]
    fn centralizers_of_nine_commute() {
        for class in conjugacy_classes(Shape::NINE, true) {
            for other in class.centralizer() {
                assert_eq!(other.then(&class.representative), class.representative.then(&other));
            }
            let product = class.centralizer_order().times(&class.size);
            assert_eq!(product, SymmetryGroup::new(Shape::NINE, true).order());
        }
    }
}
