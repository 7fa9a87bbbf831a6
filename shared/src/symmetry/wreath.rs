//! Rearrangements of the rows of a grid, up to conjugation: the wreath product `S_k wr S_m`, m blocks of k lines.
//!
//! An element permutes the blocks, and inside each block the lines. Follow a block around its cycle of length l until
//! it is back: what has happened to its lines then is the *cycle product*, an element of `S_k` that is determined up
//! to conjugation, that is, by its cycle type. Two elements are conjugate exactly when, for every length l, the block
//! cycles of length l have the same cycle types of their products, each as often (James & Kerber 1981, *The
//! Representation Theory of the Symmetric Group*, 4.2). So a class is a multiset of pairs (l, partition of k) whose
//! lengths add up to m. For k = m = 3 there are 22.
//!
//! The centralizer follows from the same picture. If `m(l, p)` block cycles have length l and product type p, it has
//! `prod (l z_p)^m(l, p) m(l, p)!` elements, `z_p` being the order of the centralizer of a permutation of type p: each
//! block cycle can be turned, what commutes with its product can be done to all its blocks at once, and equal block
//! cycles can change places.

use crate::count::Exact;

/// A cycle of blocks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct BlockCycle {
    /// Blocks in the cycle.
    pub(super) length: usize,
    /// Cycle lengths of the cycle product, ascending: all 1 where it is the identity.
    pub(super) product: Vec<usize>,
}

/// A conjugacy class of `S_size wr S_blocks`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct WreathClass {
    size: usize,
    /// Ascending; equal ones stand side by side.
    cycles: Vec<BlockCycle>,
}

/// Every class of `S_size wr S_blocks`, the identity first.
pub(super) fn wreath_classes(size: usize, blocks: usize) -> Vec<WreathClass> {
    let mut kinds = Vec::new();
    for length in 1..=blocks {
        kinds.extend(partitions(size, 1).into_iter().map(|product| BlockCycle { length, product }));
    }
    let mut list = Vec::new();
    choose(&kinds, blocks, &mut Vec::new(), &mut |cycles| {
        list.push(WreathClass { size, cycles: cycles.to_vec() });
    });
    list
}

/// Every multiset of `kinds` whose lengths add up to `left`.
fn choose(
    kinds: &[BlockCycle],
    left: usize,
    taken: &mut Vec<BlockCycle>,
    found: &mut dyn FnMut(&[BlockCycle]),
) {
    if left == 0 {
        return found(taken);
    }
    for (skipped, kind) in kinds.iter().enumerate().filter(|(_, kind)| kind.length <= left) {
        taken.push(kind.clone());
        choose(&kinds[skipped..], left - kind.length, taken, found);
        taken.pop();
    }
}

/// Partitions of `n` into ascending parts of at least `least`, the finest first.
fn partitions(n: usize, least: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let mut list = Vec::new();
    for part in least..=n {
        for rest in partitions(n - part, part) {
            list.push([vec![part], rest].concat());
        }
    }
    list
}

impl WreathClass {
    /// Lines of a block.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Blocks of lines.
    pub(super) fn blocks(&self) -> usize {
        self.cycles.iter().map(|cycle| cycle.length).sum()
    }

    /// The block cycles, ascending.
    pub(super) fn cycles(&self) -> &[BlockCycle] {
        &self.cycles
    }

    /// The first block of every block cycle.
    fn starts(&self) -> impl Iterator<Item = (usize, &BlockCycle)> {
        self.cycles.iter().scan(0, |next, cycle| {
            let start = *next;
            *next += cycle.length;
            Some((start, cycle))
        })
    }

    fn identity(&self) -> Vec<u8> {
        (0..=u8::MAX).take(self.blocks() * self.size).collect()
    }

    /// An element of the class. Every block comes from the next of its cycle with its lines in order; only the last
    /// one, which comes from the first, has them permuted by the cycle product.
    pub(super) fn representative(&self) -> Vec<u8> {
        let mut lines = self.identity();
        for (start, cycle) in self.starts() {
            self.turn(&mut lines, start, cycle);
        }
        lines
    }

    /// Makes one block cycle turn by one.
    fn turn(&self, lines: &mut [u8], start: usize, cycle: &BlockCycle) {
        let product = standard(&cycle.product);
        for step in 0..cycle.length {
            for place in 0..self.size {
                let last = step + 1 == cycle.length;
                let (block, from) = if last { (0, product[place]) } else { (step + 1, place) };
                lines[(start + step) * self.size + place] = line((start + block) * self.size + from);
            }
        }
    }

    /// Order of the centralizer of an element.
    pub(super) fn centralizer_order(&self) -> Exact {
        let same = self.cycles.chunk_by(|a, b| a == b);
        let factor = |cycles: &[BlockCycle]| {
            let one = Exact::from(cycles[0].length as u64).times(&symmetric_centralizer(&cycles[0].product));
            let many = u32::try_from(cycles.len()).expect("at most 25");
            one.power(many).times(&Exact::factorial(many.into()))
        };
        same.map(factor).fold(Exact::from(1u64), |order, factor| order.times(&factor))
    }

    /// Elements that generate the centralizer of [`Self::representative`].
    pub(super) fn centralizer(&self) -> Vec<Vec<u8>> {
        let mut list = Vec::new();
        let mut previous: Option<(usize, &BlockCycle)> = None;
        for (start, cycle) in self.starts() {
            let mut turned = self.identity();
            self.turn(&mut turned, start, cycle);
            list.push(turned);
            for commuting in symmetric_generators(&cycle.product) {
                let mut lines = self.identity();
                for place in (start * self.size..(start + cycle.length) * self.size).rev() {
                    lines[place] = line(place / self.size * self.size + commuting[place % self.size]);
                }
                list.push(lines);
            }
            if let Some((other, _)) = previous.filter(|(_, equal)| *equal == cycle) {
                let mut lines = self.identity();
                for place in 0..cycle.length * self.size {
                    lines.swap(other * self.size + place, start * self.size + place);
                }
                list.push(lines);
            }
            previous = Some((start, cycle));
        }
        let identity = self.identity();
        list.retain(|lines| *lines != identity);
        list
    }
}

/// A number of a line.
fn line(number: usize) -> u8 {
    u8::try_from(number).expect("at most 25 lines")
}

/// The permutation with cycles of these lengths one after the other.
fn standard(lengths: &[usize]) -> Vec<usize> {
    let mut permutation = Vec::new();
    for &length in lengths {
        let start = permutation.len();
        permutation.extend((0..length).map(|i| start + (i + 1) % length));
    }
    permutation
}

/// Order of the centralizer of a permutation with cycles of these lengths: `prod l^m m!`.
fn symmetric_centralizer(lengths: &[usize]) -> Exact {
    let factor = |same: &[usize]| {
        let many = u32::try_from(same.len()).expect("at most 25");
        Exact::from(same[0] as u64).power(many).times(&Exact::factorial(many.into()))
    };
    lengths.chunk_by(|a, b| a == b).map(factor).fold(Exact::from(1u64), |order, factor| order.times(&factor))
}

/// Generators of the centralizer of [`standard`]: each cycle by itself, and exchanges of neighbours of one length.
fn symmetric_generators(lengths: &[usize]) -> Vec<Vec<usize>> {
    let mut list = Vec::new();
    let all = standard(lengths);
    let mut start = 0;
    for (number, &length) in lengths.iter().enumerate() {
        let mut turned: Vec<usize> = (0..all.len()).collect();
        turned[start..start + length].copy_from_slice(&all[start..start + length]);
        list.push(turned);
        if number > 0 && lengths[number - 1] == length {
            let mut exchanged: Vec<usize> = (0..all.len()).collect();
            for i in start..start + length {
                exchanged.swap(i - length, i);
            }
            list.push(exchanged);
        }
        start += length;
    }
    list
}
