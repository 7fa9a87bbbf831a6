//! The gradient of a layer, for [`LANES`] patches at once.

use multiversion::multiversion;
use shared::photo::net::layer::{BLOCK, LANES, Lanes, Layer};

/// The largest of each square that a layer pools, and negative numbers as 0 where it says so: from the sums before to
/// its output.
#[multiversion(targets("x86_64+avx+avx2"))]
pub fn pool(layer: &Layer, sums: &[Lanes], output: &mut [Lanes]) {
    let lowest = if layer.rectified { 0.0 } else { f32::MIN };
    output.fill(Lanes([lowest; LANES]));
    for (number, sums) in sums.chunks_exact(layer.outs).enumerate() {
        let Some(pixel) = pooled(layer, number) else { continue };
        for (best, sum) in output[pixel * layer.outs..][..layer.outs].iter_mut().zip(sums) {
            for (best, &sum) in best.0.iter_mut().zip(&sum.0) {
                *best = if sum > *best { sum } else { *best };
            }
        }
    }
}

/// The pixel of the output that a pixel before pooling goes to.
fn pooled(layer: &Layer, number: usize) -> Option<usize> {
    let [x, y] = [number % layer.unpooled(), number / layer.unpooled()].map(|at| at / layer.pool);
    let side = layer.out_side();
    (x < side && y < side).then_some(y * side + x)
}

/// From the gradient of the output to that of the sums before pooling: it goes to those that are the output.
#[allow(clippy::float_cmp, reason = "the output is a copy of one of the sums")]
#[multiversion(targets("x86_64+avx+avx2"))]
pub fn unpool(layer: &Layer, sums: &[Lanes], output: &[Lanes], above: &[Lanes], gradient: &mut [Lanes]) {
    let pairs = sums.chunks_exact(layer.outs).zip(gradient.chunks_exact_mut(layer.outs));
    for (number, (sums, gradient)) in pairs.enumerate() {
        let Some(pixel) = pooled(layer, number) else {
            gradient.fill(Lanes::ZERO);
            continue;
        };
        let [output, above] = [output, above].map(|lanes| &lanes[pixel * layer.outs..][..layer.outs]);
        for (((gradient, sum), output), above) in gradient.iter_mut().zip(sums).zip(output).zip(above) {
            for lane in 0..LANES {
                gradient.0[lane] = if sum.0[lane] == output.0[lane] { above.0[lane] } else { 0.0 };
            }
        }
    }
}

/// Adds to the gradients of the weights and the biases what these patches give, summed over the lanes. `sums` is room
/// for the sums of a row of the window, output by output: laid out like this, since the compiler would otherwise put
/// the outputs of a block side by side into a register instead of the lanes, ten times slower.
#[multiversion(targets("x86_64+avx+avx2"))]
pub fn weights(
    layer: &Layer,
    input: &[Lanes],
    gradient: &[Lanes],
    sums: &mut Vec<Lanes>,
    [weights, biases]: [&mut [f32]; 2],
) {
    for (number, row) in weights.chunks_exact_mut(layer.run() * BLOCK).enumerate() {
        let [block, dy] = [number / layer.window, number % layer.window];
        sums.clear();
        sums.resize(layer.run() * BLOCK, Lanes::ZERO);
        for (place, pixel) in gradient.chunks_exact(layer.outs).enumerate() {
            let [x, y] = [place % layer.unpooled(), place / layer.unpooled()];
            let input = &input[((y + dy) * layer.side + x) * layer.ins..][..layer.run()];
            for (sums, gradient) in sums.chunks_exact_mut(layer.run()).zip(&pixel[block * BLOCK..]) {
                let gradient = gradient.0;
                for (sum, input) in sums.iter_mut().zip(input) {
                    for ((sum, gradient), input) in sum.0.iter_mut().zip(&gradient).zip(&input.0) {
                        *sum += gradient * input;
                    }
                }
            }
        }
        for (out, sums) in sums.chunks_exact(layer.run()).enumerate() {
            for (weight, sum) in row[out..].iter_mut().step_by(BLOCK).zip(sums) {
                *weight += total(sum);
            }
        }
    }
    for pixel in gradient.chunks_exact(layer.outs) {
        for (bias, lanes) in biases.iter_mut().zip(pixel) {
            *bias += total(lanes);
        }
    }
}

/// The sum over the lanes. Not inlined: across the sums of several weights the compiler would gather lane by lane.
#[inline(never)]
fn total(lanes: &Lanes) -> f32 {
    let mut sums = [0.0; 4];
    for part in lanes.0.chunks_exact(4) {
        sums.iter_mut().zip(part).for_each(|(sum, lane)| *sum += lane);
    }
    sums.iter().sum()
}

/// Puts the gradient of the input into `below`.
#[multiversion(targets("x86_64+avx+avx2"))]
pub fn input(layer: &Layer, weights: &[f32], gradient: &[Lanes], below: &mut [Lanes]) {
    let (weights, []) = weights.as_chunks::<BLOCK>() else { unreachable!("blocks are whole") };
    let (gradient, []) = gradient.as_chunks::<BLOCK>() else { unreachable!("blocks are whole") };
    let blocks = layer.outs / BLOCK;
    below.fill(Lanes::ZERO);
    for (number, pixel) in gradient.chunks_exact(blocks).enumerate() {
        let [x, y] = [number % layer.unpooled(), number / layer.unpooled()];
        for (gradient, block) in pixel.iter().zip(weights.chunks_exact(layer.window * layer.run())) {
            for (dy, weights) in block.chunks_exact(layer.run()).enumerate() {
                let at = ((y + dy) * layer.side + x) * layer.ins;
                for (below, weights) in below[at..at + layer.run()].iter_mut().zip(weights) {
                    for lane in 0..LANES {
                        let mut sum = below.0[lane];
                        for out in 0..BLOCK {
                            sum += weights[out] * gradient[out].0[lane];
                        }
                        below.0[lane] = sum;
                    }
                }
            }
        }
    }
}
