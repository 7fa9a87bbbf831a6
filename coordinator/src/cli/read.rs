//! `nonet read`: the sudoku on one photograph.

use std::{
    fs,
    io::{IsTerminal, Read},
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use jobs::photos::{
    Corners, MOST_FILE_BYTES, Manner, Seen, board_json,
    canvas::Canvas,
    look_step_by_step,
    record::{Board, Outcome as Came},
};
use serde_json::json;
use shared::{
    grid::notation,
    photo::{Colour, debug::Sink, reading::Reader},
};
use worker::cli::stop_on_signal;

use super::{
    exit::{Failure, Outcome},
    format,
};

#[derive(Debug, Args)]
pub struct ReadArgs {
    /// A photograph: JPEG, PNG and what else is common
    #[arg(value_name = "PHOTO")]
    pub photo: PathBuf,
    /// Tell the solution, if there is only one
    #[arg(long)]
    pub solve: bool,
    /// Draw what was read on the photograph, into FILE (.png or .jpg): lines green, digits blue, doubtful cells amber
    #[arg(long, value_name = "FILE")]
    pub overlay: Option<PathBuf>,
    /// Where the board is: its corners as it is read (top left, top right, bottom right, bottom left), in pixels
    #[arg(long, value_name = "X,Y,X,Y,X,Y,X,Y", value_parser = Corners::typed, allow_hyphen_values = true)]
    pub corners: Option<Corners>,
    /// Write a picture of each step of the reading into the folder DIR
    #[arg(long, value_name = "DIR")]
    pub debug: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value_t)]
    pub format: BoardFormat,
}

/// How a board is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum BoardFormat {
    /// Drawn, with ? behind doubtful cells
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// Quality of the JPEG of an overlay.
const QUALITY: u8 = 90;

/// Amber on a terminal, and back.
const AMBER: (&str, &str) = ("\x1b[1;33m", "\x1b[0m");

/// Reads a photograph and prints what is on it.
pub async fn run(args: ReadArgs) -> Result<Outcome, Failure> {
    let stop = stop_on_signal()?;
    let stopped = stop.clone();
    let read = tokio::task::spawn_blocking(move || read(&args, &|| stopped.is_cancelled()));
    tokio::select! {
        // There is nothing to keep.
        () = stop.cancelled() => Ok(Outcome::Interrupted),
        read = read => read.map_err(|e| Failure::failed(format!("reading failed: {e}")))?,
    }
}

fn read(args: &ReadArgs, stop: &dyn Fn() -> bool) -> Result<Outcome, Failure> {
    let name = args.photo.display().to_string();
    if let Some(path) = &args.overlay {
        Picture::of_name(path)?;
    }
    let bytes = bytes_of(&args.photo)?;
    let mut steps = args.debug.as_deref().map(Steps::new).transpose()?;
    let sink = steps.as_mut().map(|steps| steps as &mut dyn Sink);
    let manner = Manner { solve: args.solve, corners: args.corners.map(|corners| corners.0) };
    let seen = look_step_by_step(&name, &bytes, manner, &Reader::new(), stop, sink);
    if let Some(failure) = steps.and_then(|steps| steps.failure) {
        return Err(failure);
    }
    match args.format {
        BoardFormat::Text => format::print(&text(&seen, std::io::stdout().is_terminal()))?,
        BoardFormat::Json => format::print(&(json(&seen).to_string() + "\n"))?,
    }
    if let Some(why) = seen.record.outcome.reason() {
        return Err(Failure::failed(format!("{name}: {}: {why}", seen.record.outcome.word())));
    }
    if let Some(path) = &args.overlay {
        let canvas = seen.overlay(&bytes).map_err(|error| Failure::failed(format!("{name}: {error}")))?;
        Picture::of_name(path)?.write(&canvas, path)?;
    }
    Ok(Outcome::Done)
}

/// The bytes of a file, if there are not too many.
pub fn bytes_of(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::usage(format!("{}: {error}", path.display()));
    let file = fs::File::open(path).map_err(|error| failed(&error))?;
    if !file.metadata().map_err(|error| failed(&error))?.is_file() {
        return Err(failed(&"not a file; `nonet run photos` reads folders"));
    }
    let mut bytes = Vec::new();
    file.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 > MOST_FILE_BYTES {
        return Err(failed(&format_args!(
            "more than {} MiB, which no photograph has",
            MOST_FILE_BYTES >> 20
        )));
    }
    Ok(bytes)
}

/// In which form a picture is written.
#[derive(Clone, Copy)]
enum Picture {
    Png,
    Jpeg,
}

impl Picture {
    fn of_name(path: &Path) -> Result<Self, Failure> {
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
        match end.as_str() {
            "png" => Ok(Self::Png),
            "jpg" | "jpeg" => Ok(Self::Jpeg),
            _ => Err(Failure::usage(format!("{}: a picture is written as .png or .jpg", path.display()))),
        }
    }

    fn write(self, canvas: &Canvas, path: &Path) -> Result<(), Failure> {
        let bytes = match self {
            Self::Png => canvas.png(),
            Self::Jpeg => canvas.jpeg(QUALITY),
        };
        let written = bytes.and_then(|bytes| fs::write(path, bytes));
        written.map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
    }
}

/// Writes the picture of each step into a folder, numbered in their order.
struct Steps {
    folder: PathBuf,
    count: usize,
    failure: Option<Failure>,
}

impl Steps {
    fn new(folder: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(folder).map_err(|e| Failure::usage(format!("{}: {e}", folder.display())))?;
        Ok(Self { folder: folder.to_owned(), count: 0, failure: None })
    }
}

impl Sink for Steps {
    fn picture(&mut self, step: &str, picture: &Colour) {
        self.count += 1;
        let path = self.folder.join(format!("{:02}-{step}.png", self.count));
        if let Err(failure) = Picture::Png.write(&Canvas::from(picture), &path) {
            self.failure.get_or_insert(failure);
        }
    }
}

fn json(seen: &Seen) -> serde_json::Value {
    let record = &seen.record;
    json!({
        "file": record.file,
        "outcome": record.outcome.word(),
        "problem": record.outcome.reason(),
        "boards": record.boards.iter().map(board_json).collect::<Vec<_>>(),
    })
}

fn text(seen: &Seen, colours: bool) -> String {
    let boards = &seen.record.boards;
    if seen.record.outcome != Came::Read {
        return String::new();
    }
    let mut text = String::new();
    for (number, board) in (1..).zip(boards) {
        if boards.len() > 1 {
            text += &format!("board {number} of {}\n", boards.len());
        }
        text += &drawn(board, colours);
        text += &said(board);
        if let Some(solution) = &board.solution {
            text += &notation::drawing(board.shape, solution);
        }
    }
    text
}

/// What is to be said below a board.
fn said(board: &Board) -> String {
    let mut said = format!("verdict: {}", board.verdict);
    if !board.problem.is_empty() {
        said += &format!(" ({})", board.problem);
    }
    let side = board.shape.side();
    let cells: Vec<String> = board
        .flagged
        .iter()
        .map(|cell| format!("row {} column {}", cell / side + 1, cell % side + 1))
        .collect();
    said += &match cells.len() {
        0 => "; no cell is doubtful\n".to_owned(),
        count => format!("; {count} doubtful, marked with ?: {}\n", cells.join(", ")),
    };
    said
}

/// A board with a `?` behind each doubtful cell, which is amber too if colours can be seen.
fn drawn(board: &Board, colours: bool) -> String {
    let (side, columns) = (board.shape.side(), board.shape.columns());
    let width = if side > 9 { 2 } else { 1 };
    let drawing = notation::drawing(board.shape, &board.cells);
    let mut row = 0;
    let mut text = String::new();
    for line in drawing.lines() {
        if line.starts_with('+') {
            text += &format!("{line}\n");
            continue;
        }
        let mut parts: Vec<String> = line.chars().map(String::from).collect();
        for column in (0..side).filter(|column| board.flagged.contains(row * side + column)) {
            // Each box begins with a stroke and a blank, and each cell ends with a blank.
            let behind = 2 * (column / columns + 1) + (column + 1) * (width + 1) - 1;
            parts[behind] = "?".into();
            if colours {
                parts[behind - width].insert_str(0, AMBER.0);
                parts[behind].push_str(AMBER.1);
            }
        }
        text += &(parts.concat() + "\n");
        row += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use jobs::photos::record::Verdict;
    use shared::{grid::Shape, unavoidable::CellSet};

    use super::*;

    fn board(shape: Shape, flagged: &[usize]) -> Board {
        let cells = shape.side() * shape.side();
        let digits = (0..cells).map(|cell| u8::try_from(cell % (shape.side() + 1)).expect("a digit"));
        Board {
            shape,
            cells: digits.collect(),
            confidence: vec![1000; cells],
            flagged: flagged.iter().copied().collect(),
            candidates: CellSet::EMPTY,
            corners: Default::default(),
            verdict: Verdict::Multiple,
            problem: String::new(),
            solution: None,
        }
    }

    #[test]
    fn doubtful_cells_are_marked_where_they_are() {
        let board = board(Shape::NINE, &[0, 4, 80]);
        let drawing = drawn(&board, false);
        let lines: Vec<&str> = drawing.lines().collect();
        assert_eq!(lines[1], "| .?1 2 | 3 4?5 | 6 7 8 |");
        assert_eq!(lines[11], "| 2 3 4 | 5 6 7 | 8 9 .?|");
        assert!(drawn(&board, true).contains("\x1b[1;33m4?\x1b[0m5"));
        assert!(
            said(&board)
                .ends_with("3 doubtful, marked with ?: row 1 column 1, row 1 column 5, row 9 column 9\n")
        );
        assert_eq!(drawn(&self::board(Shape::NINE, &[]), true), notation::drawing(Shape::NINE, &board.cells));
    }

    #[test]
    fn numbers_of_two_digits_are_marked_behind_both() {
        let shape = Shape::new(2, 5).expect("a shape");
        let drawing = drawn(&board(shape, &[10]), false);
        assert_eq!(drawing.lines().nth(2), Some("| 10? .  1  2  3 |  4  5  6  7  8 |"));
    }
}
