//! The output: the rows of all parts, as CSV or as JSON Lines.

use std::io::Write;

use super::{
    args::{Asked, Column},
    rows::{Row, Scratch},
    value::{Value, value, write_cells},
};
use crate::parts::OutputError;

/// What rows are turned into.
pub struct Table<'a> {
    /// In this order.
    pub columns: &'a [Column],
    /// Solutions at which counts ended.
    pub limit: u32,
}

impl Table<'_> {
    /// The line with the names of columns, for CSV.
    pub fn header(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name()).collect();
        names.join(",") + "\n"
    }

    /// Turns a part into text, row by row as `write` does.
    ///
    /// # Errors
    ///
    /// When the part is no part.
    pub fn text(
        &self,
        unit: u64,
        part: &[u8],
        write: impl Fn(&Self, &Row<'_>, &mut Vec<u8>),
    ) -> Result<Vec<u8>, OutputError> {
        let mut out = Vec::with_capacity(part.len() * 5 / 2);
        each_row(self.columns, unit, part, |row| write(self, row, &mut out))?;
        Ok(out)
    }

    /// Appends a row as a line of CSV.
    pub fn csv(&self, row: &Row<'_>, out: &mut Vec<u8>) {
        for &column in self.columns {
            match value(row, column, self.limit) {
                Value::Nothing => {}
                Value::Cells(shape, cells) => write_cells(shape, cells, out),
                Value::Word(word) => out.extend_from_slice(word.as_bytes()),
                Value::Text(text) => put(out, format_args!("\"{}\"", text.replace('"', "\"\""))),
                Value::Count(1) => out.push(b'1'),
                Value::Count(count) => put(out, format_args!("{count}")),
                Value::AtLeast(count) => put(out, format_args!(">={count}")),
                Value::Flag(flag) => put(out, format_args!("{flag}")),
            }
            out.push(b',');
        }
        // The last comma is the end of the line.
        if let Some(last) = out.last_mut() {
            *last = b'\n';
        }
    }

    /// Appends a row as an object in a line. Values that say nothing are left out.
    pub fn json(&self, row: &Row<'_>, out: &mut Vec<u8>) {
        let mut between = b'{';
        for &column in self.columns {
            let value = value(row, column, self.limit);
            if matches!(value, Value::Nothing) {
                continue;
            }
            out.push(between);
            between = b',';
            put(out, format_args!("\"{column}\":"));
            match value {
                Value::Nothing => {}
                Value::Cells(shape, cells) => {
                    out.push(b'"');
                    write_cells(shape, cells, out);
                    out.push(b'"');
                }
                Value::Word(word) => put(out, format_args!("\"{word}\"")),
                Value::Text(text) => serde_json::to_writer(&mut *out, text).expect("vectors take everything"),
                Value::Count(count) => put(out, format_args!("{count}")),
                Value::AtLeast(count) => put(out, format_args!("{count},\"cut\":true")),
                Value::Flag(flag) => put(out, format_args!("{flag}")),
            }
        }
        if between == b'{' {
            out.push(b'{');
        }
        out.extend_from_slice(b"}\n");
    }
}

/// Hands out the rows of a part.
///
/// # Errors
///
/// When the part is no part.
pub fn each_row(
    columns: &[Column],
    unit: u64,
    mut part: &[u8],
    mut take: impl FnMut(&Row<'_>),
) -> Result<(), OutputError> {
    let asked = Asked::of(columns);
    let mut scratch = Scratch::default();
    while !part.is_empty() {
        let Some(row) = Row::read(&mut part, asked, &mut scratch) else {
            return Err(OutputError::Part(format!("part {unit} is damaged; run it again with --fresh")));
        };
        take(&row);
    }
    Ok(())
}

fn put(out: &mut Vec<u8>, words: std::fmt::Arguments<'_>) {
    out.write_fmt(words).expect("vectors take everything");
}
