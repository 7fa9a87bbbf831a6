//! What was read, drawn on the photograph: the lines of the mesh, the digits, and what is doubtful.

use shared::photo::{
    load::Photo,
    reading::{Board, Point, Reading},
};

use super::canvas::{Canvas, Quad, Rgb, within};

/// The longer edge of a thumbnail.
const THUMBNAIL_EDGE: usize = 220;

/// Quality of a thumbnail: some ten kilobytes.
const THUMBNAIL_QUALITY: u8 = 60;

/// How much of the photograph around the board a thumbnail shows, as a share of the board.
const AROUND: f32 = 0.06;

const LINE: Rgb = [0, 150, 90];
const DIGIT: Rgb = [0, 90, 220];
const AMBER: Rgb = [255, 160, 0];
const HALO: Rgb = [255, 255, 255];

/// Draws a board. `place` tells where a place of the grey picture is on the canvas.
pub fn draw(canvas: &mut Canvas, board: &Board, place: impl Fn(Point) -> Point) {
    let side = board.shape.side();
    let mesh: Vec<Point> = board.mesh.iter().map(|&point| place(point)).collect();
    if mesh.len() != (side + 1) * (side + 1) || board.cells.len() != side * side {
        return;
    }
    let quad = |cell: usize| -> Quad {
        let first = cell / side * (side + 1) + cell % side;
        [first, first + 1, first + side + 2, first + side + 1].map(|at| mesh[at])
    };
    // A tenth of a cell is a bold line.
    let cell = distance(mesh[0], mesh[side]).max(distance(mesh[0], mesh[side * (side + 1)])) / number(side);
    let bold = (cell / 24.0).clamp(0.4, 2.0);
    board
        .flagged
        .iter()
        .filter(|&cell| cell < side * side)
        .for_each(|cell| canvas.fill(&quad(cell), 0.35, AMBER));
    for line in 0..=side {
        let width = |every: usize| if line % every == 0 { bold } else { bold / 2.0 };
        for step in 0..side {
            let (row, column) = (line * (side + 1) + step, step * (side + 1) + line);
            canvas.stroke(mesh[row], mesh[row + 1], width(board.shape.rows()), LINE);
            canvas.stroke(mesh[column], mesh[column + side + 1], width(board.shape.columns()), LINE);
        }
    }
    for (at, &digit) in board.cells.iter().enumerate() {
        let doubtful = board.flagged.contains(at);
        let quad = quad(at);
        if doubtful {
            canvas.outline(&inner(&quad, 0.08, 0.08, 0.92, 0.92), bold * 1.2, AMBER);
        }
        // The digit that was seen stays in sight: what was read stands at the bottom right.
        let box_ = inner(&quad, 0.62, 0.5, 0.88, 0.9);
        let character = match digit {
            0 if doubtful => '?',
            0 => continue,
            digit => shared::grid::shape::symbol(usize::from(digit).saturating_sub(1).min(24)),
        };
        canvas.character(character, &box_, bold * 2.2, HALO);
        canvas.character(character, &box_, bold, if doubtful { AMBER } else { DIGIT });
    }
}

/// A small JPEG of the boards with what was read, or of the whole photograph if there are none.
pub fn thumbnail(photo: &Photo, reading: &Reading) -> Vec<u8> {
    let whole = Canvas::from(&photo.gray);
    let points = || reading.boards.iter().flat_map(|board| &board.mesh);
    let (mut from, mut to) =
        (Point { x: 0.0, y: 0.0 }, Point { x: number(photo.gray.width()), y: number(photo.gray.height()) });
    if points().next().is_some() {
        let least = |part: fn(&Point) -> f32| points().map(part).fold(f32::INFINITY, f32::min);
        let most = |part: fn(&Point) -> f32| points().map(part).fold(f32::NEG_INFINITY, f32::max);
        (from, to) =
            (Point { x: least(|p| p.x), y: least(|p| p.y) }, Point { x: most(|p| p.x), y: most(|p| p.y) });
        let around = AROUND * (to.x - from.x).max(to.y - from.y);
        from = Point { x: from.x - around, y: from.y - around };
        to = Point { x: to.x + around, y: to.y + around };
    }
    let cut = whole.cut(from, to, THUMBNAIL_EDGE);
    let mut picture = cut.picture.clone();
    reading.boards.iter().for_each(|board| draw(&mut picture, board, |point| cut.place(point)));
    // A picture of no pixels has no thumbnail.
    picture.jpeg(THUMBNAIL_QUALITY).unwrap_or_default()
}

/// A part of a quadrangle, from shares of its edges.
fn inner(quad: &Quad, left: f32, top: f32, right: f32, bottom: f32) -> Quad {
    [(left, top), (right, top), (right, bottom), (left, bottom)].map(|(x, y)| within(quad, x, y))
}

fn distance(a: Point, b: Point) -> f32 {
    let (dx, dy) = (a.x - b.x, a.y - b.y);
    (dx * dx + dy * dy).sqrt()
}

#[allow(clippy::cast_precision_loss, reason = "no picture is so large")]
fn number(pixels: usize) -> f32 {
    pixels as f32
}
