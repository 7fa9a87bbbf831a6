//! Pictures without a sudoku: what a reader must refuse. Drawn from a seed, so that nobody's pictures are needed.

mod camera;
mod pages;

use shared::random::Random;

use super::canvas::Canvas;
use camera::photographed;

/// What is on an impostor.
pub type Draw = fn(&mut Random) -> Canvas;

/// The kinds there are, each with its name.
pub const KINDS: [(&str, Draw); 12] = [
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
    use shared::photo::{Gray, load::Photo, reading::Reader};

    use super::*;

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

    #[test]
    fn none_of_fifty_is_read_as_a_sudoku() {
        let reader = Reader::new();
        let mut read = Vec::new();
        for number in 0..50 {
            let (name, canvas) = impostor(7, number);
            let pixels = (0..canvas.height()).flat_map(|y| (0..canvas.width()).map(move |x| (x, y)));
            let gray =
                Gray::new(canvas.width(), canvas.height(), pixels.map(|(x, y)| canvas.at(x, y)[1]).collect());
            let gray = gray.expect("as many pixels");
            let (width, height) =
                (u32::try_from(gray.width()).unwrap(), u32::try_from(gray.height()).unwrap());
            let reading = reader.read(&Photo { gray, width, height }, None);
            if !reading.boards.is_empty() {
                read.push(name);
            }
        }
        assert_eq!(read, Vec::<String>::new());
    }
}
