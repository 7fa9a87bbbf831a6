//! A layer of the net: every one is a convolution, the dense ones with a window as large as their input.

use multiversion::multiversion;

/// Patches that are looked at together, each a lane of the vector registers: sums run in one order in every lane,
/// whatever the width of the registers is.
pub const LANES: usize = 16;

/// A number of each of [`LANES`] patches.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes(pub [f32; LANES]);

impl Lanes {
    /// Zeros.
    pub const ZERO: Self = Self([0.0; LANES]);
}

/// Channels that come out of one run of the inner loop: as many sums as the registers of AVX2 hold.
pub const BLOCK: usize = 4;

/// The shape of a layer. Its window is moved over a square input without a border, one step at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Pixels along a side of the input.
    pub side: usize,
    /// Channels of the input.
    pub ins: usize,
    /// Channels of the output, a multiple of [`BLOCK`].
    pub outs: usize,
    /// Pixels along a side of the window.
    pub window: usize,
    /// Pixels along a side of the squares of which only the largest number is kept.
    pub pool: usize,
    /// Whether negative numbers become 0.
    pub rectified: bool,
}

impl Layer {
    /// Pixels along a side before pooling.
    pub const fn unpooled(&self) -> usize {
        self.side - self.window + 1
    }

    /// Pixels along a side of the output.
    pub const fn out_side(&self) -> usize {
        self.unpooled() / self.pool
    }

    /// Numbers that come in for a patch: row by row, and for each pixel all channels.
    pub const fn input(&self) -> usize {
        self.side * self.side * self.ins
    }

    /// Numbers that come out for a patch, in the same order.
    pub const fn output(&self) -> usize {
        self.out_side() * self.out_side() * self.outs
    }

    /// Numbers from a row of a window, which lie side by side in the input.
    pub const fn run(&self) -> usize {
        self.window * self.ins
    }

    /// Weights of the layer: for each block of [`BLOCK`] outputs row by row of the window, for each pixel channel by
    /// channel of the input, the weights of the block's outputs. One bias for each output is kept apart.
    pub const fn weights(&self) -> usize {
        self.window * self.run() * self.outs
    }

    /// Multiplications for a patch.
    pub const fn products(&self) -> usize {
        self.unpooled() * self.unpooled() * self.weights()
    }
}

/// The sums of a block of outputs at a pixel: the bias, then the products row by row.
#[allow(clippy::inline_always, reason = "to be compiled for the registers of its caller")]
#[inline(always)]
fn sums(
    layer: &Layer,
    block: &[[f32; BLOCK]],
    biases: [f32; BLOCK],
    input: &[Lanes],
    [x, y]: [usize; 2],
) -> [Lanes; BLOCK] {
    let mut sums = biases.map(|bias| Lanes([bias; LANES]));
    for (dy, weights) in block.chunks_exact(layer.run()).enumerate() {
        let at = ((y + dy) * layer.side + x) * layer.ins;
        for (input, weights) in input[at..at + layer.run()].iter().zip(weights) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                for (sum, input) in sum.0.iter_mut().zip(&input.0) {
                    *sum += weight * input;
                }
            }
        }
    }
    sums
}

/// Puts the output of a layer into `output`. Time: [`Layer::products`] for each lane.
///
/// # Panics
///
/// When a slice is not as long as the layer says.
#[multiversion(targets("x86_64+avx+avx2"))]
pub fn forward(layer: &Layer, weights: &[f32], biases: &[f32], input: &[Lanes], output: &mut [Lanes]) {
    let (weights, []) = weights.as_chunks::<BLOCK>() else { unreachable!("blocks are whole") };
    assert_eq!([input.len(), output.len()], [layer.input(), layer.output()]);
    let lowest = if layer.rectified { 0.0 } else { f32::MIN };
    let side = layer.out_side();
    let per_block = layer.window * layer.run();
    for y in 0..side {
        for x in 0..side {
            let pixel = &mut output[(y * side + x) * layer.outs..][..layer.outs];
            // Pooled at once, so that the sums before it are never stored.
            for (number, (block, kept)) in
                weights.chunks_exact(per_block).zip(pixel.chunks_exact_mut(BLOCK)).enumerate()
            {
                let mut biases_here = [0.0; BLOCK];
                biases_here.copy_from_slice(&biases[number * BLOCK..][..BLOCK]);
                let mut best = [Lanes([lowest; LANES]); BLOCK];
                for square in 0..layer.pool * layer.pool {
                    let at = [x * layer.pool + square % layer.pool, y * layer.pool + square / layer.pool];
                    let sums = sums(layer, block, biases_here, input, at);
                    for (best, sum) in best.iter_mut().zip(&sums) {
                        for (best, &sum) in best.0.iter_mut().zip(&sum.0) {
                            *best = if sum > *best { sum } else { *best };
                        }
                    }
                }
                kept.copy_from_slice(&best);
            }
        }
    }
}
