//! Where to branch, for all lanes at once.
//!
//! The rule is tdoku's: the band (or stack) whose nine digits have the fewest permutations left between them, of those
//! where something is open; in it the first digit with exactly two, else the first with more. One of its triads that
//! can, but need not, hold the digit is chosen: one child asserts it, the other rules it out.

use super::{
    state::{State, allowed, permutations},
    word::Word,
};

/// What is open: room for [`choose`], which it need not clear each time.
pub struct Open<W> {
    /// The permutations left for each digit in each chute.
    ways: [[[W; 6]; 9]; 6],
    /// Whether there are exactly two, and whether there are more than one.
    two: [[W; 9]; 6],
    more: [[W; 9]; 6],
}

impl<W: Word> Open<W> {
    pub fn new() -> Self {
        let zero = W::zero();
        Self { ways: [[[zero; 6]; 9]; 6], two: [[zero; 9]; 6], more: [[zero; 9]; 6] }
    }
}

/// Chooses in every lane. What it says of lanes with nothing open means nothing.
///
/// Planes of the choice: four bits of the digit, three of the chute (bands 0..3, stacks 3..6), then row and place of
/// the triad in the matrix of the chute.
#[inline(always)]
pub fn choose<W: Word>(s: &State<W>, open: &mut Open<W>) -> [W; 13] {
    let zero = W::zero();
    let Open { ways, two, more } = open;
    // The least number so far (bit 6: nothing open), and the chute it belongs to, one of six.
    let mut least = [zero.not(); 7];
    let mut best = [zero; 6];
    for chute in 0..6 {
        let mut total = [zero; 7];
        let mut open = zero;
        for d in 0..9 {
            let matrix = if chute < 3 { band(&s.x[d], chute) } else { stack(&s.x[d], chute - 3) };
            let p = permutations(&matrix);
            let count = count6(&p);
            ways[chute][d] = p;
            open = open.or(count[1].or(count[2]));
            more[chute][d] = count[1].or(count[2]);
            two[chute][d] = count[1].without(count[0]).without(count[2]);
            add(&mut total, &count);
        }
        total[6] = open.not();
        let mut less = zero;
        for (&t, &l) in total.iter().zip(&least) {
            // The higher bit decides, if it differs.
            less = l.without(t).or(less.without(l.xor(t)));
        }
        for (l, &t) in least.iter_mut().zip(&total) {
            *l = less.choose(t, *l);
        }
        for other in &mut best {
            *other = other.without(less);
        }
        best[chute] = less;
    }
    let mut found_two = zero;
    let mut found_more = zero;
    let mut first_two = [zero; 9];
    let mut first_more = [zero; 9];
    for d in 0..9 {
        let (mut has_two, mut has_more) = (zero, zero);
        for chute in 0..6 {
            has_two = has_two.or_both(best[chute], two[chute][d]);
            has_more = has_more.or_both(best[chute], more[chute][d]);
        }
        first_two[d] = has_two.without(found_two);
        first_more[d] = has_more.without(found_more);
        found_two = found_two.or(has_two);
        found_more = found_more.or(has_more);
    }
    let mut planes = [zero; 13];
    let mut chosen = [zero; 6];
    for d in 0..9 {
        let here = first_two[d].or(first_more[d].without(found_two));
        for (bit, plane) in planes.iter_mut().enumerate().take(4) {
            if d >> bit & 1 == 1 {
                *plane = plane.or(here);
            }
        }
        for chute in 0..6 {
            let here = here.and(best[chute]);
            for (way, &p) in chosen.iter_mut().zip(&ways[chute][d]) {
                *way = way.or_both(here, p);
            }
        }
    }
    for (chute, &here) in best.iter().enumerate() {
        for bit in 0..3 {
            if chute >> bit & 1 == 1 {
                planes[4 + bit] = planes[4 + bit].or(here);
            }
        }
    }
    // The first place of row 0 if that row has two places, else of row 1: either is place 0 or 1.
    let left = allowed(&chosen);
    let row_0 = left[0].two3(left[1], left[2]);
    planes[7] = row_0.not();
    planes[8] = row_0.choose(left[0], left[3]).not();
    planes
}

/// The triads of a digit in a band, as a matrix.
#[inline(always)]
fn band<W: Word>(x: &[W; 81], band: usize) -> [W; 9] {
    let mut matrix = [W::zero(); 9];
    for i in 0..3 {
        for k in 0..3 {
            let cell = 27 * band + 9 * i + 3 * k;
            matrix[3 * i + k] = x[cell].any3(x[cell + 1], x[cell + 2]);
        }
    }
    matrix
}

/// The triads of a digit in a stack, as a matrix of columns and bands.
#[inline(always)]
fn stack<W: Word>(x: &[W; 81], stack: usize) -> [W; 9] {
    let mut matrix = [W::zero(); 9];
    for j in 0..3 {
        for g in 0..3 {
            let cell = 27 * g + 3 * stack + j;
            matrix[3 * j + g] = x[cell].any3(x[cell + 9], x[cell + 18]);
        }
    }
    matrix
}

/// The sum of six bits.
#[inline(always)]
fn count6<W: Word>(p: &[W; 6]) -> [W; 3] {
    let (a, twos_a) = p[0].add3(p[1], p[2]);
    let (b, twos_b) = p[3].add3(p[4], p[5]);
    let (twos, fours) = twos_a.add3(twos_b, a.and(b));
    [a.xor(b), twos, fours]
}

/// Adds a number of three bits.
#[inline(always)]
fn add<W: Word>(total: &mut [W; 7], count: &[W; 3]) {
    let mut carry = count[0].and(total[0]);
    total[0] = count[0].xor(total[0]);
    for bit in 1..3 {
        (total[bit], carry) = total[bit].add3(count[bit], carry);
    }
    for bit in 3..6 {
        let sum = total[bit];
        total[bit] = sum.xor(carry);
        carry = sum.and(carry);
    }
}

/// What a choice does to the cells of its digit.
#[derive(Clone, Copy, Default)]
pub struct Masks {
    /// Of cells 0..64 those that the child asserting the triad keeps, of cells 64..81 those it loses.
    pub asserted: (u64, u64),
    /// The same for the child that rules it out.
    pub ruled_out: (u64, u64),
}

/// For all values of the upper five planes.
pub fn masks() -> [Masks; 32] {
    std::array::from_fn(|code| {
        let (chute, row, place) = (code % 8, code / 8 % 2, code / 16 % 2);
        let mut masks = Masks::default();
        for cell in 0..81 {
            let (r, c) = (cell / 9, cell % 9);
            // Matrix row and place of the cell, if it is in the chute.
            let (home, own_row, own_place) =
                if chute < 3 { (r / 3, r % 3, c / 3) } else { (c / 3 + 3, c % 3, r / 3) };
            let (same_row, same_place) =
                (home == chute && own_row == row, home == chute && own_place == place);
            let bit = if cell < 64 { (1 << cell, 0) } else { (0, 1 << (cell - 64)) };
            if same_row == same_place {
                masks.asserted.0 |= bit.0;
            } else {
                masks.asserted.1 |= bit.1;
            }
            if same_row && same_place {
                masks.ruled_out.1 |= bit.1;
            } else {
                masks.ruled_out.0 |= bit.0;
            }
        }
        masks
    })
}
