//! The 416 essentially different top bands of a 9x9 grid.
//!
//! Two bands are alike when digits can be renamed, rows, boxes and columns inside boxes exchanged so that one becomes
//! the other. Felgenhauer & Jarvis 2006; a band class lies inside one of the 44 classes by column sets.

use std::collections::HashMap;

use super::{
    audit::fillings::{COUNT, ORDERS, filling},
    nine::Band,
};

/// One of the 416.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandClass {
    /// The lexicographically first band of the class.
    pub band: Band,
    /// Fillings of boxes 2 and 3, with box 1 fixed, that are in the class: of 2,612,736.
    pub fillings: u64,
    /// Symmetries that take the band to itself, up to renaming.
    pub automorphisms: u64,
}

/// The 416 classes in the order of their first bands.
///
/// The orbits of the 36,288 normalised fillings under exchanges of rows, boxes and columns; then the first band among
/// all 72 forms of each of their members, its digits renamed so that the first row is 123456789. Cost: 0.2 s.
///
/// # Panics
///
/// Never: every exchange of a filling has a normal form that is listed.
pub fn band_classes() -> Vec<BandClass> {
    let number: HashMap<Band, usize> = (0..COUNT).zip(0..).map(|(unit, i)| (filling(unit), i)).collect();
    let mut parent: Vec<usize> = (0..number.len()).collect();
    for (band, &i) in &number {
        for exchanged in exchanges(band) {
            let (a, b) = (root(&mut parent, i), root(&mut parent, number[&normalised(&exchanged)]));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut classes: HashMap<usize, (Band, u64)> = HashMap::new();
    for (band, &i) in &number {
        let first = first_form(band);
        let class = classes.entry(root(&mut parent, i)).or_insert((first, 0));
        class.0 = class.0.min(first);
        class.1 += u64::try_from(ORDERS).expect("72");
    }
    // Rows 3!, boxes 3!, columns 3!^3: 7,776 symmetries, of which those that change a band make `fillings` of it.
    let class = |(band, fillings)| BandClass { band, fillings, automorphisms: 6u64.pow(5) / fillings };
    let mut list: Vec<BandClass> = classes.into_values().map(class).collect();
    list.sort_unstable_by_key(|class| class.band);
    list
}

fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}

/// Exchanges that generate, together with what [`normalised`] undoes, all symmetries of a band but renaming.
fn exchanges(band: &Band) -> [Band; 5] {
    let columns = |order: [usize; 9]| band.map(|row| order.map(|column| row[column]));
    [
        [band[1], band[0], band[2]],
        [band[0], band[2], band[1]],
        columns([1, 0, 2, 3, 4, 5, 6, 7, 8]),
        columns([0, 2, 1, 3, 4, 5, 6, 7, 8]),
        columns([3, 4, 5, 0, 1, 2, 6, 7, 8]),
    ]
}

/// Renames digits so that box 1 is 123/456/789, and sorts the columns of boxes 2 and 3 and these boxes as
/// [`filling`] does.
fn normalised(band: &Band) -> Band {
    let mut name = [0; 9];
    for new in 0..9u8 {
        name[usize::from(band[usize::from(new / 3)][usize::from(new % 3)])] = new;
    }
    let renamed = band.map(|row| row.map(|digit| name[usize::from(digit)]));
    let mut order = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    for b in [1, 2] {
        order[3 * b..3 * b + 3].sort_unstable_by_key(|&column| renamed[0][column]);
    }
    if renamed[0][order[3]] != 3 {
        let [_, _, _, rest @ ..] = &mut order;
        rest.rotate_left(3);
    }
    renamed.map(|row| order.map(|column| row[column]))
}

/// The first of the 72 forms of a band with box 1 as it is, renamed so that the first row is 123456789.
fn first_form(band: &Band) -> Band {
    let forms = (0..72).map(|form| {
        let [p, q] = [form / 6 % 6, form % 6].map(|order| super::triples::ORDERS[order]);
        let (left, right) = if form < 36 { (3, 6) } else { (6, 3) };
        let order =
            [0, 1, 2, left + p[0], left + p[1], left + p[2], right + q[0], right + q[1], right + q[2]];
        let mut name = [0; 9];
        for (new, column) in (0..).zip(order) {
            name[usize::from(band[0][column])] = new;
        }
        band.map(|row| order.map(|column| name[usize::from(row[column])]))
    });
    forms.min().expect("there are 72 forms")
}
