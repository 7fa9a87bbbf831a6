//! From the bytes of a file to a record: the picture is loaded, read and drawn on, and the board solved.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shared::{
    photo::{
        Colour, Gray,
        debug::Sink,
        load::{Photo, load, load_colour},
        reading::{self, Point, Reader, Reading},
    },
    solve::general::{self, Question},
};

use super::{
    canvas::Canvas,
    overlay::{draw, thumbnail},
    record::{Board, Outcome, Record, Verdict},
};

/// Bytes of a file at most. Cameras make files of some ten megabytes; larger ones are not even read.
pub const MOST_FILE_BYTES: u64 = 64 << 20;

/// Guesses after which the solutions of a board are not counted any further.
const MOST_GUESSES: u64 = 1_000_000;

/// How a photograph is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Whether to keep the solution of a board.
    pub solve: bool,
    /// Where the board is, in pixels of the photograph; it is not looked for then.
    pub corners: Option<[Point; 4]>,
}

/// A photograph that has been looked at.
#[derive(Debug)]
pub struct Seen {
    /// What is known of it.
    pub record: Record,
    /// The boards with their meshes, if it is a picture.
    pub reading: Option<Reading>,
}

impl Seen {
    /// The photograph with what was read drawn on it. `bytes` are those that it was read from.
    ///
    /// # Errors
    ///
    /// When it is no picture.
    pub fn overlay(&self, bytes: &[u8]) -> Result<Canvas, String> {
        let colour: Colour = load_colour(bytes).map_err(|error| error.to_string())?;
        let mut canvas = Canvas::from(&colour);
        let boards = self.reading.iter().flat_map(|reading| &reading.boards);
        boards.for_each(|board| draw(&mut canvas, board, |point| point));
        Ok(canvas)
    }
}

/// Looks at a photograph. Whatever is in the file, there is a record of it: what makes the reading panic is as unreadable
/// as what is no picture, for one file in ten thousand must not stop the others.
#[must_use]
pub fn look(file: &str, bytes: &[u8], manner: Manner, reader: &Reader, stop: &dyn Fn() -> bool) -> Seen {
    look_step_by_step(file, bytes, manner, reader, stop, None)
}

/// The same, and what each step makes of the photograph goes to the sink.
#[must_use]
pub fn look_step_by_step(
    file: &str,
    bytes: &[u8],
    manner: Manner,
    reader: &Reader,
    stop: &dyn Fn() -> bool,
    mut sink: Option<&mut dyn Sink>,
) -> Seen {
    let seen = catch_unwind(AssertUnwindSafe(|| {
        let photo = load(bytes).map_err(|error| error.to_string())?;
        let corners = manner.corners.map(|corners| corners.map(|corner| to_gray(&photo, corner)));
        if let Some(sink) = &mut sink
            && let Some(loaded) = in_colour(&photo.gray)
        {
            sink.picture("loaded", &loaded);
        }
        let reading = reader.read_step_by_step(&photo, corners, sink);
        Ok((photo, reading))
    }));
    let seen = seen.unwrap_or_else(|_| Err("reading it failed in a way that it should not".into()));
    match seen {
        Err(why) => Seen { record: Record::unreadable(file, why), reading: None },
        Ok((photo, reading)) => {
            let boards =
                reading.boards.iter().map(|board| recorded(&photo, board, manner.solve, stop)).collect();
            let outcome = match reading.refusal {
                _ if !reading.boards.is_empty() => Outcome::Read,
                Some(refusal) => Outcome::Refused(refusal.to_string()),
                None => Outcome::Refused("nothing was found".into()),
            };
            let thumbnail = thumbnail(&photo, &reading);
            Seen { record: Record { file: file.into(), outcome, boards, thumbnail }, reading: Some(reading) }
        }
    }
}

fn in_colour(gray: &Gray) -> Option<Colour> {
    Colour::new(gray.width(), gray.height(), gray.pixels().iter().flat_map(|&level| [level; 3]).collect())
}

fn recorded(photo: &Photo, board: &reading::Board, keep: bool, stop: &dyn Fn() -> bool) -> Board {
    let &reading::Board { shape, ref cells, ref confidence, flagged, candidates, .. } = board;
    let question = Question { shape, cells, candidates: None, limit: 2, cap: MOST_GUESSES };
    let (verdict, problem, solution) = match general::solve(&question, stop) {
        Err(error) => (Verdict::Invalid, error.to_string(), None),
        Ok(answer) => match answer.solutions {
            0 if answer.finished => (Verdict::None, String::new(), None),
            1 if answer.finished => (Verdict::Unique, String::new(), answer.first.filter(|_| keep)),
            0 | 1 => (Verdict::Unsolved, String::new(), None),
            _ => (Verdict::Multiple, String::new(), None),
        },
    };
    Board {
        shape,
        cells: cells.clone(),
        confidence: confidence.iter().map(|&share| thousandths(share)).collect(),
        flagged,
        candidates,
        corners: board.corners().map(|corner| from_gray(photo, corner)),
        verdict,
        problem,
        solution,
    }
}

/// A probability in thousandths; what is no number counts as none.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1000")]
fn thousandths(share: f32) -> u16 {
    (share.clamp(0.0, 1.0) * 1000.0 + 0.5) as u16
}

/// Pixels of the photograph for a pixel of the grey picture, each way.
#[allow(clippy::cast_precision_loss, reason = "no picture is so large")]
fn scale(photo: &Photo) -> (f32, f32) {
    let of = |whole: u32, small: usize| whole as f32 / small.max(1) as f32;
    (of(photo.width, photo.gray.width()), of(photo.height, photo.gray.height()))
}

fn from_gray(photo: &Photo, point: Point) -> Point {
    let (across, down) = scale(photo);
    Point { x: (point.x + 0.5) * across - 0.5, y: (point.y + 0.5) * down - 0.5 }
}

fn to_gray(photo: &Photo, point: Point) -> Point {
    let (across, down) = scale(photo);
    Point { x: (point.x + 0.5) / across - 0.5, y: (point.y + 0.5) / down - 0.5 }
}

#[cfg(test)]
mod tests {
    use shared::{grid::Shape, unavoidable::CellSet};

    use super::*;

    /// A board of 4x4 on a photograph that was twice as wide and three times as high.
    fn board(text: &str) -> Board {
        let gray = Gray::filled(100, 100, 255);
        let photo = Photo { gray, width: 200, height: 300 };
        let place = |at: u8| Point { x: f32::from(at % 5) * 10.0, y: f32::from(at / 5) * 10.0 };
        let board = reading::Board {
            shape: Shape::FOUR,
            cells: text.bytes().map(|byte| byte - b'0').collect(),
            confidence: vec![0.5, -1.0, 2.0, f32::NAN, 0.99951].into_iter().chain([1.0; 11]).collect(),
            flagged: CellSet::single(3),
            candidates: CellSet::EMPTY,
            mesh: (0..25).map(place).collect(),
        };
        recorded(&photo, &board, true, &|| false)
    }

    #[test]
    fn verdicts_are_those_of_the_solver() {
        let verdict = |text: &str| (board(text).verdict, board(text).solution.is_some());
        assert_eq!(verdict("1000003002000004"), (Verdict::Unique, true));
        assert_eq!(verdict("1000000000000000"), (Verdict::Multiple, false));
        assert_eq!(verdict("1230000400000000"), (Verdict::None, false));
        assert_eq!(verdict("1100000000000000"), (Verdict::Invalid, false));
        assert!(board("1100000000000000").problem.contains("row 1, column 2"));
    }

    #[test]
    fn corners_are_in_pixels_of_the_photograph_and_shares_are_bounded() {
        let board = board("1000003002000004");
        let corners = board.corners.map(|corner| (corner.x, corner.y));
        assert_eq!(corners, [(0.5, 1.0), (80.5, 1.0), (80.5, 121.0), (0.5, 121.0)]);
        assert_eq!(board.confidence[..6], [500, 0, 1000, 0, 1000, 1000]);
        assert_eq!(board.doubt(), 500 + 1000 + 1000);
    }

    #[test]
    fn what_panics_is_unreadable() {
        let photo = super::super::drawn::puzzle(&"0".repeat(81)).png().unwrap();
        let mut sink = Panicking;
        let seen =
            look_step_by_step("a", &photo, Manner::default(), &Reader::new(), &|| false, Some(&mut sink));
        assert_eq!(seen.record.outcome.word(), "unreadable");
    }

    struct Panicking;

    impl Sink for Panicking {
        fn picture(&mut self, _: &str, _: &Colour) {
            panic!("as it should not");
        }
    }
}
