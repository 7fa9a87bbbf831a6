//! The output as Parquet: a row group for some hundred thousand rows, each column by itself.

use std::{io::Write, mem, sync::Arc};

use bytes::Bytes;
use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical},
    data_type::{BoolType, ByteArray, ByteArrayType, Int64Type},
    errors::ParquetError,
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::Type,
};

use super::{
    args::Column,
    output::{Table, each_row},
    value::{Value, value, write_cells},
};
use crate::parts::OutputError;

/// Rows of a group, but for the last: memory stays flat however many rows there are.
const GROUP_ROWS: usize = 1 << 18;

/// The field beside `solutions` that tells whether the count ended at the limit.
const CUT: &str = "cut";

/// A field's values in some rows.
enum Field {
    Text(Texts),
    Count(Values<i64>),
    Flag(Values<bool>),
}

/// What a field holds.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Count,
    Flag,
}

/// The fields of a column, with their names.
fn fields_of(column: Column) -> impl Iterator<Item = (&'static str, Kind)> {
    let kind = match column {
        Column::Solutions
        | Column::Clues
        | Column::Depth
        | Column::Nodes
        | Column::Guesses
        | Column::Iterations
        | Column::Automorphisms => Kind::Count,
        Column::Minimal => Kind::Flag,
        _ => Kind::Text,
    };
    let cut = (column == Column::Solutions).then_some((CUT, Kind::Flag));
    std::iter::once((column.name(), kind)).chain(cut)
}

impl Kind {
    fn field(self) -> Field {
        match self {
            Self::Text => Field::Text(Texts::default()),
            Self::Count => Field::Count(Values::default()),
            Self::Flag => Field::Flag(Values::default()),
        }
    }

    fn physical(self) -> Physical {
        match self {
            Self::Text => Physical::BYTE_ARRAY,
            Self::Count => Physical::INT64,
            Self::Flag => Physical::BOOLEAN,
        }
    }
}

/// Values that are there, and for each row 1 if it has one, else 0.
struct Values<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

/// Texts, one after the other, with their ends.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Values<usize>,
}

impl<T> Default for Values<T> {
    fn default() -> Self {
        Self { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T> Values<T> {
    fn push(&mut self, value: Option<T>) {
        self.levels.push(value.is_some().into());
        self.values.extend(value);
    }
}

/// Some rows, by field.
pub struct Rows {
    fields: Vec<Field>,
    rows: usize,
}

impl Table<'_> {
    /// Sorts a part into fields.
    ///
    /// # Errors
    ///
    /// When the part is no part.
    pub fn fields(&self, unit: u64, part: &[u8]) -> Result<Rows, OutputError> {
        let fields = self.columns.iter().flat_map(|&column| fields_of(column)).map(|(_, kind)| kind.field());
        let mut rows = Rows { fields: fields.collect(), rows: 0 };
        each_row(self.columns, unit, part, |row| {
            rows.rows += 1;
            let mut fields = rows.fields.iter_mut();
            for &column in self.columns {
                let value = value(row, column, self.limit);
                if column == Column::Solutions
                    && let [Some(count), Some(cut)] = [fields.next(), fields.next()]
                {
                    cut.push(match value {
                        Value::Nothing => Value::Nothing,
                        _ => Value::Flag(matches!(value, Value::AtLeast(_))),
                    });
                    count.push(value);
                } else if let Some(field) = fields.next() {
                    field.push(value);
                }
            }
        })?;
        Ok(rows)
    }

    fn schema(&self) -> Result<Type, ParquetError> {
        let field = |name: &str, physical| {
            let text = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
            let field = Type::primitive_type_builder(name, physical).with_logical_type(text);
            field.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
        };
        let fields = self.columns.iter().flat_map(|&column| fields_of(column));
        let fields = fields.map(|(name, kind)| field(name, kind.physical()));
        let fields = fields.collect::<Result<_, ParquetError>>()?;
        Type::group_type_builder("puzzles").with_fields(fields).build()
    }
}

impl Field {
    fn push(&mut self, value: Value<'_>) {
        match self {
            Self::Text(texts) => texts.push(value),
            Self::Count(values) => values.push(match value {
                Value::Count(count) | Value::AtLeast(count) => i64::try_from(count).ok(),
                _ => None,
            }),
            Self::Flag(values) => values.push(if let Value::Flag(flag) = value { Some(flag) } else { None }),
        }
    }
}

impl Texts {
    fn push(&mut self, value: Value<'_>) {
        match value {
            Value::Cells(shape, cells) => write_cells(shape, cells, &mut self.bytes),
            Value::Word(word) => self.bytes.extend_from_slice(word.as_bytes()),
            Value::Text(text) => self.bytes.extend_from_slice(text.as_bytes()),
            _ => return self.ends.push(None),
        }
        self.ends.push(Some(self.bytes.len()));
    }
}

/// A file that is being written.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    waiting: Vec<Rows>,
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn new(table: &Table<'_>, out: W) -> Result<Self, OutputError> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        // What is different in each row has no use for a dictionary.
        let different = [Column::Puzzle, Column::Solution, Column::Minlex, Column::Group];
        let properties = different.iter().fold(properties, |properties, column| {
            properties.set_column_dictionary_enabled(column.name().into(), false)
        });
        let schema = Arc::new(table.schema().map_err(failed)?);
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties.build())).map_err(failed)?;
        Ok(Self { file, waiting: Vec::new() })
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// When they cannot be written.
    pub fn put(&mut self, rows: Rows) -> Result<(), OutputError> {
        self.waiting.push(rows);
        let waiting: usize = self.waiting.iter().map(|rows| rows.rows).sum();
        if waiting >= GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn end(mut self) -> Result<(), OutputError> {
        self.write_group()?;
        self.file.close().map_err(failed)?;
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), OutputError> {
        let rows = mem::take(&mut self.waiting);
        if rows.iter().all(|rows| rows.rows == 0) {
            return Ok(());
        }
        let mut group = self.file.next_row_group().map_err(failed)?;
        let mut parts: Vec<_> = rows.into_iter().map(|rows| rows.fields.into_iter()).collect();
        let fields = parts.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        for _ in 0..fields {
            // The same field of each unit.
            let same: Vec<Field> = parts.iter_mut().filter_map(Iterator::next).collect();
            write_field(&mut group, same).map_err(failed)?;
        }
        group.close().map_err(failed)?;
        Ok(())
    }
}

fn write_field<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    fields: Vec<Field>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    for field in fields {
        match field {
            Field::Count(Values { values, levels }) => {
                column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
            }
            Field::Flag(Values { values, levels }) => {
                column.typed::<BoolType>().write_batch(&values, Some(&levels), None)?;
            }
            Field::Text(Texts { bytes, ends: Values { values: ends, levels } }) => {
                let bytes = Bytes::from(bytes);
                let starts = std::iter::once(0).chain(ends.iter().copied());
                let texts: Vec<ByteArray> =
                    starts.zip(&ends).map(|(start, &end)| bytes.slice(start..end).into()).collect();
                column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?;
            }
        }
    }
    column.close()
}

fn failed(error: ParquetError) -> OutputError {
    OutputError::Write(std::io::Error::other(error))
}
