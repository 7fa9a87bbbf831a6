//! Puzzles that take several lines, and elements.

use super::*;

/// The rows of a puzzle of nine, each cell or border put by a pattern of nine `c`.
fn drawn(pattern: &str, borders: &[(usize, &str)]) -> String {
    let mut text = String::new();
    for row in 0..=9 {
        text.extend(borders.iter().filter(|(at, _)| *at == row).map(|(_, border)| format!("{border}\n")));
        if row < 9 {
            let mut cells = DOTS[9 * row..9 * row + 9].chars();
            text.extend(pattern.chars().map(|at| if at == 'c' { cells.next().unwrap() } else { at }));
            text.push('\n');
        }
    }
    text
}

/// Where borders are around boxes.
fn around(border: &str) -> Vec<(usize, &str)> {
    [0, 3, 6, 9].map(|row| (row, border)).to_vec()
}

#[test]
fn borders_of_all_kinds() {
    let narrow = [
        "+---+---+---+",
        "*-----------*",
        "|---+---+---|",
        "-------------",
        "=============",
        ".---.---.---.",
        ":---+---+---:",
        "'---'---'---'",
        "┌───┬───┬───┐",
        "╠═══╬═══╬═══╣",
        "+===+===+===+",
        "*************",
        "_____________",
        "|---|---|---|",
    ];
    for border in narrow {
        let text = drawn("|ccc|ccc|ccc|", &around(border));
        assert_eq!(puzzles(&text), [(2, cells(DOTS))], "\n{text}");
        assert_eq!(puzzles(&(text.clone() + &text)), [(2, cells(DOTS)), (15, cells(DOTS))], "\n{text}");
    }
    let patterns = [
        "ccccccccc",
        "c c c c c c c c c",
        "c c c  c c c  c c c",
        "ccc ccc ccc",
        "ccc|ccc|ccc",
        "ccc | ccc | ccc",
        "| c c c | c c c | c c c |",
        "│ c c c │ c c c │ c c c │",
        "║ccc║ccc║ccc║",
        "| c | c | c | c | c | c | c | c | c |",
        "|| c | c | c || c | c | c || c | c | c ||",
        "  |c c c|c c c|c c c|  ",
        "c,c,c,c,c,c,c,c,c",
        "c;c;c;c;c;c;c;c;c;",
        "c\tc\tc\tc\tc\tc\tc\tc\tc",
        "[c, c, c, c, c, c, c, c, c],",
        "!ccc!ccc!ccc!",
        "ccc ccc ccc # a remark",
        "\"ccccccccc\",",
    ];
    for pattern in patterns {
        for borders in [vec![], around("+-------+-------+-------+"), around("───────┼───────┼───────")]
        {
            let text = drawn(pattern, &borders);
            for sign in ["0", "_", "x", "*", "-", "?", "·"] {
                let text = text.replace('.', sign);
                assert_eq!(puzzles(&text)[0].1, cells(DOTS), "\n{text}");
            }
            assert_eq!(puzzles(&(text.replace('\n', "\r\n") + "\r\n" + &text)).len(), 2, "\n{text}");
        }
    }
}

#[test]
fn strokes_are_rows_where_they_are_empty_cells() {
    let puzzle = format!("{}{}{}", &DOTS[..18], ".".repeat(9), &DOTS[27..]);
    let rows: Vec<String> = (0..9).map(|row| puzzle[9 * row..9 * row + 9].replace('.', "-")).collect();
    assert_eq!(puzzles(&rows.join("\n")), [(1, cells(&puzzle))]);
    let boxes: Vec<String> =
        rows.iter().map(|row| format!("{}|{}|{}", &row[..3], &row[3..6], &row[6..])).collect();
    assert_eq!(puzzles(&boxes.join("\n")), [(1, cells(&puzzle))]);
    let bordered = boxes.chunks(3).map(|band| band.join("\n")).collect::<Vec<_>>();
    assert_eq!(puzzles(&bordered.join("\n---+---+---\n")), [(1, cells(&puzzle))]);
    assert_eq!(puzzles(&bordered.join("\n-----------\n")), [(1, cells(&puzzle))]);
    // Nothing but empty cells.
    assert_eq!(puzzles(&"---------\n".repeat(9)), [(1, vec![0; 81])]);
    assert_eq!(puzzles(&".........\n".repeat(9)), [(1, vec![0; 81])]);
}

#[test]
fn blanks_are_empty_cells_between_upright_strokes() {
    let borders = around("+-------+-------+-------+");
    for pattern in [
        "| c c c | c c c | c c c |",
        "|ccc|ccc|ccc|",
        "| c | c | c | c | c | c | c | c | c |",
        "|c|c|c|c|c|c|c|c|c|",
        "│ c c c│ c c c│ c c c│",
        "│c c c │c c c │c c c │",
        "| c  c  c | c  c  c | c  c  c |",
        "| c c c |\u{a0}c c c | c c c |",
    ] {
        let text = drawn(pattern, &borders).replace('.', " ");
        assert_eq!(puzzles(&text), [(2, cells(DOTS))], "\n{text}");
        assert_eq!(puzzles(&(text.clone() + &text)), [(2, cells(DOTS)), (15, cells(DOTS))], "\n{text}");
    }
}

#[test]
fn metadata_sections_and_titles_are_passed_over() {
    let rows = drawn("ccccccccc", &[]);
    let other = rows.replace('5', "4");
    assert_eq!(puzzles(&format!("#AName\n#DText\n{rows}")), [(3, cells(DOTS))]);
    assert_eq!(puzzles(&format!("[Puzzle]\n{rows}[State]\n{other}")), [(2, cells(DOTS))]);
    let sections = format!("[Note]\n{other}\n[puzzle]\n{rows}\n[State]\n{other}\n{other}\n[PUZZLE]\n{other}");
    assert_eq!(puzzles(&sections).iter().map(|(line, _)| *line).collect::<Vec<_>>(), [13, 45]);
    let titled = format!("Grid 01\n{rows}Grid 02\n{other}Grid 03\n{rows}");
    assert_eq!(puzzles(&titled).iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 12, 22]);
    let forum =
        format!("Here is one (2006), très dur:\n\n{rows}\nRating: 7.2\n\n12/3/2020\n{other}Rating 2021\n");
    assert_eq!(puzzles(&forum).iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 16]);
    assert_eq!(puzzles(&format!("{rows}\n\n{DOTS}\n")), [(1, cells(DOTS)), (12, cells(DOTS))]);
    assert_eq!(
        puzzles(&format!("{{\"grid\": [\n{}]}}", drawn("[c,c,c,c,c,c,c,c,c],", &[]).replace('.', "0"))).len(),
        1
    );
}

#[test]
fn candidates_in_drawings() {
    let row = |cells: [&str; 9]| {
        let boxes: Vec<String> =
            cells.chunks(3).map(|cells| format!("{:9} {:9} {:9}", cells[0], cells[1], cells[2])).collect();
        format!("| {}| {}| {}|\n", boxes[0], boxes[1], boxes[2])
    };
    let all = "123456789";
    let rows = [
        row(["1", "234", "2345", all, "5", "6789", "67", "8", "9"]),
        row([all, all, all, all, all, all, all, all, all]),
        row(["7", all, all, "12", all, all, all, all, "3"]),
    ];
    let border = "*------------------------------+------------------------------*\n";
    let text = format!("{border}{}", (rows.concat() + border).repeat(3));
    let read = document(&text);
    let puzzle = read[0].1.as_ref().unwrap();
    assert_eq!((read.len(), read[0].0, puzzle.shape), (1, 2, Shape::NINE));
    assert_eq!(puzzle.cells[..9], [1, 0, 0, 0, 5, 0, 0, 8, 9]);
    assert_eq!(puzzle.candidates.as_ref().unwrap()[..4], [1, 0b1110, 0b11110, 0x1FF]);
    // The same without strokes; here each line is a list.
    let plain = text.replace('|', " ").replace(border, "");
    assert_eq!(document(&plain)[0].1.as_ref(), Ok(puzzle));
}

#[test]
fn a_fault_costs_one_puzzle() {
    let good = drawn("ccccccccc", &[]);
    let good = good.trim_end();
    let without = good.replacen("6..195...\n", "", 1);
    let faults = [
        (good.replacen('7', "Z", 1), "row 1, column 5 is 'Z': expected a digit from 1 to 9"),
        (good.replacen('8', "@", 1), "row 3, column 3 is '@'"),
        (good.replacen('8', "é", 1), "row 3, column 3 is 'é'"),
        (good.replacen(".98", ".9", 1), "row 3 has 8 cells: the rows before have 9"),
        (good.replacen("53", "5", 1), "row 1 has 8 cells"),
        (without, "8 rows of 9 cells: the puzzle should have 9 rows"),
        ("|1|2|\n|3|\n".into(), "row 1 has 2 cells: "),
        ("1".repeat(20_000), "the line has more than"),
    ];
    for (faulty, expected) in faults {
        let text = format!("{good}\n\n{faulty}\n\n{good}\n");
        let read: Vec<_> = blocks(text.as_bytes(), None).collect();
        assert_eq!(read.len(), 3, "{read:?}");
        let error = read[1].1.as_ref().unwrap_err().to_string();
        assert!(error.starts_with(expected) || faulty.len() < 20, "{error}");
        assert!(read[0].1.is_ok() && read[2].1.is_ok(), "{faulty}");
    }
    // A row that is too much is one before the next puzzle.
    let read: Vec<_> = blocks(format!("{good}\n123456789\n\n{good}").as_bytes(), None).collect();
    assert_eq!(
        read.iter().map(|(line, read)| (*line, read.is_ok())).collect::<Vec<_>>(),
        [(1, true), (10, false), (12, true)]
    );
    // Without empty lines, titles do.
    let text = format!("Grid 1\n{good}\nGrid 2\n{}\nGrid 3\n{good}\n", &good[10..]);
    let read: Vec<_> = blocks(text.as_bytes(), None).map(|(line, read)| (line, read.is_ok())).collect();
    assert_eq!(read, [(2, true), (12, false), (21, true)]);
}

#[test]
fn elements_of_open_sudoku() {
    let data = DOTS.replace('.', "0");
    let text = format!(
        "<?xml version=\"1.0\"?>\n<opensudoku>\n<name>n</name>\n<!-- <game data=\"\"/> -->\n<game data=\"{data}\" />\n\
         <game level='1'\n data = '{data}'></game>\n<games data=\"1\"/><game/>\n<game data=\"123\"/><game data=\"open>\n\
         <game data=\"{DOTS}\"/>\n<game data=7>\n<game data=\"{DOTS}\"/></opensudoku>"
    );
    let read: Vec<_> = open_sudoku(text.as_bytes(), None).collect();
    let good: Vec<_> =
        read.iter().filter(|(_, read)| read.as_ref().is_ok_and(|read| read.cells == cells(DOTS))).collect();
    assert_eq!(good.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [5, 6, 10, 12]);
    let errors: Vec<_> =
        read.iter().filter_map(|(line, read)| Some((*line, read.as_ref().err()?.to_string()))).collect();
    assert_eq!(errors[0], (8, "the element <game>: the attribute data is missing".into()));
    assert!(errors[1].1.starts_with("3 characters: "), "{errors:?}");
    assert_eq!(errors[2], (9, "the element <game>: an attribute is not closed".into()));
    assert_eq!(errors[3], (11, "the element <game>: an attribute has no quotes".into()));
    assert_eq!(errors.len(), 4);
}

#[test]
fn saved_games_of_open_sudoku() {
    let cell = |digit: char| match digit {
        '.' => "4|511|1|".to_owned(),
        _ => format!("{digit}|0|0|"),
    };
    for end in ["\n", "&#10;"] {
        let saved = DOTS.chars().map(cell).collect::<String>();
        let text = format!("<game state=\"1\" data=\"version: 2{end}{saved}\"/>");
        let read: Vec<_> = open_sudoku(text.as_bytes(), None).collect();
        assert_eq!(read[0].1.as_ref().unwrap().cells, cells(DOTS), "{text}");
    }
}
