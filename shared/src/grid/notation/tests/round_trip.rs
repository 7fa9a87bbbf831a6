//! What is written is read back; quick and careful reading agree.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// Random cells: whether they are a puzzle is of no matter here.
fn random(shape: Shape, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let side = u8::try_from(shape.side()).unwrap();
    let filled = rng.random_range(0.0..=1.0);
    // Sometimes only large digits, which are the ones to be misread.
    let least = if rng.random_bool(0.3) { side / 2 + 1 } else { 1 };
    let mut cell = || if rng.random_bool(filled) { rng.random_range(least..=side) } else { 0 };
    (0..shape.side().pow(2)).map(|_| cell()).collect()
}

#[test]
fn every_shape_is_read_back() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let shapes = (1..=25).flat_map(|rows| (1..=25).filter_map(move |columns| Shape::new(rows, columns).ok()));
    for shape in shapes.filter(|shape| shape.side() > 1) {
        for _ in 0..40 {
            let cells = random(shape, &mut rng);
            let puzzle = Puzzle { shape, cells: cells.clone(), candidates: None };
            let written = text(shape, &cells);
            let read = LineLayout::default().read(written.as_bytes(), Some(shape));
            assert_eq!(read, Ok(Some(puzzle.clone())), "seed {seed}: {written}");
            let drawn = drawing(shape, &cells);
            let read: Vec<_> = blocks(drawn.as_bytes(), Some(shape)).collect();
            assert_eq!(read, [(2, Ok(puzzle.clone()))], "seed {seed}:\n{drawn}");
            if line(&text(shape, &cells)).is_ok_and(|read| read.shape == shape) {
                assert_eq!(line(&written), Ok(puzzle.clone()), "seed {seed}: {written}");
                assert_eq!(puzzles(&written), [(1, cells.clone())], "seed {seed}: {written}");
                assert_eq!(puzzles(&drawn.repeat(3)).len(), 3, "seed {seed}:\n{drawn}");
            }
        }
    }
}

proptest! {
    #[test]
    fn quick_and_careful_reading_agree(text in "[1-9.0*_xX? -]{81}( |[a-z,;:|#1.é-]){0,3}") {
        let careful = super::super::one_line::read(text.as_bytes(), None);
        match nine(text.as_bytes()) {
            Some(cells) => prop_assert_eq!(&careful.unwrap().cells, &cells),
            // What is read all the same is something else: rows or cells that are apart.
            None => prop_assert!(careful.is_err() || text.contains(' '), "{}", text),
        }
    }

    #[test]
    fn careful_reading_does_without_the_quick_one(text in "[1-9.0*_xX?-]{81}(|[ ,;:|#][a-z1 ]{0,9})") {
        // A quote in front is nothing that quick reading knows.
        let careful = line(&format!("\"{text}")).unwrap();
        prop_assert_eq!(nine(text.as_bytes()).map(Vec::from), Some(careful.cells));
    }
}
