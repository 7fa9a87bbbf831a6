//! The drawing of a plot: SVG of one size, with real text, on white so that it reads on every background.

use std::collections::BTreeSet;

use plotters::{
    chart::{ChartBuilder, ChartContext},
    coord::{Shift, cartesian::Cartesian2d},
    drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea},
    element::{Circle, PathElement, Rectangle},
    prelude::SVGBackend,
    style::{
        Color, FontStyle, IntoFont, RGBColor, TextStyle, WHITE,
        text_anchor::{HPos, Pos, VPos},
    },
};

use super::{
    Bars, Curve, Marks, Plot,
    axis::{Ruler, approximate},
    text::{Cut, escape, fit, grouped, line, width},
};

/// Units of the drawing. Shown half as large, so that its whole numbers are fine enough.
const WIDTH: i32 = 1600;
const HEIGHT: i32 = 900;
const TITLE: i32 = 34;
const TEXT: i32 = 25;
const MARGIN: i32 = 30;
const X_LABELS: i32 = 100;
const TICK: i32 = 8;
const LINE: i32 = 30;
/// Lines of names of series at most.
const LEGEND_LINES: i32 = 3;
/// Characters of a title that are read out.
const MOST_TITLE: usize = 300;

/// Okabe and Ito's colours, which nearly everybody can tell apart; their yellow is too pale for white,
/// and is darker here. The last is a grey.
const PALETTE: [RGBColor; 9] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0xc8, 0xb9, 0x00),
    RGBColor(0x99, 0x99, 0x99),
];
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const GRID: RGBColor = RGBColor(0xd4, 0xd4, 0xd4);
const FINE_GRID: RGBColor = RGBColor(0xee, 0xee, 0xee);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ruler, Ruler>>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws.
pub fn svg(plot: &Plot) -> String {
    let mut drawn = String::new();
    let size = (WIDTH.unsigned_abs(), HEIGHT.unsigned_abs());
    let area = SVGBackend::with_string(&mut drawn, size).into_drawing_area();
    draw(plot, &area).and_then(|()| area.present()).expect("strings take everything");
    drop(area);
    // plotters' own opening tag has a fixed size, and no words for those who do not see.
    let inside = drawn.split_once('>').map_or("", |(_, inside)| inside);
    let title = escape(&line(&plot.title, MOST_TITLE));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{}\" height=\"{}\" \
         role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>{inside}",
        WIDTH / 2,
        HEIGHT / 2
    )
}

fn draw(plot: &Plot, area: &Area<'_>) -> Drawn {
    area.fill(&WHITE)?;
    let title = fit(&plot.title, WIDTH - 2 * MARGIN, TITLE, Cut::End);
    let style = text(TITLE, FontStyle::Bold, HPos::Center, VPos::Top);
    area.draw_text(&title, &style, (WIDTH / 2, MARGIN / 2))?;
    let names: Vec<&str> = match &plot.marks {
        Marks::Bars { series, .. } => series.iter().map(|bars| bars.name.as_str()).collect(),
        Marks::Lines(curves) | Marks::Points(curves) => {
            curves.iter().map(|curve| curve.name.as_str()).collect()
        }
    };
    let top = legend(area, &names, MARGIN / 2 + 2 * TITLE)?;
    match &plot.marks {
        Marks::Bars { categories, series } => draw_bars(plot, area, top, categories, series),
        Marks::Lines(curves) => draw_curves(plot, area, top, curves, true),
        Marks::Points(curves) => draw_curves(plot, area, top, curves, false),
    }
}

fn colour(series: usize) -> RGBColor {
    PALETTE[series % PALETTE.len()]
}

fn text(size: i32, style: FontStyle, across: HPos, down: VPos) -> TextStyle<'static> {
    // plotters takes the height of a line for the size of a font.
    let font = ("sans-serif", f64::from(size) * 1.24).into_font().style(style);
    TextStyle::from(font).color(&INK).pos(Pos::new(across, down))
}

/// Names the series where there are several, from `top` down; returns where the plot begins.
fn legend(area: &Area<'_>, names: &[&str], top: i32) -> Result<i32, DrawingAreaErrorKind<std::io::Error>> {
    if names.len() < 2 {
        return Ok(top);
    }
    let style = text(TEXT, FontStyle::Normal, HPos::Left, VPos::Center);
    let (mut x, mut y) = (2 * MARGIN, top + TEXT / 2);
    let bottom = top + LEGEND_LINES * 2 * TEXT;
    for (series, name) in names.iter().enumerate() {
        let name = fit(name, WIDTH / 4, TEXT, Cut::End);
        let wide = TEXT + 10 + width(&name, TEXT) + TEXT;
        if x + wide > WIDTH - MARGIN {
            (x, y) = (2 * MARGIN, y + 2 * TEXT);
        }
        if y > bottom - 2 * TEXT && x + 2 * wide > WIDTH - MARGIN && series + 1 < names.len() {
            area.draw_text(&format!("and {} more", names.len() - series), &style, (x, y))?;
            break;
        }
        let mark = [(x, y - TEXT / 2), (x + TEXT, y + TEXT / 2)];
        area.draw(&Rectangle::new(mark, colour(series).filled()))?;
        area.draw_text(&name, &style, (x + TEXT + 10, y))?;
        x += wide;
    }
    Ok(y + 2 * TEXT)
}

/// Room for the labels of the y axis and what it is called.
fn left(y: &Ruler) -> i32 {
    y.widest(TEXT) + 2 * TICK + 2 * TEXT
}

/// Axes, ticks and lines behind what is drawn.
fn chart<'a, 'b>(
    plot: &Plot,
    area: &'a Area<'b>,
    top: i32,
    (x, y): (Ruler, Ruler),
    upright: bool,
) -> Result<Chart<'a, 'b>, DrawingAreaErrorKind<std::io::Error>> {
    let mut builder = ChartBuilder::on(area);
    // The last label of numbers is centred at the end of the axis.
    let right = if upright { MARGIN.max(x.widest(TEXT) / 2 + 4) } else { MARGIN };
    builder.margin_top(top).margin_left(MARGIN / 2).margin_right(right).margin_bottom(MARGIN / 2);
    let second_line = if x.below().is_empty() { 0 } else { LINE };
    builder.x_label_area_size(X_LABELS + second_line).y_label_area_size(left(&y));
    let mut chart = builder.build_cartesian_2d(x, y)?;
    let plain = text(TEXT, FontStyle::Normal, HPos::Center, VPos::Top);
    let mut mesh = chart.configure_mesh();
    mesh.axis_style(INK.stroke_width(2)).bold_line_style(GRID.stroke_width(2));
    mesh.light_line_style(FINE_GRID.stroke_width(2)).set_all_tick_mark_size(TICK);
    mesh.label_style(plain.clone()).axis_desc_style(plain.clone());
    mesh.x_desc(fit(&plot.x.label, WIDTH * 3 / 4, TEXT, Cut::End)).y_desc(fit(
        &plot.y.label,
        HEIGHT * 3 / 4,
        TEXT,
        Cut::End,
    ));
    if !upright {
        mesh.disable_x_mesh();
    }
    mesh.draw()?;
    let (x, y) = (chart.as_coord_spec().x_spec(), chart.as_coord_spec().y_spec());
    for (at, label) in x.below() {
        let (across, down) = chart.backend_coord(&(*at, y.low()));
        area.draw_text(label, &plain, (across, down + 2 * TICK + LINE))?;
    }
    Ok(chart)
}

fn draw_bars(plot: &Plot, area: &Area<'_>, top: i32, categories: &[String], series: &[Bars]) -> Drawn {
    let count = |bars: &Bars, category: usize| bars.counts.get(category).copied().unwrap_or_default();
    let all = || series.iter().flat_map(|bars| (0..categories.len()).map(|category| count(bars, category)));
    let whole_width = WIDTH - MARGIN * 3 / 2;
    let slots = i32::try_from((categories.len() * series.len()).max(1)).unwrap_or(i32::MAX);
    // Either every bar has its count above it, or none has: one that is missing would look like zero.
    let labels: i32 = all().map(|count| width(&grouped(&count.to_string()), TEXT)).max().unwrap_or(0);
    let y = Ruler::of_counts(plot.y.scale, all(), 0.08);
    let plot_width = whole_width - left(&y);
    let labelled = labels + TEXT / 2 <= plot_width / slots;
    let room = |slots: usize| {
        let wide = i64::from(plot_width) * i64::try_from(slots).unwrap_or(i64::MAX).min(1 << 32);
        let wide = wide / i64::try_from(categories.len().max(1)).unwrap_or(i64::MAX);
        i32::try_from(wide).unwrap_or(i32::MAX)
    };
    let x = Ruler::of_categories(categories, room, TEXT);
    let chart = chart(plot, area, top, (x, y), false)?;
    let style = text(TEXT, FontStyle::Normal, HPos::Center, VPos::Bottom);
    let share = 0.8 / approximate(series.len().max(1) as u64);
    let y = chart.as_coord_spec().y_spec();
    for category in 0..categories.len() {
        for (number, bars) in series.iter().enumerate() {
            let count = count(bars, category);
            let from = approximate(category as u64) + 0.1 + share * approximate(number as u64);
            let height = y.at(approximate(count)).unwrap_or(y.low());
            let (left, bottom) = chart.backend_coord(&(from, y.low()));
            let (right, top) = chart.backend_coord(&(from + share, height));
            // Whatever was counted is seen, be it ever so little.
            let (right, top) = (right.max(left + 1), if count > 0 { top.min(bottom - 2) } else { bottom });
            if count > 0 {
                area.draw(&Rectangle::new([(left, top), (right, bottom)], colour(number).filled()))?;
            }
            if labelled {
                area.draw_text(&grouped(&count.to_string()), &style, (i32::midpoint(left, right), top - 4))?;
            }
        }
    }
    Ok(())
}

fn draw_curves(plot: &Plot, area: &Area<'_>, top: i32, curves: &[Curve], joined: bool) -> Drawn {
    let points =
        || curves.iter().flat_map(|curve| &curve.points).filter(|(x, y)| x.is_finite() && y.is_finite());
    let x = Ruler::of_numbers(plot.x.scale, points().map(|point| point.0));
    let y = Ruler::of_numbers(plot.y.scale, points().map(|point| point.1));
    let x = x.on(WIDTH - 3 * MARGIN - left(&y), TEXT);
    let chart = chart(plot, area, top, (x, y), true)?;
    let (x, y) = (chart.as_coord_spec().x_spec(), chart.as_coord_spec().y_spec());
    for (number, curve) in curves.iter().enumerate() {
        let places = curve.points.iter().filter_map(|&(at_x, at_y)| Some((x.at(at_x)?, y.at(at_y)?)));
        let mut places: Vec<_> = places.map(|place| chart.backend_coord(&place)).collect();
        if joined && places.len() > 1 {
            places.dedup();
            area.draw(&PathElement::new(places, colour(number).stroke_width(4)))?;
            continue;
        }
        // However many there are, a place is drawn once.
        for place in places.into_iter().collect::<BTreeSet<_>>() {
            area.draw(&Circle::new(place, 5, colour(number).mix(0.7).filled()))?;
        }
    }
    Ok(())
}
