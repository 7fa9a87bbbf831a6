//! Whole pages.

use shared::{grid::Shape, photo::reading::Point, random::Random};

use super::{
    super::{
        canvas::{Canvas, Quad, Rgb, coordinate, whole},
        drawn::{Board, Style},
        impostors::camera::photographed,
    },
    boards,
};

/// A picture and the boards on it.
pub struct Scene {
    pub picture: Canvas,
    pub boards: Vec<Board>,
}

const PAPER: Rgb = [240; 3];

#[allow(clippy::cast_possible_truncation, reason = "a rounded fraction is as good")]
fn between(random: &mut Random, least: f32, most: f32) -> f32 {
    least + (most - least) * random.fraction() as f32
}

/// A board with some of its digits.
fn board(shape: Shape, random: &mut Random) -> Board {
    let cells = match shape.side() {
        4 => 5 + random.below(4),
        6 => 11 + random.below(8),
        _ => 26 + random.below(12),
    };
    Board { shape, cells: boards::puzzle(shape, cells, random) }
}

fn style(random: &mut Random) -> Style {
    let thin = between(random, 0.4, 1.0);
    let digit = between(random, 0.5, 0.66);
    let pen = between(random, 0.05, 0.09);
    Style { thin, bold: thin * between(random, 1.8, 3.0), digit, pen, ..Style::PRINT }
}

/// A square from its middle and its edge, turned by an angle (as the sine of it), its corners moved a little.
fn square(middle: (f32, f32), edge: f32, sine: f32, skew: f32, random: &mut Random) -> Quad {
    let cosine = (1.0 - sine * sine).sqrt();
    [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)].map(|(x, y)| {
        let (x, y) = (x * edge, y * edge);
        let (dx, dy) = (between(random, -skew, skew) * edge, between(random, -skew, skew) * edge);
        Point { x: middle.0 + x * cosine - y * sine + dx, y: middle.1 + x * sine + y * cosine + dy }
    })
}

/// A page with `columns` by `rows` puzzles of 9x9, between them `gap` of a cell, each put down a little askew if
/// `askew`; seen from aside.
pub fn several((columns, rows): (usize, usize), gap: f32, askew: bool, random: &mut Random) -> Scene {
    let cell = between(random, 24.0, 34.0);
    let edge = 9.0 * cell;
    let pitch = edge + gap * cell;
    let margin = 1.5 * cell;
    let extent = |count: usize| 2.0 * margin + pitch * coordinate(count) - gap * cell;
    let mut picture = Canvas::filled(whole(extent(columns)), whole(extent(rows)), PAPER);
    let style = style(random);
    let mut drawn = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let middle = |at: usize| margin + pitch * coordinate(at) + edge / 2.0;
            // As far as its neighbours leave room.
            let most = if askew { (0.25 * gap / 9.0).min(0.06) } else { 0.0 };
            let sine = between(random, -most, most);
            let quad = square((middle(column), middle(row)), edge, sine, most * 0.1, random);
            let board = board(Shape::NINE, random);
            board.draw(&mut picture, &quad, &style);
            drawn.push(board);
        }
    }
    Scene { picture: photographed(&picture, random), boards: drawn }
}

/// A page with a 9x9, a 6x6 a third of a cell beside it, and a 4x4.
pub fn mixed(random: &mut Random) -> Scene {
    let cell = between(random, 30.0, 40.0);
    let mut picture = Canvas::filled(whole(cell * 18.0), whole(cell * 18.0), PAPER);
    let style = style(random);
    let mut drawn = Vec::new();
    for (shape, (x, y)) in [(Shape::NINE, (5.5, 5.5)), (Shape::SIX, (13.35, 4.0)), (Shape::FOUR, (4.0, 13.5))]
    {
        let edge = cell * coordinate(shape.side());
        let sine = between(random, -0.03, 0.03);
        let quad = square((x * cell, y * cell), edge, sine, 0.003, random);
        let board = board(shape, random);
        board.draw(&mut picture, &quad, &style);
        drawn.push(board);
    }
    Scene { picture: photographed(&picture, random), boards: drawn }
}

/// A page with one board of 4x4 or 6x6, and a line of text above it.
pub fn small(shape: Shape, random: &mut Random) -> Scene {
    let edge = between(random, 170.0, 560.0);
    let size = edge * between(random, 1.2, 1.5);
    let mut picture = Canvas::filled(whole(size), whole(size * 1.15), PAPER);
    let scale = edge / coordinate(shape.side()) / 50.0;
    let mut style = style(random);
    style.thin *= scale.max(0.7);
    style.bold *= scale.max(0.7);
    picture.text("EASY NO 12", Point { x: size * 0.1, y: size * 0.02 }, size * 0.03, size * 0.003, style.ink);
    let sine = between(random, -0.1, 0.1);
    let quad = square((size * 0.5, size * 0.6), edge, sine, 0.015, random);
    let board = board(shape, random);
    board.draw(&mut picture, &quad, &style);
    Scene { picture: photographed(&picture, random), boards: vec![board] }
}

/// A program in the dark: light digits on dark cells, some of which are marked in colours.
pub fn dark(size: usize, random: &mut Random) -> Scene {
    let ground: Rgb = [[0; 3], [18; 3], [30, 32, 40], [40; 3]][random.below(4)];
    let mut picture = Canvas::filled(size, size * (10 + random.below(9)) / 10, ground);
    let lines = [[120; 3], [90, 95, 110], [200; 3]][random.below(3)];
    let ink = [[255; 3], [200, 210, 255], [220; 3]][random.below(3)];
    let scale = coordinate(size) / 500.0;
    let thin = (0.5 * scale).max(0.45);
    let style = Style { thin, bold: thin * between(random, 2.0, 3.0), ink, lines, ..self::style(random) };
    let edge = coordinate(size) * between(random, 0.86, 0.97);
    let middle = (coordinate(size) / 2.0, coordinate(picture.height()) / 2.0);
    let quad = square(middle, edge, 0.0, 0.0, random);
    let board = board(Shape::NINE, random);
    let chosen = random.below(81);
    for cell in 0..81 {
        let (row, column) = (cell / 9 == chosen / 9, cell % 9 == chosen % 9);
        let same = board.cells[cell] != 0 && board.cells[cell] == board.cells[chosen];
        let colour: Option<Rgb> = match (cell == chosen, same, row || column) {
            (true, ..) => Some([40, 90, 160]),
            (_, true, _) => Some([30, 70, 60]),
            (.., true) => Some([50, 52, 66]),
            _ => None,
        };
        if let Some(colour) = colour {
            picture.fill(&board.place(&quad, cell), 1.0, colour);
        }
    }
    board.draw(&mut picture, &quad, &style);
    Scene { picture, boards: vec![board] }
}

/// A page with a board in which somebody has noted all candidates.
pub fn marked(random: &mut Random) -> Scene {
    let edge = between(random, 380.0, 700.0);
    let size = edge * 1.2;
    let mut picture = Canvas::filled(whole(size), whole(size), PAPER);
    let style = Style { marks: true, ..style(random) };
    let quad = square((size / 2.0, size / 2.0), edge, between(random, -0.04, 0.04), 0.005, random);
    let board = board(Shape::NINE, random);
    board.draw(&mut picture, &quad, &style);
    Scene { picture: photographed(&picture, random), boards: vec![board] }
}
