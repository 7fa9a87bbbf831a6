//! A flat page as a telephone sees it: from aside, bent, unevenly lit, out of focus, with noise.

use shared::{photo::reading::Point, random::Random};

use super::super::canvas::{Canvas, coordinate, whole, within};

/// What is beside the page.
const TABLE: f32 = 90.0;

/// Takes a picture of a page.
pub fn photographed(page: &Canvas, random: &mut Random) -> Canvas {
    let (width, height) = (page.width() + page.width() / 6, page.height() + page.height() / 6);
    let mut some = |most: f32| (fraction(random) * 2.0 - 1.0) * most;
    // Where the corners of the picture are on the page, from 0 to 1: a little outside, each by itself.
    let mut corner = |x: f32, y: f32| Point { x: x + some(0.06), y: y + some(0.06) };
    let quad = [corner(-0.06, -0.06), corner(1.06, -0.06), corner(1.06, 1.06), corner(-0.06, 1.06)];
    let (bend, lit_x, lit_y, blur) = (some(0.03), some(0.25), some(0.25), some(1.0) > 0.0);
    let mut levels = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let (across, down) =
                ((coordinate(x) + 0.5) / coordinate(width), (coordinate(y) + 0.5) / coordinate(height));
            let at = within(&quad, across, down);
            // A page that is bent like a book: a parabola across.
            let bent = bend * (1.0 - 4.0 * (at.x - 0.5) * (at.x - 0.5));
            let light = 0.8 + lit_x * (across - 0.5) + lit_y * (down - 0.5);
            levels.push(sample(page, at.x, at.y + bent) * light);
        }
    }
    if blur {
        levels = blurred(&levels, width, height);
    }
    let mut canvas = Canvas::filled(width, height, [0; 3]);
    for (pixel, level) in canvas.pixels_mut().iter_mut().zip(levels) {
        let noise = (fraction(random) + fraction(random) - 1.0) * 12.0;
        *pixel = [rounded(level + noise); 3];
    }
    canvas
}

/// The level of a place of the page, between its pixels.
fn sample(page: &Canvas, across: f32, down: f32) -> f32 {
    let (x, y) = (across * coordinate(page.width()) - 0.5, down * coordinate(page.height()) - 0.5);
    if x < 0.0 || y < 0.0 || x >= coordinate(page.width() - 1) || y >= coordinate(page.height() - 1) {
        return TABLE;
    }
    let (left, top) = (whole(x), whole(y));
    let (right, low) = (x - coordinate(left), y - coordinate(top));
    let at = |x: usize, y: usize| f32::from(page.at(x, y)[0]);
    let row = |y: usize| at(left, y) * (1.0 - right) + at(left + 1, y) * right;
    row(top) * (1.0 - low) + row(top + 1) * low
}

/// Means of three by three.
fn blurred(levels: &[f32], width: usize, height: usize) -> Vec<f32> {
    let around = |at: usize, end: usize| at.saturating_sub(1)..(at + 2).min(end);
    let mean = |x: usize, y: usize| {
        let (mut sum, mut count) = (0.0, 0.0);
        for row in around(y, height) {
            for column in around(x, width) {
                sum += levels[row * width + column];
                count += 1.0;
            }
        }
        sum / count
    };
    (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| mean(x, y)).collect()
}

#[allow(clippy::cast_possible_truncation, reason = "a rounded fraction is as good")]
fn fraction(random: &mut Random) -> f32 {
    random.fraction() as f32
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn rounded(level: f32) -> u8 {
    level.clamp(0.0, 255.0) as u8
}
