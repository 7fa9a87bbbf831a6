//! Complete grids: the least top band decides, then what is below it.
//!
//! Each of the six chutes (three bands, three stacks seen transposed) can be the top band of an image. The top band
//! of the least image is the least band of the least of their classes, so only the chutes of that class go on; each
//! of them with every automorphism of the least band. That settles columns and names, and the six rows below are
//! forced: the one that starts with 2 comes first, the others of its chute follow by their first cells, then the last
//! chute by its first cells. The least of these few images is the form, and as many as attain it are automorphisms.

use std::array;

use super::{
    Canonical, Cells, Transformation,
    bands::{Band, Found, Turn, bands},
};

/// Cells that are no complete grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {kind} numbered {number} does not have every digit once, so this is no complete grid")]
pub struct NotAGrid {
    /// Row, column or box.
    pub kind: &'static str,
    /// Counted from 1.
    pub number: usize,
}

/// The canonical form of a complete grid.
///
/// ```
/// use shared::symmetry::minlex::grid;
///
/// let text = b"123456789456789123789123456231564897564897231897231564312645978645978312978312645";
/// let cells = text.map(|symbol| symbol - b'0');
/// let canonical = grid(&cells).unwrap();
/// assert_eq!(canonical.form, cells);
/// assert_eq!(canonical.automorphisms, 648);
/// ```
///
/// # Errors
///
/// When a row, column or box does not have every digit once.
pub fn grid(cells: &Cells) -> Result<Canonical, NotAGrid> {
    check(cells)?;
    Ok(checked_grid(cells))
}

/// The canonical form of what is known to be a grid.
pub(super) fn checked_grid(cells: &Cells) -> Canonical {
    let mut best = Best::NONE;
    let class = each_candidate(&lines(cells), |rows, chute, turn| best.improve(rows, chute, turn));
    best.canonical(&bands().least[usize::from(class)])
}

/// The symmetries that take a complete grid to itself, each with the renaming it needs; the identity is one of them.
///
/// They are as many as [`grid()`] says, and cost about as much to find.
///
/// ```
/// use shared::symmetry::minlex::{Transformation, automorphisms};
///
/// let text = b"123456789456789123789123456231564897564897231897231564312645978645978312978312645";
/// let cells = text.map(|symbol| symbol - b'0');
/// let all = automorphisms(&cells).unwrap();
/// assert_eq!(all.len(), 648);
/// assert!(all.contains(&Transformation::IDENTITY) && all.iter().all(|by| by.apply(&cells) == cells));
/// ```
///
/// # Errors
///
/// When a row, column or box does not have every digit once.
pub fn automorphisms(cells: &Cells) -> Result<Vec<Transformation>, NotAGrid> {
    let Canonical { form, transformation, .. } = grid(cells)?;
    let back = transformation.inverse();
    let mut all = Vec::new();
    each_candidate(&lines(cells), |rows, chute, turn| {
        let to_form = Image::new(rows, chute, turn).transformation(chute, turn);
        if to_form.apply(cells) == form {
            all.push(to_form.then(&back));
        }
    });
    Ok(all)
}

/// The nine rows of each orientation.
type Lines = [[[u8; 9]; 9]; 2];

fn lines(cells: &Cells) -> Lines {
    let mut lines: Lines = [[[0; 9]; 9]; 2];
    for (r, row) in cells.as_chunks::<9>().0.iter().enumerate() {
        lines[0][r] = *row;
        for (c, &digit) in row.iter().enumerate() {
            lines[1][c][r] = digit;
        }
    }
    lines
}

/// Calls `f` with every way to get the least top band: the rows of an orientation, the chute (counted on through the
/// transposed ones), and what makes it the least. Returns the band's class.
#[inline]
fn each_candidate(lines: &Lines, mut f: impl FnMut(&[[u8; 9]; 9], usize, &Turn)) -> u16 {
    let table = bands();
    let found: [Found; 6] = array::from_fn(|chute| {
        let rows = &lines[chute / 3];
        let start = chute % 3 * 3;
        table.find([&rows[start], &rows[start + 1], &rows[start + 2]])
    });
    let class = found.iter().map(|found| found.class).min().expect("six chutes");
    for (chute, found) in found.iter().enumerate().filter(|(_, found)| found.class == class) {
        let turn = table.to_least(found);
        for automorphism in &table.automorphisms[usize::from(class)] {
            f(&lines[chute / 3], chute, &turn.then(automorphism));
        }
    }
    class
}

/// What follows from the top band of an image.
struct Image {
    /// Which rows of the grid come below.
    below: [usize; 6],
    columns: [usize; 9],
    digits: [u8; 10],
}

impl Image {
    #[inline]
    fn new(rows: &[[u8; 9]; 9], chute: usize, turn: &Turn) -> Self {
        let start = chute % 3 * 3;
        let top = &rows[start + usize::from(turn.rows[0])];
        let columns = turn.columns.map(usize::from);
        let mut digits = [0; 10];
        for (name, &column) in (1..).zip(&columns) {
            digits[usize::from(top[column])] = name;
        }
        // Column 1 has 1, 4 or 5 to 9 in the top band, and 2 below it.
        let first = |row: usize| digits[usize::from(rows[row][columns[0]])];
        let chutes =
            [(start + 3) % 9, (start + 6) % 9].map(|start| sorted_by([start, start + 1, start + 2], first));
        let [middle, last] = if first(chutes[0][0]) == 2 { chutes } else { [chutes[1], chutes[0]] };
        let below = [middle[0], middle[1], middle[2], last[0], last[1], last[2]];
        Self { below, columns, digits }
    }

    fn transformation(&self, chute: usize, turn: &Turn) -> Transformation {
        let top = turn.rows.map(|row| chute % 3 * 3 + usize::from(row));
        let mut rows = [0; 9];
        for (to, from) in rows.iter_mut().zip(top.into_iter().chain(self.below)) {
            *to = LINES[from];
        }
        Transformation { transposed: chute >= 3, rows, columns: turn.columns, digits: self.digits }
    }
}

/// The least image so far.
struct Best {
    /// Rows 4 to 9, see [`image`].
    below: [u64; 6],
    /// How many images were equal to it.
    attained: u32,
    transformation: Transformation,
}

impl Best {
    const NONE: Self = Self { below: [u64::MAX; 6], attained: 0, transformation: Transformation::IDENTITY };

    /// Takes in the image whose top band is made by `turn` from a chute of the grid with these `rows`.
    #[inline]
    fn improve(&mut self, rows: &[[u8; 9]; 9], chute: usize, turn: &Turn) {
        let ways = Image::new(rows, chute, turn);
        let mut images = [0; 6];
        let mut less = false;
        for ((to, &row), best) in images.iter_mut().zip(&ways.below).zip(&self.below) {
            *to = image(&rows[row], &ways.columns, &ways.digits);
            if !less && *to > *best {
                return;
            }
            less |= *to < *best;
        }
        if !less {
            self.attained += 1;
            return;
        }
        let transformation = ways.transformation(chute, turn);
        *self = Self { below: images, attained: 1, transformation };
    }

    fn canonical(self, least: &Band) -> Canonical {
        let mut form = [0; 81];
        let (band, below) = form.split_at_mut(27);
        band.copy_from_slice(least.as_flattened());
        for (row, image) in below.as_chunks_mut::<9>().0.iter_mut().zip(self.below) {
            *row = array::from_fn(|c| (image >> (32 - 4 * c) & 0xF).to_le_bytes()[0]);
        }
        Canonical { form, transformation: self.transformation, automorphisms: self.attained }
    }
}

/// Line numbers as they stand in a [`Transformation`].
const LINES: [u8; 9] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/// Three rows by their first digits.
#[inline]
fn sorted_by([mut a, mut b, mut c]: [usize; 3], first: impl Fn(usize) -> u8) -> [usize; 3] {
    if first(a) > first(b) {
        (a, b) = (b, a);
    }
    if first(b) > first(c) {
        (b, c) = (c, b);
    }
    if first(a) > first(b) {
        (a, b) = (b, a);
    }
    [a, b, c]
}

/// The image of a row: nine digits of four bits, so that numbers compare as rows do.
#[inline]
fn image(row: &[u8; 9], columns: &[usize; 9], digits: &[u8; 10]) -> u64 {
    columns.iter().fold(0, |image, &column| image << 4 | u64::from(digits[usize::from(row[column])]))
}

/// Whether rows, columns and boxes have every digit once.
pub(super) fn check(cells: &Cells) -> Result<(), NotAGrid> {
    let mut seen = [[0u16; 9]; 3];
    for (r, row) in cells.as_chunks::<9>().0.iter().enumerate() {
        for (c, &digit) in row.iter().enumerate() {
            let bit = 1u16.checked_shl(digit.into()).unwrap_or(0);
            seen[0][r] |= bit;
            seen[1][c] |= bit;
            seen[2][r / 3 * 3 + c / 3] |= bit;
        }
    }
    for (kind, seen) in ["row", "column", "box"].into_iter().zip(seen) {
        if let Some(wrong) = seen.iter().position(|&seen| seen != 0b11_1111_1110) {
            return Err(NotAGrid { kind, number: wrong + 1 });
        }
    }
    Ok(())
}
