//! Puzzles in every notation.

use super::*;

#[test]
fn every_notation_gives_the_same_rows() {
    let cells = UNIQUE.as_bytes();
    let lines: Vec<&str> = (0..9).map(|row| &UNIQUE[9 * row..9 * row + 9]).collect();
    let drawing = shared::grid::notation::drawing(
        Shape::NINE,
        &cells.iter().map(|&cell| if cell == b'.' { 0 } else { cell - b'0' }).collect::<Vec<_>>(),
    );
    let ss = lines.iter().map(|line| format!("{}|{}|{}", &line[..3], &line[3..6], &line[6..]));
    let ss: Vec<String> = ss.collect();
    let ss = [&ss[..3], &ss[3..6], &ss[6..]].map(|rows| rows.join("\n")).join("\n-----------\n");
    let marks = |&cell: &u8| match cell {
        b'.' => "123456789".to_owned(),
        clue => (b'1'..=b'9').map(|digit| if digit == clue { char::from(digit) } else { '.' }).collect(),
    };
    let marks: String = cells.iter().map(marks).collect();
    let spaced = lines.iter().map(|line| line.chars().map(String::from).collect::<Vec<_>>().join(" "));
    let spaced = spaced.collect::<Vec<_>>().join("\n");
    let texts = [
        UNIQUE.to_owned(),
        UNIQUE.replace('.', "0") + ",1.5\r\n",
        format!("id;puzzle;name\r\n7;{UNIQUE};x\r\n"),
        format!("#AAuthor\n#DText\n{}\n", lines.join("\n")),
        format!("[Puzzle]\n{}\n[State]\n{}\n", lines.join("\n"), "1".repeat(9)),
        drawing,
        ss,
        marks,
        format!(
            "<?xml version=\"1.0\"?>\n<opensudoku><game data=\"{}\" /></opensudoku>",
            UNIQUE.replace('.', "0")
        ),
        spaced,
    ];
    let expected = rows_of(UNIQUE, &Column::USUAL);
    assert!(expected[0].starts_with(&format!("{UNIQUE},unique,1,")), "{expected:?}");
    for text in texts {
        assert_eq!(rows_of(&text, &Column::USUAL), expected, "\n{text}");
    }
}

#[test]
fn pencil_marks_are_kept_to() {
    // All candidates of the empty 4x4 grid but those that a solution of it does not have, and one cell with two.
    let text = "1,2,3,4\n3,4,1,2\n2,1,4,3\n4,3,2,1\n".replace('\n', ",");
    let line = text.trim_end_matches(',').replacen('1', "12", 1);
    let rows = rows_of(&format!("{line}\n"), &[Column::Puzzle, Column::Verdict, Column::Solution]);
    assert_eq!(rows, ["12 2 3 4 3 4 1 2 2 1 4 3 4 3 2 1,unique,1234341221434321"]);
    let again = rows_of(rows[0].split(',').next().unwrap(), &[Column::Verdict]);
    assert_eq!(again, ["unique"], "what is written is read back");
    let asked = [Column::Verdict, Column::Minimal, Column::Redundant, Column::Minlex, Column::Group];
    assert_eq!(rows_of(&line, &asked), ["unique,,,,"], "nothing is said of clues that are marks");
}
