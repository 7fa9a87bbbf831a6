//! Canonical forms against a walk through the whole group, and against scrambled copies of themselves. Seeds are
//! printed with every failure.

use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use shared::{
    grid::Shape,
    symmetry::minlex::{Canonical, Cells, Transformation, automorphisms, brute, grid, puzzle},
};

/// The grid with the most automorphisms.
const MOST_CANONICAL: &str =
    "123456789456789123789123456231564897564897231897231564312645978645978312978312645";

fn cells(text: &str) -> Cells {
    let digits: Vec<u8> = text.bytes().map(|symbol| if symbol == b'.' { 0 } else { symbol - b'0' }).collect();
    digits.try_into().unwrap()
}

/// A random order of nine lines that keeps chutes together.
fn random_lines(rng: &mut ChaCha8Rng) -> [u8; 9] {
    let mut chutes = [[0, 1, 2], [3, 4, 5], [6, 7, 8]];
    chutes.shuffle(rng);
    chutes.iter_mut().for_each(|chute| chute.shuffle(rng));
    chutes.as_flattened().try_into().unwrap()
}

fn random_transformation(rng: &mut ChaCha8Rng) -> Transformation {
    let mut digits = Transformation::IDENTITY.digits;
    digits[1..].shuffle(rng);
    Transformation { transposed: rng.random(), rows: random_lines(rng), columns: random_lines(rng), digits }
}

/// A random grid: digits tried in random order, in the cell with the fewest.
fn random_grid(rng: &mut ChaCha8Rng) -> Cells {
    fn fill(grid: &mut Cells, rng: &mut ChaCha8Rng) -> bool {
        let free = |grid: &Cells, cell: usize| -> Vec<u8> {
            let (r, c) = (cell / 9, cell % 9);
            let sees = |other: usize| {
                let (row, column) = (other / 9, other % 9);
                row == r || column == c || (row / 3, column / 3) == (r / 3, c / 3)
            };
            (1..=9).filter(|digit| (0..81).all(|other| !sees(other) || grid[other] != *digit)).collect()
        };
        let empty = (0..81).filter(|&cell| grid[cell] == 0).map(|cell| (free(grid, cell), cell));
        let Some((mut digits, cell)) = empty.min_by_key(|(digits, _)| digits.len()) else { return true };
        digits.shuffle(rng);
        for digit in digits {
            grid[cell] = digit;
            if fill(grid, rng) {
                return true;
            }
        }
        grid[cell] = 0;
        false
    }
    let mut grid = [0; 81];
    assert!(fill(&mut grid, rng));
    grid
}

/// A grid with all but `clues` cells emptied.
fn with_clues(mut grid: Cells, clues: usize, rng: &mut ChaCha8Rng) -> Cells {
    let mut order: Vec<usize> = (0..81).collect();
    order.shuffle(rng);
    order[clues..].iter().for_each(|&cell| grid[cell] = 0);
    grid
}

/// Cells kept by a random symmetry or two: orbits of cells filled alike. Most repeat digits in rows.
fn symmetric(rng: &mut ChaCha8Rng) -> Cells {
    let identity: Cells = std::array::from_fn(|cell| u8::try_from(cell).unwrap());
    let moves: Vec<Transformation> = (0..rng.random_range(1..=2))
        .map(|_| Transformation { digits: Transformation::IDENTITY.digits, ..random_transformation(rng) })
        .collect();
    let mut orbit = identity;
    for _ in 0..81 {
        for symmetry in &moves {
            for r in 0..9 {
                for c in 0..9 {
                    let (row, column) = (usize::from(symmetry.rows[r]), usize::from(symmetry.columns[c]));
                    let from = if symmetry.transposed { 9 * column + row } else { 9 * row + column };
                    let low = orbit[9 * r + c].min(orbit[from]);
                    orbit[9 * r + c] = low;
                    orbit[from] = low;
                }
            }
        }
    }
    let empty = rng.random_range(0.0..1.0);
    let digits: [u8; 81] =
        std::array::from_fn(|_| if rng.random_bool(empty) { 0 } else { rng.random_range(1..=9) });
    orbit.map(|representative| digits[usize::from(representative)])
}

/// One input of a kind.
fn input(kind: usize, rng: &mut ChaCha8Rng) -> Cells {
    match kind {
        0 => random_grid(rng),
        1 => random_transformation(rng).apply(&cells(MOST_CANONICAL)),
        2 => {
            let clues = rng.random_range(0..=80);
            with_clues(random_grid(rng), clues, rng)
        }
        3 => {
            let clues = rng.random_range(0..=24);
            with_clues(random_grid(rng), clues, rng)
        }
        4 => {
            let clues = rng.random_range(0..=80);
            with_clues(cells(MOST_CANONICAL), clues, rng)
        }
        5 => {
            // A wrong digit or two.
            let clues = rng.random_range(10..=81);
            let mut grid = with_clues(random_grid(rng), clues, rng);
            (0..rng.random_range(1..=2))
                .for_each(|_| grid[rng.random_range(0..81)] = rng.random_range(1..=9));
            grid
        }
        6 => {
            // Anything, of few or many digits.
            let (clues, digits) = (rng.random_range(0..=81), rng.random_range(1..=9));
            let anything = std::array::from_fn(|_| rng.random_range(1..=digits));
            with_clues(anything, clues, rng)
        }
        _ => symmetric(rng),
    }
}

const KINDS: usize = 8;

/// Holds a canonical form against everything that is promised of it but that it is the least.
fn verify(input: &Cells, canonical: &Canonical, context: &str) {
    let Canonical { form, transformation, .. } = canonical;
    assert_eq!(transformation.apply(input), *form, "{context}");
    assert_eq!(transformation.inverse().apply(form), *input, "{context}");
    let again = puzzle(form);
    assert_eq!((again.form, again.automorphisms), (*form, canonical.automorphisms), "{context}");
}

fn against_brute(seeds: std::ops::Range<u64>, kinds: std::ops::Range<usize>) {
    for seed in seeds {
        for kind in kinds.clone() {
            let input = input(kind, &mut ChaCha8Rng::seed_from_u64(seed));
            let context = format!("kind {kind}, seed {seed}, {input:?}");
            let slow = brute::canonical(Shape::NINE, &input);
            let canonical = puzzle(&input);
            assert_eq!(canonical.form[..], slow.cells, "{context}");
            assert_eq!(u64::from(canonical.automorphisms), slow.automorphisms, "{context}");
            verify(&input, &canonical, &context);
            if kind < 2 {
                assert_eq!(grid(&input), Ok(canonical), "{context}");
            }
        }
    }
}

#[test]
fn minlex_is_the_least_of_all_images() {
    against_brute(0..5, 0..KINDS);
}

/// Minutes: `MINLEX_SEEDS=FROM..TO cargo test --release -p shared --test minlex -- --ignored`.
#[test]
#[ignore = "minutes"]
fn minlex_is_the_least_of_all_images_at_length() {
    let range = std::env::var("MINLEX_SEEDS").unwrap_or("1000..1300".to_owned());
    let (from, to) = range.split_once("..").expect("FROM..TO");
    against_brute(from.parse().unwrap()..to.parse().unwrap(), 0..KINDS);
}

#[test]
fn minlex_is_the_same_for_scrambled_copies() {
    for seed in 0..250 {
        for kind in 0..KINDS {
            let rng = &mut ChaCha8Rng::seed_from_u64(seed);
            let input = input(kind, rng);
            let canonical = puzzle(&input);
            verify(&input, &canonical, &format!("kind {kind}, seed {seed}"));
            for _ in 0..4 {
                let copy = puzzle(&random_transformation(rng).apply(&input));
                let same = (copy.form, copy.automorphisms) == (canonical.form, canonical.automorphisms);
                assert!(same, "kind {kind}, seed {seed}");
            }
        }
    }
}

#[test]
fn minlex_transformations_form_a_group() {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    for _ in 0..1000 {
        let [a, b] = [random_transformation(rng), random_transformation(rng)];
        let anything: Cells = std::array::from_fn(|_| rng.random_range(0..=9));
        assert_eq!(a.then(&b).apply(&anything), b.apply(&a.apply(&anything)));
        assert_eq!(a.then(&a.inverse()), Transformation::IDENTITY);
        assert_eq!(a.inverse().then(&a), Transformation::IDENTITY);
    }
}

#[test]
fn minlex_refuses_what_is_no_grid() {
    let mut wrong = cells(MOST_CANONICAL);
    wrong.swap(0, 1);
    assert_eq!(
        grid(&wrong).unwrap_err().to_string(),
        "the column numbered 1 does not have every digit once, so this is no complete grid"
    );
    wrong[0] = 0;
    assert!(grid(&wrong).is_err());
    wrong[0] = 255;
    assert!(grid(&wrong).is_err());
}

#[test]
fn automorphisms_are_a_group_of_the_size_that_is_said() {
    let mut rng = ChaCha8Rng::seed_from_u64(41);
    let special = [
        (MOST_CANONICAL, 648),
        ("123456789457893612986217354274538196531964827698721435342685971715349268869172543", 72),
        ("123456789456789123789123456214365897365897214897214365531642978642978531978531642", 3),
    ];
    let random = (0..50).map(|_| (random_grid(&mut rng), None)).collect::<Vec<_>>();
    for (cells, expected) in special.map(|(text, size)| (cells(text), Some(size))).into_iter().chain(random) {
        let cells = random_transformation(&mut rng).apply(&cells);
        let all = automorphisms(&cells).unwrap();
        assert_eq!(all.len(), grid(&cells).unwrap().automorphisms as usize);
        assert!(expected.is_none_or(|size| size == all.len()));
        let known: std::collections::HashSet<_> = all.iter().copied().collect();
        assert!(known.len() == all.len() && all.iter().all(|by| by.apply(&cells) == cells));
        let products = all.iter().take(20).flat_map(|a| all.iter().map(|b| a.then(b)));
        assert!(products.into_iter().all(|product| known.contains(&product)));
    }
    assert!(automorphisms(&[1; 81]).is_err());
}
