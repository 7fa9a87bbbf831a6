//! Whatever is given: no panic, messages of bounded length, time in proportion to the length.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// Reads a text in every way there is, and gives the number of errors.
fn read_all(text: &[u8]) -> usize {
    let mut errors = Vec::new();
    let mut layouts =
        vec![LineLayout::default(), LineLayout { column: 1, delimiter: Some(b','), header: false }];
    if let Ok(Layout::Lines(layout)) = Layout::detect(text) {
        layouts.push(layout);
    }
    for shape in [None, Some(Shape::SIX)] {
        for layout in &layouts {
            errors
                .extend(text.split(|&byte| byte == b'\n').filter_map(|line| layout.read(line, shape).err()));
        }
        errors.extend(blocks(text, shape).filter_map(|(_, read)| read.err()));
        errors.extend(open_sudoku(text, shape).filter_map(|(_, read)| read.err()));
    }
    for error in &errors {
        let message = error.to_string();
        assert!(message.len() <= 200, "{} bytes: {message}", message.len());
    }
    errors.len()
}

/// Documents of all kinds, to be changed.
fn samples() -> Vec<Vec<u8>> {
    let cells = cells(DOTS);
    let drawn = drawing(Shape::NINE, &cells);
    let sixteen = Shape::new(4, 4).unwrap();
    let numbers: Vec<u8> = (0..=255_u8).map(|cell| cell % 17).collect();
    let samples = [
        format!("id,puzzle\n1,\"{DOTS}\"\n").repeat(3),
        format!("{DOTS} # name\n{}\n", DOTS.replace('.', " ")),
        drawn.clone() + "\n" + &drawn.replace('.', " "),
        drawn.replace('|', "│").replace('+', "┼").replace('-', "─"),
        drawing(sixteen, &numbers),
        text(sixteen, &numbers),
        format!("[Puzzle]\n{}\n", drawn.replace([' ', '|', '+', '-'], "")),
        "123456789".repeat(81),
        format!(
            "<opensudoku><game data=\"{DOTS}\"/>\n<game data=\"version: 1\n{}\"/></opensudoku>",
            "1|2|0|".repeat(81)
        ),
    ];
    samples.into_iter().map(String::into_bytes).collect()
}

#[test]
fn changed_documents_do_no_harm() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let inserts: [&[u8]; 14] = [
        b"\n",
        b"|",
        b"-",
        b" ",
        b"\"",
        b"<",
        b"\xFF",
        b"\0",
        "é".as_bytes(),
        "│".as_bytes(),
        b"#",
        b"[",
        b"9",
        b",\n\n",
    ];
    for sample in samples() {
        for _ in 0..400 {
            let mut text = sample.clone();
            for _ in 0..rng.random_range(1..8) {
                let at = rng.random_range(0..text.len());
                match rng.random_range(0..4) {
                    0 => text[at] = rng.random(),
                    1 => drop(text.drain(at..(at + rng.random_range(1..40)).min(text.len() - 1).max(at))),
                    2 => drop(text.splice(at..at, text[at..].iter().take(50).copied().collect::<Vec<_>>())),
                    _ => {
                        drop(
                            text.splice(at..at, inserts[rng.random_range(0..inserts.len())].iter().copied()),
                        );
                    }
                }
            }
            read_all(&text);
        }
    }
    for length in [1, 10, 100, 1000, 5000] {
        for _ in 0..40 {
            let any: Vec<u8> = (0..length).map(|_| rng.random()).collect();
            read_all(&any);
            let alphabet = b"0123456789.|-+ \n\n,;\"<>/=ABxg#[]";
            let likely: Vec<u8> =
                (0..length).map(|_| alphabet[rng.random_range(0..alphabet.len())]).collect();
            read_all(&likely);
        }
    }
}

#[test]
fn length_costs_time_in_proportion() {
    let pieces = [
        "1",
        " ",
        "|",
        "-",
        "\n",
        "1 ",
        "|1",
        "| |\n",
        "---------\n",
        "123456789\n\n1\n",
        "1,2\n",
        "\"",
        "\"\",",
        "<",
        "<game ",
        "<game data=\"",
        "<!--",
        "<game data=\"1\"/>",
        "é",
        "é1",
        "x\n",
        "[Puzzle]\n",
        "#\n",
        "a b\n",
        "\u{2502}1\n",
        "=",
        "<game a ",
        "1234 ",
        "| 1 2 3 | 4 |\n",
        "..|..\n--|--\n",
        "x x x x\n1\n",
    ];
    for piece in pieces {
        let text = piece.repeat((1 << 18) / piece.len());
        let start = Instant::now();
        read_all(text.as_bytes());
        // Squared, this would take minutes.
        assert!(start.elapsed() < Duration::from_secs(20), "{piece:?}: {:?}", start.elapsed());
    }
}

#[test]
fn much_of_nothing_gives_few_errors() {
    let rows = format!("{}{DOTS}\n", "123456789 1\n".repeat(100_000));
    assert!(blocks(rows.as_bytes(), None).count() <= 100_001);
    let strokes = "---------\n".repeat(100_000) + "\n" + &drawing(Shape::NINE, &cells(DOTS));
    let read: Vec<_> = blocks(strokes.as_bytes(), None).collect();
    assert_eq!((read.len(), read[1].1.is_ok()), (2, true), "an error for the block, and the puzzle");
    let parts = "| 1 | 2 3 |\n".repeat(100_000) + "\n" + &drawing(Shape::NINE, &cells(DOTS));
    let read: Vec<_> = blocks(parts.as_bytes(), None).collect();
    assert_eq!((read.len(), read[0].1.clone(), read[1].1.is_ok()), (2, Err(NotationError::ManyRows), true));
    let open = format!("<opensudoku><game data=\"{}", "1".repeat(1 << 20));
    assert_eq!(open_sudoku(open.as_bytes(), None).count(), 1);
    let long = format!("<game data=\"{}\"/><game data=\"{DOTS}\"/>", "1".repeat(1 << 20));
    let read: Vec<_> = open_sudoku(long.as_bytes(), None).map(|(_, read)| read.is_ok()).collect();
    assert_eq!(read, [false, true]);
}
