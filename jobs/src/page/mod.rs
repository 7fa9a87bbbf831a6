//! A report as one page of HTML: it can be opened, sent and kept, and needs nothing from outside. No scripts.
//!
//! Reports quote what others have written (names of files, lines of corpora), so all of it is escaped, and a policy in
//! the page forbids the browser whatever would come of an escape that is forgotten.

use std::fmt::Write;

use base64::{Engine, prelude::BASE64_STANDARD as STANDARD};
use serde_json::Value;

use crate::{
    kind::Report,
    plot::{Bars, Marks, Plot, text},
};

/// Rows of a table that are shown.
const MOST_ROWS: usize = 1000;

const STYLE: &str = "\
:root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: 1rem; border: 1px solid #8888; border-radius: .3rem; font-size: .85rem; line-height: 1.35 }
figure { margin: 2rem 0; overflow-x: auto }
svg { display: block; width: 100%; min-width: 36rem; height: auto; border-radius: .3rem }
figcaption { margin: .5rem 0 }
details { margin: 1rem 0; overflow-x: auto }
summary { cursor: pointer }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums }
th, td { padding: .15rem .7rem; border-bottom: 1px solid #8884; text-align: left }
td.number { text-align: right }
.sheet { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: 1rem }
.sheet figure { margin: 0 }
.sheet img { max-width: 100%; border-radius: .3rem }
.sheet figcaption { font-size: .8rem; overflow-wrap: anywhere }
.warning { padding: .5rem 1rem; border-left: .4rem solid #d55e00; font-weight: bold }
";

/// Bytes of the pictures of a page at most, as they are; in the page they take a third more.
const MOST_PICTURE_BYTES: usize = 8 << 20;

/// A picture of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What it is; may be of several lines.
    pub caption: String,
    /// A JPEG; empty if there is none.
    pub jpeg: Vec<u8>,
}

/// What a page shows.
pub struct Page<'a> {
    /// Its title.
    pub heading: &'a str,
    /// Which job it is, and where that stands.
    pub about: &'a str,
    /// What is wrong with the result, as far as the report does not say it.
    pub warnings: &'a [String],
    /// The report.
    pub report: &'a Report,
    /// What `--format json` prints.
    pub json: &'a Value,
    /// Small pictures, side by side in this order.
    pub pictures: &'a [Picture],
}

impl Page<'_> {
    /// The page. It is well-formed XML too, which is why its first word is in capitals.
    pub fn html(&self) -> String {
        let heading = text::escape(self.heading);
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\"/>\n\
             <title>{heading}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{heading}</h1>\n<p>{}</p>\n",
            text::escape(self.about)
        );
        let Report { table, csv, plots, alarm, json: _ } = self.report;
        for warning in alarm.iter().chain(self.warnings) {
            page += &format!("<p class=\"warning\" role=\"alert\">{}</p>\n", text::escape(warning));
        }
        // A parser drops the first line feed of a `pre`.
        page += &format!("<pre>\n{}</pre>\n", text::escape(table));
        plots.iter().for_each(|plot| page += &figure(plot));
        page += &sheet(self.pictures);
        let rows = rows(csv);
        if let Some((head, rows)) = rows.split_first().filter(|(_, rows)| !rows.is_empty()) {
            page += &folded("The main table", &self::table(head, rows));
        }
        page += &folded("JSON", &format!("<pre>\n{}</pre>\n", text::escape(&format!("{:#}", self.json))));
        page + "</body>\n</html>\n"
    }
}

/// Rows of fields.
fn rows(csv: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(csv.as_bytes());
    let row = |row: csv::StringRecord| row.iter().map(str::to_owned).collect();
    // A text in memory can be read, and is UTF-8.
    reader.records().map_while(Result::ok).map(row).collect()
}

/// Pictures side by side, as many as there is place for.
fn sheet(pictures: &[Picture]) -> String {
    let mut sheet = String::new();
    let mut bytes = 0;
    for Picture { caption, jpeg } in pictures {
        bytes += jpeg.len();
        if bytes > MOST_PICTURE_BYTES {
            break;
        }
        let caption = text::escape(caption).replace('\n', "<br/>");
        sheet += "<figure>";
        if !jpeg.is_empty() {
            sheet += &format!("<img alt=\"\" src=\"data:image/jpeg;base64,{}\"/>", STANDARD.encode(jpeg));
        }
        sheet += &format!("<figcaption>{caption}</figcaption></figure>\n");
    }
    if sheet.is_empty() { sheet } else { format!("<div class=\"sheet\">\n{sheet}</div>\n") }
}

fn folded(what: &str, inside: &str) -> String {
    format!("<details>\n<summary>{what}</summary>\n{inside}</details>\n")
}

fn figure(plot: &Plot) -> String {
    let mut figure = format!("<figure>\n{}", plot.svg());
    if !plot.caption.is_empty() {
        writeln!(figure, "<figcaption>{}</figcaption>", text::escape(&plot.caption))
            .expect("strings take everything");
    }
    if let Marks::Bars { categories, series } = &plot.marks {
        figure += &folded("The numbers", &numbers(&plot.x.label, categories, series));
    }
    figure + "</figure>\n"
}

/// The heights of all bars there are: a drawing has no place for all of them, and not everybody sees it.
fn numbers(what: &str, categories: &[String], series: &[Bars]) -> String {
    let counts = |at: usize| series.iter().map(move |bars| bars.counts.get(at).copied().unwrap_or_default());
    let occurring = (0..categories.len()).filter(|&at| counts(at).any(|count| count > 0));
    let row = |at: usize| {
        let counts = counts(at).map(|count| count.to_string());
        std::iter::once(categories[at].clone()).chain(counts).collect::<Vec<_>>()
    };
    let head: Vec<String> = std::iter::once(what)
        .chain(series.iter().map(|bars| bars.name.as_str()))
        .map(str::to_owned)
        .collect();
    table(&head, &occurring.map(row).collect::<Vec<_>>())
}

fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let mut table = String::from("<table>\n<thead><tr>");
    head.iter().for_each(|cell| table += &format!("<th scope=\"col\">{}</th>", text::escape(cell)));
    table += "</tr></thead>\n<tbody>\n";
    for row in rows.iter().take(MOST_ROWS) {
        table += "<tr>";
        for cell in row {
            let number = !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let class = if number { " class=\"number\"" } else { "" };
            table += &format!("<td{class}>{}</td>", text::escape(cell));
        }
        table += "</tr>\n";
    }
    table += "</tbody>\n</table>\n";
    match rows.len().saturating_sub(MOST_ROWS) {
        0 => table,
        more => table + &format!("<p>and {more} rows more</p>\n"),
    }
}

#[cfg(test)]
mod tests;
