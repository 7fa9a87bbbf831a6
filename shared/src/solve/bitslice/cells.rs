//! What cells and triads look like after a sweep.

use super::{state::State, word::Word};

/// Adds nine bits: the lowest bit of the sum, and carries of which each stands for two.
#[inline(always)]
fn add9<W: Word>(bits: [W; 9]) -> (W, [W; 4]) {
    let [a, b, c, d, e, f, g, h, i] = bits;
    let (first, carry0) = a.add3(b, c);
    let (second, carry1) = d.add3(e, f);
    let (third, carry2) = g.add3(h, i);
    let (sum, carry3) = first.add3(second, third);
    (sum, [carry0, carry1, carry2, carry3])
}

/// Counts the candidates of every cell. Says which lanes have died, are unsolved, and have changed since last time.
#[inline(always)]
pub fn cells<W: Word>(s: &mut State<W>) {
    let mut dead = s.dead;
    let mut unsolved = W::zero();
    let mut changed = W::zero();
    for cell in 0..81 {
        let mut can = [W::zero(); 9];
        for d in 0..9 {
            can[d] = s.x[d][cell];
        }
        let (odd, carries) = add9(can);
        let many = carries[0].or(carries[1]).any3(carries[2], carries[3]);
        dead = dead.or(many.or(odd).not());
        changed = changed.or(odd.xor(s.parity[cell]));
        unsolved = unsolved.or(many);
        s.parity[cell] = odd;
        s.many[cell] = many;
    }
    s.dead = dead;
    s.unsolved = unsolved;
    s.changed = changed;
}

/// Finds the triads that can hold no more than three digits, and those that must hold three (see [`State`]). With less
/// than three, or more than three, the lane is dead.
#[inline(always)]
pub fn full_triads<W: Word>(s: &mut State<W>) {
    let mut dead = s.dead;
    for band in 0..3 {
        for stack in 0..3 {
            // The digits that the triads of the box can and must hold: three rows, three columns.
            let mut can = [[W::zero(); 9]; 6];
            let mut must = [[W::zero(); 9]; 6];
            for d in 0..9 {
                for i in 0..3 {
                    let (row, column) = (27 * band + 9 * i + 3 * stack, 27 * band + 3 * stack + i);
                    can[i][d] = s.x[d][row].any3(s.x[d][row + 1], s.x[d][row + 2]);
                    can[3 + i][d] = s.x[d][column].any3(s.x[d][column + 9], s.x[d][column + 18]);
                }
                let open_h = can[0][d].two3(can[1][d], can[2][d]);
                let open_v = can[3][d].two3(can[4][d], can[5][d]);
                for i in 0..3 {
                    must[i][d] = can[i][d].without(open_h);
                    must[3 + i][d] = can[3 + i][d].without(open_v);
                }
            }
            for i in 0..3 {
                let (h, v) = (9 * band + 3 * i + stack, 9 * stack + 3 * i + band);
                let wrong;
                (s.full_h[h], s.closed_h[h], wrong) = counted(&can[i], &must[i]);
                dead = dead.or(wrong);
                let wrong;
                (s.full_v[v], s.closed_v[v], wrong) = counted(&can[3 + i], &must[3 + i]);
                dead = dead.or(wrong);
            }
        }
    }
    s.dead = dead;
}

/// For the digits that a triad can and must hold: lanes where it can hold three at most, lanes where it must hold three,
/// and lanes where that is impossible.
#[inline(always)]
fn counted<W: Word>(can: &[W; 9], must: &[W; 9]) -> (W, W, W) {
    let (odd, [c0, c1, c2, c3]) = add9(*can);
    let [low, high] = [c0.or(c1), c2.or(c3)];
    let full = c0.and(c1).or_both(c2, c3).or_both(low, high).not();
    let few = full.without(odd.and(low.or(high)));
    let (odd, [c0, c1, c2, c3]) = add9(*must);
    let [low, high] = [c0.or(c1), c2.or(c3)];
    let many = c0.and(c1).or_both(c2, c3).or_both(low, high);
    (full, odd.and(low.or(high)), few.or(many))
}

/// Of lanes where every cell has one candidate, those that hold a solution; nothing is said of others.
///
/// Each digit has to be in each row, column and box: with 81 candidates in all it is there once.
#[inline(always)]
pub fn solved<W: Word>(s: &State<W>) -> W {
    let mut good = W::zero().not();
    for x in &s.x {
        for band in 0..3 {
            // Rows of a box.
            let mut any = [W::zero(); 9];
            for i in 0..3 {
                for k in 0..3 {
                    let cell = 27 * band + 9 * i + 3 * k;
                    any[3 * i + k] = x[cell].any3(x[cell + 1], x[cell + 2]);
                }
            }
            for i in 0..3 {
                let row = any[3 * i].any3(any[3 * i + 1], any[3 * i + 2]);
                let of_box = any[i].any3(any[3 + i], any[6 + i]);
                good = good.and(row).and(of_box);
            }
        }
        for column in 0..9 {
            let mut any = W::zero();
            for row in 0..9 {
                any = any.or(x[9 * row + column]);
            }
            good = good.and(any);
        }
    }
    good
}
