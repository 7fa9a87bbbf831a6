//! What is on which photograph.

use std::path::{Path, PathBuf};

use shared::{grid::Shape, solve::reference, unavoidable::CellSet};

/// A photograph of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// In the manifest, from 1, the header line counted.
    pub line: usize,
    /// As the manifest has it.
    pub file: String,
    /// Where it is.
    pub path: PathBuf,
    /// Where it comes from: the column of that name, or the folder.
    pub source: String,
    /// What is on it: 81 cells, 0 for one without a digit; nothing if there is no sudoku.
    pub board: Option<Vec<u8>>,
    /// The cells with candidates only.
    pub candidates: CellSet,
}

/// One of several parts of a manifest: the photographs of the same puzzle are in the same part, filled in or not, so that
/// nothing is measured on a board that it was trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 0.
    number: u64,
    of: u64,
}

impl Part {
    /// Reads it as it is typed: `2/3`.
    pub fn typed(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').map(|(number, of)| (number.parse::<u64>(), of.parse::<u64>()));
        match numbers {
            Some((Ok(number), Ok(of))) if (1..=of).contains(&number) && of <= 1000 => {
                Ok(Self { number: number - 1, of })
            }
            _ => Err("expected a part like 2/3: the second of three".to_owned()),
        }
    }

    /// Whether a photograph is in it. One without a sudoku is in every part.
    pub fn has(self, entry: &Entry) -> bool {
        let Some(board) = &entry.board else { return true };
        let solution = reference::solve(Shape::NINE, board, 1).ok().and_then(|found| found.first);
        let digest = blake3::hash(solution.as_ref().unwrap_or(board));
        let word = digest.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        word % self.of == self.number
    }
}

/// Reads a manifest.
///
/// # Errors
///
/// Names the manifest, the line and what is wrong with it.
pub fn read(path: &Path) -> Result<Vec<Entry>, String> {
    let failed = |error: csv::Error| format!("{}: {error}", path.display());
    let mut reader = csv::Reader::from_path(path).map_err(failed)?;
    let header = reader.headers().map_err(failed)?.clone();
    let column = |name: &str| header.iter().position(|column| column.trim() == name);
    let needed =
        |name: &str| column(name).ok_or_else(|| format!("{}: there is no column {name}", path.display()));
    let (file, board, source) = (needed("file")?, needed("board")?, column("source"));
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut entries = Vec::new();
    for (line, row) in (2..).zip(reader.records()) {
        let row = row.map_err(failed)?;
        let field = |at: usize| row.get(at).unwrap_or_default().trim();
        let name = field(file).to_owned();
        let text = field(board);
        let board = cells(text).map_err(|why| format!("{}, line {line}: {why}", path.display()))?;
        let candidates =
            text.bytes().enumerate().filter(|&(_, byte)| byte == b'c').map(|(at, _)| at).collect();
        let source = source.map(field).filter(|source| !source.is_empty());
        let source = source.map_or_else(
            || name.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned(),
            str::to_owned,
        );
        entries.push(Entry { line, path: folder.join(&name), file: name, source, board, candidates });
    }
    if entries.is_empty() {
        return Err(format!("{}: there are no photographs in it", path.display()));
    }
    Ok(entries)
}

fn cells(text: &str) -> Result<Option<Vec<u8>>, String> {
    if matches!(text, "" | "-") {
        return Ok(None);
    }
    let cell = |(at, character): (usize, char)| match character {
        '.' | 'c' => Ok(0),
        '0'..='9' => Ok(u8::try_from(u32::from(character) - u32::from('0')).unwrap_or(0)),
        other => {
            Err(format!("board: character {} is {other:?}: expected a digit, or c for candidates", at + 1))
        }
    };
    let cells = text.chars().enumerate().map(cell).collect::<Result<Vec<u8>, _>>()?;
    match cells.len() {
        81 => Ok(Some(cells)),
        others => Err(format!("board: {others} characters: expected 81, or - where there is no sudoku")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_read_and_what_is_wrong_is_named() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("manifest.csv");
        let read_text = |text: &str| {
            std::fs::write(&path, text).expect("a file");
            read(&path)
        };
        let board = "5c".to_owned() + &"0".repeat(79);
        let entries =
            read_text(&format!("licence,file,board\nMIT,a/b.jpg,{board}\n,c.jpg,-\n")).expect("entries");
        let mut cells = vec![0; 81];
        cells[0] = 5;
        let first = &entries[0];
        assert_eq!((first.source.as_str(), first.board.as_ref(), first.line), ("a", Some(&cells), 2));
        assert_eq!((&first.path, first.candidates), (&dir.path().join("a/b.jpg"), CellSet::single(1)));
        assert_eq!((entries[1].source.as_str(), &entries[1].board), (".", &None));
        let sourced = read_text("file,source,board\nx.jpg,paper,\n").expect("entries");
        assert_eq!((sourced[0].source.as_str(), &sourced[0].board), ("paper", &None));
        for (wrong, what) in [
            ("name,board\na,-\n", "no column file"),
            ("file,board\n", "no photographs"),
            ("file,board\na.jpg,123\n", "line 2: board: 3 characters"),
            ("file,board\na.jpg,-\nb.jpg,x\n", "line 3: board: character 1 is 'x'"),
        ] {
            let error = read_text(wrong).expect_err(wrong);
            assert!(error.contains(what) && error.contains("manifest.csv"), "{error}");
        }
        assert!(read(&dir.path().join("nowhere")).expect_err("nothing").contains("nowhere"));
    }
    #[test]
    fn photographs_of_the_same_puzzle_are_in_one_part() {
        let puzzle = "530070000600195000098000060800060003400803001700020006060000280000419005000080079";
        let solution = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
        let entry = |text: &str| Entry {
            line: 2,
            file: String::new(),
            path: PathBuf::new(),
            source: String::new(),
            board: cells(text).expect("81 cells"),
            candidates: CellSet::EMPTY,
        };
        let parts = ["1/3", "2/3", "3/3"].map(|text| Part::typed(text).expect("a part"));
        let puzzle_in = parts.map(|part| part.has(&entry(puzzle)));
        assert_eq!(puzzle_in.iter().filter(|&&is| is).count(), 1);
        assert_eq!(parts.map(|part| part.has(&entry(solution))), puzzle_in);
        assert_eq!(parts.map(|part| part.has(&entry("-"))), [true; 3]);
        for wrong in ["", "3", "0/3", "4/3", "1/0", "x/3", "1/2/3"] {
            assert!(Part::typed(wrong).is_err(), "{wrong}");
        }
    }
}
