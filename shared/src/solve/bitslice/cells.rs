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

/// Finds the triads with three digits between their cells; with fewer the lane is dead.
#[inline(always)]
pub fn full_triads<W: Word>(s: &mut State<W>) {
    let mut dead = s.dead;
    for line in 0..9 {
        for chute in 0..3 {
            let row = 9 * line + 3 * chute;
            let (few, full) = triad(s, [row, row + 1, row + 2]);
            s.full_h[3 * line + chute] = full;
            dead = dead.or(few);
            let column = 27 * chute + line;
            let (few, full) = triad(s, [column, column + 9, column + 18]);
            s.full_v[3 * line + chute] = full;
            dead = dead.or(few);
        }
    }
    s.dead = dead;
}

/// Lanes where three cells have less than three candidates between them, and where they have no more than three.
#[inline(always)]
fn triad<W: Word>(s: &State<W>, [a, b, c]: [usize; 3]) -> (W, W) {
    let mut can = [W::zero(); 9];
    for d in 0..9 {
        can[d] = s.x[d][a].any3(s.x[d][b], s.x[d][c]);
    }
    let (sum, [c0, c1, c2, c3]) = add9(can);
    let [low, high] = [c0.or(c1), c2.or(c3)];
    let full = c0.and(c1).or_both(c2, c3).or_both(low, high).not();
    (full.without(sum.and(low.or(high))), full)
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
