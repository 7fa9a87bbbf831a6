use super::*;
use crate::{photo::classify::Classifier, random::Random};

/// Patches with their classes: a byte for the class, then the pixels.
const FIXTURES: &[u8] = include_bytes!("../../../testdata/photo/cells.patches");

fn random_weights(random: &mut Random) -> Weights {
    let mut weights = Weights::zeros();
    for (vector, layer) in weights.vectors().zip(LAYERS.iter().flat_map(|layer| [layer, layer])) {
        let scale = 2.0 / f32::from(u16::try_from(layer.run()).unwrap()).sqrt();
        vector.iter_mut().for_each(|weight| *weight = scale * fraction(random));
    }
    weights
}

/// A number from -0.5 to 0.5.
fn fraction(random: &mut Random) -> f32 {
    f32::from(u16::try_from(random.below(1 << 16)).unwrap()) / 65_536.0 - 0.5
}

fn random_patch(random: &mut Random) -> Patch {
    std::array::from_fn(|_| u8::try_from(random.below(256)).unwrap())
}

/// The scores of a patch, one number after the other.
fn slow(weights: &Weights, patch: &Patch) -> Vec<f32> {
    let mut input: Vec<f32> = patch.iter().map(|&level| f32::from(level) * (1.0 / 255.0)).collect();
    for (number, layer) in LAYERS.iter().enumerate() {
        let weight = |out: usize, dy: usize, dx: usize, channel: usize| {
            let block = out / layer::BLOCK * layer.window * layer.run();
            let place = (dy * layer.window + dx) * layer.ins + channel;
            weights.weights[number][(block + place) * layer::BLOCK + out % layer::BLOCK]
        };
        let sum = |out: usize, y: usize, x: usize| {
            let mut sum = weights.biases[number][out];
            for dy in 0..layer.window {
                for dx in 0..layer.window {
                    for channel in 0..layer.ins {
                        let at = ((y + dy) * layer.side + x + dx) * layer.ins + channel;
                        sum += weight(out, dy, dx, channel) * input[at];
                    }
                }
            }
            sum
        };
        let mut output = Vec::new();
        for y in 0..layer.out_side() {
            for x in 0..layer.out_side() {
                for out in 0..layer.outs {
                    let mut best = if layer.rectified { 0.0 } else { f32::MIN };
                    for square in 0..layer.pool * layer.pool {
                        let (dy, dx) = (square / layer.pool, square % layer.pool);
                        best = sum(out, y * layer.pool + dy, x * layer.pool + dx).max(best);
                    }
                    output.push(best);
                }
            }
        }
        input = output;
    }
    input
}

/// The slow way is scalar and the other one takes whatever registers there are: equal bits show that both add up in
/// the same order, and so that every machine finds the same.
#[test]
fn scores_are_those_of_the_slow_way_to_the_last_bit() {
    let mut random = Random::new(3);
    for _ in 0..3 {
        let weights = random_weights(&mut random);
        let patches: Vec<Patch> = (0..LANES).map(|_| random_patch(&mut random)).collect();
        let mut activations = Activations::new();
        activations.fill(&patches);
        let scores = activations.run(&weights);
        for (lane, patch) in patches.iter().enumerate() {
            let bits = |score: &f32| score.to_bits();
            let slow: Vec<u32> = slow(&weights, patch).iter().map(bits).collect();
            let fast: Vec<u32> = scores.iter().map(|lanes| lanes.0[lane].to_bits()).collect();
            assert_eq!(fast, slow);
        }
    }
}

#[test]
fn an_answer_does_not_depend_on_the_patches_beside_it() {
    let mut random = Random::new(4);
    let patches: Vec<Patch> = (0..2 * LANES + 3).map(|_| random_patch(&mut random)).collect();
    let classifier = Classifier::new();
    let together = classifier.classify(&patches);
    assert_eq!(together.len(), patches.len());
    for (patch, found) in patches.iter().zip(&together) {
        assert_eq!(classifier.classify(std::slice::from_ref(patch)), [*found]);
    }
    assert!(classifier.classify(&[]).is_empty());
}

#[test]
fn the_net_is_as_small_as_said() {
    let products: usize = LAYERS.iter().map(Layer::products).sum();
    let weights: usize = LAYERS.iter().map(|layer| layer.weights() + layer.outs).sum();
    assert!(products < 800_000 && weights < 100_000, "{products} {weights}");
    for pair in LAYERS.windows(2) {
        assert_eq!(pair[0].output(), pair[1].input());
    }
}

#[test]
fn weights_are_read_as_they_were_written() {
    let mut weights = random_weights(&mut Random::new(5));
    weights.sharpness = 0.75;
    let bytes = weights.to_bytes();
    assert_eq!(Weights::from_bytes(&bytes), Some(weights));
    assert_eq!(Weights::from_bytes(&bytes[..bytes.len() - 4]), None);
    assert_eq!(Weights::from_bytes(&[&bytes[..], &[0; 4]].concat()), None);
    assert_eq!(Weights::from_bytes(&[b"x", &bytes[1..]].concat()), None);
}

#[test]
fn probabilities_are_finite_and_sum_to_one() {
    for scores in [[0.0; CLASSES], [1e4, -1e4, 0.0, 3.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 9.9e3]] {
        let logs = log_probabilities(&scores, 0.8);
        assert!(logs.iter().all(|log| log.is_finite() && *log <= 1e-6), "{logs:?}");
        let sum: f32 = logs.iter().map(|log| log.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    }
}

/// Painted patches that a reader does not doubt, some from every class.
#[test]
fn clear_patches_are_classified_rightly() {
    let (records, []) = FIXTURES.as_chunks::<{ 1 + SIDE * SIDE }>() else { panic!("no whole records") };
    let mut seen = [0; CLASSES];
    for record in records {
        let (label, patch) = (usize::from(record[0]), Patch::try_from(&record[1..]).unwrap());
        let found = Classifier::new().classify(&[patch])[0];
        assert!(found[label] > 0.5_f32.ln(), "{label}: {found:?}");
        seen[label] += 1;
    }
    assert!(seen.iter().all(|&seen| seen >= 2), "{seen:?}");
}
