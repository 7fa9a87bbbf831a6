//! Layouts are told from the beginning of a file.

use super::*;

fn lines(column: u16, delimiter: Option<u8>, header: bool) -> Layout {
    Layout::Lines(LineLayout { column, delimiter, header })
}

fn detect(text: &str) -> Layout {
    Layout::detect(text.as_bytes()).unwrap()
}

#[test]
fn lists_and_tables() {
    let plain = lines(0, None, false);
    let zeros = DOTS.replace('.', "0");
    assert_eq!(detect(""), plain);
    assert_eq!(detect("\n# nothing\n"), plain);
    assert_eq!(detect(DOTS), plain);
    assert_eq!(detect(&format!("# list\n{DOTS}\n{zeros} # name\n")), plain);
    assert_eq!(detect(&format!("{DOTS}:1:{zeros}\n").repeat(5)), plain);
    assert_eq!(detect(&format!("{DOTS},{zeros}\n").repeat(5)), plain);
    assert_eq!(detect(&format!("{}\n", DOTS.replace('.', " ")).repeat(9)), plain);
    assert_eq!(detect(&format!("{}\n", "123456789".repeat(81))), plain);
    assert_eq!(detect(&"1.....3..2.....4\n".repeat(16)), plain);
    assert_eq!(detect("hello\nworld, this is\nno puzzle\n"), plain);
    assert_eq!(detect(&format!("{}a bad line\n", format!("{DOTS}\n").repeat(3))), plain);
    let rows = [
        format!("\u{feff}quizzes,solutions\r\n{zeros},{zeros}\r\n"),
        format!("puzzle,rating\n{zeros},1.2\n"),
        "puzzle,rating\n".into(),
    ];
    rows.iter().for_each(|text| assert_eq!(detect(text), lines(0, Some(b','), true), "{text}"));
    let named = format!("id,puzzle,solution,clues,difficulty\n1,{zeros},{zeros},30,2.2\n");
    assert_eq!(detect(&named), lines(1, Some(b','), true));
    assert_eq!(detect(&format!("solution,Puzzle\n{zeros},{DOTS}\n")), lines(1, Some(b','), true));
    assert_eq!(detect(&format!(",Quizzes\n0,{DOTS}\n")), lines(1, Some(b','), true));
    assert_eq!(detect(&format!("\"id\";\"givens\"\n\"1\";\"{DOTS}\"\n")), lines(1, Some(b';'), true));
    assert_eq!(detect(&format!("id\tfirst\n1\t{DOTS}\n")), lines(1, Some(b'\t'), true));
    assert_eq!(detect(&format!("puzzle\n{DOTS}\n")), lines(0, None, true));
    assert_eq!(detect(&format!("1,{DOTS}\n2,{DOTS}\n")), lines(1, Some(b','), false));
    assert_eq!(detect(&format!("00a1f2 {zeros}  1.2\n").repeat(3)), lines(1, Some(b' '), false));
    assert_eq!(detect(&format!("Easy 1: {zeros}\nHard: {DOTS}\n")), lines(1, Some(b':'), false));
    // The name is wrong: the field that has puzzles counts.
    assert_eq!(detect(&format!("puzzle,cells\n1,{DOTS}\n2,{DOTS}\n")), lines(1, Some(b','), true));
}

#[test]
fn large_files_are_told_by_their_beginning() {
    let list = format!("{DOTS}\n").repeat(2000);
    assert_eq!(detect(&list), lines(0, None, false));
    let drawn = (drawing(Shape::NINE, &cells(DOTS)) + "\n").repeat(2000);
    assert_eq!(detect(&drawn), Layout::Blocks);
    assert_eq!(detect(&"1".repeat(1 << 20)), lines(0, None, false));
}

#[test]
fn drawings_and_elements() {
    let rows: String = (0..9).flat_map(|row| [&DOTS[9 * row..9 * row + 9], "\n"]).collect();
    assert_eq!(detect(&rows), Layout::Blocks);
    assert_eq!(detect(&format!("#AName\n#DText\n{rows}")), Layout::Blocks);
    assert_eq!(detect(&format!("[Puzzle]\n{rows}[State]\n{rows}")), Layout::Blocks);
    assert_eq!(detect(&drawing(Shape::NINE, &cells(DOTS))), Layout::Blocks);
    // A faulty drawing is one, too, so that its errors are those of drawings.
    assert_eq!(detect(&rows.replacen('5', "55", 1)), Layout::Blocks);
    assert_eq!(detect("<?xml version=\"1.0\"?>\n<opensudoku>"), Layout::OpenSudoku);
    assert_eq!(detect("\u{feff}<opensudoku>"), Layout::OpenSudoku);
}

#[test]
fn what_is_no_text_is_called_by_its_name() {
    let error = |head: &[u8]| Layout::detect(head).unwrap_err().to_string();
    for (head, name) in [
        (&b"\x1F\x8B\x08\0"[..], "gzip"),
        (b"\x28\xB5\x2F\xFD\0", "zstd"),
        (b"PK\x03\x04", "zip"),
        (b"\x89PNG\r\n\x1A\n", "PNG"),
        (b"%PDF-1.4", "PDF"),
        (b"\xFF\xFE1\0", "UTF-16"),
        (b"\n<!DOCTYPE html>", "web page"),
        (b"53..7\0", "byte 6 is 0x00"),
        (b"53\x07", "byte 3 is 0x07"),
    ] {
        assert!(error(head).contains(name), "{}", error(head));
    }
}

#[test]
fn layouts_are_kept_as_they_are() {
    for layout in [lines(3, Some(b';'), true), lines(0, None, false), Layout::Blocks, Layout::OpenSudoku] {
        let kept = serde_json::to_string(&layout).unwrap();
        assert_eq!(serde_json::from_str::<Layout>(&kept).unwrap(), layout, "{kept}");
    }
    let table = r#"{"lines":{"column":3,"delimiter":59,"header":true}}"#;
    assert_eq!(serde_json::to_string(&lines(3, Some(b';'), true)).unwrap(), table);
}
