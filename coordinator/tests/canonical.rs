//! `nonet canonical`, typed as a user would.

mod farm;

use std::{io::Write, process::Stdio};

use farm::{nonet, run};

/// A grid that is easy to write down: each row is the one above, moved.
fn grid() -> Vec<u8> {
    (0..81u8).map(|cell| (3 * (cell / 9 % 3) + cell / 27 + cell % 9) % 9 + 1).collect()
}

/// The same grid to a mathematician: transposed, two rows and two stacks exchanged, digits renamed.
fn scrambled(cells: &[u8]) -> Vec<u8> {
    let rows = [1, 0, 2, 3, 4, 5, 6, 7, 8];
    let columns = [3, 4, 5, 0, 1, 2, 6, 7, 8];
    let source = |cell: usize| columns[cell % 9] * 9 + rows[cell / 9];
    (0..81).map(|cell| [0, 4, 9, 2, 1, 3, 5, 8, 6, 7][usize::from(cells[source(cell)])]).collect()
}

fn line(cells: &[u8], empty: char) -> String {
    cells.iter().map(|&digit| if digit == 0 { empty } else { char::from(b'0' + digit) }).collect()
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    file
}

fn canonical(text: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let file = file(text);
    run(&[&["canonical", file.path().to_str().expect("UTF-8")], options].concat())
}

#[test]
fn essentially_same_puzzles_have_one_form() {
    let full = grid();
    let puzzle: Vec<u8> =
        full.iter().zip(0..).map(|(&digit, i)| if i % 3 == i / 9 % 4 { digit } else { 0 }).collect();
    let text = format!(
        "\u{feff}# grids\n{}\r\n{}, scrambled\n\n{}\n{}\n",
        line(&full, '.'),
        line(&scrambled(&full), '.'),
        line(&puzzle, '0'),
        line(&scrambled(&puzzle), '*')
    );
    let (code, stdout, stderr) = canonical(&text, &[]);
    assert_eq!(code, Some(0), "{stderr}");
    let forms: Vec<&str> = stdout.lines().collect();
    let [grid, same_grid, puzzle, same_puzzle] = forms[..] else { panic!("{stdout}") };
    assert_eq!((grid, puzzle), (same_grid, same_puzzle));
    assert!(grid.starts_with("123456789456789123") && puzzle.starts_with('.'), "{stdout}");
    // A form is its own form, and with --dedup there is one line a class.
    assert_eq!(canonical(&stdout, &[]).1, stdout);
    assert_eq!(canonical(&text, &["--dedup"]).1, format!("{grid}\n{puzzle}\n"));
    assert_eq!(canonical(&text, &["--threads", "1"]).1, stdout);
    assert_eq!(canonical("", &[]), (Some(0), String::new(), String::new()));
}

#[test]
fn the_288_grids_of_4x4_are_two() {
    let mut grids = vec![String::new()];
    for cell in 0..16 {
        let fits = |grid: &str, digit: u8| {
            let other = |i: usize| {
                let same_box = i / 8 == cell / 8 && i % 4 / 2 == cell % 4 / 2;
                i / 4 == cell / 4 || i % 4 == cell % 4 || same_box
            };
            !grid.bytes().enumerate().any(|(i, there)| there == digit && other(i))
        };
        grids = grids
            .iter()
            .flat_map(|grid| (b'1'..=b'4').map(move |digit| (grid, digit)))
            .filter(|(grid, digit)| fits(grid, *digit))
            .map(|(grid, digit)| format!("{grid}{}", char::from(digit)))
            .collect();
    }
    assert_eq!(grids.len(), 288);
    // Jarvis and Russell 2006: two essentially different 4x4 grids.
    assert_eq!(canonical(&(grids.join("\n") + "\n"), &["--dedup"]).1, "1234341221434321\n1234341223414123\n");
}

#[test]
fn bad_lines_are_named_and_what_comes_before_is_printed() {
    let full = line(&grid(), '.');
    let bad = full.replacen('4', "a", 1);
    let (code, stdout, stderr) = canonical(&format!("{full}\n{bad}\n{full}\n"), &[]);
    assert_eq!((code, stdout.lines().count(), stderr.lines().count()), (Some(2), 1, 1), "{stderr}");
    assert!(stderr.contains("line 2: character 4 is 'a'"), "{stderr}");
    let (code, _, stderr) = canonical("12345\n", &[]);
    assert!(code == Some(2) && stderr.contains("line 1: 5 characters"), "{stderr}");
    let (code, _, stderr) = canonical(&(".".repeat(256) + "\n"), &[]);
    assert!(code == Some(2) && stderr.contains("line 1: ") && stderr.contains("16x16"), "{stderr}");
    let (code, _, stderr) = canonical(&"1".repeat(70_000), &[]);
    assert!(code == Some(2) && stderr.contains("longer than"), "{stderr}");
    let (code, _, stderr) = run(&["canonical", "/nowhere/at/all"]);
    assert!(code == Some(2) && stderr.contains("/nowhere/at/all"), "{stderr}");
    assert_eq!(run(&["canonical", "-", "--threads", "0"]).0, Some(2));
}

#[test]
fn standard_input_is_read_too() {
    let mut child =
        nonet(&["canonical", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let text = line(&grid(), '.') + "\n";
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("ends");
    assert!(output.status.success() && output.stdout.len() == 82);
}
