//! Pictures without a sudoku: what a reader must refuse. Drawn from a seed, so that nobody's pictures are needed.

pub(super) mod camera;
mod pages;
mod tables;

use shared::random::Random;

use super::canvas::Canvas;
use camera::photographed;

/// What is on an impostor.
pub type Draw = fn(&mut Random) -> Canvas;

/// The kinds there are, each with its name.
pub const KINDS: [(&str, Draw); 24] = [
    ("text", pages::text),
    ("chess", pages::chess),
    ("table", pages::table),
    ("crossword", pages::crossword),
    ("calendar", pages::calendar),
    ("noise", pages::noise),
    ("blank", pages::blank),
    ("line-art", pages::line_art),
    ("kakuro", pages::kakuro),
    ("bingo", pages::bingo),
    ("ruled", pages::ruled),
    ("products", pages::products),
    ("empty", tables::empty),
    ("last-digits", tables::last_digits),
    ("random-digits", tables::random_digits),
    ("latin-square", tables::latin_square),
    ("word-search", tables::word_search),
    ("nonogram", tables::nonogram),
    ("magic-square", tables::magic_square),
    ("small-table", tables::small_table),
    ("minesweeper", tables::minesweeper),
    ("matrix-code", tables::matrix_code),
    ("boxed-crossword", tables::boxed_crossword),
    ("week", tables::week),
];

/// The `number`-th impostor of a seed, with its name: a page of one of [`KINDS`], by turns, photographed from aside.
#[must_use]
pub fn impostor(seed: u64, number: usize) -> (String, Canvas) {
    let (kind, draw) = KINDS[number % KINDS.len()];
    let mut random = Random::new(shared::random::mixed(seed ^ (number as u64) << 32));
    let page = draw(&mut random);
    (format!("{number:03}-{kind}"), photographed(&page, &mut random))
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;
    use shared::photo::reading::Reader;

    use super::{super::sketch::photo, *};

    /// The same seed draws the same pictures, other numbers and seeds draw others, and there is something on each but the
    /// blank ones.
    #[test]
    fn impostors_are_of_many_kinds_and_the_same_for_a_seed() {
        let mut seen = std::collections::HashSet::new();
        for number in 0..KINDS.len() * 2 {
            let (name, picture) = impostor(1, number);
            assert_eq!(impostor(1, number).1, picture, "{name}");
            let levels: Vec<u8> = (0..picture.height())
                .flat_map(|y| (0..picture.width()).map(move |x| (x, y)))
                .map(|(x, y)| picture.at(x, y)[0])
                .collect();
            let dark = levels.iter().filter(|&&level| level < 110).count();
            let blank = ["blank", "noise"].iter().any(|kind| name.ends_with(kind));
            assert!(blank || dark * 500 > levels.len(), "{name}: {dark} dark pixels of {}", levels.len());
            assert!(seen.insert(levels), "{name}");
        }
    }

    /// Fifty of each seed: one that is always the same, and one that is another each time.
    #[test]
    fn none_of_fifty_is_read_as_a_sudoku() {
        let reader = Reader::new();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let other = now.map_or(1, |now| u64::from(now.subsec_nanos()));
        let read_of = |number: usize| {
            let seed = if number < 50 { 7 } else { other };
            let (name, canvas) = impostor(seed, number % 50);
            let boards = reader.read(&photo(&canvas), None).boards;
            boards.into_iter().map(move |board| format!("seed {seed}, {name}: {:?}", board.cells))
        };
        let read: Vec<String> = (0..100).into_par_iter().flat_map_iter(read_of).collect();
        assert_eq!(read, Vec::<String>::new());
    }
}
