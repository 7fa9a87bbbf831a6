//! Grids of other sizes than 9x9, and digits over 9.

use super::*;

fn shape(rows: u8, columns: u8) -> Shape {
    Shape::new(rows, columns).unwrap()
}

/// A solved grid: in each row the digits follow each other.
fn solved(shape: Shape) -> Vec<u8> {
    let (side, rows) = (shape.side(), shape.rows());
    let start = |row: usize| row % rows * shape.columns() + row / rows;
    let digit = |cell: usize| u8::try_from((start(cell / side) + cell % side) % side + 1).unwrap();
    (0..side * side).map(digit).collect()
}

/// The same with some cells emptied.
fn puzzle(shape: Shape) -> Vec<u8> {
    let keep = |(cell, digit)| if cell % 3 == 1 || cell % 7 == 2 { digit } else { 0 };
    solved(shape).into_iter().enumerate().map(keep).collect()
}

/// Cells by the symbols of an alphabet, whose first is that of empty cells.
fn by(alphabet: &str, cells: &[u8]) -> String {
    cells.iter().map(|&digit| char::from(alphabet.as_bytes()[usize::from(digit)])).collect()
}

#[test]
fn the_number_of_cells_tells_the_shape() {
    for (rows, columns) in [(2, 2), (2, 3), (2, 4), (3, 3), (2, 5), (3, 4), (3, 5), (4, 4), (4, 5), (5, 5)] {
        let shape = shape(rows, columns);
        for cells in [puzzle(shape), solved(shape)] {
            let written = by(".123456789ABCDEFGHIJKLMNOP", &cells);
            let read = line(&written).unwrap();
            assert_eq!((read.shape, &read.cells), (shape, &cells));
            assert_eq!(line(&written.to_lowercase()).unwrap().cells, cells);
            assert_eq!(line(&written.replace('.', "0")).unwrap().cells, cells);
            let numbers: Vec<String> = cells.iter().map(u8::to_string).collect();
            for between in [" ", ",", "; ", "\t"] {
                assert_eq!(line(&numbers.join(between)).unwrap().cells, cells, "{shape}, {between:?}");
            }
            let side = shape.side();
            for empty in ["0", ".", "_", "-", "*", "x", "?"] {
                let number = |digit: &u8| if *digit == 0 { empty.into() } else { digit.to_string() };
                let row = |row: &[u8]| {
                    let cells: Vec<String> = row.iter().map(|digit| format!("{:3}", number(digit))).collect();
                    cells.concat() + "\n"
                };
                let padded: String = cells.chunks(side).map(row).collect();
                assert_eq!(puzzles(&padded), [(1, cells.clone())], "\n{padded}");
                let trimmed = padded.replace("  \n", "\n").replace(" \n", "\n");
                assert_eq!(puzzles(&trimmed), [(1, cells.clone())], "\n{trimmed}");
            }
            let rows: Vec<&str> = (0..side).map(|row| &written[side * row..side * row + side]).collect();
            assert_eq!(puzzles(&rows.join("\n")), [(1, cells.clone())], "{rows:?}");
        }
    }
}

#[test]
fn other_boxes_are_asked_for_or_drawn() {
    let six = "1....6.4..2......3.........6......2.";
    assert_eq!(line(six).unwrap().shape, Shape::SIX);
    let asked = LineLayout::default().read(six.as_bytes(), Some(shape(3, 2))).unwrap().unwrap();
    assert_eq!((asked.shape, asked.cells), (shape(3, 2), cells(six)));
    let read: Vec<_> = blocks(drawing(shape(3, 2), &cells(six)).as_bytes(), None).collect();
    let drawn = read[0].1.as_ref().unwrap();
    assert_eq!((drawn.shape, &drawn.cells), (shape(3, 2), &cells(six)));
    let six_rows: Vec<&str> = (0..6).map(|row| &six[6 * row..6 * row + 6]).collect();
    let text = six_rows.join("\n");
    let read: Vec<_> = blocks(text.as_bytes(), Some(shape(3, 2))).collect();
    assert_eq!(read[0].1.as_ref().unwrap().shape, shape(3, 2));
    assert!(blocks(text.as_bytes(), Some(Shape::NINE)).all(|(_, read)| read.is_err()));
}

#[test]
fn hexadecimal_digits_are_told_by_a_zero_beside_another_sign() {
    let hexadecimal = |cells: &[u8]| by(".0123456789ABCDEF", cells);
    let sixteen = shape(4, 4);
    for written in
        [hexadecimal(&puzzle(sixteen)), hexadecimal(&puzzle(sixteen)).to_lowercase().replace('.', "-")]
    {
        assert_eq!(line(&written).unwrap().cells, puzzle(sixteen), "{written}");
    }
    assert_eq!(line(&hexadecimal(&solved(sixteen))).unwrap().cells, solved(sixteen));
    // Zeros and dots for empty cells, for there is a G.
    let mixed = by(".123456789ABCDEFG", &puzzle(sixteen)).replacen('.', "0", 9);
    assert!(mixed.contains('G'));
    assert_eq!(line(&mixed).unwrap().cells, puzzle(sixteen));
    let rows: Vec<String> = puzzle(sixteen).chunks(16).map(hexadecimal).collect();
    assert_eq!(puzzles(&rows.join("\n")), [(1, puzzle(sixteen))]);
}

#[test]
fn letters_alone_begin_with_one() {
    for shape in [shape(2, 5), shape(3, 4), shape(4, 4), shape(4, 5), shape(5, 5)] {
        for cells in [puzzle(shape), solved(shape)] {
            let written = by(".ABCDEFGHIJKLMNOPQRSTUVWXY", &cells);
            assert_eq!(line(&written).unwrap().cells, cells, "{written}");
            assert_eq!(line(&written.to_lowercase()).unwrap().cells, cells, "{written}");
            let rows: Vec<String> =
                cells.chunks(shape.side()).map(|row| by(".ABCDEFGHIJKLMNOPQRSTUVWXY", row)).collect();
            assert_eq!(puzzles(&rows.join("\n")), [(1, cells)], "{rows:?}");
        }
    }
    // More X than there can be of a digit are empty cells.
    let twenty_five = shape(5, 5);
    let without_x: Vec<u8> =
        puzzle(twenty_five).into_iter().map(|digit| if digit == 24 { 0 } else { digit }).collect();
    let written = by("XABCDEFGHIJKLMNOPQRSTUVW?Y", &without_x);
    assert_eq!(line(&written).unwrap().cells, without_x);
}

#[test]
fn digits_that_are_too_large_are_named() {
    assert!(
        message(&format!("{}H{}", "1".repeat(99), "1".repeat(156)))
            .starts_with("character 100 is 'H': expected a digit from 1 to 9, a letter from A to G or . 0")
    );
    let rows = format!("{}17\n", "1 ".repeat(15)) + &"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n".repeat(15);
    let errors: Vec<_> = document(&rows).into_iter().map(|(line, read)| (line, read.unwrap_err())).collect();
    assert!(
        errors[0].1.starts_with("row 1, column 16 is \"17\": expected a number from 1 to 16"),
        "{errors:?}"
    );
}
