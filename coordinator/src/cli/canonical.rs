//! `nonet canonical`: minlex forms of grids and puzzles, line by line.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::PathBuf,
    thread,
};

use clap::Args;
use shared::{
    grid::{
        Shape,
        notation::{LineLayout, Puzzle, text},
    },
    symmetry::minlex,
};
use worker::cli::threads;

use super::exit::{Failure, Outcome};

#[derive(Debug, Args)]
pub struct CanonicalArgs {
    /// Puzzles or grids, one a line: 81, 36 or 16 characters, . 0 * _ - x or ? for an empty cell; `-` reads standard input
    pub file: PathBuf,
    /// Print each form once, where it comes first: one line for each class of essentially different puzzles
    #[arg(long)]
    pub dedup: bool,
    /// Computing threads [default: one per core]
    #[arg(long, env = "NONET_THREADS", value_name = "N")]
    pub threads: Option<usize>,
}

/// Lines read and computed at a time: memory stays flat however long the file is.
const BATCH: usize = 1 << 15;
/// A longer line is no puzzle; it is not read to its end.
const MAX_LINE_BYTES: u64 = 1 << 16;

/// Prints the forms.
pub fn canonical(args: &CanonicalArgs) -> Result<Outcome, Failure> {
    let threads = threads(args.threads).map_err(Failure::usage)?;
    let name = args.file.display();
    let reader: Box<dyn BufRead> = if args.file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(&args.file).map_err(|e| Failure::usage(format!("{name}: {e}")))?;
        Box::new(BufReader::with_capacity(1 << 20, file))
    };
    let mut input = Input { reader, line: 0 };
    let mut out = BufWriter::new(io::stdout().lock());
    let mut seen = args.dedup.then(HashSet::new);
    loop {
        let (batch, trouble) = input.batch();
        if batch.is_empty() && trouble.is_none() {
            return finish(out.flush());
        }
        let printed = forms(&batch, threads).try_for_each(|form| {
            if seen.as_mut().is_none_or(|seen| seen.insert(packed(&form.cells))) {
                writeln!(out, "{}", text(form.shape, &form.cells))?;
            }
            Ok(())
        });
        if printed.is_err() {
            return finish(printed);
        }
        if let Some(why) = trouble {
            // What comes before the line is printed, so that the work is not lost.
            drop(out.flush());
            return Err(Failure::usage(format!("{name}: {why}")));
        }
    }
}

/// A reader that has seen enough (`| head`) is no failure.
fn finish(written: io::Result<()>) -> Result<Outcome, Failure> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(Outcome::Done),
    }
}

struct Input {
    reader: Box<dyn BufRead>,
    /// Lines read so far.
    line: u64,
}

impl Input {
    /// The next puzzles, none at the end of the input; and why there are no more of them, if a line is bad.
    fn batch(&mut self) -> (Vec<Puzzle>, Option<String>) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut bytes = Vec::new();
        while batch.len() < BATCH {
            match self.next(&mut bytes) {
                Ok(true) => {}
                Ok(false) => break,
                Err(why) => return (batch, Some(why)),
            }
            match read(&bytes) {
                Ok(puzzle) => batch.extend(puzzle),
                Err(why) => return (batch, Some(format!("line {}: {why}", self.line))),
            }
        }
        (batch, None)
    }

    /// Reads a line; false when there is none.
    fn next(&mut self, bytes: &mut Vec<u8>) -> Result<bool, String> {
        bytes.clear();
        let mut limited = io::Read::take(&mut *self.reader, MAX_LINE_BYTES);
        let length = limited.read_until(b'\n', bytes).map_err(|e| e.to_string())?;
        self.line += u64::from(length > 0);
        if length as u64 == MAX_LINE_BYTES && bytes.last() != Some(&b'\n') {
            return Err(format!("line {}: longer than {MAX_LINE_BYTES} bytes", self.line));
        }
        Ok(length > 0)
    }
}

/// Reads a line, if it has a puzzle of a shape whose forms can be had in a moment.
fn read(line: &[u8]) -> Result<Option<Puzzle>, String> {
    let read = LineLayout::default().read(line, None).map_err(|why| why.to_string())?;
    let Some(puzzle) = read else { return Ok(None) };
    if puzzle.candidates.is_some() {
        return Err("pencil marks have no canonical form here: give the clues only".into());
    }
    if ![Shape::FOUR, Shape::SIX, Shape::NINE].contains(&puzzle.shape) {
        return Err(format!(
            "there are canonical forms of 9x9, 6x6 and 4x4 puzzles; this one is {0}x{0}",
            puzzle.shape.side()
        ));
    }
    Ok(Some(puzzle))
}

/// The forms, in order.
fn forms(batch: &[Puzzle], threads: usize) -> impl Iterator<Item = Puzzle> {
    let share = batch.len().div_ceil(threads).max(1);
    let computed: Vec<Vec<Puzzle>> = thread::scope(|scope| {
        let parts = batch.chunks(share).map(|part| scope.spawn(|| part.iter().map(form).collect()));
        let parts: Vec<_> = parts.collect();
        parts
            .into_iter()
            .map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    computed.into_iter().flatten()
}

fn form(puzzle: &Puzzle) -> Puzzle {
    let shape = puzzle.shape;
    let cells = match <&[u8; 81]>::try_from(&puzzle.cells[..]) {
        Ok(cells) if shape == Shape::NINE => minlex::puzzle(cells).form.to_vec(),
        _ => minlex::brute::canonical(shape, &puzzle.cells).cells,
    };
    Puzzle { shape, cells, candidates: None }
}

/// Four bits a cell.
fn packed(cells: &[u8]) -> Box<[u8]> {
    cells.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).unwrap_or(&0)).collect()
}
