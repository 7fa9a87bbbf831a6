//! Real photographs, whichever way they lie. Sources and licences: `photo/README.md`.

use shared::{
    grid::Shape,
    photo::{
        Colour, Gray,
        debug::Sink,
        load::{Photo, load},
        reading::{Board, Reader, Reading, Refusal},
    },
};

/// A photograph and what is on it.
struct Example {
    name: &'static str,
    bytes: &'static [u8],
    board: &'static str,
}

macro_rules! example {
    ($name:literal, $board:literal) => {
        Example { name: $name, bytes: include_bytes!(concat!("photo/", $name)), board: $board }
    };
}

fn examples() -> Vec<Example> {
    vec![
        example!(
            "newspaper.jpg",
            "601085004000300000089000020010000000702058009000460100050020600000000340007900080"
        ),
        example!(
            "filled-in.jpg",
            "913876542862495173547123698724631985351984267689752431178549326436218759295367814"
        ),
        example!(
            "book.jpg",
            "006009031003001072071060900000017006165408703800356100009080010610000500750100000"
        ),
    ]
}

fn cells(board: &Board) -> String {
    board.cells.iter().map(|digit| char::from(b'0' + digit)).collect()
}

fn read(photo: &Photo) -> Board {
    let Reading { boards, refusal } = Reader::new().read(photo, None);
    boards.into_iter().next().unwrap_or_else(|| panic!("{refusal:?}"))
}

/// The photograph turned by a quarter clockwise.
fn turned(photo: &Photo) -> Photo {
    let gray = &photo.gray;
    let (width, height) = (gray.height(), gray.width());
    let pixels = (0..width * height).map(|at| gray.at(at / width, gray.height() - 1 - at % width)).collect();
    Photo { gray: Gray::new(width, height, pixels).unwrap(), width: photo.height, height: photo.width }
}

#[test]
fn photographs_are_read() {
    for Example { name, bytes, board } in examples() {
        let read = read(&load(bytes).unwrap());
        assert_eq!(cells(&read), board, "{name}");
        assert_eq!((read.shape, read.mesh.len(), read.confidence.len()), (Shape::NINE, 100, 81), "{name}");
    }
}

#[test]
fn it_does_not_matter_which_way_a_photograph_lies() {
    let example = &examples()[0];
    let mut photo = load(example.bytes).unwrap();
    for quarter in 1..4 {
        photo = turned(&photo);
        let read = read(&photo);
        assert_eq!(cells(&read), example.board, "{quarter} quarters");
        // The first corner is the one that a reader sees at the top left.
        let [first, _, third, _] = read.corners();
        assert_eq!(
            (first.x > third.x, first.y > third.y),
            [(true, false), (true, true), (false, true)][quarter - 1]
        );
    }
}

#[test]
fn white_on_black_is_read_too() {
    let example = &examples()[0];
    let mut photo = load(example.bytes).unwrap();
    photo.gray.pixels_mut().iter_mut().for_each(|pixel| *pixel = 255 - *pixel);
    assert_eq!(cells(&read(&photo)), example.board);
}

#[test]
fn corners_that_are_given_are_believed() {
    let example = &examples()[0];
    let photo = load(example.bytes).unwrap();
    let mut corners = read(&photo).corners();
    // Not quite where they are.
    corners[0].x += 3.0;
    corners[2].y -= 3.0;
    let reading = Reader::new().read(&photo, Some(corners));
    assert_eq!(cells(&reading.boards[0]), example.board);
    for corner in &mut corners {
        corner.x = 100.0;
    }
    let reading = Reader::new().read(&photo, Some(corners));
    assert_eq!((reading.boards.len(), reading.refusal), (0, Some(Refusal::NoSudoku)), "corners on a line");
}

#[test]
fn the_same_photograph_gives_the_same_reading() {
    let photo = load(examples()[1].bytes).unwrap();
    assert_eq!(Reader::new().read(&photo, None), Reader::new().read(&photo, None));
}

/// Counts pictures by step.
#[derive(Default)]
struct Steps(std::collections::BTreeMap<String, usize>);

impl Sink for Steps {
    fn picture(&mut self, step: &str, picture: &Colour) {
        assert!(picture.width() > 0 && picture.height() > 0);
        *self.0.entry(step.into()).or_default() += 1;
    }
}

#[test]
fn every_step_can_be_looked_at() {
    let photo = load(examples()[0].bytes).unwrap();
    let mut steps = Steps::default();
    let reading = Reader::new().read_step_by_step(&photo, None, Some(&mut steps));
    assert_eq!(reading.boards.len(), 1);
    assert!(["located", "mesh", "cells"].iter().all(|step| steps.0.contains_key(*step)), "{:?}", steps.0);
}

#[test]
fn what_is_no_sudoku_is_refused() {
    let photo = |gray: Gray| {
        let [width, height] = [gray.width(), gray.height()].map(|edge| u32::try_from(edge).unwrap());
        Photo { gray, width, height }
    };
    let refusal = |gray: Gray| {
        let reading = Reader::new().read(&photo(gray), None);
        assert!(reading.boards.is_empty());
        reading.refusal.unwrap()
    };
    assert_eq!(refusal(Gray::filled(640, 480, 200)), Refusal::NoGrid);
    assert_eq!(refusal(Gray::filled(64, 64, 0)), Refusal::NoGrid);
    // Lines without anything between them.
    let mut empty = Gray::filled(500, 500, 230);
    for line in 0..10 {
        for along in 25..476 {
            for thick in 0..2 {
                empty.pixels_mut()[(25 + 50 * line + thick) * 500 + along] = 20;
                empty.pixels_mut()[along * 500 + 25 + 50 * line + thick] = 20;
            }
        }
    }
    assert_eq!(refusal(empty), Refusal::NoSudoku);
    let mut random = shared::random::Random::new(5);
    let noise = (0..320 * 240).map(|_| (random.word() >> 56) as u8).collect();
    refusal(Gray::new(320, 240, noise).unwrap());
}
