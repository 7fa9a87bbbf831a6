//! Puzzles of one line.

use super::*;

#[test]
fn empty_cells_have_many_faces() {
    for empty in [".", "0", "*", "_", "x", "X", "-", "?", " "] {
        let text = DOTS.replace('.', empty);
        for end in ["", "\r", "\n", "\r\n"] {
            let read = line(&format!("{text}{end}")).unwrap();
            assert_eq!((read.cells, read.candidates), (cells(DOTS), None), "{text:?}{end:?}");
        }
    }
    let mixed = DOTS.replacen('.', "x", 20).replacen('.', "0", 20);
    assert_eq!(line(&mixed).unwrap().cells, cells(DOTS));
}

#[test]
fn what_follows_a_puzzle_is_left_alone() {
    let tails = [
        " name",
        "\tED=9.0",
        ",1.2,x",
        ";7",
        "# name ED=9.0/1.2/1.2",
        " # tarx 7",
        "|17",
        ":1:53467",
        "  ",
        "\"",
        "/",
        ")",
        "=1",
        " 53467",
    ];
    for tail in tails {
        assert_eq!(line(&format!("{DOTS}{tail}")).unwrap().cells, cells(DOTS), "{tail:?}");
        assert_eq!(nine(format!("{DOTS}{tail}").as_bytes()).map(Vec::from), Some(cells(DOTS)), "{tail:?}");
    }
    for start in ["  ", "\"", "\u{feff}", "[\"", "\t"] {
        assert_eq!(line(&format!("{start}{DOTS}\"")).unwrap().cells, cells(DOTS), "{start:?}");
    }
}

#[test]
fn blanks_are_cells_only_if_there_is_nothing_else() {
    let blanks = DOTS.replace('.', " ");
    assert!(line(&format!("{blanks} ")).is_err(), "82 characters");
    assert!(line(blanks[..80].trim_end()).is_err());
    // Blanks before and behind count, too.
    let outer = format!(" {} ", &blanks[1..80]);
    assert_eq!(line(&outer).unwrap().cells[1..80], cells(DOTS)[1..80]);
    assert!(LineLayout::passes_over(" ".repeat(81).as_bytes()));
    assert_eq!(nine(" ".repeat(81).as_bytes()), None);
}

#[test]
fn rows_or_cells_may_be_apart() {
    let rows: Vec<&str> = (0..9).map(|row| &DOTS[9 * row..9 * row + 9]).collect();
    for between in [" ", "/", "|", ",", ";", ":", "\t"] {
        assert_eq!(line(&rows.join(between)).unwrap().cells, cells(DOTS), "{between:?}");
        assert_eq!(line(&(rows.join(between) + " name")).unwrap().cells, cells(DOTS), "{between:?}");
    }
    let apart: Vec<String> = DOTS.chars().map(String::from).collect();
    for between in [" ", ",", ", ", ";", "\t", "   "] {
        assert_eq!(line(&apart.join(between)).unwrap().cells, cells(DOTS), "{between:?}");
    }
    let json = format!("[[{}]]", apart.join(",").replace('.', "0"));
    assert_eq!(line(&json).unwrap().cells, cells(DOTS));
    let nothing = apart.join(",").replace('.', "");
    assert_eq!(line(&nothing).unwrap().cells, cells(DOTS), "nothing between commas");
    assert_eq!(line(&(nothing + ",")).unwrap().cells, cells(DOTS), "a comma at the end");
}

#[test]
fn pencil_marks_in_a_line_are_clues_empty_cells_or_candidates() {
    let marks = |sets: &[&str]| {
        let cell =
            |set: &&str| ('1'..='9').map(|digit| if set.contains(digit) { digit } else { '.' }).collect();
        sets.iter().map(cell).collect::<Vec<String>>().concat()
    };
    let clues: Vec<&str> = (0..81).map(|cell| &DOTS[cell..=cell]).collect();
    let mut sets: Vec<&str> =
        clues.iter().map(|clue| if *clue == "." { "123456789" } else { clue }).collect();
    let read = line(&marks(&sets)).unwrap();
    assert_eq!((read.cells, read.candidates), (cells(DOTS), None));
    sets[2] = "148";
    sets[3] = "";
    let read = line(&marks(&sets).replace('.', "0")).unwrap();
    assert_eq!(read.cells, cells(DOTS));
    let candidates = read.candidates.unwrap();
    assert_eq!(candidates[..5], [1 << 4, 1 << 2, 0b1000_1001, 0, 1 << 6]);
    assert_eq!(candidates[5], 0x1FF);
    let wrong = marks(&sets).replacen('5', "6", 1);
    assert!(message(&wrong).starts_with("character 5 is '6': of 729 pencil marks, this one is 5"));
    // The same, cell by cell.
    sets[3] = "19";
    let listed = line(&sets.join(" ")).unwrap();
    assert_eq!((listed.cells, listed.candidates.unwrap()[3]), (cells(DOTS), 0x101));
}

#[test]
fn lines_without_puzzles_are_passed_over() {
    for text in ["", "  ", "\r\n", "# a comment", "  # another", "// one more", "\u{feff}", "\u{feff}# first"]
    {
        assert_eq!(LineLayout::default().read(text.as_bytes(), None), Ok(None), "{text:?}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    assert_eq!(
        message("12345"),
        "5 characters: a puzzle has 81 (9x9), or 16, 36, 64, 100, 144, 225, 256, 400 or 625 (other sizes)"
    );
    assert!(message(&DOTS[..80]).starts_with("80 characters"));
    assert!(message(&format!("{DOTS}1")).starts_with("82 characters"));
    assert!(message(&"é".repeat(82)).starts_with("82 characters"));
    assert!(
        message(&DOTS.replacen('9', "A", 1))
            .starts_with("character 14 is 'A': expected a digit from 1 to 9 or .")
    );
    assert!(message(&DOTS.replacen('7', "é", 1)).starts_with("character 5 is 'é'"));
    assert!(message("1.....3..2.....5").starts_with("character 16 is '5': expected a digit from 1 to 4"));
    assert!(message("{\"a\":1}").starts_with("1 characters"));
    assert!(message("<a>").starts_with("character 1 is '<'"));
    assert!(message(&"1 ".repeat(80)).starts_with("80 cells"));
    assert!(message(&format!("{}11", "1 ".repeat(80))).starts_with("cell 81 is \"11\": expected candidates"));
    assert!(
        message(&format!("{}1234567890123456789", "1 ".repeat(255)))
            .starts_with("cell 256 is \"123456789012…\"")
    );
    assert!(
        message(&format!("{}17", "1 ".repeat(255))).contains("is \"17\": expected a number from 1 to 16")
    );
    assert_eq!(message(&"1".repeat(20_000)), "the line has more than 16384 bytes");
    let asked = LineLayout::default().read(DOTS.as_bytes(), Some(Shape::FOUR)).unwrap_err();
    assert_eq!(asked.to_string(), "81 characters: a 2x2 puzzle has 16");
}

#[test]
fn fields_of_tables_are_found() {
    let table = |column, delimiter| LineLayout { column, delimiter: Some(delimiter), header: false };
    let read =
        |layout: LineLayout, text: String| layout.read(text.as_bytes(), None).map(|read| read.unwrap().cells);
    assert_eq!(read(table(1, b','), format!("7,{DOTS},1.2")), Ok(cells(DOTS)));
    assert_eq!(read(table(1, b','), format!("\"a, \"\"b\"\"\", \"{DOTS}\" ,1.2")), Ok(cells(DOTS)));
    assert_eq!(read(table(2, b';'), format!(";;{}", DOTS.replace('.', " "))), Ok(cells(DOTS)));
    assert_eq!(read(table(1, b' '), format!("00a1   {DOTS}  1.2")), Ok(cells(DOTS)));
    assert_eq!(read(table(1, b'\t'), format!("00a1\t{DOTS}\r")), Ok(cells(DOTS)));
    assert_eq!(read(table(0, b','), format!("\"{DOTS}\",\"1\"")), Ok(cells(DOTS)));
    let error = |layout, text: &str| read(layout, text.to_owned()).unwrap_err().to_string();
    assert_eq!(error(table(2, b','), "a,b"), "the puzzle should be field 3: the line has 2");
    assert!(error(table(1, b','), "a,123").starts_with("field 2: 3 characters: a puzzle has 81"));
    assert!(error(table(1, b','), "a,\"never closed").starts_with("field 2: 5 characters"));
}
