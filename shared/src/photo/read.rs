//! The steps put together.

use super::{
    Gray,
    classify::{Classifier, LogProbabilities, Patch},
    cut::cut,
    debug::{self, Nobody, Sink},
    decode::{Costs, Counter, costs, decode},
    homography::Place,
    judge::{Judged, judge},
    lattice::{Fit, Lattice, refined, shape_of},
    load::Photo,
    locate::{Candidate, locate},
    reading::{Board, Point, Reading, Refusal},
    rectify::{Mesh, rectify},
    tone::{halved, inverted},
    turn::{all_turned, mesh_turned, turned, upright, with_ink},
};
/// Pictures with a longer edge are halved to look for grids.
const LOCATE_EDGE: usize = 1000;

/// How much likelier it is that a photograph stands upright than another way, as a logarithm.
const UPRIGHT: f32 = 4.0;

/// A way up that is this much likelier than the others is not doubted.
const CLEAR: f32 = 14.0;

/// Reads photographs. Costs some hundred kilobytes; can be shared.
#[derive(Debug, Default)]
pub struct Reader {
    classifier: Classifier,
}

/// A lattice that was read.
struct Read {
    board: Board,
    judged: Judged,
    lattice: Lattice,
}

impl Reader {
    /// Prepares the reading.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader whose cells are told by another classifier than the one that comes with the program.
    pub fn with(classifier: Classifier) -> Self {
        Self { classifier }
    }

    /// Reads a photograph. With `corners` (as [`Board::corners`] gives them) the grid is not looked for.
    pub fn read(&self, photo: &Photo, corners: Option<[Point; 4]>) -> Reading {
        self.read_step_by_step(photo, corners, None)
    }

    /// The same, with a picture of each step for whoever wants to look.
    pub fn read_step_by_step(
        &self,
        photo: &Photo,
        corners: Option<[Point; 4]>,
        sink: Option<&mut dyn Sink>,
    ) -> Reading {
        let nobody: &mut dyn Sink = &mut Nobody;
        let sink = sink.unwrap_or(nobody);
        if let Some(corners) = corners {
            return self.read_at(&photo.gray, corners, sink);
        }
        let reading = self.read_gray(&photo.gray, sink);
        if reading.boards.is_empty() {
            // White on black, as programs show it in the dark.
            let dark = self.read_gray(&inverted(&photo.gray), sink);
            if !dark.boards.is_empty() || reading.refusal == Some(Refusal::NoGrid) {
                return dark;
            }
        }
        reading
    }

    fn read_gray(&self, picture: &Gray, sink: &mut dyn Sink) -> Reading {
        let candidates = located(picture);
        if sink.looks() {
            let corners = candidates.iter().map(|found| found.lattice.corners());
            sink.picture("located", &debug::lattices(picture, corners));
        }
        let boards = self.boards(picture, &candidates, sink);
        let refusal = match (boards.is_empty(), candidates.is_empty()) {
            (false, _) => None,
            (true, true) => Some(Refusal::NoGrid),
            (true, false) => Some(Refusal::NoSudoku),
        };
        Reading { boards, refusal }
    }

    /// The boards of candidates, the largest first: of those that overlap the best.
    fn boards(&self, picture: &Gray, candidates: &[Candidate], sink: &mut dyn Sink) -> Vec<Board> {
        let mut counter = Counter::default();
        let mut read: Vec<Read> = Vec::new();
        for candidate in candidates {
            let same = read.iter().position(|other| other.lattice.overlaps(&candidate.lattice));
            if same.is_some_and(|place| read[place].is_beyond_doubt()) {
                continue;
            }
            let mesh = rectify(&candidate.lattice, picture);
            let found = (candidate.lattice, candidate.fit.present);
            let new = self.read_mesh(picture, &mesh, found, &mut counter, sink);
            match same {
                Some(place) if read[place].judged.value >= new.judged.value => {}
                Some(place) => read[place] = new,
                None => read.push(new),
            }
        }
        read.retain(|read| read.judged.readable);
        read.sort_by(|a, b| b.lattice.area().total_cmp(&a.lattice.area()));
        read.into_iter().map(|read| read.board).collect()
    }

    /// Reads what somebody says is a grid.
    fn read_at(&self, picture: &Gray, corners: [Point; 4], sink: &mut dyn Sink) -> Reading {
        let corners = corners.map(|Point { x, y }| (f64::from(x), f64::from(y)));
        let mut best: Option<Read> = None;
        for side in [9, 6, 4] {
            let Some(lattice) = Lattice::between(corners, side) else { continue };
            let lattice = refined(lattice, picture, &[0.2, 0.15]).unwrap_or(lattice);
            let fit = Fit::of(&lattice.edges(picture, 0.15), side, lattice.cell());
            let mesh = rectify(&lattice, picture);
            let found = (lattice, fit.present);
            let read = self.read_mesh(picture, &mesh, found, &mut Counter::default(), sink);
            if read.judged.readable && best.as_ref().is_none_or(|best| best.judged.value < read.judged.value)
            {
                best = Some(read);
            }
        }
        let boards: Vec<Board> = best.into_iter().map(|read| read.board).collect();
        let refusal = boards.is_empty().then_some(Refusal::NoSudoku);
        Reading { boards, refusal }
    }

    /// Reads the cells of a mesh, whichever way up it is: where that is not clear from the digits, by what makes sense.
    fn read_mesh(
        &self,
        picture: &Gray,
        mesh: &Mesh,
        (lattice, present): (Lattice, f64),
        counter: &mut Counter,
        sink: &mut dyn Sink,
    ) -> Read {
        let patches = cut(picture, mesh);
        let mut best: Option<Read> = None;
        for turn in self.likely_turns(&patches) {
            let read = self.read_turned((mesh, &patches), turn, (lattice, present), picture, counter, sink);
            let better = best.as_ref().is_none_or(|best| best.judged.value < read.judged.value);
            let certain = read.is_beyond_doubt();
            if better {
                best = Some(read);
            }
            if certain {
                break;
            }
        }
        best.expect("there is always a likely turn")
    }

    /// Reads the cells of a mesh after some quarters clockwise.
    fn read_turned(
        &self,
        (mesh, patches): (&Mesh, &[Patch]),
        turn: usize,
        (lattice, present): (Lattice, f64),
        picture: &Gray,
        counter: &mut Counter,
        sink: &mut dyn Sink,
    ) -> Read {
        let (mut mesh, mut patches) = (mesh.clone(), patches.to_vec());
        for _ in 0..turn {
            patches = all_turned(&patches, mesh.side);
            mesh = mesh_turned(&mesh);
        }
        let seen = self.classifier.classify(&patches);
        let shape = shape_of(mesh.side);
        let evidence: Vec<Costs> = seen.iter().map(costs).collect();
        let decoded = decode(shape, &evidence, counter);
        if sink.looks() {
            sink.picture("mesh", &debug::mesh(picture, &mesh));
            sink.picture("cells", &debug::cells(&patches, &decoded, mesh.side));
        }
        let mut judged = judge(shape, &decoded, &evidence, &seen, present);
        judged.flagged = judged.flagged.union(mesh.cut_off(picture));
        let board = Board {
            shape,
            cells: decoded.cells,
            confidence: decoded.confidence,
            flagged: judged.flagged,
            candidates: judged.candidates,
            mesh: mesh.crossings.iter().map(point).collect(),
        };
        Read { board, judged, lattice }
    }

    /// By how many quarters clockwise the cells may have to be turned for their digits to stand upright: the likeliest
    /// number, and the next one if it is not much less likely.
    fn likely_turns(&self, patches: &[Patch]) -> Vec<usize> {
        let some = with_ink(patches);
        let mut tried: Vec<Patch> = some.iter().map(|&cell| patches[cell]).collect();
        let mut turns = tried.clone();
        for _ in 1..4 {
            tried = tried.iter().map(turned).collect();
            turns.extend_from_slice(&tried);
        }
        let seen = self.classifier.classify(&turns);
        let likely = |(turn, seen): (usize, &[LogProbabilities])| {
            (upright(seen) + if turn == 0 { UPRIGHT } else { 0.0 }, turn)
        };
        let mut all: Vec<(f32, usize)> = seen.chunks(some.len().max(1)).enumerate().map(likely).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let least = all[0].0 - CLEAR;
        all.into_iter().take(2).filter(|&(likely, _)| likely >= least).map(|(_, turn)| turn).collect()
    }
}

/// The lattices on a picture, those that fit better first.
fn located(picture: &Gray) -> Vec<Candidate> {
    if picture.width().max(picture.height()) <= LOCATE_EDGE {
        return locate(picture);
    }
    let scaled = |found: Candidate| Candidate { lattice: found.lattice.scaled(2.0), ..found };
    locate(&halved(picture)).into_iter().map(scaled).collect()
}

/// What looks like a grid on a picture.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Cells along a side.
    pub side: usize,
    /// The cells, row by row, as the classifier gets them.
    pub patches: Vec<Patch>,
}

impl Lines {
    /// The same, turned by a quarter clockwise.
    #[must_use]
    pub fn turned(&self) -> Self {
        Self { side: self.side, patches: all_turned(&self.patches, self.side) }
    }
}

/// What looks like a grid on a picture, whatever is in its cells and whichever way up: for training. Those that fit
/// better first; some may be parts of others, or no grid.
pub fn lines(picture: &Gray) -> Vec<Lines> {
    let one = |found: Candidate| {
        let mesh = rectify(&found.lattice, picture);
        Lines { side: mesh.side, patches: cut(picture, &mesh) }
    };
    located(picture).into_iter().map(one).collect()
}

fn point(&(x, y): &Place) -> Point {
    Point { x: x as f32, y: y as f32 }
}

impl Read {
    /// Whether nothing that overlaps it can be better.
    fn is_beyond_doubt(&self) -> bool {
        self.judged.readable && self.judged.flagged.len() < 4 && self.judged.value > 55.0
    }
}
