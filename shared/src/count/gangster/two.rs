//! Two bands: the number of bands with given column sets, as edge colourings of a bipartite graph.
//!
//! Join each digit to the C columns it is in. A band is then a colouring of the edges with C colours, the rows, such
//! that each row is a perfect matching of digits and columns: an ordered 1-factorisation of a C-regular graph. The
//! completions of a band are the bands with the complementary column sets, so that for shape 2xC
//!
//! ```text
//! total = sum over column sets of  w(g) * w(complement of g)
//! ```
//!
//! Count the colourings with `k` colours of a `k`-regular graph by cutting it into a 2-regular part, the first two
//! rows, and the rest. Rows can be permuted, so digit 1 may be held fast: its first two edges are to be in rows 1 and
//! 2 in this order, and that counts `k (k - 1)` times. A 2-regular graph is a set of `c` even cycles and has `2^c`
//! colourings, half of them with the edges of digit 1 in order:
//!
//! ```text
//! f(k) = k (k - 1) / 2 * sum over 2-regular parts with these edges of  2^c * f(k - 2)
//! f(3) = 3 * sum over matchings with the first edge of digit 1 of  2^c
//! ```
//!
//! Cost: for C = 5 some 9,000 parts times some 8 matchings, a few milliseconds.

use super::super::two::MAX_DIGITS;

/// A regular bipartite graph of digits and columns.
#[derive(Clone, Copy)]
struct Graph {
    digits: usize,
    /// For each digit the set of boxes in which it still has an edge.
    left: [u8; MAX_DIGITS],
    /// For each digit, the columns of its edges: box `b` has columns `2b` and `2b + 1`.
    vectors: [u8; MAX_DIGITS],
}

/// Bands in which bit `b` of `vectors[d]` tells in which column of box `b` digit `d` is.
pub fn bands(vectors: &[u8]) -> u128 {
    let boxes = vectors.len() / 2;
    let mut graph = Graph { digits: vectors.len(), left: [0; MAX_DIGITS], vectors: [0; MAX_DIGITS] };
    for (digit, &vector) in vectors.iter().enumerate() {
        graph.left[digit] = (1 << boxes) - 1;
        graph.vectors[digit] = vector;
    }
    colourings(&graph, boxes)
}

/// Ordered 1-factorisations of a `k`-regular graph.
fn colourings(graph: &Graph, k: usize) -> u128 {
    let mut sum = 0;
    match k {
        0 | 1 => sum = 1,
        2 => sum = 1 << cycles(graph),
        3 => {
            matchings(graph, 0, 0, graph, &mut |rest| sum += 1u128 << cycles(rest));
            sum *= 3;
        }
        _ => {
            let mut parts = Parts { graph, rest_degree: k - 2, part: *graph, rest: *graph };
            parts.choose(0, 0, 0, &mut |part, rest| sum += colourings(rest, k - 2) << cycles(part));
            sum *= (k * (k - 1) / 2) as u128;
        }
    }
    sum
}

/// Cycles of a 2-regular graph.
fn cycles(graph: &Graph) -> u32 {
    // A column holds two digits: their exclusive or leads from either to the other. Four bits a column.
    let column = |digit: usize, b: u32| 4 * (2 * b + u32::from(graph.vectors[digit] >> b & 1));
    let mut partner = 0u64;
    for digit in 0..graph.digits {
        let (low, high) = (graph.left[digit].trailing_zeros(), 7 - graph.left[digit].leading_zeros());
        partner ^= (digit as u64) << column(digit, low) ^ (digit as u64) << column(digit, high);
    }
    let mut unseen = (1u32 << graph.digits) - 1;
    let mut count = 0;
    while unseen != 0 {
        let start = unseen.trailing_zeros() as usize;
        let mut digit = start;
        let mut b = graph.left[start].trailing_zeros();
        loop {
            unseen &= !(1 << digit);
            digit ^= (partner >> column(digit, b) & 15) as usize;
            b = (graph.left[digit] & !(1 << b)).trailing_zeros();
            if digit == start {
                break;
            }
        }
        count += 1;
    }
    count
}

/// Visits what is left of `graph` without each perfect matching that has the first edge of digit 1.
fn matchings(graph: &Graph, digit: usize, used: u16, rest: &Graph, visit: &mut impl FnMut(&Graph)) {
    if digit == graph.digits {
        return visit(rest);
    }
    let mut boxes = graph.left[digit];
    while boxes != 0 {
        let b = boxes.trailing_zeros();
        boxes &= boxes - 1;
        let column = 1 << (2 * b + u32::from(graph.vectors[digit] >> b & 1));
        if used & column == 0 {
            let mut rest = *rest;
            rest.left[digit] ^= 1 << b;
            matchings(graph, digit + 1, used | column, &rest, visit);
        }
        if digit == 0 {
            break;
        }
    }
}

/// The search for 2-regular parts.
struct Parts<'a> {
    graph: &'a Graph,
    rest_degree: usize,
    part: Graph,
    rest: Graph,
}

impl Parts<'_> {
    /// Visits each way to give every digit from `digit` on two of its edges so that all columns get two.
    ///
    /// `taken` and `kept` hold, four bits a column, the edges given to the part and to the rest so far.
    fn choose(&mut self, digit: usize, taken: u64, kept: u64, visit: &mut impl FnMut(&Graph, &Graph)) {
        const HIGH: u64 = 0x8888_8888_8888_8888;
        const ONES: u64 = 0x1111_1111_1111_1111;
        if digit == self.graph.digits {
            return visit(&self.part, &self.rest);
        }
        let left = self.graph.left[digit];
        let vector = self.graph.vectors[digit];
        let columns = |boxes: u8| {
            let mut boxes = boxes;
            let mut sum = 0;
            while boxes != 0 {
                let b = boxes.trailing_zeros();
                boxes &= boxes - 1;
                sum += 1u64 << (4 * (2 * b + u32::from(vector >> b & 1)));
            }
            sum
        };
        // The pairs of boxes in `left`; digit 1 has its first two edges in the part.
        let mut lows = left;
        while lows != 0 {
            let low = lows & lows.wrapping_neg();
            lows ^= low;
            let mut highs = lows;
            while highs != 0 {
                let high = highs & highs.wrapping_neg();
                highs ^= high;
                let chosen = low | high;
                let (taken, kept) = (taken + columns(chosen), kept + columns(left & !chosen));
                // Adding 8 - 1 - degree to a count sets its high bit exactly when the count exceeds the degree.
                let full = (taken + 5 * ONES) | (kept + (7 - self.rest_degree as u64) * ONES);
                if full & HIGH == 0 {
                    self.part.left[digit] = chosen;
                    self.rest.left[digit] = left & !chosen;
                    self.choose(digit + 1, taken, kept, visit);
                }
                if digit == 0 {
                    return;
                }
            }
        }
    }
}
