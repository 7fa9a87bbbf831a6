//! One sweep over the nine digits: what a digit rules out of its own cells.
//!
//! For one digit, a *triad* is three cells of a row in one box (or of a column in one box), and a band holds a 3x3
//! matrix of them: row of the band times box. The digit is in each row and each box of the band once, so its places
//! are one of six permutations of the matrix. A triad in no permutation that is left is ruled out; this is hidden
//! places in rows, columns and boxes and both directions of locked candidates in one step.

use super::{
    state::{State, allowed, permutations},
    word::Word,
};

/// Takes the nine digits in turn, upwards or downwards, each working with what the earlier ones left.
///
/// `full` uses triads known to hold exactly three digits (see [`State`]).
#[inline(always)]
pub fn digits<W: Word, const FULL: bool>(s: &mut State<W>, downwards: bool) {
    s.taken = [W::zero(); 81];
    for step in 0..9 {
        digit::<W, FULL>(s, if downwards { 8 - step } else { step });
    }
}

#[inline(always)]
fn digit<W: Word, const FULL: bool>(s: &mut State<W>, d: usize) {
    let mut dead = s.dead;
    for band in 0..3 {
        dead = dead.or(rows::<W, FULL>(s, d, band));
    }
    for stack in 0..3 {
        dead = dead.or(columns(s, d, stack));
    }
    s.dead = dead;
}

/// Naked singles, full triads and rows of one band. Lanes where the digit has no place left.
#[inline(always)]
fn rows<W: Word, const FULL: bool>(s: &mut State<W>, d: usize, band: usize) -> W {
    let State { x, many, taken, full_h, full_v, closed_h, closed_v, room, .. } = s;
    let x = &mut x[d];
    for stack in 0..3 {
        let mut h_must = [W::zero(); 3];
        let mut v_must = [W::zero(); 3];
        let mut h_any = [W::zero(); 3];
        let mut v_any = [W::zero(); 3];
        let mut v_shut = [W::zero(); 3];
        for i in 0..3 {
            for j in 0..3 {
                let cell = 27 * band + 9 * i + 3 * stack + j;
                let can = x[cell].without(taken[cell]);
                let single = can.without(many[cell]);
                h_must[i] = h_must[i].or(single);
                v_must[j] = v_must[j].or(single);
                h_any[i] = h_any[i].or(can);
                if FULL {
                    v_any[j] = v_any[j].or(can);
                }
            }
        }
        let mut h_one = h_must[0].any3(h_must[1], h_must[2]);
        let mut v_one = h_one;
        if FULL {
            // With a choice of triads, none that is closed.
            let h_two = h_any[0].two3(h_any[1], h_any[2]);
            let v_two = v_any[0].two3(v_any[1], v_any[2]);
            for i in 0..3 {
                h_any[i] = h_any[i].without(h_two.and(closed_h[9 * band + 3 * i + stack]));
                v_shut[i] = v_two.and(closed_v[9 * stack + 3 * i + band]);
                v_any[i] = v_any[i].without(v_shut[i]);
            }
            for i in 0..3 {
                h_must[i] = h_must[i].or_both(h_any[i], full_h[9 * band + 3 * i + stack]);
                v_must[i] = v_must[i].or_both(v_any[i], full_v[9 * stack + 3 * i + band]);
            }
            h_one = h_must[0].any3(h_must[1], h_must[2]);
            v_one = v_must[0].any3(v_must[1], v_must[2]);
        }
        for i in 0..3 {
            room.matrix[3 * i + stack] = h_any[i].without(h_one.without(h_must[i]));
            room.banned[3 * stack + i] = v_one.without(v_must[i]).or(v_shut[i]);
        }
    }
    let left = allowed(&permutations(&room.matrix));
    for stack in 0..3 {
        let mut any = [W::zero(); 3];
        for i in 0..3 {
            for j in 0..3 {
                let cell = 27 * band + 9 * i + 3 * stack + j;
                // Taken cells once more: storing them above would cost more.
                let can = x[cell].without(taken[cell]).and(left[3 * i + stack]);
                x[cell] = can;
                any[j] = any[j].or(can);
            }
        }
        for j in 0..3 {
            room.vertical[9 * stack + 3 * band + j] = any[j].without(room.banned[3 * stack + j]);
        }
    }
    left[0].any3(left[1], left[2]).not()
}

/// Columns of one stack, and the boxes where one place is left. Lanes where the digit has no place left.
#[inline(always)]
fn columns<W: Word>(s: &mut State<W>, d: usize, stack: usize) -> W {
    let State { x, taken, room, .. } = s;
    let x = &mut x[d];
    let mut matrix = [W::zero(); 9];
    matrix.copy_from_slice(&room.vertical[9 * stack..9 * stack + 9]);
    let left = allowed(&permutations(&matrix));
    for band in 0..3 {
        let mut any = [W::zero(); 3];
        for i in 0..3 {
            for j in 0..3 {
                let cell = 27 * band + 9 * i + 3 * stack + j;
                let can = x[cell].and(left[3 * band + j]);
                x[cell] = can;
                any[i] = any[i].or(can);
            }
        }
        // One row and one column: one cell.
        let two = any[0].two3(any[1], any[2]);
        let two = two.or(left[3 * band].two3(left[3 * band + 1], left[3 * band + 2]));
        for i in 0..3 {
            for j in 0..3 {
                let cell = 27 * band + 9 * i + 3 * stack + j;
                taken[cell] = taken[cell].or(x[cell].without(two));
            }
        }
    }
    left[0].any3(left[1], left[2]).not()
}
